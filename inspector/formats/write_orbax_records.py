"""The JSON records of an Orbax checkpoint, as orbax-checkpoint 0.12.8 writes them.

Owns what stands in ``_METADATA``, ``_CHECKPOINT_METADATA``, ``array_metadatas``,
``_sharding`` and ``.zarray``, and the order and names of the leaves in them.
`write_orbax` calls it. Nothing here touches a file.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.tree import Container, Node

_HANDLERS = "orbax.checkpoint._src.handlers."
STANDARD_HANDLER = f"{_HANDLERS}standard_checkpoint_handler.StandardCheckpointHandler"
PYTREE_HANDLER = f"{_HANDLERS}pytree_checkpoint_handler.PyTreeCheckpointHandler"

STEP_ITEM = "default"
"""Name that CheckpointManager gives to the item of a single argument."""

EMPTY_TYPES = {
    Kind.NONE: "None",
    Kind.EMPTY_DICT: "Dict",
    Kind.EMPTY_LIST: "List",
    Kind.EMPTY_TUPLE: "Tuple",
}
"""Kinds that hold nothing -> Orbax's name of them."""

_DICT_KEY, _SEQUENCE_KEY = 2, 1

# Only random keys get a sharding record: without one plain Orbax refuses to restore
# them unless it is given a target. This one names no device; the mesh of -1 takes
# whatever devices there are (seen on one and on eight) and copies the key to each.
_ANY_DEVICES = json.dumps(
    {
        "sharding_type": "NamedSharding",
        "shape": [-1],
        "axis_names": ["device"],
        "partition_spec": [],
    }
)


@dataclass(frozen=True, slots=True)
class OrbaxLeaf:
    """One leaf with its name in Orbax.

    Attributes:
        path: Path in the written tree.
        sequence: For each key whether it is a position in a list.
        leaf: The leaf.
    """

    path: TreePath
    sequence: tuple[bool, ...]
    leaf: Leaf

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys as text, as Orbax records them."""
        return tuple(map(str, self.path))

    @property
    def name(self) -> str:
        """The joined name under which Orbax stores it."""
        return ".".join(self.keys)


def orbax_leaves(
    node: Node, path: TreePath, sequence: tuple[bool, ...]
) -> Iterator[OrbaxLeaf]:
    """Yields the leaves in the order in which JAX flattens the tree."""
    if isinstance(node, Leaf):
        yield OrbaxLeaf(path, sequence, node)
        return
    mapping = node.container is Container.DICT
    keys = sorted(node.children, key=str) if mapping else list(node.children)
    for key in keys:
        yield from orbax_leaves(
            node.children[key], (*path, key), (*sequence, not mapping)
        )


def stored_shape(leaf: Leaf) -> tuple[int, ...]:
    """Returns the shape of the stored array; a random key's words are its last axis."""
    if leaf.kind is Kind.KEY:
        return (*leaf.shape, dtypes.words_of(leaf.dtype))
    return leaf.shape


def stored_dtype(leaf: Leaf) -> str:
    """Returns the dtype of the stored array."""
    return "uint32" if leaf.kind is Kind.KEY else leaf.dtype


def checkpoint_record(handlers: str | dict[str, str], started_ns: int) -> str:
    """Returns the text of ``_CHECKPOINT_METADATA``.

    Args:
        handlers: The handler of the tree, or of each item of a step.
        started_ns: When the export began, nanoseconds since the epoch.
    """
    return json.dumps(
        {
            "item_handlers": handlers,
            "metrics": {},
            "performance_metrics": {},
            "init_timestamp_nsecs": started_ns,
            "commit_timestamp_nsecs": time.time_ns(),
            "custom_metadata": {},
        }
    )


@lru_cache(maxsize=256)
def zarr_record(shape: tuple[int, ...], chunks: tuple[int, ...], dtype: str) -> bytes:
    """Returns ``.zarray`` in the very form tensorstore writes it."""
    plain = dtypes.to_numpy(dtype)
    name = plain.newbyteorder("<").str if plain.isbuiltin == 1 else dtype
    record = {
        "chunks": chunks,
        "compressor": None,
        "dimension_separator": ".",
        "dtype": name,
        "fill_value": None,
        "filters": None,
        "order": "C",
        "shape": shape,
        "zarr_format": 2,
    }
    return json.dumps(record, separators=(",", ":")).encode()


def tree_record(leaves: list[OrbaxLeaf]) -> dict[str, object]:
    """Returns ``_METADATA``: every leaf by its keys, and how to read it."""
    return {
        "tree_metadata": {
            str(item.keys): {
                "key_metadata": [
                    {"key": key, "key_type": _SEQUENCE_KEY if position else _DICT_KEY}
                    for key, position in zip(item.keys, item.sequence, strict=True)
                ],
                "value_metadata": _value_record(item.leaf),
            }
            for item in leaves
        },
        "use_ocdbt": True,
        "use_zarr3": False,
        "store_array_data_equal_to_fill_value": True,
        "custom_metadata": None,
    }


def _value_record(leaf: Leaf) -> dict[str, object]:
    if leaf.kind in EMPTY_TYPES:
        return {"value_type": EMPTY_TYPES[leaf.kind], "skip_deserialize": True}
    if leaf.kind is Kind.KEY:
        shape = stored_shape(leaf)
        return {
            "value_type": "jax.Array",
            "skip_deserialize": False,
            "write_shape": shape,
        }
    kinds = {
        Kind.ARRAY: "np.ndarray",
        Kind.COMPLEX: "np.ndarray",
        Kind.BYTES: "np.ndarray",
        Kind.STR: "string",
    }
    return {
        "value_type": kinds.get(leaf.kind, "scalar"),
        "skip_deserialize": False,
    }


def key_record(keys: list[OrbaxLeaf]) -> dict[str, object]:
    """Returns ``array_metadatas``: which implementation each random key is of."""
    records: list[object] = []
    for item in keys:
        shape = stored_shape(item.leaf)
        implementation, _ = dtypes.KEY_IMPLEMENTATIONS[item.leaf.dtype]
        record = {
            "param_name": item.name,
            "write_shape": shape,
            "chunk_shape": shape,
            "ext_metadata": {"random_key_impl": implementation},
        }
        records.append({"array_metadata": record})
    return {"array_metadatas": records}


def sharding_record(keys: Iterable[OrbaxLeaf]) -> dict[str, str]:
    """Returns ``_sharding`` of random keys, by the encoded name of each."""
    return {
        base64.urlsafe_b64encode(item.name.encode()).decode(): _ANY_DEVICES
        for item in keys
    }
