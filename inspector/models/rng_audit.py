"""Who draws from which rng stream in a forward pass, and what is odd about it.

Flax falls back to the stream ``params`` without a word, ignores keys that nothing
draws from, and repeats numbers when it is handed a key twice. What is seen here while
a call is traced is said to the person. Model process, on the thread that runs the
person's code.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from jax.extend import core as jax_core

from inspector.engine.messages.running import Remark, RngUse
from inspector.models import compat
from inspector.models.explain import is_users
from inspector.models.user_code import is_library
from inspector.programs.key_reuse import reuses
from inspector.programs.source_lines import short
from inspector.variables.path import TreePath, join

Draw = tuple[TreePath, str, str]
"""Module path, stream asked for, stream used."""

_SHOWN = 3
"""Most modules that a sentence names."""


class DrawRecorder:
    """Counts draws; those of a loop's body, which is traced twice, once.

    JAX traces the body of ``scan`` first for its types and then for its program. Both
    times the person's lines are the same and the trace is another, so for every draw
    and every line the trace with the most draws counts.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        """Takes the folders whose files are the person's own."""
        self._roots = roots
        self._traces: list[object] = []
        self._counts: dict[tuple[Draw, tuple[tuple[str, int], ...], int], int] = {}

    def note(self, path: TreePath, stream: str, used: str) -> None:
        """Notes one draw."""
        key = ((path, stream, used), self._lines(), self._trace())
        self._counts[key] = self._counts.get(key, 0) + 1

    def uses(self) -> tuple[RngUse, ...]:
        """Returns the draws by module and stream, in order of the first draw."""
        most: dict[tuple[Draw, tuple[tuple[str, int], ...]], int] = {}
        for (draw, lines, _), count in self._counts.items():
            most[draw, lines] = max(count, most.get((draw, lines), 0))
        totals: dict[Draw, int] = {}
        for (draw, _), count in most.items():
            totals[draw] = totals.get(draw, 0) + count
        return tuple(RngUse(*draw, count) for draw, count in totals.items())

    def _trace(self) -> int:
        trace = compat.current_trace()
        for number, known in enumerate(self._traces):
            if known == trace:
                return number
        self._traces.append(trace)
        return len(self._traces) - 1

    def _lines(self) -> tuple[tuple[str, int], ...]:
        """Returns the person's lines on the stack, innermost first."""
        lines = []
        frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - inspect.stack reads source files
        while frame is not None:
            file = frame.f_code.co_filename
            if any(file.startswith(str(root)) for root in self._roots) and not (
                is_library(file)
            ):
                lines.append((file, frame.f_lineno))
            frame = frame.f_back
        return tuple(lines)


@contextmanager
def recorded(roots: Sequence[Path]) -> Iterator[DrawRecorder]:
    """Records the draws of Linen modules in the body."""
    recorder = DrawRecorder(roots)
    with compat.recorded_draws(recorder.note):
        yield recorder


def stream_remarks(
    uses: Sequence[RngUse], given: Mapping[str, int]
) -> tuple[Remark, ...]:
    """Returns what a person should know of the streams.

    Args:
        uses: Who drew what.
        given: Seeds that the person gave, by stream.
    """
    remarks = []
    used = {use.used for use in uses}
    for stream in given:
        if stream not in used:
            drawn = sorted({use.stream for use in uses})
            remarks.append(
                Remark(
                    "unused-stream",
                    f"Nothing draws from the rng stream “{stream}”, so its seed "
                    "changes nothing. Drawn from: "
                    + (", ".join(drawn) if drawn else "no stream at all")
                    + ".",
                )
            )
    fallen: dict[tuple[str, str], list[TreePath]] = {}
    for use in uses:
        if use.used != use.stream:
            fallen.setdefault((use.stream, use.used), []).append(use.path)
    for (stream, other), paths in fallen.items():
        remarks.append(
            Remark(
                "fallback-stream",
                f"{_names(paths)} asked for the rng stream “{stream}”, which has no "
                f"key, so Flax silently took the one of “{other}”. Give “{stream}” a "
                "seed of its own.",
                paths[0],
            )
        )
    return tuple(remarks)


def reuse_remarks(
    program: jax_core.ClosedJaxpr, roots: Sequence[Path]
) -> tuple[Remark, ...]:
    """Returns a sentence about each key that is consumed more than once.

    Keys that no line of the person's consumes are the business of a library.

    Args:
        program: The trace.
        roots: Folders whose files are the person's own.
    """
    found = []
    for reuse in reuses(program, lambda file: is_users(file, roots)):
        places = [short(place) for place in reuse.places if place]
        if not places:
            continue
        if reuse.is_loop:
            found.append(
                Remark(
                    "same-mask",
                    f"Every step of a loop consumes the same random key at {places[0]}"
                    ", so all steps draw the same numbers. Split the key for the "
                    "steps (nn.scan: split_rngs={stream: True}).",
                )
            )
            continue
        lines = " and ".join(dict.fromkeys(places))
        found.append(
            Remark(
                "key-reused",
                f"The same random key is consumed {len(reuse.places)} times, at "
                f"{lines}, so the same numbers are drawn again. Split it first.",
            )
        )
    return tuple(found)


def _names(paths: Sequence[TreePath]) -> str:
    shown = [join(path) or "The module itself" for path in paths[:_SHOWN]]
    more = len(paths) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
