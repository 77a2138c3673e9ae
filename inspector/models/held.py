"""Variables on their devices: kept for a few stamps, shared between them.

The store names the values of a document by a stamp and says only once what they are;
the arrays lie in files that are mapped, copied once, and then put on the device.
Two stamps that have a leaf in common (an edit of one leaf, a transfer of a head) share
its array. Lives in the model process, on the thread that runs the person's code.
"""

from __future__ import annotations

import math
import sys
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import jax
import numpy as np

from inspector.errors import EngineError, LoadModuleError
from inspector.models.raw_file import ALIGNMENT
from inspector.models.subject import Values
from inspector.variables import dtypes
from inspector.variables.leaf import EMPTY_KINDS, SCALAR_KINDS, Kind, Leaf
from inspector.variables.path import TreePath, join
from inspector.variables.plain import PlainTree
from inspector.variables.value import Literal, Raw, Scalar

KEPT = 4
"""Stamps that are kept on devices: two documents, each before and after an edit."""

_SHOWN = 5
"""Most paths that a message names."""


class VariablesNotHeldError(EngineError):
    """The model has no variables of that stamp; the store sends them again."""

    def __init__(self, stamp: str) -> None:
        """Names the stamp."""
        super().__init__("The model has not been given these variables.", where=stamp)


class VariablesUnsetError(LoadModuleError):
    """Leaves have no value, so nothing can be computed with them."""

    def __init__(self, paths: Sequence[TreePath]) -> None:
        """Names the first few leaves."""
        names = ", ".join(join(path) for path in paths[:_SHOWN])
        more = len(paths) - _SHOWN
        super().__init__(
            f"{len(paths)} of the variables have no value: {names}"
            + (f" and {more} more." if more > 0 else "."),
            where=join(paths[0]),
            hint="Fill them: from a checkpoint, with a number, or with the module's"
            " initial values.",
        )


class VariablesUnreadableError(LoadModuleError):
    """The file in which a leaf lies is not what it was."""

    def __init__(self, path: TreePath, raw: Raw, why: str) -> None:
        """Says which leaf, which file, and why."""
        super().__init__(
            f"{join(path)} cannot be read: {why}.",
            where=raw.file,
            hint="Open the checkpoint again; its file may have changed.",
        )


@dataclass(frozen=True, slots=True)
class OnDevice:
    """The variables of one stamp on one device.

    Attributes:
        values: Their values.
        transfer_s: Seconds it took to bring them there.
        narrowed: 64-bit leaves that JAX holds in 32 bits.
    """

    values: Values
    transfer_s: float
    narrowed: tuple[TreePath, ...] = ()


_PLAIN: OrderedDict[str, PlainTree] = OrderedDict()
_PLACED: OrderedDict[tuple[str, jax.Device], OnDevice] = OrderedDict()
_ARRAYS: WeakValueDictionary[Any, jax.Array] = WeakValueDictionary()
"""Every array that is on a device, by file, place, size, dtype and device."""


def hold(stamp: str, plain: PlainTree) -> None:
    """Remembers what the variables of a stamp are; reads nothing yet."""
    if _PLAIN.get(stamp) != plain:
        for key in [key for key in _PLACED if key[0] == stamp]:
            del _PLACED[key]
        _PLAIN[stamp] = plain
    _PLAIN.move_to_end(stamp)
    while len(_PLAIN) > 2 * KEPT:
        old, _ = _PLAIN.popitem(last=False)
        for key in [key for key in _PLACED if key[0] == old]:
            del _PLACED[key]


def is_held(stamp: str) -> bool:
    """Returns whether the model knows the variables of a stamp."""
    return stamp in _PLAIN


def held(stamp: str, device: jax.Device) -> OnDevice:
    """Returns the variables of a stamp on a device; ``transfer_s`` is 0 from then on.

    Raises:
        VariablesNotHeldError: They have not been sent.
        VariablesUnsetError: Some have no value.
        VariablesUnreadableError: The file of one is gone or too short.
    """
    plain = _PLAIN.get(stamp)
    if plain is None:
        raise VariablesNotHeldError(stamp)
    _PLAIN.move_to_end(stamp)
    key = (stamp, device)
    found = _PLACED.get(key)
    if found is not None:
        _PLACED.move_to_end(key)
        return OnDevice(found.values, 0.0, found.narrowed)
    # Room is made first: the old and the new together may not fit.
    while len(_PLACED) >= KEPT:
        _PLACED.popitem(last=False)
    _PLACED[key] = placed(plain, device)
    return _PLACED[key]


