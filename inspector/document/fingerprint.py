"""Fingerprints of sources: whether somebody else changed the files since.

The reader looks at the files and makes the digest; the document keeps the
fingerprint, the recipe saves it, and the store compares. No file is touched
here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inspector.variables.strict import JsonObject


@dataclass(frozen=True, slots=True)
class FileMark:
    """What the file system says of one file.

    Attributes:
        path: Its path, relative to the checkpoint where it lies inside.
        size: Bytes.
        mtime_ns: Time of its last change, nanoseconds since the epoch.
    """

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The state of a source's files.

    Attributes:
        files: Its files, sorted by path.
        digest: Hex digest of the metadata and of sampled blocks; empty when it
            was not computed.
    """

    files: tuple[FileMark, ...] = ()
    digest: str = ""


def fingerprint(files: Iterable[tuple[str, int, int]], digest: str = "") -> Fingerprint:
    """Makes a fingerprint.

    Args:
        files: (path, size in bytes, time of change in nanoseconds), any order.
        digest: Digest of metadata and sampled blocks.
    """
    return Fingerprint(tuple(FileMark(*one) for one in sorted(files)), digest)


def changes(old: Fingerprint, new: Fingerprint) -> tuple[str, ...]:
    """Returns what changed between two fingerprints, a sentence each.

    Equal digests of both settle it: a copy or a checkout changes times alone.
    Without a digest, sizes and times decide.
    """
    before = {mark.path: mark for mark in old.files}
    after = {mark.path: mark for mark in new.files}
    found = [f"{path} is gone" for path in before if path not in after]
    found += [f"{path} is new" for path in after if path not in before]
    both_digests = bool(old.digest and new.digest)
    for path, mark in before.items():
        other = after.get(path)
        if other is None:
            continue
        if mark.size != other.size:
            found.append(f"{path} has {other.size:,} bytes, it had {mark.size:,}")
        elif mark.mtime_ns != other.mtime_ns and not both_digests:
            found.append(f"{path} was written again")
    if not found and both_digests and old.digest != new.digest:
        found.append("its contents changed")
    return tuple(found)


def fingerprint_to_json(mark: Fingerprint) -> dict[str, object]:
    """Returns a fingerprint as the recipe keeps it."""
    return {
        "digest": mark.digest,
        "files": [
            {"path": one.path, "size": one.size, "mtime_ns": one.mtime_ns}
            for one in mark.files
        ],
    }


def fingerprint_from_json(fields: JsonObject) -> Fingerprint:
    """Returns the fingerprint that `fingerprint_to_json` wrote.

    Raises:
        RecipeError: A field is missing, unknown or of the wrong type.
    """
    digest = fields.text("digest")
    files = []
    for item in fields.objects("files"):
        files.append(
            FileMark(item.text("path"), item.integer("size"), item.integer("mtime_ns"))
        )
        item.done()
    fields.done()
    return Fingerprint(tuple(files), digest)
