"""A child process that reads an export with plain Orbax and compares it.

Runs on our own interpreter, started by `orbax_check`; the only module that imports
Orbax. It restores the checkpoint in batches through Orbax's public interface, as
training code would, and compares every leaf with what the writer says it wrote. The
request comes as one msgpack object on stdin, answers go to stdout, length-prefixed.
The process ends by itself when stdin closes, so it never outlives its owner.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any

import google_crc32c
import msgpack
import numpy as np

from inspector.formats.write_stream import (
    PIECE_BYTES,
    canonical_bytes,
    little_endian_bytes,
)

_LENGTH = struct.Struct(">I")

_EMPTIES: Mapping[str, Any] = {"None": None, "Dict": {}, "List": [], "Tuple": ()}

EXIT_ORPHANED = 3
"""Exit status when the owner has gone."""


@dataclass(frozen=True, slots=True)
class _Expected:
    """One leaf as the writer wrote it.

    Attributes:
        keys: Keys from the root, lists' positions as integers.
        type: ``array``, ``key``, or ``object`` for anything compared by value.
        shape: Shape; of a random key without the words.
        dtype: JAX's name of the dtype.
        digest: CRC32C of its bytes.
        value: The object, or the implementation of a random key.
    """

    keys: tuple[str | int, ...]
    type: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    digest: int = 0
    value: Any = None


class _DifferenceError(Exception):
    """A restored leaf is not what was written."""

    def __init__(self, keys: tuple[str | int, ...], problem: str) -> None:
        super().__init__(problem)
        self.keys = keys
        self.problem = problem


def main() -> None:
    """Reads the request from stdin, checks, answers on stdout.

    Everything that Orbax and its libraries print goes to stderr.
    """
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb", buffering=0)
    (length,) = _LENGTH.unpack(_read_exactly(requests, _LENGTH.size))
    request = msgpack.unpackb(_read_exactly(requests, length), strict_map_key=False)
    threading.Thread(target=_end_with_owner, args=(requests,), daemon=True).start()

    def answer(**fields: object) -> None:
        data = msgpack.packb(fields)
        answers.write(_LENGTH.pack(len(data)) + data)

    try:
        check(request, lambda nbytes: answer(kind="progress", nbytes=nbytes))
    except _DifferenceError as error:
        answer(kind="different", keys=error.keys, message=error.problem)
    except Exception as error:
        answer(kind="failed", message=f"{type(error).__name__}: {error}"[:4000])
    else:
        answer(kind="equal")
    # Orbax's event loops complain when the interpreter tears them down in order.
    sys.stderr.flush()
    os._exit(0)


def _read_exactly(stream: IO[bytes], nbytes: int) -> bytes:
    data = b""
    while len(data) < nbytes:
        piece = stream.read(nbytes - len(data))
        if not piece:
            os._exit(EXIT_ORPHANED)
        data += piece
    return data


def _end_with_owner(stream: IO[bytes]) -> None:
    """Ends the process when the pipe closes, also from inside a restore."""
    while stream.read(1):
        pass
    os._exit(EXIT_ORPHANED)


def check(request: Mapping[str, Any], progress: Callable[[int], None]) -> None:
    """Restores the checkpoint batch by batch and compares it.

    Args:
        request: ``path`` of the tree's folder, ``leaves`` as `_Expected` fields,
            ``empties`` as [keys, ``"None" | "Dict" | "List" | "Tuple"``], and
            ``batches`` as lists of indices into ``leaves``.
        progress: Told the decoded bytes of each batch when it is compared.

    Raises:
        _DifferenceError: A leaf differs.
        Exception: Whatever Orbax raises.
    """
    # Importing Orbax takes a second and brings JAX; nothing above needs either.
    import orbax.checkpoint as ocp  # noqa: PLC0415 - only this process may

    leaves = [
        _Expected(tuple(keys), kind, tuple(shape), dtype, digest, value)
        for keys, kind, shape, dtype, digest, value in request["leaves"]
    ]
    path, empties, batches = request["path"], request["empties"], request["batches"]
    with ocp.PyTreeCheckpointer() as checkpointer:
        for batch in batches:
            chosen = [leaves[index] for index in batch]
            if len(batches) == 1:
                # As most people call it; it shows the structure that Orbax sees.
                restored = checkpointer.restore(path)
                _compare_structure(_structure(leaves, empties), restored, ())
            else:
                restored = _restore(checkpointer, path, leaves, chosen, empties)
            nbytes = 0
            for leaf in chosen:
                # Taken out of the tree, so that memory shrinks as the batch is read.
                nbytes += _compare(leaf, _take(restored, leaf.keys))
            del restored
            progress(nbytes)


def _restore(
    checkpointer: Any,
    path: str,
    leaves: Iterable[_Expected],
    chosen: Iterable[_Expected],
    empties: Iterable[tuple[list[str | int], str]],
) -> Any:
    """Restores some leaves; all others are Orbax's placeholder.

    The structure given is that of the whole tree, so Orbax itself refuses when the
    checkpoint's differs.
    """
    import orbax.checkpoint as ocp  # noqa: PLC0415 - only this process may

    as_saved = ocp.RestoreArgs()
    as_numpy = ocp.RestoreArgs(restore_type=np.ndarray)
    wanted = {leaf.keys for leaf in chosen}
    items: list[tuple[tuple[str | int, ...], Any]] = []
    arguments: list[tuple[tuple[str | int, ...], Any]] = []
    for leaf in leaves:
        items.append((leaf.keys, 0 if leaf.keys in wanted else ocp.PLACEHOLDER))
        arguments.append((leaf.keys, as_numpy if leaf.type == "array" else as_saved))
    for keys, name in empties:
        items.append((tuple(keys), _EMPTIES[name]))
        arguments.append((tuple(keys), _EMPTIES[name]))
    return checkpointer.restore(
        path,
        args=ocp.args.PyTreeRestore(item=_nest(items), restore_args=_nest(arguments)),
    )


def _structure(
    leaves: Iterable[_Expected], empties: Iterable[tuple[list[str | int], str]]
) -> Any:
    """Returns the expected tree with `_Expected` for its leaves."""
    items: list[tuple[tuple[str | int, ...], Any]] = [
        (leaf.keys, leaf) for leaf in leaves
    ]
    items += [(tuple(keys), _EMPTIES[name]) for keys, name in empties]
    return _nest(items)


def _compare_structure(expected: Any, found: Any, keys: tuple[str | int, ...]) -> None:
    """Compares containers, keys and empty nodes; leaves are compared elsewhere.

    Raises:
        _DifferenceError: They differ.
    """
    if isinstance(expected, _Expected):
        return
    if type(found) is not type(expected):
        raise _DifferenceError(keys, f"gives a {type(found).__name__}")
    if isinstance(expected, dict):
        if found.keys() != expected.keys():
            problem = f"gives the keys {sorted(found)}, not {sorted(expected)}"
            raise _DifferenceError(keys, problem[:1000])
        for key, child in expected.items():
            _compare_structure(child, found[key], (*keys, key))
    elif isinstance(expected, list):
        if len(found) != len(expected):
            problem = f"gives {len(found)} elements, not {len(expected)}"
            raise _DifferenceError(keys, problem)
        for position, child in enumerate(expected):
            _compare_structure(child, found[position], (*keys, position))


class _Level(dict[str | int, Any]):
    """A dict that `_nest` made; an empty ``{}`` of the tree is a plain one."""


def _nest(items: Iterable[tuple[tuple[str | int, ...], Any]]) -> Any:
    """Makes dicts and lists from (keys, value); integers are positions in a list."""
    root = _Level()
    for keys, value in items:
        level = root
        # One key more in front, so that a tree that is one leaf needs no case.
        for key in ("", *keys)[:-1]:
            level = level.setdefault(key, _Level())
        level[("", *keys)[-1]] = value
    return _freeze(root[""])


def _freeze(node: Any) -> Any:
    if not isinstance(node, _Level):
        return node
    if isinstance(next(iter(node)), int):
        return [_freeze(node[position]) for position in range(len(node))]
    return {key: _freeze(child) for key, child in node.items()}


def _take(tree: Any, keys: tuple[str | int, ...]) -> Any:
    """Returns a leaf, and drops it from the tree."""
    if not keys:
        return tree
    for key in keys[:-1]:
        tree = tree[key]
    found, tree[keys[-1]] = tree[keys[-1]], None
    return found


def _compare(leaf: _Expected, found: Any) -> int:
    """Compares a restored leaf with what was written; returns its bytes.

    Raises:
        _DifferenceError: They differ.
    """
    if leaf.type == "object":
        same = type(found) is type(leaf.value) and (
            found == leaf.value or (found != found and leaf.value != leaf.value)  # noqa: PLR0124 - NaN
        )
        if not same:
            raise _DifferenceError(
                leaf.keys, f"gives {found!r:.200}, not {leaf.value!r:.200}"
            )
        return 0
    return _compare_array(leaf, found)


def _compare_array(leaf: _Expected, found: Any) -> int:
    import jax  # noqa: PLC0415 - Orbax has imported it by now

    expected_type = np.ndarray if leaf.type == "array" else jax.Array
    if not isinstance(found, expected_type):
        raise _DifferenceError(leaf.keys, f"gives a {type(found).__name__}, no array")
    if (tuple(found.shape), str(found.dtype)) != (leaf.shape, leaf.dtype):
        raise _DifferenceError(
            leaf.keys,
            f"gives {found.dtype}{list(found.shape)}, not "
            f"{leaf.dtype}{list(leaf.shape)}",
        )
    if leaf.type == "key":
        if str(jax.random.key_impl(found)) != leaf.value:
            raise _DifferenceError(
                leaf.keys,
                f"gives a key of {jax.random.key_impl(found)}, not {leaf.value}",
            )
        found = np.asarray(jax.random.key_data(found))
    if _digest(found, leaf.dtype) != leaf.digest:
        raise _DifferenceError(leaf.keys, "gives other numbers than were written")
    return int(found.nbytes)


def _digest(array: Any, dtype: str) -> int:
    """Returns the CRC32C of an array's bytes, a piece at a time."""
    data = little_endian_bytes(array)
    digest = 0
    for start in range(0, len(data), PIECE_BYTES):
        piece = canonical_bytes(data[start : start + PIECE_BYTES], dtype)
        digest = google_crc32c.extend(digest, piece)
    return digest


if __name__ == "__main__":
    main()
