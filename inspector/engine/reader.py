"""The reader process: everything that touches a foreign file.

Hostile files abort libraries and exhaust memory, so this process is limited in
memory and may be ended at any moment; every request says all that it needs. Three
worker threads answer, one of them always free for what a person waits for. Which
file ended a reader is the store's business.
"""

from __future__ import annotations

import faulthandler
import gc
import importlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from inspector.engine.connection import Connection, Job, PoolDispatcher
from inspector.engine.connection_dispatch import Handlers
from inspector.engine.messages.document import EngineStatus
from inspector.engine.messages.envelope import Done
from inspector.engine.messages.reading import (
    CompareTrees,
    DecodeImage,
    Exported,
    LayOut,
    LeafNumbers,
    LeafPicture,
    LeafStatistics,
    ListCheckpoint,
    Listing,
    StampFiles,
    WriteExport,
)
from inspector.engine.pipe import Pipes
from inspector.engine.reader_cache import CheckpointCache
from inspector.engine.reader_compare import compare_trees
from inspector.engine.reader_layout import lay_out
from inspector.engine.reader_limits import limit_memory
from inspector.engine.reader_listing import list_checkpoint, stamp_files
from inspector.engine.reader_numbers import LeafReader, leaf_numbers, leaf_statistics
from inspector.engine.reader_picture import leaf_picture
from inspector.formats.checkpoint import Checkpoint
from inspector.variables.plain import from_plain

WORKERS = 3
"""Threads that answer; numpy and tensorstore work outside of Python's lock."""

COLLECTOR_THRESHOLD = 100_000
"""Objects made before Python looks for cycles among them."""

SLOW = (ListCheckpoint, LeafStatistics, WriteExport, LayOut, CompareTrees, DecodeImage)
"""Requests that may take long; one worker is kept free of them."""

# Imported by the first request that needs them, and meanwhile while nothing else is
# to do: the process answers before the formats and their libraries are there.
_FORMATS = "inspector.formats.registry"
_VALUES = "inspector.formats.values"
_EXPORT = "inspector.formats.export"
_IMAGE = "inspector.engine.reader_image"

_Body = TypeVar("_Body")
_Answer = TypeVar("_Answer")


def serve(pipes: Pipes) -> NoReturn:
    """Runs the reader until its owner is gone; called on the main thread."""
    faulthandler.enable()
    limit_memory()
    # Listings are hundreds of thousands of objects without cycles.
    gc.set_threshold(COLLECTOR_THRESHOLD)
    connection = Connection("reader", pipes=pipes)
    dispatcher = PoolDispatcher(ReaderService().handlers(), WORKERS, slow=SLOW)
    connection.start(dispatcher)
    importlib.import_module(_FORMATS)
    importlib.import_module(_VALUES)
    connection.event(EngineStatus("reader", "ready"))
    connection.wait()


class ReaderService:
    """Answers the messages of `messages.reading`; shared by the worker threads."""

    def __init__(self, opener: Callable[[str], Checkpoint] | None = None) -> None:
        """Opens nothing yet.

        Args:
            opener: Opens a locator; None for the registry of formats.
        """
        self._checkpoints = CheckpointCache(opener or _open_checkpoint)

    def handlers(self) -> Handlers:
        """Returns who answers what."""
        return {
            ListCheckpoint: self._list,
            StampFiles: stamp_files,
            LeafStatistics: self._reading(leaf_statistics),
            LeafNumbers: self._reading(leaf_numbers),
            LeafPicture: self._reading(leaf_picture),
            WriteExport: self._export,
            LayOut: self._reading(lay_out),
            CompareTrees: self._reading(compare_trees),
            DecodeImage: _decode_image,
        }

    def close(self) -> None:
        """Closes every checkpoint that no request uses."""
        self._checkpoints.close()

    def _list(self, body: ListCheckpoint, job: Job) -> Listing:
        return list_checkpoint(body, job, self._checkpoints)

    def _reading(
        self, answer: Callable[[_Body, Job, LeafReader], _Answer]
    ) -> Callable[[_Body, Job], _Answer]:
        """Gives a handler the leaves' numbers, with checkpoints leased meanwhile."""

        def handler(body: _Body, job: Job) -> _Answer:
            with self._values() as values:
                return answer(body, job, values)

        return handler

    @contextmanager
    def _values(self) -> Iterator[Any]:
        with self._checkpoints.lease() as open_checkpoint:
            values = importlib.import_module(_VALUES).ValueReader(open_checkpoint)
            with closing(values):
                yield values

    def _export(self, body: WriteExport, job: Job) -> Exported:
        export = importlib.import_module(_EXPORT)
        request = export.ExportRequest(
            Path(body.out),
            body.format,
            lossy=body.lossy,
            overwrite=body.overwrite,
            sources=tuple(Path(source) for source in body.sources),
        )
        with self._values() as values:
            written = export.export_tree(
                from_plain(body.tree), values, request, job.progress, job.is_cancelled
            )
        return Exported(
            str(written.out),
            written.format,
            written.leaves,
            written.nbytes,
            tuple(written.warnings),
        )


def _decode_image(body: DecodeImage, job: Job) -> Done:
    done: Done = importlib.import_module(_IMAGE).decode_image(body, job)
    return done


def _open_checkpoint(locator: str) -> Checkpoint:
    checkpoint: Checkpoint = importlib.import_module(_FORMATS).open_checkpoint(locator)
    return checkpoint
