"""Exports a source with the reader's code, without store and pipe.

A process of its own, so that its peak memory is that of the export; and so that an
Orbax export can leave out its check, which no message of the program can ask for.
Wanted: ``{"source", "out", "format", "check"}``. Tells ``seconds`` and, in bytes,
``peak`` and ``peak_of_children``.
"""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from benchmarks.children.speech import peak_bytes, tell, wanted
from inspector.formats.checkpoint import never
from inspector.formats.export import ExportRequest, export_tree
from inspector.formats.registry import open_checkpoint
from inspector.formats.values import ValueReader


def main() -> None:
    """Writes the export."""
    job = wanted()
    with (
        closing(open_checkpoint(job["source"])) as checkpoint,
        closing(ValueReader(lambda _: checkpoint)) as values,
    ):
        request = ExportRequest(Path(job["out"]), job["format"], check=job["check"])
        start = time.perf_counter()
        export_tree(checkpoint.tree, values, request, _ignore, never)
        seconds = time.perf_counter() - start
    tell(
        seconds=seconds,
        peak=peak_bytes(),
        peak_of_children=peak_bytes(of_children=True),
    )


def _ignore(_done: int, _total: int, _text: str) -> None:
    """Takes progress."""


if __name__ == "__main__":
    main()
