"""Locks the dependencies and writes ``requirements/``: ``python -m tools.lock``.

Run by ``make lock`` and by ``tests/test_requirements.py``. ``pyproject.toml`` says
ranges, ``uv.lock`` is the truth, and the files in ``requirements/`` repeat it with
hashes for plain pip, which every machine has. With ``--upgrade`` every package moves
to its newest release within the ranges.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

INDEX = "https://pypi.org/simple"
"""Named always, so that a mirror configured on one machine is not locked for all."""

EXPORTS = {
    "run.txt": ("--no-dev",),
    "test.txt": ("--no-dev", "--group", "test"),
}
"""File in ``requirements/`` to the options of ``uv export`` that select it."""

HEADER = "# Exported from uv.lock by `make lock`; not edited by hand.\n"


def uv(*arguments: str, offline: bool = False) -> str:
    """Runs uv on this project and returns its standard output.

    Args:
        arguments: Command line after the program.
        offline: Whether it may not use the network.

    Raises:
        subprocess.CalledProcessError: It failed; ``stderr`` says why.
    """
    done = subprocess.run(
        [
            *(sys.executable, "-m", "uv", *arguments),
            *("--project", str(ROOT), "--python", sys.executable),
            *("--no-python-downloads", "--default-index", INDEX),
            *(["--offline"] if offline else []),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def check() -> None:
    """Proves, without the network, that ``uv.lock`` fits ``pyproject.toml``.

    Raises:
        subprocess.CalledProcessError: It does not; ``make lock`` is due.
    """
    uv("lock", "--check", offline=True)


def export(name: str) -> str:
    """Returns what a file of ``requirements/`` must hold; touches no network.

    Args:
        name: A key of `EXPORTS`.
    """
    text = uv(
        *("export", "--frozen", "--no-emit-project", "--no-header"),
        *("--format", "requirements.txt", *EXPORTS[name]),
        offline=True,
    )
    return HEADER + text


def main() -> int:
    """Locks and exports; returns the exit status."""
    parser = argparse.ArgumentParser(description="Lock the dependencies.")
    parser.add_argument("--upgrade", action="store_true", help="take newest releases")
    options = parser.parse_args()
    try:
        uv("lock", *(["--upgrade"] if options.upgrade else []))
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        return 1
    for name in EXPORTS:
        text = export(name)
        (ROOT / "requirements" / name).write_text(text, encoding="utf-8")
        print(f"requirements/{name}: {text.count('==')} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
