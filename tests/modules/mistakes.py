"""One class for each mistake that is explained; the line at fault ends in a mark.

The mark names the test case: ``# <- case``.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from flax import nnx


class Plain(nn.Module):
    features = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features)(x)


class UnknownArgument(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Plain(features=8)(x)  # <- unknown argument


class MissingArgument(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense()(x)  # <- missing argument


class Initializer(nn.Module):
    features: int = 3
    kernel_init = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, x):
        shape = (x.shape[-1], self.features)
        return x @ self.param("kernel", self.kernel_init, shape)  # <- method


class FieldInSetup(nn.Module):
    width: int = 3

    def setup(self):
        self.width = 4  # <- field in setup

    def __call__(self, x):
        return nn.Dense(self.width)(x)


class AssignedInCompact(nn.Module):
    @nn.compact
    def __call__(self, x):
        self.layer = nn.Dense(3)  # <- assigned in compact
        return self.layer(x)


class NotCompact(nn.Module):
    def __call__(self, x):
        return nn.Dense(3)(x)  # <- not compact


class ParamNotCompact(nn.Module):
    def __call__(self, x):
        return x * self.param("scale", nn.initializers.ones, ())  # <- param


class NameTwice(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, name="a")(x) + nn.Dense(3, name="a")(x)  # <- name twice


class SetupAndCompact(nn.Module):
    def setup(self):
        self.a = nn.Dense(3)

    @nn.compact
    def __call__(self, x):
        return self.a(x) + nn.Dense(3, name="a")(x)  # <- setup and compact


class OwnInit(nn.Module):
    def __init__(self, width):
        self.width = width

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class PostInit(nn.Module):
    width: int = 3

    def __post_init__(self):
        assert self.width > 0

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Unbound(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, parent=None)(x)  # <- unbound


class Inner(nn.Module):
    def setup(self):
        self.enc = nn.Dense(3)

    def __call__(self, x):
        return self.enc(x)


class SetupAttribute(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Inner(parent=None).enc(x)  # <- setup attribute


class ClassAsInstance(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense.init(jax.random.key(0), x)  # <- class


class NoCall(nn.Module):
    def encode(self, x):
        return x


class Branch(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x if x.sum() > 0 else -x  # <- branch


class Number(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(int(x.sum()))(x)  # <- number


class Index(nn.Module):
    @nn.compact
    def __call__(self, x):
        return [x, -x][x.argmax()]  # <- index


class Numpy(nn.Module):
    @nn.compact
    def __call__(self, x):
        return np.asarray(x)  # <- numpy


class Text(nn.Module):
    @nn.compact
    def __call__(self, x):
        return {"x": nn.Dense(3)(x), "name": object()}


class FlagNowhere(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dropout(0.5)(x)  # <- flag nowhere


class FlagTwice(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dropout(0.5, deterministic=True)(x, deterministic=False)  # <- twice


class BareScan(nn.Module):
    @nn.compact
    def __call__(self, x):
        layer = nn.Dense(x.shape[-1])
        return jax.lax.scan(lambda c, _: (layer(c), None), x, None, 3)[0]  # <- bare


class NoStream(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dropout(0.5, deterministic=False)(x)  # <- no stream


class Step(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        x = nn.Dense(5)(x)
        return nn.Dropout(0.5, deterministic=False)(x), None  # <- scan


class Scanned(nn.Module):
    @nn.compact
    def __call__(self, x):
        steps = nn.scan(
            Step, variable_axes={"params": 0}, split_rngs={"params": True}, length=3
        )
        return steps()(x, None)[0]


class Shape(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x @ jnp.ones((5, 2))  # <- shape


class Broadcast(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + jnp.ones((5, 2))  # <- broadcast


class Endless(nn.Module):
    @nn.compact
    def __call__(self, x):
        return self(x)  # <- endless


class Dense(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)  # <- width
        return nn.Dense(4, name="second")(x)  # <- second


class Normed(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.Dense(4)(x)
        return nn.BatchNorm(use_running_average=not train)(x)  # <- statistics


class NnxList(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.layers = [nnx.Linear(4, 4, rngs=rngs)]  # <- nnx list


class NnxNoRngs(nnx.Module):
    def __init__(self):
        self.layer = nnx.Linear(4, 4)  # <- nnx no rngs


class NnxNoStream(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.key = rngs.noise()  # <- nnx no stream


class NnxNoDropoutRngs(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.drop = nnx.Dropout(0.5)

    def __call__(self, x):
        return self.drop(x)  # <- nnx dropout


class NnxFlag(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.attention = nnx.MultiHeadAttention(
            2, 4, dropout_rate=0.5, decode=False, rngs=rngs
        )

    def __call__(self, x):
        return self.attention(x)  # <- nnx flag


class NnxLoop(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(4, 4, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)

    def step(self, x):
        return self.drop(self.linear(x))  # <- nnx loop

    def __call__(self, x):
        return jax.lax.scan(lambda c, row: (c, self.step(row)), None, x)[1]
