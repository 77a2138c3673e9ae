"""The lines of a journal: one operation each, with its number and a checksum.

A line is ``CRC32 as 8 hex digits, space, JSON, newline``; the JSON is
``[number, operation]``. Reading stops at the first line that is torn, damaged or
out of order: whatever byte a crash ended at, what comes out is a prefix of what
went in. No files are opened here.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping

Operation = dict[str, object]
"""Plain JSON; ``"op"`` names the kind, the rest belongs to the store."""

_PREFIX = 9


def encode(number: int, operation: Mapping[str, object]) -> bytes:
    """Returns the line of an operation.

    Args:
        number: Its number in the journal, from 0.
        operation: Plain JSON.
    """
    text = json.dumps([number, operation], separators=(",", ":"))
    body = text.encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(body), body)


def decode(data: bytes) -> tuple[list[Operation], int]:
    """Reads lines up to the first bad one.

    Returns:
        The operations, and the number of bytes their lines take.
    """
    operations: list[Operation] = []
    position = 0
    while True:
        end = data.find(b"\n", position)
        if end < 0:
            break
        operation = _operation(data[position:end], len(operations))
        if operation is None:
            break
        operations.append(operation)
        position = end + 1
    return operations, position


def _operation(line: bytes, number: int) -> Operation | None:
    body = line[_PREFIX:]
    if line[:_PREFIX] != b"%08x " % zlib.crc32(body):
        return None
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return None
    match parsed:
        case [int(found), dict(operation)] if found == number:
            return operation
    return None
