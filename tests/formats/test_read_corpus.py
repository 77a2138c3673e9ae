from __future__ import annotations

import pytest

from inspector.formats.checkpoint import never, region_of
from inspector.formats.registry import open_checkpoint
from inspector.variables.leaf import Kind
from inspector.variables.path import join
from inspector.variables.tree import walk
from inspector.variables.value import Stored
from tests.corpus_truth import CORPUS, ITEMS, differences, open_at_truth, truth_of


@pytest.mark.parametrize("item", ITEMS)
def test_every_leaf_is_what_the_truth_says(item: str) -> None:
    checkpoint = open_at_truth(item)
    try:
        assert differences(item, checkpoint) == []
    finally:
        checkpoint.close()


@pytest.mark.parametrize("item", [item for item in ITEMS if "incomplete" not in item])
def test_whole_reads_agree_with_blocks_and_the_locator_opens_the_same(
    item: str,
) -> None:
    checkpoint = open_at_truth(item)
    again = open_checkpoint(checkpoint.locator)
    assert again.tree == checkpoint.tree
    for path, leaf in walk(checkpoint.tree):
        if leaf.kind is not Kind.ARRAY:
            continue
        assert leaf.value == Stored(checkpoint.locator, path)
        whole = checkpoint.read(path, region_of(leaf.shape), never)
        assert whole.shape == leaf.shape
        assert whole.dtype.name == leaf.dtype
        assert whole.dtype.isnative
        pieces = b"".join(block.tobytes() for block in again.blocks(path, never))
        assert pieces == whole.tobytes(), path
    checkpoint.close()
    again.close()


def test_incomplete_unet_names_each_leaf_whose_data_are_missing() -> None:
    checkpoint = open_checkpoint(str(CORPUS / "orbax-bonsai-unet-incomplete" / "data"))
    leaves = {join(path): leaf for path, leaf in walk(checkpoint.tree)}
    assert leaves.keys() == {
        leaf["path"] for leaf in truth_of("orbax-bonsai-unet-incomplete")
    }
    missing = [leaf for leaf in leaves.values() if leaf.error]
    assert len(missing) == 30
    assert all(
        leaf.error.startswith("The data file ocdbt.process_0/d/")
        and leaf.error.endswith(" is missing.")
        for leaf in missing
    )
    assert leaves["down1/conv/conv1/bias/value"].sharding == "cuda:0"


def test_t5x_folder_without_dot_files_lists_the_four_names() -> None:
    checkpoint = open_checkpoint(str(CORPUS / "orbax-t5x-tiny-nozarray" / "data"))
    errors = {join(path): leaf.error for path, leaf in walk(checkpoint.tree)}
    damaged = {path for path, error in errors.items() if error}
    assert damaged == {
        "_optimizer/state/param_states/bias",
        "_optimizer/state/param_states/kernel",
        "_optimizer/state/param_states/step",
        "_optimizer/state/step",
    }
    assert "cp -a" in errors["_optimizer/state/step"]


def test_compat_suite_every_variant_opens_or_says_what_is_missing() -> None:
    root = CORPUS / "orbax-compat-v0" / "data" / "v0_checkpoints"
    variants = sorted(root.glob("*/*/*"))
    assert len(variants) >= 20
    for variant in variants:
        checkpoint = open_checkpoint(str(variant))
        leaves = {
            join(path).removeprefix("state/"): leaf
            for path, leaf in walk(checkpoint.tree)
        }
        assert {"a", "b/c"} <= leaves.keys(), variant
        critical = "critical_metadata_alterations/missing_pytree_data" in str(variant)
        critical = critical and "non_critical" not in str(variant)
        assert bool(leaves["a"].error) is critical, variant
        if "missing_metadata" in variant.name:
            assert any("no _METADATA" in text for text in checkpoint.warnings)
        checkpoint.close()
