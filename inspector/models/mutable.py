"""Which collections a call may update: those asked for, and those it turns out to.

Model process, on the thread that runs the person's code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flax import errors as flax_errors

from inspector.engine.messages.calling import FOUND

RNG_TYPES = frozenset({"RngState", "RngKey", "RngCount"})
"""NNX Variable types that every random draw changes; updates only when asked for."""

PARAMS = "params"

_COLLECTION = re.compile(r'collection "([^"]+)" is immutable')


def asked(mutable: Sequence[str]) -> tuple[str, ...]:
    """Returns the collections that are named, `FOUND` left out."""
    return tuple(dict.fromkeys(name for name in mutable if name != FOUND))


def to_begin_with(
    family: str, mutable: Sequence[str], collections: Sequence[str]
) -> tuple[str, ...]:
    """Returns what is mutable in the first trace.

    NNX shows what changed after the trace, so all types may change there, but for
    the state of its random numbers. Linen says what it lacks, see `found_in`.
    """
    named = asked(mutable)
    if family != "nnx" or FOUND not in mutable:
        return named
    rest = (name for name in collections if name not in RNG_TYPES)
    return tuple(dict.fromkeys((*named, *rest)))


def found_in(error: flax_errors.ModifyScopeVariableError) -> str:
    """Returns the collection that a call wanted to update; empty when unclear.

    Never ``params``: a forward pass that changes its own parameters is a mistake far
    more often than meant, and who means it names them.
    """
    match = _COLLECTION.search(str(error))
    return match[1] if match and match[1] != PARAMS else ""
