"""Writes a tree as a checkpoint file or folder that training code loads.

Owns the order of an export: plan, refuse, make room, write beside the target, force
to the disk, check, rename. Whatever happens before the rename, the old file, or
nothing, is there. The reader service calls `export_tree` on the thread of the
request; the formats are in `write_*`, the names on the disk in `export_place` and
`export_temp`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from inspector.errors import WriteFileError
from inspector.formats.checkpoint import Check
from inspector.formats.export_place import Place, find_place, format_of
from inspector.formats.export_temp import (
    clean,
    put_in_place,
    remove,
    sync_tree,
    temporary_name,
)
from inspector.formats.orbax_check import check_with_orbax
from inspector.formats.write_msgpack import MsgpackWriter
from inspector.formats.write_npz import NpzWriter
from inspector.formats.write_orbax import OrbaxWriter, write_record
from inspector.formats.write_orbax_records import STEP_ITEM, checkpoint_record
from inspector.formats.write_safetensors import SafetensorsWriter
from inspector.formats.write_sources import SourceFiles
from inspector.formats.write_stream import Job, LeafValues, Progress, WriteContext
from inspector.variables.path import TreePath
from inspector.variables.tree import Node, totals_of

Writer = MsgpackWriter | SafetensorsWriter | NpzWriter | OrbaxWriter
"""A planned export of any format."""

_WRITERS: dict[str, type[Writer]] = {
    writer.format: writer
    for writer in (MsgpackWriter, SafetensorsWriter, NpzWriter, OrbaxWriter)
}

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_COMMITTED = "commit_success.txt"


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What a person asked to export.

    Attributes:
        out: File or folder.
        format: ``"orbax"``, ``"msgpack"``, ``"safetensors"``, ``"npz"``, or empty to
            go by the suffix of ``out`` (none of these: a folder, and Orbax).
        lossy: Whether what the format cannot say may be lost.
        overwrite: Whether an existing export may be replaced.
        check: Whether plain Orbax reads an Orbax export before it is renamed.
        sources: Files and folders of open sources; never written to.
    """

    out: Path
    format: str = ""
    lossy: bool = False
    overwrite: bool = True
    check: bool = True
    sources: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """What an export has written.

    Attributes:
        out: The file or folder; a step's folder when a step was added.
        format: Its format.
        leaves: Leaves in it, empty nodes included.
        nbytes: Bytes on the disk.
        warnings: What was changed to make the tree fit, a sentence each.
    """

    out: Path
    format: str
    leaves: int
    nbytes: int
    warnings: tuple[str, ...]


def plan_export(tree: Node, format_name: str, *, lossy: bool) -> Writer:
    """Plans an export without touching the disk, e.g. for a dialog's size and losses.

    Raises:
        WriteFileError: The format cannot hold the tree; names the leaves.
        LossyExportError: It would lose something and ``lossy`` is False.
    """
    return _WRITERS[format_name](tree, lossy=lossy)


def export_tree(
    tree: Node,
    values: LeafValues,
    request: ExportRequest,
    progress: Progress,
    cancelled: Check,
) -> Written:
    """Writes a tree; the result appears at once and whole, or not at all.

    Args:
        tree: What to write.
        values: Gives the numbers of its leaves.
        request: Where and how.
        progress: Told (done bytes, total bytes, text); the check counts as well.
        cancelled: Asked at least every 8 MiB.

    Raises:
        UsageError: There is no such format.
        WriteFileError: It cannot be written; says why. The old one is in its place.
        LossyExportError: The format would lose something; names every path.
        ReadLeafError: A leaf cannot be read.
        CancelledError: The person cancelled.
    """
    format_name = format_of(request.out, request.format)
    writer = plan_export(tree, format_name, lossy=request.lossy)
    with _explained(request.out):
        place = find_place(
            request.out,
            format_name,
            overwrite=request.overwrite,
            sources=request.sources,
        )
        with _parents_of(place.path):
            with contextlib.suppress(OSError):
                clean(place.path.parent)
            _refuse_full_disk(place.path, writer.nbytes)
            temporary = temporary_name(place.path)
            export = _Export(writer, values, request, place, temporary)
            try:
                nbytes = export.run(progress, cancelled)
            finally:
                # After the rename nothing is there; on the way out of an error the
                # error matters more than a file that cannot be deleted.
                with contextlib.suppress(OSError):
                    remove(temporary)
    leaves = totals_of(writer.tree).leaves
    return Written(place.path, format_name, leaves, nbytes, tuple(writer.warnings))


