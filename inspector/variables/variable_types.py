"""Which Linen collection the Variables of an NNX module correspond to.

Linen sorts variables by collection, NNX by the type of each Variable. Matching works
on collections, so types are translated here; in the store process. Knows names only.
"""

from __future__ import annotations

import re

from inspector.variables.homes import PARAMS
from inspector.variables.leaf import Kind, Leaf

RNGS = "rngs"
"""The collection of random keys and their counters, which is none of a model's."""

_COLLECTIONS = {
    "Param": PARAMS,
    "BatchStat": "batch_stats",
    "Cache": "cache",
    "Intermediate": "intermediates",
    "Perturbation": "perturbations",
    "LoRAParam": "lora",
    "OptState": "opt_state",
    "OptVariable": "opt_state",
    "OptArray": "opt_state",
}

_RNG_NAMES = {"key", "count"}
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def collection_of_type(variable: str) -> str:
    """Returns the collection of a Variable type; of a type unknown here, its name.

    Args:
        variable: Name of the type, e.g. ``"BatchStat"``.
    """
    if variable.startswith("Rng"):
        return RNGS
    return _COLLECTIONS.get(variable) or _WORD.sub("_", variable).lower()


def is_rng_state(names: tuple[str, ...], leaf: Leaf) -> bool:
    """Returns whether a leaf of a tree without types looks like a key or a counter.

    Args:
        names: Module path and name of the leaf; NNX keeps streams below ``rngs``.
        leaf: The leaf.
    """
    if not names or names[-1] not in _RNG_NAMES:
        return False
    if not any("rng" in name.lower() for name in names[:-1]):
        return False
    return leaf.kind is Kind.KEY or (leaf.dtype == "uint32" and len(leaf.shape) <= 1)
