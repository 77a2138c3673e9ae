"""Constructor arguments that the program fills: rngs of NNX and random keys.

Their numbers come from the seeds of a spec, so they are not in the form. Used while
a constructor is traced; the values handed out are tracers of that trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
from flax import linen as nn
from flax import nnx

from inspector.models.families import unwrapped
from inspector.models.form import MISSING, Parameter, alternatives
from inspector.models.names import Argument

RNGS = "rngs"
"""Kind of an argument that takes ``nnx.Rngs``."""
KEY = "key"
"""Kind of an argument that takes a random key."""

DEFAULT = "default"
"""The stream of ``nnx.Rngs`` that the others fall back to."""
PARAMS = "params"
"""The stream whose seed makes the keys of everything but NNX."""

_KEY_NAMES = frozenset({"key", "rng", "prng_key", "rng_key"})
_RNGS_MARK = "\0rngs\0"


class KeysNeededError(Exception):
    """A constructor takes rngs or keys that its trace has no inputs for yet."""

    def __init__(self, kind: str) -> None:
        """Says which kind."""
        super().__init__(kind)
        self.kind = kind


def filled_kind(target: Callable[..., object], parameter: Parameter) -> str:
    """Returns `RNGS`, `KEY`, or nothing for an argument that a person gives."""
    inner = unwrapped(target)
    if isinstance(inner, type) and issubclass(inner, nn.Module):
        return ""
    if nnx.Rngs in alternatives(parameter.hint) or "Rngs" in parameter.text:
        return RNGS
    if parameter.name == "rngs":
        return RNGS
    if parameter.default is not MISSING:
        return ""
    named = parameter.name in _KEY_NAMES and _may_be_key(parameter)
    return KEY if named or "PRNGKey" in parameter.text else ""


def _may_be_key(parameter: Parameter) -> bool:
    words = ("Key", "Array", "Any", "ndarray", "PRNG")
    return not parameter.text or any(word in parameter.text for word in words)


def asked(
    target: Callable[..., object], parameters: tuple[Parameter, ...]
) -> tuple[Parameter, ...]:
    """Returns the parameters that a person gives."""
    return tuple(one for one in parameters if not filled_kind(target, one))


@dataclass
class Filler:
    """Hands out rngs and keys in one trace of a constructor.

    Attributes:
        seeds: Seed by stream.
        keys: Traced key by stream; None when the trace has no input for them.
        rngs_keys: The same for the streams of ``nnx.Rngs``.
    """

    seeds: Mapping[str, int]
    keys: Mapping[str, Any] | None = None
    rngs_keys: Mapping[str, Any] | None = None
    _rngs: nnx.Rngs | None = field(default=None, init=False)
    _made: int = field(default=0, init=False)

    def __call__(self, kind: str) -> Argument:
        """Returns the value of one argument and its code.

        Raises:
            KeysNeededError: The trace has no inputs of this kind.
        """
        return self._give_rngs() if kind == RNGS else self._give_key()

    def _give_rngs(self) -> Argument:
        if self.rngs_keys is None:
            raise KeysNeededError(RNGS)
        if self._rngs is None:
            others = {n: k for n, k in self.rngs_keys.items() if n != DEFAULT}
            # The order of the streams is that of the shown code.
            self._rngs = nnx.Rngs(self.rngs_keys[DEFAULT], **others)
        return Argument(self._rngs, _RNGS_MARK, ("from flax import nnx",))

    def _give_key(self) -> Argument:
        if self.keys is None:
            raise KeysNeededError(KEY)
        key, code = self.keys[PARAMS], f"jax.random.key({self.seeds.get(PARAMS, 0)})"
        if self._made:
            # Equal keys would give equal numbers to layers that should differ.
            key = jax.random.fold_in(key, self._made)
            code = f"jax.random.fold_in({code}, {self._made})"
        self._made += 1
        return Argument(key, code, ("import jax",))

    def code(self, expression: str) -> tuple[tuple[str, ...], str]:
        """Returns lines to run before, and an expression with its rngs written out."""
        count = expression.count(_RNGS_MARK)
        rngs = rngs_code(self.seeds)
        if count > 1:
            return (f"rngs = {rngs}",), expression.replace(_RNGS_MARK, "rngs")
        return (), expression.replace(_RNGS_MARK, rngs)


def rngs_code(seeds: Mapping[str, int]) -> str:
    """Returns ``nnx.Rngs(0, dropout=5)`` for seeds by stream."""
    others = [f"{name}={seed}" for name, seed in seeds.items() if name != DEFAULT]
    return f"nnx.Rngs({', '.join([str(seeds.get(DEFAULT, 0)), *others])})"
