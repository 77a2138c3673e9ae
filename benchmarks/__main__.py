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

from benchmarks import (
    export,
    forward,
    hover,
    kill,
    match,
    memory,
    stall,
    stats,
    window,
)
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
    "forward": forward.run,
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
    loads: dict[str, float] = {}
    for name in arguments.names or list(BENCHMARKS):
        results[name] = []
        loads[name] = _load()
        try:
            _run(name, arguments, results[name])
        except Exception as error:
            traceback.print_exc()
            failed[name] = f"{type(error).__name__}: {error}"
    titles = {f"{name} (load {loads[name]:.1f})": results[name] for name in results}
    sys.stdout.write("\n" + table(titles))
    for name, reason in failed.items():
        sys.stdout.write(f"{name} failed: {reason}\n")
    if arguments.json:
        report = {
            "machine": machine,
            "quick": arguments.quick,
            "loads": loads,
            "figures": _figures(results),
            "failed": failed,
        }
        text = json.dumps(report)
        Path(arguments.json).write_text(text + "\n", encoding="utf-8")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measures the program."
    )
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        type=_name,
        help=f"which ones; by default all of: {', '.join(BENCHMARKS)}",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small data and few runs, to try them out"
    )
    parser.add_argument("--json", metavar="FILE", help="write all values there, too")
    parser.add_argument(
        "--folder", metavar="DIR", help="disk to measure on; 16 GB have to be free"
    )
    return parser


def _name(text: str) -> str:
    if text not in BENCHMARKS:
        message = f"there is no {text!r}, only {', '.join(BENCHMARKS)}"
        raise argparse.ArgumentTypeError(message)
    return text


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
    """Returns what a reader has to know of the machine."""
    return {
        "system": platform.platform(),
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 1e9:.0f} GB",
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


def _load() -> float:
    """Returns how many processes want a core just now; 0 where nobody tells."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def _figures(results: dict[str, list[Figure]]) -> list[dict[str, object]]:
    return [
        {"benchmark": name, **figure.to_json()}
        for name, found in results.items()
        for figure in found
    ]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
