"""The corpus of real checkpoints and what is known to be in each.

`ITEMS` are the items that this program opens; `truth_of` gives the leaves of one,
`locators_of` every place in it at which those leaves may begin: the item's folder,
what is in it, its steps, and the first keys of each.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inspector.errors import InspectorError
from inspector.formats.checkpoint import Checkpoint, never, region_of
from inspector.formats.registry import open_checkpoint
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import join
from inspector.variables.tree import Branch, walk
from inspector.variables.value import Literal

CORPUS = Path(__file__).parent / "corpus"

_PREFIXES = (
    "orbax-",
    "nnx-",
    "msgpack-",
    "flaxlegacy-",
    "safetensors-",
    "npz-",
    "t5x-",
)

ITEMS = sorted(
    path.name
    for path in CORPUS.iterdir()
    if path.name.startswith(_PREFIXES) and (path / "truth.json").is_file()
)

_SUMS_APART = 1e-9


@dataclass(frozen=True)
class Difference:
    """One leaf that is not what the truth says."""

    path: str
    expected: str
    found: str


def truth_of(item: str) -> list[dict[str, Any]]:
    """Returns the leaves that an item is known to have."""
    content = json.loads((CORPUS / item / "truth.json").read_text())
    leaves = content["leaves"]
    assert isinstance(leaves, list)
    return leaves


def locators_of(item: str) -> Iterator[str]:
    """Yields places in an item at which its leaves may begin, outermost first."""
    data = CORPUS / item / "data"
    places = [data, *sorted(data.glob("*")), *sorted(data.glob("*/*"))]
    places += sorted(data.glob("v0_checkpoints/direct_checkpoint/*/*"))
    yield from (str(place) for place in places)


def open_at_truth(item: str) -> Checkpoint:
    """Opens the part of an item whose paths are those of the truth."""
    wanted = {leaf["path"] for leaf in truth_of(item)}
    tried: list[str] = []
    for locator in locators_of(item):
        for text in (locator, *_first_keys(locator)):
            try:
                checkpoint = open_checkpoint(text)
            except InspectorError as error:
                tried.append(str(error))
                continue
            found = {join(path) for path, _ in walk(checkpoint.tree)}
            if wanted <= found:
                return checkpoint
            tried.append(f"{text}: lacks {sorted(wanted - found)[:3]}")
            checkpoint.close()
    raise AssertionError("\n".join(tried))


def _first_keys(locator: str) -> list[str]:
    try:
        checkpoint = open_checkpoint(locator)
    except InspectorError:
        return []
    tree = checkpoint.tree
    checkpoint.close()
    keys = tree.children if isinstance(tree, Branch) else ()
    return [f"{locator}::{key}" for key in keys]


def differences(item: str, checkpoint: Checkpoint) -> list[Difference]:
    """Compares every leaf of an opened checkpoint with the truth."""
    leaves = {join(path): (path, leaf) for path, leaf in walk(checkpoint.tree)}
    found: list[Difference] = []
    for expected in truth_of(item):
        path, leaf = leaves[expected["path"]]
        seen = _seen(checkpoint, path, leaf, expected)
        wanted = {key: value for key, value in expected.items() if key != "path"}
        if not _same(wanted, seen):
            found.append(Difference(join(path), str(wanted), str(seen)))
    return found


def _seen(
    checkpoint: Checkpoint, path: Any, leaf: Leaf, expected: dict[str, Any]
) -> dict[str, Any]:
    """Describes a leaf in the words of the truth."""
    if leaf.kind is Kind.KEY:
        words = checkpoint.read(path, region_of(leaf.shape), never)
        described: dict[str, Any] = {"dtype": leaf.dtype, "shape": list(leaf.shape)}
        return {**described, "key_data": words.tolist()}
    if isinstance(leaf.value, Literal):
        return _seen_literal(leaf.value.value, expected)
    described = {"dtype": leaf.dtype, "shape": list(leaf.shape)}
    if expected.get("sum", ...) is None:
        return {**described, "sum": None}
    return {**described, "sum": _sum(checkpoint.blocks(path, never), leaf.dtype)}


def _seen_literal(value: Any, expected: dict[str, Any]) -> dict[str, Any]:
    if isinstance(value, complex) and "sum" in expected:
        # The truth has msgpack's native complex number as numpy converts it.
        return {"dtype": "complex128", "shape": [], "sum": [value.real, value.imag]}
    # The truth keeps the first bytes of a long bytes object.
    kept = len(expected["value"]) // 2 if isinstance(value, bytes) else 0
    text = value[:kept].hex() if isinstance(value, bytes) else value
    return {"python": type(value).__name__, "value": text}


def _sum(blocks: Iterator[np.ndarray], dtype: str) -> float | list[float]:
    total = 0j if dtype.startswith("complex") else 0.0
    for block in blocks:
        wide = np.complex128 if dtype.startswith("complex") else np.float64
        with np.errstate(invalid="ignore"):
            total += block.astype(wide).sum()
    if isinstance(total, complex):
        return [total.real, total.imag]
    return float(total)


def _same(expected: Any, found: Any) -> bool:
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(
            _same(expected[key], found[key]) for key in expected
        )
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(_same, expected, found))
    if isinstance(expected, float) and isinstance(found, float):
        if math.isnan(expected) or math.isnan(found):
            return math.isnan(expected) and math.isnan(found)
        return math.isclose(expected, found, rel_tol=_SUMS_APART, abs_tol=_SUMS_APART)
    return bool(expected == found)
