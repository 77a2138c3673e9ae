from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspector.document.base import ModuleBase
from inspector.document.fingerprint import fingerprint
from inspector.document.recipe import SourceEntry
from inspector.engine.messages import document, reading
from inspector.engine.store_layout import Layouts, RunChangedSourceError
from inspector.engine.store_state import StoreState
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree
from inspector.variables.tree import Branch, put
from inspector.variables.value import (
    Cast,
    Filled,
    Initial,
    Literal,
    Patched,
    Raw,
    Stored,
)


class FakeReader:
    """Lays everything out, and keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[TreePath, ...]] = []

    async def ask(self, body: object, progress: object = None) -> object:
        assert isinstance(body, reading.LayOut)
        self.asked.append(tuple(path for path, _ in body.tree.leaves))
        Path(body.file).write_bytes(b"numbers")
        leaves = []
        for number, (path, leaf) in enumerate(body.tree.leaves):
            raw = Raw(body.file, 64 * number, leaf.shape, leaf.dtype)
            leaves.append((path, replace(leaf, value=raw)))
        return reading.LaidOut(PlainTree(tuple(leaves)), 7)


class FakeSources:
    """Finds what the test says of the files."""

    def __init__(self, state: StoreState) -> None:
        self.state = state
        self.changed = ""

    async def recheck(self) -> None:
        for info in self.state.infos():
            self.state.set_info(replace(info, changed=self.changed))


class FakeInitial:
    """Makes every initial value in one file."""

    def __init__(self, scratch: Path) -> None:
        self.table: dict[TreePath, Raw] = {}
        self.scratch = scratch

    async def ensure(self, paths: list[TreePath], progress: object = None) -> None:
        for path in paths:
            self.table[path] = Raw(
                str(self.scratch / "initial-1.bin"), 0, (3,), "float32"
            )


class FakeWorkers:
    """Works on the spot."""

    async def run(self, work: Callable[[], Any]) -> Any:
        return work()


class Desk:
    """Layouts among fakes, and a target of three leaves."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.state = StoreState()
        entry = SourceEntry("s1", "/w.npz", "", "npz", "w", fingerprint((("w", 1, 2),)))
        stored = Leaf(Kind.ARRAY, (3,), "float32", Stored("s1", ("a",)))
        self.state.document.add_source(entry, Branch({"a": stored}))
        self.state.set_info(
            document.SourceInfo("s1", "w", "/w.npz", "/w.npz", "npz", 1, 3, 12)
        )
        self.reader = FakeReader()
        self.sources = FakeSources(self.state)
        sources: Any = self.sources
        reader: Any = self.reader
        initial: Any = FakeInitial(scratch)
        workers: Any = FakeWorkers()
        self.layouts = Layouts(
            self.state, sources, reader, initial, workers=workers, scratch=scratch
        )
        self.target = Branch(
            {
                "a": stored,
                "b": replace(stored, value=Initial(("b",))),
                "c": Leaf(Kind.INT, value=Literal(3)),
            }
        )

    def lay_out(self, tree: Branch) -> tuple[dict[TreePath, Leaf], str]:
        laid = asyncio.run(self.layouts.lay_out(tree, lambda *_: None))
        return dict(laid.tree.leaves), laid.stamp


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_equal_values_have_equal_stamps_and_are_laid_out_once(desk: Desk) -> None:
    leaves, stamp = desk.lay_out(desk.target)
    assert desk.reader.asked == [(("a",),)]
    assert leaves["a",].value == Raw(
        str(desk.scratch / "layout-1.bin"), 0, (3,), "float32"
    )
    assert leaves["b",].value == Raw(
        str(desk.scratch / "initial-1.bin"), 0, (3,), "float32"
    )
    assert leaves["c",].value == Literal(3)
    again, same = desk.lay_out(Branch(dict(desk.target.children)))
    assert (again, same) == (leaves, stamp)
    assert len(desk.reader.asked) == 1


def test_an_edit_costs_the_leaf_that_it_changed(desk: Desk) -> None:
    _, stamp = desk.lay_out(desk.target)
    filled = Leaf(Kind.ARRAY, (3,), "float32", Filled(2.0))
    _, edited = desk.lay_out(put(desk.target, ("b",), filled))
    assert edited != stamp
    assert desk.reader.asked[1:] == [(("b",),)]


def test_values_that_differ_deep_inside_have_other_stamps(desk: Desk) -> None:
    def patched(last: bytes) -> Leaf:
        value: Any = Stored("s1", ("a",))
        for number in range(3000):
            data = last if number == 1500 else b"abcd"
            value = Patched(value, (0,), (1,), data)
        return Leaf(Kind.ARRAY, (3,), "float16", Cast(value, "float32", "float16"))

    stamps = {
        desk.lay_out(Branch({"a": patched(data)}))[1]
        for data in (b"abcd", b"abce", b"abcd")
    }
    assert len(stamps) == 2


def test_a_base_that_is_loaded_again_has_other_initial_values(desk: Desk) -> None:
    base = ModuleBase(
        "net.py:Net", tree=PlainTree(((("b",), Leaf(Kind.ARRAY, (3,), "float32")),))
    )
    desk.state.document.set_base(base)
    _, first = desk.lay_out(desk.target)
    _, same = desk.lay_out(desk.target)
    desk.state.document.set_base(replace(base))
    _, again = desk.lay_out(desk.target)
    assert first == same != again


def test_a_source_that_changed_is_refused_where_it_is_read(desk: Desk) -> None:
    desk.sources.changed = "w.npz is 3 bytes longer"
    with pytest.raises(RunChangedSourceError, match="3 bytes longer"):
        desk.lay_out(desk.target)
    desk.lay_out(Branch({"b": desk.target.children["b"]}))


def test_files_that_no_late_tree_uses_are_removed(desk: Desk) -> None:
    for number in range(6):
        leaf = Leaf(Kind.ARRAY, (3,), "float32", Filled(float(number)))
        desk.lay_out(Branch({"a": leaf}))
    names = sorted(path.name for path in desk.scratch.iterdir())
    assert names == [f"layout-{number}.bin" for number in range(3, 7)]
    leaf = Leaf(Kind.ARRAY, (3,), "float32", Filled(0.0))
    leaves, _ = desk.lay_out(Branch({"a": leaf}))
    value = leaves["a",].value
    assert isinstance(value, Raw)
    assert Path(value.file).exists()