def release() -> None:
    """Lets go of every variable, as when memory is short."""
    _PLAIN.clear()
    _PLACED.clear()


def placed(plain: PlainTree, device: jax.Device) -> OnDevice:
    """Puts the values of a tree on a device.

    Raises:
        VariablesUnsetError: Some leaves have no value.
        VariablesUnreadableError: A file is gone or too short.
    """
    unset = [path for path, leaf in plain.leaves if not _has_value(leaf)]
    if unset:
        raise VariablesUnsetError(unset)
    start = time.perf_counter()
    scalars: dict[TreePath, Scalar] = {}
    empties: dict[TreePath, Kind] = {}
    lying: dict[TreePath, tuple[Leaf, Raw]] = {}
    for path, leaf in plain.leaves:
        if isinstance(leaf.value, Raw):
            lying[path] = (leaf, leaf.value)
        elif leaf.kind in EMPTY_KINDS:
            empties[path] = leaf.kind
        elif isinstance(leaf.value, Literal) and leaf.kind in SCALAR_KINDS:
            scalars[path] = leaf.value.value
    arrays = _arrays(lying, device)
    # Transfers run beside Python; the time is told when the last one is there.
    ready: Any = jax.block_until_ready
    ready(list(arrays.values()))
    seconds = time.perf_counter() - start
    narrowed = tuple(
        path
        for path, (leaf, _) in lying.items()
        if leaf.kind is Kind.ARRAY and str(arrays[path].dtype) != leaf.dtype
    )
    values = Values(arrays, scalars, empties, dict(plain.containers))
    return OnDevice(values, seconds, narrowed)


def _has_value(leaf: Leaf) -> bool:
    """Returns whether a leaf can be built; what has no value to have counts as such."""
    if leaf.kind in {Kind.ARRAY, Kind.KEY}:
        return isinstance(leaf.value, Raw)
    return leaf.kind not in SCALAR_KINDS or isinstance(leaf.value, Literal)


def _arrays(
    lying: dict[TreePath, tuple[Leaf, Raw]], device: jax.Device
) -> dict[TreePath, jax.Array]:
    """Returns the arrays by path; those on the device already are used again."""
    found: dict[TreePath, jax.Array] = {}
    missing: dict[Any, list[TreePath]] = {}
    stamps = _file_stamps(raw.file for _, raw in lying.values())
    for path, (leaf, raw) in lying.items():
        name = (raw, stamps[raw.file], leaf.kind, leaf.dtype, device)
        array = _ARRAYS.get(name)
        if array is None:
            missing.setdefault(name, []).append(path)
        else:
            found[path] = array
    for name, paths in missing.items():
        # One by one: the copy of one array on the host is the most that is alive.
        leaf, raw = lying[paths[0]]
        array = jax.device_put(read(paths[0], raw), device)
        if leaf.kind is Kind.KEY:
            implementation = dtypes.KEY_IMPLEMENTATIONS[leaf.dtype][0]
            array = jax.random.wrap_key_data(array, impl=implementation)
        _ARRAYS[name] = array
        found.update(dict.fromkeys(paths, array))
    return {path: found[path] for path in lying}


def _file_stamps(files: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Returns size and modification time of files; (-1, 0) of one that is gone."""
    stamps: dict[str, tuple[int, int]] = {}
    for file in files:
        if file not in stamps:
            try:
                status = Path(file).stat()
                stamps[file] = (status.st_size, status.st_mtime_ns)
            except OSError:
                stamps[file] = (-1, 0)
    return stamps


def read(path: TreePath, raw: Raw) -> np.ndarray:
    """Reads an array of a file into memory of its own.

    JAX on a CPU takes aligned memory over as it is. A mapped file would be taken
    over too, and whoever wrote to the file would change the variables, so the bytes
    are copied, once, to where no second copy is needed.

    Raises:
        VariablesUnreadableError: The file is gone or too short.
    """
    dtype = dtypes.to_numpy(raw.dtype)
    nbytes = math.prod(raw.shape) * dtype.itemsize
    block = np.empty(nbytes + ALIGNMENT, np.uint8)
    first = -block.ctypes.data % ALIGNMENT
    array = block[first : first + nbytes]
    if nbytes:
        try:
            array[:] = np.memmap(raw.file, np.uint8, "r", raw.offset, (nbytes,))
        except (OSError, ValueError) as error:
            raise VariablesUnreadableError(path, raw, str(error)) from error
    found = array.view(dtype).reshape(raw.shape)
    return found.byteswap() if sys.byteorder == "big" else found
