"""The values beside a recipe: ``NAME.values.safetensors`` next to ``NAME.json``.

A recipe holds decisions, never numbers; what its edits took from runs travels in this
file. The reader writes and reads it, as any checkpoint; here is only decided what is
in it. On the store's loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from inspector.engine.messages import reading
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_kept import KeptValues, nbytes_of
from inspector.engine.store_reader import ReaderSupervisor
from inspector.engine.store_values import kept_raw
from inspector.errors import InspectorError
from inspector.variables.edit import Edit, TakeValues
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.plain import PlainTree
from inspector.variables.value import Kept, Raw

SUFFIX = ".values.safetensors"
"""What the file is called after its recipe."""

_PLAIN = frozenset(
    [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "bfloat16",
        "float16",
        "float32",
        "float64",
    ]
)
"""Dtypes that are written as such; arrays of others as their bytes."""


def values_file(recipe: Path) -> Path:
    """Returns where the values of a recipe lie."""
    return recipe.with_name(recipe.name.removesuffix(".json") + SUFFIX)


def kept_in(edits: Iterable[Edit]) -> dict[str, Kept]:
    """Returns the kept values that edits need, by digest."""
    return {kept.digest: kept for kept in _kept(edits)}


def _kept(edits: Iterable[Edit]) -> Iterator[Kept]:
    for edit in edits:
        if isinstance(edit, TakeValues):
            for _, leaf in edit.values:
                if isinstance(leaf.value, Kept):
                    yield leaf.value


def _some(left: dict[str, Kept], needed: dict[str, Kept]) -> str:
    return f"{len(left):,} of {len(needed):,} values that were taken from runs"


class KeptFiles:
    """Writes and reads the values beside recipes."""

    def __init__(self, kept: KeptValues, reader: ReaderSupervisor) -> None:
        """Takes its collaborators."""
        self._kept = kept
        self._reader = reader

    async def write(self, edits: Iterable[Edit], recipe: Path) -> None:
        """Writes the values of a recipe beside it, atomically; nothing without any.

        Values that are not at hand are left out: the recipe said so when it was
        opened, and can still be saved.

        Raises:
            RemoteError: The file cannot be written.
        """
        needed = kept_in(edits)
        leaves = await asyncio.to_thread(self._leaves, needed)
        if leaves:
            out = str(values_file(recipe))
            tree = PlainTree(leaves)
            await self._reader.ask(reading.WriteExport(tree, out, "safetensors"))

    def _leaves(self, needed: dict[str, Kept]) -> tuple[tuple[tuple[str], Leaf], ...]:
        found = []
        for digest, kept in needed.items():
            if not self._kept.has(kept):
                continue
            raw = kept_raw(str(self._kept.folder), kept)
            if raw.dtype not in _PLAIN:
                raw = replace(raw, shape=(nbytes_of(kept),), dtype="uint8")
            found.append(((digest,), Leaf(Kind.ARRAY, raw.shape, raw.dtype, raw)))
        return tuple(found)

    async def read(
        self, edits: Iterable[Edit], recipe: Path, progress: OnProgress
    ) -> tuple[str, ...]:
        """Brings the values of a recipe into the folder of kept values.

        Args:
            edits: The recipe's edits.
            recipe: File that it was read from.
            progress: Told what is being done.

        Returns:
            A sentence when values are missing or damaged, for the person.
        """
        needed = kept_in(edits)
        absent = await asyncio.to_thread(self._absent, needed)
        file = values_file(recipe)
        if not absent:
            return ()
        why = ""
        if file.is_file():
            try:
                await self._bring(absent, file, progress)
            except InspectorError as error:
                why = f": {error.message}"
        left = await asyncio.to_thread(self._absent, absent)
        if not left:
            return ()
        there = "does not have them" if file.is_file() else "is missing"
        return (f"{_some(left, needed)} are not here, {file.name} {there}{why}",)

    async def missing(self, edits: Iterable[Edit]) -> tuple[str, ...]:
        """Returns a sentence when values that edits need are not at hand."""
        needed = kept_in(edits)
        left = await asyncio.to_thread(self._absent, needed)
        return (f"{_some(left, needed)} are gone",) if left else ()

    def _absent(self, needed: dict[str, Kept]) -> dict[str, Kept]:
        return {
            digest: one for digest, one in needed.items() if not self._kept.has(one)
        }

    async def _bring(
        self, absent: dict[str, Kept], file: Path, progress: OnProgress
    ) -> None:
        self._kept.folder.mkdir(parents=True, exist_ok=True)
        listing = await self._reader.ask(
            reading.ListCheckpoint(str(file), fresh=True), progress
        )
        assert isinstance(listing, reading.Listing)
        wanted = tuple(
            (path, leaf)
            for path, leaf in listing.tree.leaves
            if len(path) == 1 and path[0] in absent and not leaf.error
        )
        # Whatever is compressed or elsewhere would be copied here; nothing is.
        spare = self._kept.folder / f".{file.name}.tmp"
        laid = await self._reader.ask(
            reading.LayOut(PlainTree(wanted), str(spare)), progress
        )
        assert isinstance(laid, reading.LaidOut)
        try:
            await asyncio.to_thread(self._keep_all, absent, laid.tree)
        finally:
            spare.unlink(missing_ok=True)

    def _keep_all(self, absent: dict[str, Kept], laid: PlainTree) -> None:
        """Keeps what is found under its own digest: other bytes get another name."""
        for path, leaf in laid.leaves:
            kept = absent[str(path[0])]
            if isinstance(leaf.value, Raw) and nbytes_of(leaf.value) == nbytes_of(kept):
                self._kept.keep_now(
                    replace(leaf.value, shape=kept.shape, dtype=kept.dtype)
                )
