from __future__ import annotations

from pathlib import Path

import pytest

from inspector.errors import LossyExportError, WriteFileError
from inspector.formats.checkpoint import Checkpoint, never
from inspector.formats.export import ExportRequest, export_tree
from inspector.formats.registry import open_checkpoint
from inspector.formats.values import ValueReader
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath, join
from inspector.variables.tree import Branch, Node, walk
from tests.corpus_truth import ITEMS, open_at_truth

FORMATS = ("orbax", "msgpack", "safetensors", "npz")

LOSSY = {
    ("msgpack-flax0128-oddleaves", "orbax"): {"bytes", "native_complex", "zero"},
    ("msgpack-fusion-qlknn", "orbax"): {"config"},
    ("nnx-0102-manager-composite", "msgpack"): {"keys"},
    ("nnx-0128-lm-adamw-ocdbt", "msgpack"): {
        "model/blocks/0/drop/rngs/key/value",
        "model/blocks/1/drop/rngs/key/value",
    },
    ("orbax-0128-manager-trainstate", "msgpack"): {"rng"},
}
"""(item, format) -> leaves that the format cannot say: what --lossy changes."""

REFUSED = {
    ("msgpack-flax0128-oddleaves", "safetensors"): "int4: i4",
    ("orbax-0128-oddleaves-nonocdbt", "safetensors"): "int4: i4",
    ("orbax-0128-oddleaves-ocdbt", "safetensors"): "int4: i4",
} | {
    ("orbax-bonsai-unet-incomplete", name): "down1/conv/conv1/kernel/value"
    for name in FORMATS
}
"""(item, format) -> what the refusal names: dtypes the format lacks, bad leaves."""


def contents(checkpoint: Checkpoint) -> dict[TreePath, object]:
    return {
        path: content(checkpoint, path, leaf) for path, leaf in walk(checkpoint.tree)
    }


def content(checkpoint: Checkpoint, path: TreePath, leaf: Leaf) -> object:
    if leaf.kind in {Kind.ARRAY, Kind.KEY}:
        blocks = checkpoint.blocks(path, never)
        data = b"".join(block.tobytes() for block in blocks)
        return (leaf.kind, leaf.shape, leaf.dtype, data)
    return (leaf.kind, leaf.value)


def containers(tree: Node, prefix: TreePath = ()) -> dict[TreePath, str]:
    if isinstance(tree, Leaf):
        return {}
    assert isinstance(tree, Branch)
    found = {prefix: tree.container.value}
    for key, child in tree.children.items():
        found |= containers(child, (*prefix, key))
    return found


def write(checkpoint: Checkpoint, out: Path, format_name: str, *, lossy: bool) -> None:
    # That plain Orbax restores what is written has tests of its own
    # (test_write_orbax, test_export_check); here it would be asked 30 times.
    request = ExportRequest(out, format_name, lossy=lossy, check=False)
    values = ValueReader(lambda _: checkpoint)
    export_tree(checkpoint.tree, values, request, lambda *_: None, never)


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("item", ITEMS)
def test_no_bit_and_no_structure_changes(
    item: str, format_name: str, tmp_path: Path
) -> None:
    checkpoint = open_at_truth(item)
    out = tmp_path / "out"
    case = (item, format_name)
    if case in REFUSED:
        with pytest.raises(WriteFileError) as refused:
            write(checkpoint, out, format_name, lossy=True)
        assert REFUSED[case] in refused.value.message
        assert not out.exists()
        checkpoint.close()
        return
    changed = LOSSY.get(case, set())
    if changed:
        with pytest.raises(LossyExportError) as lossy:
            write(checkpoint, out, format_name, lossy=False)
        assert all(path in lossy.value.message for path in changed - {"zero"})
        assert not out.exists()
    write(checkpoint, out, format_name, lossy=bool(changed))
    again = open_checkpoint(str(out))
    before, after = contents(checkpoint), contents(again)
    assert {join(path) for path in before if before[path] != after.get(path)} == changed
    if not changed:
        assert before.keys() == after.keys()
        assert containers(checkpoint.tree) == containers(again.tree)
    checkpoint.close()
    again.close()
