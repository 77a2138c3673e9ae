"""Callables that return pytrees: Equinox, registered classes, dicts, pairs of Haiku."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import equinox
import jax
import jax.numpy as jnp
import numpy as np

from inspector.engine.messages.module import LoadModule, ModuleLoaded
from inspector.models import service
from inspector.variables.leaf import Kind
from tests.models.loading import MODULES, Write, fails, quiet
from tests.models.running import arrays, initial_tree, run, spec_in

FILE = MODULES / "callables.py"

TREEX_LIKE = '''
    """A class as Treex modules were: typed fields, static and dynamic parts."""
    from typing import Any, NamedTuple

    import jax
    import jax.numpy as jnp
    import numpy as np

    class Tree:
        def __init_subclass__(cls):
            jax.tree_util.register_pytree_with_keys(cls, cls._flatten, cls._unflatten)

        def _flatten(self):
            names = [n for n in self.__annotations__ if n not in self.static]
            keys = [(jax.tree_util.GetAttrKey(n), getattr(self, n)) for n in names]
            rest = tuple((n, getattr(self, n)) for n in self.static)
            return keys, (tuple(names), rest)

        @classmethod
        def _unflatten(cls, aux, children):
            made = object.__new__(cls)
            for name, value in (*zip(aux[0], children), *aux[1]):
                setattr(made, name, value)
            return made

    class Linear(Tree):
        static = ("features",)
        w: Any
        b: Any
        features: int

        def __init__(self, features: int, key):
            self.features = features
            self.w = jax.random.normal(key, (3, features))
            self.b = jnp.zeros(features)

        def __call__(self, x):
            return x @ self.w + self.b

    class Pair(NamedTuple):
        init: Any
        apply: Any

    transformed = Pair(
        lambda key, x: {"linear": {"w": jax.random.normal(key, (x.shape[-1], 2))}},
        lambda params, rng, x: x @ params["linear"]["w"],
    )

    def bare(key):
        return jax.random.normal(key, (3,))

    class Torchlike:
        __module__ = "torch.nn.modules"

    state = {"w": jnp.ones((2, 3)), "steps": 4, "name": "net"}
'''


def load(file: Path, name: str, *inputs: str, **rest: Any) -> ModuleLoaded:
    spec = spec_in(file, name, *inputs, **rest)
    return service.load_module(LoadModule(spec), quiet)


def test_an_equinox_module_equals_the_plain_one(tmp_path: Path) -> None:
    kwargs = '{"in_size": 4, "out_size": 3, "width_size": 16, "depth": 2}'
    spec = spec_in(Path("equinox.nn"), "MLP", kwargs=kwargs, cwd=str(tmp_path))
    tree = initial_tree(spec, tmp_path)
    paths = [path for path, leaf in tree.leaves if leaf.kind is Kind.ARRAY]
    assert paths[0] == ("layers", 0, "weight")
    done = run(spec, tree, tmp_path, "float32[4]:normal(0)")
    plain = equinox.nn.MLP(4, 3, 16, 2, key=jax.random.key(0))
    x = jax.random.normal(jax.random.key(0), (4,))
    wanted = equinox.filter_jit(plain)(x)
    assert arrays(done.outputs)["output",].tobytes() == np.asarray(wanted).tobytes()


def test_a_class_with_static_and_dynamic_parts(write: Write, tmp_path: Path) -> None:
    file = write("treex_like.py", TREEX_LIKE)
    kwargs = '{"features": 2}'
    loaded = load(file, "Linear", kwargs=kwargs)
    assert [path for path, _ in loaded.tree.leaves] == [("w",), ("b",)]
    spec = spec_in(file, "Linear", kwargs=kwargs, seeds=(("params", 6),))
    tree = initial_tree(spec, tmp_path)
    done = run(spec, tree, tmp_path, "float32[1,3]")
    weights = jax.random.normal(jax.random.key(6), (3, 2))
    wanted = jax.jit(lambda w: jnp.ones((1, 3)) @ w + jnp.zeros(2))(weights)
    assert np.array_equal(arrays(done.outputs)["output",], wanted)


def test_a_pair_of_init_and_apply(write: Write, tmp_path: Path) -> None:
    file = write("treex_like.py", TREEX_LIKE)
    loaded = load(file, "transformed", "float32[1,5]")
    assert [(path, leaf.shape) for path, leaf in loaded.tree.leaves] == [
        (("linear", "w"), (5, 2))
    ]
    spec = spec_in(file, "transformed", "float32[1,5]")
    tree = initial_tree(spec, tmp_path)
    done = run(spec, tree, tmp_path, "null", "float32[1,5]")
    assert arrays(done.outputs)["output",].shape == (1, 2)


def test_numbers_and_texts_are_leaves_beside_arrays(write: Write) -> None:
    loaded = load(write("treex_like.py", TREEX_LIKE), "state")
    kinds = {path: leaf.kind for path, leaf in loaded.tree.leaves}
    assert kinds == {("w",): Kind.ARRAY, ("steps",): Kind.INT, ("name",): Kind.STR}


def test_what_is_no_tree_is_said_in_words(write: Write) -> None:
    file = write("treex_like.py", TREEX_LIKE)
    assert fails(f"{file}:bare").message == (
        "bare returned a bare array; a tree with a key for each array is needed."
    )
