from __future__ import annotations

import asyncio
import hashlib
import os
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from inspector.document.document import Document
from inspector.document.journal import Journal
from inspector.engine.store_kept import (
    KeptValues,
    NothingToTakeError,
    UpdateAbsentError,
    UpdateNotKeptError,
)
from inspector.engine.store_kept_files import KeptFiles, values_file
from inspector.engine.store_values import KEPT, resolve_leaf
from inspector.formats.registry import open_checkpoint
from inspector.formats.values import ValueReader
from inspector.variables.edit import TakeValues
from inspector.variables.edit_json import edit_to_json
from inspector.variables.leaf import Kind, Leaf, Origin
from inspector.variables.tree import EMPTY, Branch, build, get
from inspector.variables.value import Kept, Literal, Raw
from tests.engine.in_process_reader import InProcessReader
from tests.engine.readers import raw_leaf

ARRAYS: dict[str, np.ndarray] = {
    "mean": np.asarray([1, 2, 3], np.float32),
    "half": np.asarray([0.5, 4], ml_dtypes.bfloat16),
    "wide": np.asarray([[1 + 2j]], np.complex128),
    "none": np.zeros((0, 2), np.float32),
}


def _updates(folder: Path) -> Branch:
    leaves = [
        (("batch_stats", name), raw_leaf(folder / name, array))
        for name, array in ARRAYS.items()
    ]
    (folder / "key").write_bytes(np.arange(4, dtype="<u4").tobytes())
    raw = Raw(str(folder / "key"), 0, (2, 2), "uint32")
    key = Leaf(Kind.KEY, (2,), "key<fry>", raw, variable="RngKey")
    rest = [(("rng",), key), (("step",), Leaf(Kind.INT, value=Literal(4)))]
    made = build([*leaves, *rest])
    assert isinstance(made, Branch)
    return made


def _take(kept: KeptValues, tmp_path: Path) -> TakeValues:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    edit = asyncio.run(kept.take_updates(_updates(scratch), (), 3))
    # What is kept does not need the run any more.
    for file in scratch.iterdir():
        file.unlink()
    return edit


def _numbers(target: Branch, kept: KeptValues, *path: str) -> np.ndarray:
    leaf = get(target, path)
    assert isinstance(leaf, Leaf)
    resolved = resolve_leaf(leaf, {KEPT: str(kept.folder)}, {})
    reader = ValueReader(open_checkpoint)
    return reader.read(resolved, tuple((0, n) for n in leaf.shape), lambda: False)


def test_updates_become_an_edit_that_outlives_the_run(tmp_path: Path) -> None:
    kept = KeptValues(tmp_path / "state")
    edit = _take(kept, tmp_path)
    assert edit.text == "Take 6 updates of run 3"
    document = Document()
    document.apply(edit)
    for name, array in ARRAYS.items():
        found = _numbers(document.target, kept, "batch_stats", name)
        assert found.tobytes() == array.tobytes()
    assert _numbers(document.target, kept, "rng").tolist() == [[0, 1], [2, 3]]
    assert dict(document.target.totals.origins) == {Origin.RUN: 5, Origin.EXACT: 1}
    assert dict(edit.values)["rng",].variable == "RngKey"
    document.undo()
    assert document.target == EMPTY


def test_some_updates_are_taken(tmp_path: Path) -> None:
    kept = KeptValues(tmp_path / "state")
    updates = _updates(tmp_path)
    edit = asyncio.run(kept.take_updates(updates, (("batch_stats", "mean"),), 1))
    assert edit.text == "Take 1 update of run 1"
    digest = hashlib.sha256(ARRAYS["mean"].tobytes()).hexdigest()
    assert dict(edit.values)["batch_stats", "mean"].value == Kept(
        digest, (3,), "float32"
    )
    assert kept.file_of(digest).read_bytes() == ARRAYS["mean"].tobytes()
    below = asyncio.run(kept.take_updates(updates, (("batch_stats",),), 1))
    assert len(below.values) == 4


