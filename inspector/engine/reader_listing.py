"""Answers what is in a checkpoint and whether its files are still the same.

Handlers of the reader; each runs on one of its worker threads.
"""

from __future__ import annotations

from pathlib import Path

from inspector.engine.connection_job import Job
from inspector.engine.messages.reading import (
    ListCheckpoint,
    Listing,
    StampFiles,
    Stamps,
    StepInfo,
)
from inspector.engine.reader_cache import CheckpointCache
from inspector.engine.reader_digest import digest, stamp
from inspector.errors import UsageError
from inspector.formats.checkpoint import Checkpoint, stop_if
from inspector.formats.locator import parse_locator
from inspector.variables.plain import to_plain


def list_checkpoint(
    body: ListCheckpoint, job: Job, checkpoints: CheckpointCache
) -> Listing:
    """Opens a checkpoint from its metadata, and keeps it open for what follows.

    Raises:
        UsageError: A relative path came without the folder that it starts from.
        ReadFileError: Nothing is there, or no checkpoint.
    """
    if body.cwd and not Path(body.cwd).is_absolute():
        raise UsageError(
            message="A folder for relative paths must itself be absolute.",
            where=body.cwd,
        )
    locator = parse_locator(body.locator, Path(body.cwd) if body.cwd else None).text
    if body.fresh:
        checkpoints.forget(locator)
    with checkpoints.lease() as open_checkpoint:
        checkpoint = open_checkpoint(locator)
        checkpoints.rename(locator, checkpoint.locator)
        stop_if(job.is_cancelled)
        return _listing(checkpoint, job)


def _listing(checkpoint: Checkpoint, job: Job) -> Listing:
    tree = to_plain(checkpoint.tree)
    stamps = tuple(stamp(str(path)) for path in sorted(checkpoint.files()))
    stop_if(job.is_cancelled)
    return Listing(
        locator=checkpoint.locator,
        path=str(checkpoint.path),
        format=checkpoint.format,
        tree=tree,
        step=checkpoint.step or "",
        steps=tuple(
            StepInfo(step.name, step.number, step.incomplete)
            for step in checkpoint.steps
        ),
        warnings=tuple(checkpoint.warnings),
        incomplete=checkpoint.incomplete,
        stamps=stamps,
        digest=digest(checkpoint.path, tree, stamps),
    )


def stamp_files(body: StampFiles, _job: Job) -> Stamps:
    """Returns how files are now; one that is gone has size -1."""
    return Stamps(tuple(stamp(path) for path in body.paths))
