"""The runs of this session: columns for `running.RunReport`.

When a run was made is known to the window alone, which saw it arrive.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from inspector.engine.messages.running import RunReport
from inspector.ui.models.record_table import Column
from inspector.ui.models.run_text import (
    details,
    duration,
    exact_duration,
    seeds,
)

UNKNOWN = "–"
"""What stands for the moment of a run that another window or session made."""


def _mode(report: RunReport) -> str:
    return report.call.mode or "–"


def runs_columns(moment_of: Callable[[int], float | None]) -> tuple[Column, ...]:
    """Returns the columns.

    Args:
        moment_of: Gives when a run arrived, in seconds since the epoch.
    """

    def when(report: RunReport) -> str:
        moment = moment_of(report.run)
        if moment is None:
            return UNKNOWN
        return time.strftime("%H:%M:%S", time.localtime(moment))

    def when_exact(report: RunReport) -> str:
        moment = moment_of(report.run)
        if moment is None:
            return UNKNOWN
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))

    return (
        Column("run", lambda report: str(report.run), width=48, look="number"),
        Column("when", when, when_exact, width=76, look="mono", rank=3),
        Column("call", lambda report: report.signature, details, look="mono"),
        Column("mode", _mode, width=56, rank=5),
        Column(
            "seeds", lambda report: seeds(report.seeds), width=120, look="mono", rank=4
        ),
        Column(
            "revision", lambda report: str(report.revision), width=68, look="number",
            rank=6,
        ),
        Column("device", lambda report: report.device, width=68, look="mono", rank=2),
        Column(
            "time",
            lambda report: duration(report.run_s),
            lambda report: exact_duration(report.run_s),
            width=76,
            look="number",
            rank=1,
        ),
    )  # fmt: skip
