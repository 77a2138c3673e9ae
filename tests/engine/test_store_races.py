"""What the store does when two things happen at once, on collaborators of the test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from inspector.document.base import ModuleBase
from inspector.document.journal import Journal, read_operations
from inspector.document.recipe import Recipe
from inspector.document.recipe import save as save_recipe
from inspector.engine.messages import document, reading
from inspector.engine.messages.module import InitialMade, MakeInitial
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_initial import InitialValues
from inspector.engine.store_journal import SessionJournal
from inspector.engine.store_kept import KeptValues
from inspector.engine.store_kept_files import KeptFiles
from inspector.engine.store_model import ModelSupervisor
from inspector.engine.store_reader import ReaderSupervisor
from inspector.engine.store_recipes import Recipes
from inspector.engine.store_sources import Sources
from inspector.engine.store_state import StoreState, TargetReplacedError
from inspector.engine.store_target import Target
from inspector.engine.store_viewing import ViewWorkers
from inspector.errors import InspectorError
from inspector.variables.edit import Edit, FillLeaves
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree
from inspector.variables.tree import Branch
from inspector.variables.value import Stored

KERNEL: TreePath = ("params", "kernel")
BIAS: TreePath = ("params", "bias")


def module() -> ModuleBase:
    leaves = tuple((path, Leaf(Kind.ARRAY, (2,), "float32")) for path in (KERNEL, BIAS))
    return ModuleBase("m.py:M", "m.py", name="M", tree=PlainTree(leaves))


class FakeReader:
    """Lists any locator as a checkpoint of one leaf; answers when several have come."""

    def __init__(self, together: int = 1) -> None:
        self._missing = together
        self._all = asyncio.Event()

    async def ask(self, body: object, progress: OnProgress | None = None) -> object:
        del progress
        assert isinstance(body, reading.ListCheckpoint)
        self._missing -= 1
        if self._missing <= 0:
            self._all.set()
        await self._all.wait()
        stored = Leaf(Kind.ARRAY, (2,), "float32", Stored(body.locator, KERNEL))
        return reading.Listing(
            body.locator, body.locator, "npz", PlainTree(((KERNEL, stored),))
        )


class FakeModel:
    """Makes initial values when the test says so.

    Attributes:
        asked: Every request that came.
        go: Set by the test, to answer.
    """

    def __init__(self) -> None:
        self.asked: list[MakeInitial] = []
        self.go = asyncio.Event()

    async def ask(self, body: object, progress: OnProgress | None = None) -> object:
        del progress
        assert isinstance(body, MakeInitial)
        self.asked.append(body)
        Path(body.file).write_bytes(bytes(8))
        await self.go.wait()
        return InitialMade(body.file, ((KERNEL, 0, (2,), "float32"),))


class Parts:
    """A session's collaborators on fakes."""

    def __init__(self, tmp_path: Path, journal: Journal | None, together: int) -> None:
        self.state = StoreState()
        self.workers = ViewWorkers(self.state)
        self.model = FakeModel()
        self.journal = SessionJournal(journal, lambda _: None)
        model = cast("ModelSupervisor", self.model)
        reader = cast("ReaderSupervisor", FakeReader(together))
        self.sources = Sources(self.state, reader, self.workers, self.journal)
        self.target = Target(self.state, model, self.journal, self.workers)
        self.initial = InitialValues(self.state, model, tmp_path)
        kept = KeptFiles(KeptValues(tmp_path), reader)
        self.recipes = Recipes(
            self.state, self.sources, self.journal, kept, state_dir=tmp_path
        )

    async def open(self, locator: str) -> document.SourceInfo:
        info, _ = await self.sources.open(document.OpenSource(locator), _no_progress)
        return info

    def load(self, base: ModuleBase) -> None:
        self.state.document.set_base(base)
        self.state.module_loaded = True


def _no_progress(done: int, total: int, text: str) -> None:
    del done, total, text


Make = Callable[..., Parts]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Parts] = []

    def parts(journal: Journal | None = None, together: int = 1) -> Parts:
        made.append(Parts(tmp_path, journal, together))
        return made[-1]

    yield parts
    for one in made:
        one.workers.close()
        one.journal.close(keep=False)


