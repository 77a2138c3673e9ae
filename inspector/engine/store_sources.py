"""Opening, closing and watching sources.

The reader lists a checkpoint; the tree is built beside the loop; the document gets
it in one step. Whether somebody changed the files since is asked of the reader.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from inspector.document.fingerprint import Fingerprint, changes, fingerprint
from inspector.document.recipe import Recipe, SourceEntry, to_json
from inspector.engine.messages import document as messages
from inspector.engine.messages import reading
from inspector.engine.store_bounds import brief
from inspector.engine.store_ends import EndedReaderError
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_journal import SessionJournal
from inspector.engine.store_reader import ReaderSupervisor
from inspector.engine.store_state import StoreState
from inspector.engine.store_viewing import ViewWorkers
from inspector.errors import InspectorError, ReadFileError, RemoteError
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree, from_plain
from inspector.variables.tree import Node, totals_of
from inspector.variables.value import Stored

_PLAIN_NAMES = frozenset({"default", "state", "params", "checkpoint", "model"})
"""Names of folders that say nothing about which checkpoint it is."""


class ClosedSourceError(ReadFileError):
    """A source ended the reader before the session was restored."""

    def __init__(self, locator: str) -> None:
        """Names the source and says how it can be tried again."""
        super().__init__(
            "Reading this ended the reader in the earlier session, so it stays closed",
            where=locator,
            hint="Use the file as it is now, to try it again, or close it.",
        )


class Sources:
    """The sources of the document."""

    def __init__(
        self,
        state: StoreState,
        reader: ReaderSupervisor,
        workers: ViewWorkers,
        journal: SessionJournal,
    ) -> None:
        """Takes its collaborators."""
        self._state = state
        self._reader = reader
        self._workers = workers
        self._journal = journal

    async def open(
        self, body: messages.OpenSource, progress: OnProgress
    ) -> tuple[messages.SourceInfo, messages.Changes]:
        """Opens a checkpoint as a source.

        Raises:
            RemoteError: It cannot be read; says what, where and what to do.
        """
        listing = await self._list(body.locator, body.cwd, progress)
        source_id, tree = await self._new_tree(listing)
        document = self._state.document
        entry = SourceEntry(
            source_id,
            listing.path,
            _suffix(listing),
            listing.format,
            document.sources.unique_name(short_name(listing)),
            _fingerprint(listing),
        )
        change = document.add_source(entry, tree)
        info = _info(entry, listing, tree)
        self._state.set_info(info)
        await self.record(entry)
        return brief(info), self._state.changes(change)

    async def _new_tree(self, listing: reading.Listing) -> tuple[str, Node]:
        """Makes the tree of a new source; returns its id too."""
        while True:
            document = self._state.document
            source_id = document.sources.new_id()
            tree = await self._tree(listing, source_id)
            # A recipe or a session may have taken the document's place meanwhile.
            same = self._state.document is document
            if same and source_id not in document.sources:
                return source_id, tree

    async def record(self, entry: SourceEntry) -> None:
        """Journals a source, opened or read again."""
        title = self._state.title()
        await self._journal.record(
            lambda: {
                "op": "source",
                "recipe": to_json(Recipe(sources=(entry,))),
                "title": title,
            }
        )

    async def take(
        self, entry: SourceEntry, progress: OnProgress
    ) -> tuple[Node | None, messages.SourceInfo]:
        """Lists a recorded source again, for an opened recipe or a session.

        A source that ended the reader in the session that is restored comes back
        closed and says so; it is read again only when the person asks for it.
        Nothing is entered in the state, for the recipe may yet prove not to fit.

        Returns:
            Its tree, None when it cannot be read, and what is known of it, with the
            reason in ``incomplete``.
        """
        try:
            if entry.locator in self._state.culprits:
                raise ClosedSourceError(entry.locator)
            listing = await self._list(entry.locator, "", progress)
        except InspectorError as error:
            info = messages.SourceInfo(
                entry.id, entry.name, entry.locator, entry.path, entry.format, 0, 0, 0,
                incomplete=str(error),
            )  # fmt: skip
            return None, info
        tree = await self._tree(listing, entry.id)
        changed = "; ".join(changes(entry.fingerprint, _fingerprint(listing))[:3])
        return tree, replace(_info(entry, listing, tree), changed=changed)

    async def close(self, body: messages.CloseSource) -> messages.Changes:
        """Closes a source that nothing uses."""
        change = self._state.document.remove_source(body.source)
        await self._journal.record({"op": "close", "source": body.source})
        return self._state.changes(change)

    async def recheck(self) -> messages.DocumentInfo:
        """Compares the files of every source with what was opened."""
        for entry in [source.entry for source in self._state.document.sources]:
            changed = await self._changed(entry)
            # It may have been closed or read again while its files were looked at.
            now = self._state.document.sources
            if entry.id in now and now.get(entry.id).entry is entry:
                info = self._state.info(entry.id)
                self._state.set_info(replace(info, changed=changed))
        return self._state.document_info()

    async def accept(
        self, body: messages.AcceptSource, progress: OnProgress
    ) -> messages.Changes:
        """Takes a source as its files are now.

        Raises:
            TransferError: A leaf that edits use is gone or another.
            RemoteError: The files cannot be read.
        """
        self._state.info(body.source)
        entry = self._state.document.sources.get(body.source).entry
        listing = await self._list(entry.locator, "", progress, fresh=True)
        tree = await self._tree(listing, entry.id)
        entry = replace(entry, fingerprint=_fingerprint(listing))
        change = self._state.document.replace_source(entry, tree)
        self._state.set_info(_info(entry, listing, tree))
        await self.record(entry)
        return self._state.changes(change)

    async def _changed(self, entry: SourceEntry) -> str:
        """Says what changed in a source's files, empty when nothing did.

        Times alone prove nothing (a checkout touches every file), so where only
        they differ the contents are looked at again.
        """
        marks = entry.fingerprint.files
        if not marks:
            return ""
        reply = await self._reader.ask(
            reading.StampFiles(tuple(mark.path for mark in marks))
        )
        assert isinstance(reply, reading.Stamps)
        now = {stamp.path: (stamp.size, stamp.mtime_ns) for stamp in reply.stamps}
        if all(now.get(mark.path) == (mark.size, mark.mtime_ns) for mark in marks):
            return ""
        try:
            listing = await self._list(entry.locator, "", lambda *_: None, fresh=True)
        except RemoteError as error:
            return error.message
        return "; ".join(changes(entry.fingerprint, _fingerprint(listing))[:3])

    async def _list(
        self, locator: str, cwd: str, progress: OnProgress, *, fresh: bool = False
    ) -> reading.Listing:
        request = reading.ListCheckpoint(locator, cwd, fresh)
        try:
            reply = await self._reader.ask(request, progress)
        except EndedReaderError:
            await self.blame(locator)
            raise
        assert isinstance(reply, reading.Listing)
        return reply

    async def blame(self, locator: str) -> None:
        """Journals that reading a source ended the reader."""
        self._state.culprits.add(locator)
        await self._journal.record({"op": "culprit", "locator": locator})

    async def _tree(self, listing: reading.Listing, source_id: str) -> Node:
        return await self._workers.run(lambda: _label(listing.tree, source_id))


def _label(plain: PlainTree, source_id: str) -> Node:
    """Builds the tree with leaves that name the document's id of the source."""
    leaves: list[tuple[TreePath, Leaf]] = []
    for path, leaf in plain.leaves:
        value = leaf.value
        if isinstance(value, Stored):
            leaves.append((path, replace(leaf, value=Stored(source_id, value.path))))
        else:
            leaves.append((path, leaf))
    tree = from_plain(PlainTree(tuple(leaves), plain.containers))
    # Summed here, beside the loop, and kept by the branches.
    totals_of(tree)
    return tree