def test_what_cannot_be_taken_is_said(tmp_path: Path) -> None:
    kept = KeptValues(tmp_path / "state")
    updates = _updates(tmp_path)
    with pytest.raises(UpdateAbsentError, match="did not update") as caught:
        asyncio.run(kept.take_updates(updates, (("x", "y"),), 2))
    assert caught.value.where == "x/y"
    with pytest.raises(NothingToTakeError, match="Run 2 updated no variables"):
        asyncio.run(kept.take_updates(EMPTY, (), 2))
    (tmp_path / "mean").write_bytes(b"short")
    with pytest.raises(UpdateNotKeptError, match="7 bytes are missing"):
        asyncio.run(kept.take_updates(updates, (), 2))
    assert not list(kept.folder.glob(".*"))


def test_a_recipe_takes_its_values_along(tmp_path: Path) -> None:
    kept = KeptValues(tmp_path / "state")
    edit = _take(kept, tmp_path)
    recipe = tmp_path / "net.json"
    reader = InProcessReader()
    asyncio.run(KeptFiles(kept, reader).write((edit,), recipe))
    assert values_file(recipe) == tmp_path / "net.values.safetensors"
    assert values_file(recipe).is_file()

    elsewhere = KeptValues(tmp_path / "other")
    notes = asyncio.run(
        KeptFiles(elsewhere, reader).read((edit,), recipe, lambda *_: None)
    )
    assert notes == ()
    document = Document()
    document.apply(edit)
    for name, array in ARRAYS.items():
        found = _numbers(document.target, elsewhere, "batch_stats", name)
        assert found.tobytes() == array.tobytes()
    # A second time nothing has to be read.
    reader.asked.clear()
    asyncio.run(KeptFiles(elsewhere, reader).read((edit,), recipe, lambda *_: None))
    assert reader.asked == []


def test_missing_and_damaged_values_are_said_and_do_not_stop(tmp_path: Path) -> None:
    kept = KeptValues(tmp_path / "state")
    edit = _take(kept, tmp_path)
    recipe = tmp_path / "net.json"
    reader = InProcessReader()
    elsewhere = KeptValues(tmp_path / "other")
    files = KeptFiles(elsewhere, reader)
    (missing,) = asyncio.run(files.read((edit,), recipe, lambda *_: None))
    assert missing == (
        "5 of 5 values that were taken from runs are not here, "
        "net.values.safetensors is missing"
    )
    assert asyncio.run(files.missing((edit,))) == (
        "5 of 5 values that were taken from runs are gone",
    )
    assert asyncio.run(KeptFiles(kept, reader).missing((edit,))) == ()
    # It can still be saved; what is not there is not written.
    asyncio.run(files.write((edit,), recipe))
    assert not values_file(recipe).exists()

    asyncio.run(KeptFiles(kept, reader).write((edit,), recipe))
    data = bytearray(values_file(recipe).read_bytes())
    at = data.index(ARRAYS["mean"].tobytes())
    data[at] ^= 1
    values_file(recipe).write_bytes(data)
    (damaged,) = asyncio.run(files.read((edit,), recipe, lambda *_: None))
    assert damaged.startswith("1 of 5 values that were taken from runs are not here")
    values_file(recipe).write_bytes(b"no checkpoint")
    (torn,) = asyncio.run(
        KeptFiles(KeptValues(tmp_path / "third"), reader).read(
            (edit,), recipe, lambda *_: None
        )
    )
    assert "does not have them: " in torn


def test_what_no_journal_names_goes_when_it_is_old(tmp_path: Path) -> None:
    kept = KeptValues(tmp_path)
    edit = _take(kept, tmp_path)
    digests = {
        path: leaf.value.digest
        for path, leaf in edit.values
        if isinstance(leaf.value, Kept)
    }
    needed = TakeValues(
        tuple(one for one in edit.values if one[0] == ("batch_stats", "mean")), ""
    )
    journal = Journal.create(tmp_path)
    journal.append({"op": "edit", "edit": edit_to_json(needed)}).result()
    kept.clear_away()
    assert len(list(kept.folder.iterdir())) == 5
    old = time.time() - 3 * 24 * 3600
    for path, digest in digests.items():
        if path != ("rng",):
            os.utime(kept.file_of(digest), (old, old))
    kept.clear_away()
    left = {digests["batch_stats", "mean"], digests["rng",]}
    assert {file.stem for file in kept.folder.iterdir()} == left
    journal.close(keep=False)