def fill(number: float) -> Callable[[Branch], Edit]:
    return lambda _: FillLeaves((KERNEL,), number)


def test_sources_opened_at_once_have_ids_of_their_own(make: Make) -> None:
    async def scene() -> None:
        parts = make(together=5)
        infos = await asyncio.gather(*(parts.open(f"/run/{n}.npz") for n in range(5)))
        assert sorted(info.id for info in infos) == ["s1", "s2", "s3", "s4", "s5"]
        for info in infos:
            tree = parts.state.tree(info.id)
            assert isinstance(tree, Branch)
            leaf = cast("Branch", tree.children["params"]).children["kernel"]
            assert cast("Leaf", leaf).value == Stored(info.id, KERNEL)

    asyncio.run(scene())


def test_a_recipe_that_does_not_fit_changes_nothing_that_is_shown(
    make: Make, tmp_path: Path
) -> None:
    async def scene() -> None:
        parts = make()
        mine = await parts.open("/mine.npz")
        other = make()
        await other.open("/other.npz")
        theirs = other.state.document.recipe()
        path = tmp_path / "broken.json"
        absent = FillLeaves((("params", "absent"),), 1.0)
        save_recipe(Recipe(module(), theirs.sources, (absent,)), path)
        with pytest.raises(InspectorError, match="absent"):
            await parts.recipes.open(document.OpenRecipe(str(path)), _no_progress)
        assert parts.state.document_info().sources == (mine,)
        assert parts.state.document_info().recipe == ""

    asyncio.run(scene())


def test_edits_are_made_in_the_order_they_were_asked_for(make: Make) -> None:
    async def scene() -> None:
        parts = make()
        parts.load(module())
        await asyncio.gather(*(parts.target.apply(fill(n)) for n in range(8)))
        texts = parts.state.history().texts
        assert [text.rpartition(" ")[2] for text in texts] == [f"{n}" for n in range(8)]

    asyncio.run(scene())


def test_a_cancel_that_comes_after_the_edit_does_not_hide_it(
    make: Make, tmp_path: Path
) -> None:
    async def scene() -> None:
        journal = Journal.create(tmp_path)
        parts = make(journal)
        parts.load(module())
        task = asyncio.create_task(parts.target.apply(fill(1.0)))
        while not parts.state.document.history.position:
            await asyncio.sleep(0)
        task.cancel()
        changes = await task
        assert changes.count == 1
        (operation,) = read_operations(tmp_path, journal.folder.name)
        assert operation["op"] == "edit"

    asyncio.run(scene())


def test_two_who_need_the_same_initial_values_make_them_once(make: Make) -> None:
    async def scene() -> None:
        parts = make()
        parts.load(module())
        both = [asyncio.create_task(parts.initial.ensure([KERNEL])) for _ in range(2)]
        while not parts.model.asked:
            await asyncio.sleep(0)
        parts.model.go.set()
        await asyncio.gather(*both)
        assert len(parts.model.asked) == 1
        assert list(parts.initial.table) == [KERNEL]

    asyncio.run(scene())


def test_initial_values_of_a_target_that_is_gone_are_an_error(make: Make) -> None:
    async def scene() -> None:
        parts = make()
        parts.load(module())
        task = asyncio.create_task(parts.initial.ensure([KERNEL]))
        while not parts.model.asked:
            await asyncio.sleep(0)
        parts.load(module())
        parts.model.go.set()
        with pytest.raises(TargetReplacedError, match="changed while") as caught:
            await task
        assert caught.value.hint
        assert parts.initial.table == {}
        assert not Path(parts.model.asked[0].file).exists()

    asyncio.run(scene())


def test_cancelled_initial_values_leave_no_file(make: Make) -> None:
    async def scene() -> None:
        parts = make()
        parts.load(module())
        task = asyncio.create_task(parts.initial.ensure([KERNEL]))
        while not parts.model.asked:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not Path(parts.model.asked[0].file).exists()

    asyncio.run(scene())