@dataclass(frozen=True, slots=True)
class _Export:
    """One export on its way from the plan to the rename."""

    writer: Writer
    values: LeafValues
    request: ExportRequest
    place: Place
    temporary: Path

    def run(self, progress: Progress, cancelled: Check) -> int:
        """Writes, checks and renames; returns the bytes on the disk."""
        check = self.request.check and isinstance(self.writer, OrbaxWriter)
        numbers = totals_of(self.writer.tree).nbytes
        job = Job(self.writer.nbytes + check * numbers, progress, cancelled)
        digests: dict[TreePath, int] | None = {} if check else None
        with SourceFiles() as files:
            context = WriteContext(self.values, files, job, digests)
            if isinstance(self.writer, OrbaxWriter):
                self._write_folder(self.writer, context)
            else:
                self.writer.write(self.temporary, context)
                self._keep_mode()
        nbytes = _size_of(self.temporary)
        # What was planned and what was written differ by a few bytes of records.
        job.done = self.writer.nbytes
        if isinstance(self.writer, OrbaxWriter) and digests is not None:
            folder = self._tree_folder()
            check_with_orbax(folder, self.writer.leaves, digests, job)
        job.done = job.total
        job.advance(0, "Giving it its name")
        put_in_place(self.temporary, self.place.path)
        job.report()
        return nbytes

    def _tree_folder(self) -> Path:
        return self.temporary / STEP_ITEM if self.place.as_step else self.temporary

    def _write_folder(self, writer: OrbaxWriter, context: WriteContext) -> None:
        """Writes the tree, and around it what makes it a checkpoint or a step."""
        started_ns = time.time_ns()
        final = self.place.path
        if self.place.as_step:
            self.temporary.mkdir()
        writer.write(self._tree_folder(), context)
        handlers: str | dict[str, str] = writer.handler
        committed = {self.temporary: final}
        if self.place.as_step:
            handlers = {STEP_ITEM: writer.handler}
            committed[self._tree_folder()] = final / STEP_ITEM
        record = checkpoint_record(handlers, started_ns)
        write_record(self.temporary / "_CHECKPOINT_METADATA", record, context)
        for folder, name in committed.items():
            text = f"Checkpoint commit was successful to {name}"
            write_record(folder / _COMMITTED, text, context)
        sync_tree(self.temporary)

    def _keep_mode(self) -> None:
        """Gives the new file the permissions of the one it replaces."""
        if self.place.path.is_file():
            mode = stat.S_IMODE(self.place.path.stat().st_mode)
            self.temporary.chmod(mode)


@contextlib.contextmanager
def _explained(out: Path) -> Iterator[None]:
    """Turns what the system refuses into an error that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            problem = "The disk is full, or a quota or limit on file sizes is reached"
            hint = "Make room, or export to another disk."
        else:
            problem = f"The export cannot be written: {error.strerror or error}"
            hint = "Choose a place where you may write."
        raise WriteFileError(
            message=f"{problem}. What was there before is unchanged.",
            where=str(error.filename or out),
            hint=hint,
        ) from error


@contextlib.contextmanager
def _parents_of(path: Path) -> Iterator[None]:
    """Makes the folders above the export; takes them away again when it fails."""
    made: list[Path] = []
    for folder in reversed(path.parents):
        if not folder.exists():
            folder.mkdir()
            made.append(folder)
    try:
        yield
    except BaseException:
        for folder in reversed(made):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _refuse_full_disk(path: Path, nbytes: int) -> None:
    """Raises when the disk has no room for the export beside what is there.

    Raises:
        WriteFileError: It has less room than the plan needs.
    """
    free = shutil.disk_usage(path.parent).free
    if free < nbytes:
        raise WriteFileError(
            message=f"The export needs {nbytes:,} bytes, and the disk has {free:,} "
            "left.",
            where=str(path.parent),
            hint="Make room, or export to another disk.",
        )


def _size_of(path: Path) -> int:
    """Returns the bytes of a file, or of all files in a folder."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(
        (Path(place) / name).stat().st_size
        for place, _, names in os.walk(path)
        for name in names
    )
