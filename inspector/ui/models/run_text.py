"""How a run reads in words: its times, memory, seeds, and its head line.

Plain functions of messages, called on the window's thread; no Qt.
"""

from __future__ import annotations

import math

from inspector.engine.messages.running import ProgramInfo, RunReport
from inspector.ui import format as fmt
from inspector.ui.viewers.ticks import statistic_text

_MILLI = 1e-3
_HUNDREDTH = 0.1
_DIGITS_BELOW = (10.0, 100.0)
_SEPARATOR = " · "


def duration(duration_s: float) -> str:
    """Returns a duration of a program: ``240 µs``, ``1.24 ms``, ``0.62 s``."""
    if duration_s < _MILLI:
        return f"{duration_s * 1e6:.0f} µs"
    if duration_s < _HUNDREDTH:
        number = duration_s * 1e3
        digits = sum(number < bound for bound in _DIGITS_BELOW)
        return f"{number:.{digits}f} ms"
    return fmt.seconds(duration_s)


def exact_duration(duration_s: float) -> str:
    """Returns a duration in full: ``0.001240 s``."""
    return f"{duration_s:.6f} s"


def difference(value: float | None) -> str:
    """Returns a difference in up to three digits; ``–`` where there is none."""
    if value is not None and math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return statistic_text(value)


def exact_number(value: float | None) -> str:
    """Returns a number as Python reads it back; empty where there is none."""
    return "" if value is None else repr(value)


def flops(number: float) -> str:
    """Returns floating-point operations: ``63.6 GFLOP``."""
    text = fmt.count(round(number))
    return f"{text}FLOP" if text[-1].isalpha() else f"{text} FLOP"


def seeds(pairs: tuple[tuple[str, int], ...]) -> str:
    """Returns seeds: ``dropout=1, params=0``; ``–`` for none."""
    return ", ".join(f"{stream}={seed}" for stream, seed in pairs) or "–"


def compiled(program: ProgramInfo) -> str:
    """Returns what compiling took, or that nothing was compiled."""
    if not program.made:
        return "compiled before"
    return f"compile {duration(program.trace_s + program.lower_s + program.compile_s)}"


def head(report: RunReport) -> str:
    """Returns a run in a line: the numbers first, the signature last."""
    program = report.program
    parts = [f"Run {report.run}", report.device, duration(report.run_s),
             compiled(program)]  # fmt: skip
    parts.append(f"transfer {duration(report.transfer_s)}")
    if peak := peak_bytes(report):
        parts.append(f"peak {fmt.size(peak)}")
    if program.flops:
        parts.append(flops(program.flops))
    parts += [report.signature, f"revision {report.revision}"]
    return _SEPARATOR.join(parts)


def peak_bytes(report: RunReport) -> int:
    """Returns the peak that the device tells, else that of the program, else 0."""
    return report.device_peak or report.program.peak_bytes or 0


def details(report: RunReport) -> str:
    """Returns everything about a run, exact numbers included, a line each."""
    program = report.program
    lines = [
        f"Run {report.run} of revision {report.revision}, variables {report.variables}",
        report.signature,
        f"device: {report.device}",
        f"run: {exact_duration(report.run_s)}",
        f"transfer to the device: {exact_duration(report.transfer_s)}",
    ]
    if program.made:
        lines += [
            f"trace: {exact_duration(program.trace_s)}",
            f"lower: {exact_duration(program.lower_s)}",
            f"compile (XLA): {exact_duration(program.compile_s)}",
        ]
    else:
        lines.append("the program was compiled by an earlier run")
    if program.peak_bytes is not None:
        lines.append(f"peak of the program: {fmt.exact_size(program.peak_bytes)}")
    if report.device_peak:
        lines.append(f"peak on the device: {fmt.exact_size(report.device_peak)}")
    if program.flops is not None:
        lines.append(f"operations: {program.flops:,.0f} FLOP")
    if program.bytes_accessed is not None:
        lines.append(f"memory traffic: {fmt.exact_size(round(program.bytes_accessed))}")
    if report.precision:
        lines.append(f"matmul precision: {report.precision}")
    if report.seeds:
        lines.append(f"seeds: {seeds(report.seeds)}")
    if report.mutable:
        lines.append(f"mutable: {', '.join(report.mutable)}")
    return "\n".join(lines)
