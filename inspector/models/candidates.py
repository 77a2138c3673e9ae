"""Inputs that a module may take, guessed from the shapes of its variables.

The first kernels say how wide the input is, an embedding table that it is made of
numbers of rows, position embeddings how long it is. Only guesses are made here; which
of them fit is found by `proposals`. Shapes only, no JAX.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath

MOST = 60
"""Most candidates that are worth a try."""

_SIDES = (28, 32, 64, 224, 96, 128, 256, 84, 299, 48, 56, 112, 160, 384, 512, 16, 8)
_LENGTHS = (16, 8, 32, 64, 128, 1)
_EXTENTS = (32, 16, 64, 128, 8)
"""Lengths of series, and sides of volumes."""

_LARGEST = 1024
_MATRIX, _PLANE, _CONVOLUTIONS = 2, 4, range(3, 6)
"""Axes of the kernels of matrices, of convolutions of pictures, of any convolution."""

_RGB, _COLOURS = 3, 4
_KERNELS = frozenset({"kernel", "weight", "weights", "w"})
_TABLES = frozenset({"embedding", "embeddings", "table"})
_HEAD_PARTS = frozenset({"query", "key", "value", "q", "k", "v"})
_IMAGE_WORDS = ("image", "img", "pixel", "picture", "frame", "photo")
_TOKEN_WORDS = ("token", "ids", "inputs_id", "input_id", "words", "text", "idx")
_TIME_WORDS = ("time", "timestep", "sigma", "noise_level")
_LABEL_WORDS = ("label", "class", "target", "cond")
_KEY_WORDS = ("key", "rng", "prng")
_MASK_WORDS = ("mask",)
_STATE_WORDS = ("carry", "hidden", "state")
_NUMBERS = {"int": "1", "float": "1.0"}
"""Annotation of a parameter that is one number -> its text."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the variables say about inputs, likeliest first.

    Attributes:
        widths: Last axis that a matrix takes.
        images: (spatial axes, channels) that a convolution takes.
        sides: Sides of pictures that the variables speak for.
        lengths: Lengths of sequences that they speak for.
        tables: Whether there are tables that are looked up by number.
    """

    widths: tuple[int, ...]
    images: tuple[tuple[int, int], ...]
    sides: tuple[int, ...]
    lengths: tuple[int, ...]
    tables: bool


def evidence_of(leaves: Sequence[tuple[TreePath, Leaf]]) -> Evidence:
    """Reads the evidence off the arrays of a tree."""
    arrays = [(path, leaf) for path, leaf in leaves if leaf.kind is Kind.ARRAY]
    kernels = [
        (path, leaf.shape) for path, leaf in arrays if _last(path) in _KERNELS
    ] or [(path, leaf.shape) for path, leaf in arrays if len(leaf.shape) > 1]
    images = _images(kernels)
    widths = [shape[0] for path, shape in kernels if _is_matrix(path, shape)]
    if not kernels:
        widths = [leaf.shape[0] for _, leaf in arrays if leaf.shape]
    tables = [
        (path, leaf.shape)
        for path, leaf in arrays
        if _last(path) in _TABLES and len(leaf.shape) == _MATRIX
    ]
    lengths = _lengths(arrays)
    sides = _sides(kernels, widths, lengths)
    words = any("pos" not in "/".join(map(str, path)).lower() for path, _ in tables)
    return Evidence(
        _unique(widths), _unique(images), _unique(sides), _unique(lengths), words
    )


def _last(path: TreePath) -> str:
    # NNX and Treex checkpoints end in `value`.
    names = [str(key) for key in path if str(key) not in {"value", "raw_value"}]
    return names[-1] if names else ""


def _is_matrix(path: TreePath, shape: tuple[int, ...]) -> bool:
    parent = str(path[-2]) if len(path) > 1 else ""
    heads = len(shape) == _MATRIX + 1 and parent in _HEAD_PARTS
    return len(shape) == _MATRIX or heads


def _images(
    kernels: Sequence[tuple[TreePath, tuple[int, ...]]],
) -> list[tuple[int, int]]:
    """Returns what convolutions take; those with few channels stand at the input."""
    found = [
        (len(shape) - 2, shape[-2])
        for path, shape in kernels
        if len(shape) in _CONVOLUTIONS and not _is_matrix(path, shape)
    ]
    return sorted(found, key=lambda one: (one[1] > _COLOURS, -one[0]))


def _lengths(arrays: Sequence[tuple[TreePath, Leaf]]) -> list[int]:
    found = []
    for path, leaf in arrays:
        text = "/".join(map(str, path)).lower()
        if "pos" in text and len(leaf.shape) >= _MATRIX:
            found.append(leaf.shape[-2])
    return [length for length in found if length > 1]


def _sides(
    kernels: Sequence[tuple[TreePath, tuple[int, ...]]],
    widths: Sequence[int],
    lengths: Sequence[int],
) -> list[int]:
    """Returns sides of pictures: from patches, and from what is left after pooling."""
    convolutions = [shape for _, shape in kernels if len(shape) == _PLANE]
    found = []
    for shape in convolutions[:2]:
        for length in lengths:
            for patches in (length, length - 1):
                side = math.isqrt(patches)
                if side > 1 and side * side == patches:
                    found.append(side * shape[0])
    # A matrix that takes just the channels of a convolution stands behind a mean over
    # the picture, whose side then does not matter.
    channels = {shape[-1] for shape in convolutions}
    for shape in convolutions:
        for width in [one for one in widths if one not in channels]:
            area, rest = divmod(width, shape[-1])
            side = math.isqrt(area)
            if rest == 0 and side > 1 and side * side == area:
                found += [side * 2**halvings for halvings in (2, 1, 3, 0, 4, 5)]
    return [side for side in found if side <= _LARGEST]


_T = TypeVar("_T")


def _unique(values: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(values))


def single(evidence: Evidence) -> list[str]:
    """Returns texts of one input about which nothing is known but the variables."""
    pictures = images(evidence)
    coloured = bool(evidence.images) and evidence.images[0][1] <= _COLOURS
    found = pictures if coloured else []
    if evidence.tables:
        found += tokens(evidence)
    found += pictures + vectors(evidence)
    found += [] if evidence.tables else tokens(evidence)
    return list(_unique(found))


def tokens(evidence: Evidence) -> list[str]:
    """Returns rows of numbers of a table, positions first."""
    lengths = _unique([_LENGTHS[0], *evidence.lengths, *_LENGTHS])
    return [f"int32[1,{length}]" for length in lengths[:6]] + ["int32[1]"]


def images(evidence: Evidence) -> list[str]:
    """Returns pictures, series and volumes; sides that are spoken for first."""
    found = []
    for axes, channels in evidence.images[:3]:
        photo = (224,) if channels == _RGB else ()
        sides: Sequence[int] = (*evidence.sides, *photo, *_SIDES)
        if axes != _PLANE - 2:
            sides = (*evidence.lengths, *_EXTENTS)
        for side in _unique(sides):
            extents = ",".join([str(side)] * axes)
            found.append(f"float32[1,{extents},{channels}]")
    return found[: MOST // 2] if len(evidence.images) > 1 else found


def vectors(evidence: Evidence) -> list[str]:
    """Returns vectors, and rows of them, of the widths of the first matrices."""
    found = []
    for width in evidence.widths[: MOST // 5]:
        found.append(f"float32[1,{width}]")
        length = evidence.lengths[0] if evidence.lengths else _LENGTHS[0]
        found.append(f"float32[1,{length},{width}]")
    return found


def for_parameter(name: str, hint: str, evidence: Evidence, alone: bool) -> list[str]:
    """Returns texts for one parameter, by its name and annotation where they tell.

    Args:
        name: Name of the parameter.
        hint: Text of its annotation.
        evidence: What the variables say.
        alone: Whether it is the only input.
    """
    words = name.lower()
    if hint in _NUMBERS:
        return [_NUMBERS[hint]]
    if any(word == words or words.endswith(f"_{word}") for word in _KEY_WORDS):
        return ["key<fry>[]"]
    if any(word in words for word in _TOKEN_WORDS):
        return [*tokens(evidence), *single(evidence)]
    if any(word in words for word in _IMAGE_WORDS) and evidence.images:
        return images(evidence)
    return single(evidence) if alone else _beside(words, evidence)


def _beside(words: str, evidence: Evidence) -> list[str]:
    """Returns texts for a parameter that stands beside others."""
    if words == "t" or any(word in words for word in _TIME_WORDS):
        return ["float32[1]", "int32[1]", "float32[1,1]", "float32[]"]
    if any(word in words for word in _LABEL_WORDS):
        return ["int32[1]", *vectors(evidence)[:4], "int32[1,1]"]
    if any(word in words for word in _MASK_WORDS):
        lengths = _unique([_LENGTHS[0], *evidence.lengths])[:2]
        rows = [f"bool[1,{length}]" for length in lengths]
        return rows + [f"bool[1,1,{length},{length}]" for length in lengths]
    if any(word in words for word in _STATE_WORDS):
        rows = [f"float32[1,{width}]" for width in evidence.widths[:4]]
        return [*rows, *(f"({row}, {row})" for row in rows)]
    pictures, rows = images(evidence), vectors(evidence)
    ids = tokens(evidence) if evidence.tables else []
    return [*pictures[:3], *rows[:4], *ids[:3], *pictures[3:], *rows[4:]]


def combined(choices: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Gives combinations of one text per input, those of the likeliest texts first."""
    if len(choices) == 1:
        yield from ((text,) for text in choices[0])
        return
    # As many for each that the whole stays small; the sum of ranks is the order.
    most = max(2, math.floor((4 * MOST) ** (1 / max(1, len(choices)))))
    ranked = [list(enumerate(texts[:most])) for texts in choices]
    whole = sorted(
        itertools.product(*ranked), key=lambda row: sum(rank for rank, _ in row)
    )
    yield from (tuple(text for _, text in row) for row in whole)