def _suffix(listing: reading.Listing) -> str:
    """What follows the path in the locator, ``@STEP`` and ``::KEY``."""
    locator = listing.locator
    return locator[len(listing.path) :] if locator.startswith(listing.path) else ""


def _fingerprint(listing: reading.Listing) -> Fingerprint:
    stamps = ((one.path, one.size, one.mtime_ns) for one in listing.stamps)
    return fingerprint(stamps, listing.digest)


def short_name(listing: reading.Listing) -> str:
    """Returns a short name for a person: the file's or folder's own.

    A step's number or a name such as ``default`` says little, so the folder above
    is put before it.
    """
    path = PurePath(listing.path)
    name = path.name or str(path)
    if name in _PLAIN_NAMES or name.isdigit():
        parent = path.parent
        while parent.name in _PLAIN_NAMES:
            parent = parent.parent
        if parent.name:
            name = f"{parent.name}/{name}"
    inner = listing.locator.rpartition("::")
    return f"{name}::{inner[2]}" if inner[1] else name


def _info(
    entry: SourceEntry, listing: reading.Listing, tree: Node
) -> messages.SourceInfo:
    totals = totals_of(tree)
    return messages.SourceInfo(
        entry.id,
        entry.name,
        listing.locator,
        listing.path,
        listing.format,
        totals.leaves,
        totals.parameters,
        totals.nbytes,
        listing.step,
        listing.steps,
        listing.warnings,
        listing.incomplete,
    )
