"""Index files of weights that are spread over several files.

Hugging Face writes ``NAME.index.json`` beside ``NAME-00001-of-00003``: a map from
each weight's name to the file that holds it. Used by the msgpack and safetensors
readers and by whoever recognises files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from inspector.formats.faults import ReadFileDamagedError
from inspector.formats.safe_files import is_file, read_json

INDEX_SUFFIX = ".index.json"
_SHARD = re.compile(
    r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})(?P<suffix>\.\w+)$"
)


@dataclass(frozen=True, slots=True)
class ShardIndex:
    """What an index file says.

    Attributes:
        path: The index file.
        weights: Name of each weight -> name of the file that holds it.
        total_bytes: Bytes of all weights, 0 when it does not say.
    """

    path: Path
    weights: dict[str, str]
    total_bytes: int

    def files(self) -> list[Path]:
        """Returns the shards in the order of their names."""
        return [self.path.parent / name for name in sorted(set(self.weights.values()))]


def index_beside(shard: Path) -> Path | None:
    """Returns the index file that a shard's name points to, if it is there."""
    match = _SHARD.match(shard.name)
    if match is None:
        return None
    path = shard.with_name(f"{match['stem']}{match['suffix']}{INDEX_SUFFIX}")
    return path if is_file(path) else None


def is_shard(name: str) -> bool:
    """Returns whether a file's name is that of one shard among several."""
    return _SHARD.match(name) is not None


def read_index(path: Path) -> ShardIndex:
    """Reads an index file.

    Raises:
        ReadFileError: It is no JSON, has no ``weight_map``, or names files in other
            folders, which are never opened.
    """
    content = read_json(path)
    weights = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(weights, dict) or not weights:
        raise ReadFileDamagedError(path, problem="it has no weight_map")
    for name in weights.values():
        if (
            not isinstance(name, str)
            or name in {"", ".", ".."}
            or re.search(r"[/\\\0]", name)
        ):
            raise ReadFileDamagedError(path, problem=f"{name!r} is no file beside it")
    metadata = content.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    return ShardIndex(path, weights, total if isinstance(total, int) else 0)
