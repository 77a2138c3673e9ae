"""Brings variables to where the model can map them, each leaf once.

The reader lays out what does not lie in a file as plain bytes; what it said is kept
by what the leaf is, so an edit costs the leaves that it changed. A tree gets a stamp:
equal stamps, equal variables. On the store's loop, the walks on its view workers.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from inspector.document.base import ModuleBase
from inspector.engine.messages import reading
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_initial import InitialValues
from inspector.engine.store_reader import ReaderSupervisor
from inspector.engine.store_sources import Sources
from inspector.engine.store_state import StoreState, TargetReplacedError
from inspector.engine.store_values import resolve_leaf
from inspector.engine.store_viewing import ViewWorkers
from inspector.errors import ReadFileError
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree, to_plain
from inspector.variables.tree import Node
from inspector.variables.value import Cast, Initial, Patched, Raw, Stored, innermost

LAYOUTS_KEPT = 4
"""Trees whose laid out leaves are kept, the newest."""

SHORT = 12
"""Characters of a stamp that a person is shown."""


class RunChangedSourceError(ReadFileError):
    """A source changed on disk since it was opened, and a run would read it."""

    def __init__(self, name: str, what: str) -> None:
        """Names the source and what changed."""
        super().__init__(
            f"The files of {name} have changed since it was opened: {what}",
            where=name,
            hint="Use the files as they are now, or bring the old ones back; then "
            "run again.",
        )


class LaidOutTree(NamedTuple):
    """Variables as the model takes them.

    Attributes:
        tree: Leaves valued `Raw`, `Literal` or `Unset`.
        stamp: Hex digest of what the variables are.
    """

    tree: PlainTree
    stamp: str

    @property
    def short(self) -> str:
        """The stamp as a person is shown it."""
        return self.stamp[:SHORT]


@dataclass(slots=True)
class _File:
    """One file that the reader wrote.

    Attributes:
        path: The file.
        stamps: The trees that have leaves in it.
    """

    path: Path
    stamps: set[str] = field(default_factory=set)


class Layouts:
    """Lays trees out; keeps where every leaf lies."""

    def __init__(
        self,
        state: StoreState,
        sources: Sources,
        reader: ReaderSupervisor,
        initial: InitialValues,
        *,
        workers: ViewWorkers,
        scratch: Path,
    ) -> None:
        """Takes its collaborators; the scratch folder exists."""
        self._state = state
        self._sources = sources
        self._reader = reader
        self._initial = initial
        self._workers = workers
        self._scratch = scratch
        self._places: dict[bytes, Raw] = {}
        self._files: dict[str, _File] = {}
        self._recent: OrderedDict[str, None] = OrderedDict()
        self._made = 0
        self._bases: list[tuple[object, str]] = []

    async def lay_out(self, tree: Node, progress: OnProgress) -> LaidOutTree:
        """Lays a tree of the document out, initial values made first.

        Args:
            tree: The target or (a part of) a source.
            progress: Told what is being done.

        Raises:
            RunChangedSourceError: A source that it reads has changed on disk.
            ModuleNotImportedError: Initial values are needed of a module that
                nobody agreed to run.
            TargetReplacedError: The base changed meanwhile.
            RemoteError: A leaf cannot be read, or scratch is full.
        """
        base, locators = self._state.document.base, self._state.locators()
        plain = await self._workers.run(lambda: to_plain(tree))
        used, needed = await self._workers.run(lambda: _needs(plain))
        marks = await self._marks(used)
        if needed:
            if self._state.document.base is not base:
                raise TargetReplacedError
            await self._initial.ensure(needed, progress)
        table = dict(self._initial.table)
        names = _Names(marks, self._base_name(base))
        digests = await self._workers.run(
            lambda: [names.digest(leaf) for _, leaf in plain.leaves]
        )
        missing: dict[bytes, tuple[TreePath, Leaf]] = {}
        for (path, leaf), digest in zip(plain.leaves, digests, strict=True):
            if digest in self._places or digest in missing or not leaf.dtype:
                continue
            resolved = resolve_leaf(leaf, locators, table)
            if isinstance(resolved.value, Raw):
                self._places[digest] = resolved.value
            else:
                missing[digest] = path, resolved
        stamp = await self._workers.run(lambda: _stamp(plain, digests))
        if missing:
            await self._ask(missing, progress)
        self._keep(stamp, digests)
        return LaidOutTree(self._placed(plain, digests), stamp)

    async def resolved(self, tree: PlainTree) -> PlainTree:
        """Returns leaves of the document as the reader can evaluate them now."""
        locators, table = self._state.locators(), dict(self._initial.table)
        leaves = tuple(
            (path, resolve_leaf(leaf, locators, table)) for path, leaf in tree.leaves
        )
        return PlainTree(leaves, tree.containers)

    async def _marks(self, used: set[str]) -> dict[str, str]:
        """Returns what is known of the files of the sources that a tree reads."""
        if not used:
            return {}
        await self._sources.recheck()
        marks = {}
        for source in sorted(used & set(self._state.source_ids())):
            info = self._state.info(source)
            if info.changed:
                raise RunChangedSourceError(info.name, info.changed)
            entry = self._state.document.sources.get(source).entry
            marks[source] = repr((entry.locator, entry.fingerprint))
        return marks

    def _base_name(self, base: object) -> str:
        """Returns a text for a base: another one for each time it was loaded.

        A module that is loaded again may import other files, so equal records do
        not make equal initial values.
        """
        for known, text in self._bases:
            if known is base:
                return text
        record = replace(base, tree=PlainTree()) if isinstance(base, ModuleBase) else ""
        digest = hashlib.sha256(repr(record).encode()).hexdigest()
        times = sum(text.startswith(digest) for _, text in self._bases)
        text = f"{digest}:{times}"
        self._bases.append((base, text))
        return text

    async def _ask(
        self, missing: Mapping[bytes, tuple[TreePath, Leaf]], progress: OnProgress
    ) -> None:
        self._made += 1
        file = self._scratch / f"layout-{self._made}.bin"
        leaves = tuple(missing.values())
        try:
            reply = await self._reader.ask(
                reading.LayOut(PlainTree(leaves), str(file)), progress
            )
        except BaseException:
            # A reader that was ended could not clear away what it had begun.
            file.unlink(missing_ok=True)
            raise
        assert isinstance(reply, reading.LaidOut)
        laid = dict(reply.tree.leaves)
        for digest, (path, _) in missing.items():
            value = laid[path].value
            if isinstance(value, Raw):
                self._places[digest] = value
        if file.exists():
            self._files[str(file)] = _File(file)

    def _placed(self, plain: PlainTree, digests: list[bytes]) -> PlainTree:
        leaves = []
        for (path, leaf), digest in zip(plain.leaves, digests, strict=True):
            place = self._places.get(digest)
            leaves.append((path, leaf if place is None else replace(leaf, value=place)))
        return PlainTree(tuple(leaves), plain.containers)

    def _keep(self, stamp: str, digests: list[bytes]) -> None:
        """Marks files as used by a tree, and drops those that none of late uses."""
        for digest in digests:
            place = self._places.get(digest)
            if place is not None and place.file in self._files:
                self._files[place.file].stamps.add(stamp)
        self._recent[stamp] = None
        self._recent.move_to_end(stamp)
        while len(self._recent) > LAYOUTS_KEPT:
            self._recent.popitem(last=False)
        alive = set(self._recent) | self._state.runs.pinned()
        for name, file in list(self._files.items()):
            if not file.stamps & alive:
                file.path.unlink(missing_ok=True)
                del self._files[name]
        gone = [
            digest
            for digest, raw in self._places.items()
            if raw.file.startswith(str(self._scratch / "layout-"))
            and raw.file not in self._files
        ]
        for digest in gone:
            del self._places[digest]


class _Names:
    """Tells values apart by what they are made of; reads none of them."""

    def __init__(self, marks: Mapping[str, str], base: str) -> None:
        """Takes what is known of the sources' files and the name of the base."""
        self._marks = marks
        self._base = base

    def digest(self, leaf: Leaf) -> bytes:
        """Returns the digest of a leaf; iterative, for patches may be many."""
        head = (str(leaf.kind), leaf.shape, leaf.dtype)
        made = hashlib.sha256(repr(head).encode())
        value = leaf.value
        while isinstance(value, Cast | Patched):
            made.update(repr(replace(value, of=_NOTHING)).encode())
            value = value.of
        text = repr(value)
        if isinstance(value, Stored):
            text += self._marks.get(value.source, "")
        elif isinstance(value, Initial):
            text += self._base
        made.update(text.encode())
        return made.digest()


_NOTHING = Initial(())


def _needs(plain: PlainTree) -> tuple[set[str], list[TreePath]]:
    """Returns the sources that a tree reads, and the initial values it needs."""
    used: set[str] = set()
    needed: list[TreePath] = []
    for _, leaf in plain.leaves:
        inner = innermost(leaf.value)
        if isinstance(inner, Stored):
            used.add(inner.source)
        elif isinstance(inner, Initial) and leaf.kind in {Kind.ARRAY, Kind.KEY}:
            needed.append(inner.path)
    return used, needed


def _stamp(plain: PlainTree, digests: list[bytes]) -> str:
    made = hashlib.sha256(repr(plain.containers).encode())
    for (path, _), digest in zip(plain.leaves, digests, strict=True):
        made.update(repr(path).encode())
        made.update(digest)
    return made.hexdigest()
