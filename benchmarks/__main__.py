"""Runs benchmarks and shows one table: ``python -m benchmarks [NAME …]``.

Started by ``make bench``. One benchmark after the other, each in a temporary folder
that is gone afterwards; one that fails is told and the others go on.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import psutil

from benchmarks import export, hover, kill, match, memory, stall, stats, window
from benchmarks.figures import Figure
from benchmarks.table import table
from benchmarks.workplace import Workplace

BENCHMARKS: dict[str, Callable[[Workplace], Iterator[Figure]]] = {
    "window": window.run,
    "stall": stall.run,
    "hover": hover.run,
    "match": match.run,
    "memory": memory.run,
    "stats": stats.run,
    "export": export.run,
    "kill": kill.run,
}
"""Name -> what measures it."""

_LIBRARIES = ("PySide6-Essentials", "jax", "flax", "orbax-checkpoint", "numpy")


def main(argv: list[str]) -> int:
    """Runs what is asked for.

    Returns:
        Exit status: 0 done, whatever was measured; 1 a benchmark failed; 2 usage.
    """
    arguments = _parser().parse_args(argv)
    # Where nobody may write bytecode, every start compiles the program anew; that is
    # not how a person's second start goes.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    machine = _machine()
    _say(", ".join(f"{name} {value}" for name, value in machine.items()))
    results: dict[str, list[Figure]] = {}
    failed: dict[str, str] = {}
    for name in arguments.names or list(BENCHMARKS):
        results[name] = []
        try:
            _run(name, arguments, results[name])
        except Exception as error:
            traceback.print_exc()
            failed[name] = f"{type(error).__name__}: {error}"
    sys.stdout.write("\n" + table(results))
    for name, reason in failed.items():
        sys.stdout.write(f"{name} failed: {reason}\n")
    if arguments.json:
        text = json.dumps(_report(machine, results, failed, quick=arguments.quick))
        Path(arguments.json).write_text(text + "\n", encoding="utf-8")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measures the program."
    )
    parser.add_argument(
        "names", metavar="NAME", nargs="*", choices=[*BENCHMARKS, []],
        help=f"which ones; by default all of: {', '.join(BENCHMARKS)}",
    )  # fmt: skip
    parser.add_argument(
        "--quick", action="store_true", help="small data and few runs, to try them out"
    )
    parser.add_argument("--json", metavar="FILE", help="write all values there, too")
    parser.add_argument(
        "--folder", metavar="DIR", help="disk to measure on; 16 GB have to be free"
    )
    return parser


def _run(name: str, arguments: argparse.Namespace, found: list[Figure]) -> None:
    start = time.perf_counter()
    folder = Path(tempfile.mkdtemp(prefix=f"benchmark-{name}-", dir=arguments.folder))
    _say(f"{name} …")
    try:
        place = Workplace(folder, arguments.quick, lambda text: _say(f"  {text}"))
        for figure in BENCHMARKS[name](place):
            found.append(figure)
            _say(f"  {figure.name}: {figure.median:.4g} {figure.unit}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _say(f"{name}: {time.perf_counter() - start:.0f} s")


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _machine() -> dict[str, str]:
    """Returns what a reader has to know of the machine and its load."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return {
        "system": platform.platform(),
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 1e9:.0f} GB",
        "load": f"{load:.1f}",
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


def _report(
    machine: dict[str, str],
    results: dict[str, list[Figure]],
    failed: dict[str, str],
    *,
    quick: bool,
) -> dict[str, object]:
    return {
        "machine": machine,
        "quick": quick,
        "figures": [
            {"benchmark": name, **figure.to_json()}
            for name, found in results.items()
            for figure in found
        ],
        "failed": failed,
    }


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
