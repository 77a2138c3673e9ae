"""Whether an interpreter that the person chose can run their module.

`probe_python` asks it for versions before it is used: nothing is imported there and
no code of the person runs, beyond what their environment does at every start. Called
by the store, on a thread that may wait (0.1 s, at most 5 s).
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.engine.launch import clean_environment
from inspector.errors import EngineError

PROBE_TIMEOUT_S = 5.0
"""Time that an interpreter has to answer."""

OLDEST_PYTHON = (3, 11)
"""Our code is written for it, and ``python -P`` exists from it on."""

NEEDED: dict[str, tuple[str, str]] = {
    "jax": ("0.10", "0.11"),
    "flax": ("0.12.4", "0.13"),
}
"""Package -> (oldest version that works, first version that nobody has tried)."""

_ASKED = (
    *("jax", "jaxlib", "flax", "numpy", "msgpack", "ml_dtypes"),
    *("optax", "orbax-checkpoint"),
)

# The interpreter may be as old as Python 2, and the folder this runs in must offer
# no modules, so the first entry of its path goes before anything is imported.
_SCRIPT = """\
import sys
sys.path = [place for place in sys.path if place]
import json
result = {{"version": list(sys.version_info[:3]), "prefix": sys.prefix}}
if sys.version_info >= (3, 8):
    from importlib.metadata import PackageNotFoundError, version
    packages = {{}}
    for name in {names!r}:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            pass
    result["packages"] = packages
print({mark!r} + json.dumps(result))
"""
_MARK = "flax-inspector probe "


class ChoosePythonError(EngineError):
    """The chosen interpreter cannot run the model."""


@dataclass(frozen=True, slots=True)
class PythonInfo:
    """An interpreter that can run the model.

    Attributes:
        path: What runs it, as given.
        version: E.g. ``"3.11.7"``.
        prefix: Folder of its environment.
        packages: (package, version) of those that matter and are there.
        warnings: Sentences for a person, e.g. a version newer than the tested ones.
    """

    path: str
    version: str
    prefix: str
    packages: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...] = ()


def probe_python(path: str, timeout_s: float = PROBE_TIMEOUT_S) -> PythonInfo:
    """Asks an interpreter what it has.

    Args:
        path: File that starts it, e.g. ``".venv/bin/python"``; a name without a
            folder is looked up on ``PATH``.
        timeout_s: Time that it has.

    Raises:
        ChoosePythonError: It cannot be started, is no Python, is older than
            `OLDEST_PYTHON`, or lacks jax or flax (the hint has the pip command).
    """
    if Path(path).is_dir():
        raise ChoosePythonError(
            message="This is a folder, expected the file that starts Python.",
            where=path,
            hint="In a virtual environment it is bin/python.",
        )
    answer = _ask(path, timeout_s)
    version = tuple(int(part) for part in answer["version"])
    shown = ".".join(str(part) for part in version)
    if version[:2] < OLDEST_PYTHON:
        raise ChoosePythonError(
            message=f"This is Python {shown}; the model needs 3.11 or newer.",
            where=path,
            hint="Choose an environment with a newer Python.",
        )
    packages: dict[str, str] = answer["packages"]
    warnings = _judge(path, packages)
    return PythonInfo(
        path, shown, str(answer["prefix"]), tuple(packages.items()), tuple(warnings)
    )


def _ask(path: str, timeout_s: float) -> dict[str, Any]:
    script = _SCRIPT.format(names=_ASKED, mark=_MARK)
    try:
        done = subprocess.run(
            [path, "-c", script],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            env=clean_environment(),
            check=False,
        )
    except OSError as error:
        raise ChoosePythonError(
            message=f"This Python cannot be started: {error.strerror or error}.",
            where=path,
            hint="Choose the file that starts Python, e.g. .venv/bin/python.",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise ChoosePythonError(
            message=f"This Python did not answer within {timeout_s:g} s.",
            where=path,
            hint="Try to start it in a terminal.",
        ) from error
    for line in reversed(done.stdout.decode("utf-8", "replace").splitlines()):
        if line.startswith(_MARK):
            answer: dict[str, Any] = json.loads(line.removeprefix(_MARK))
            return answer
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    raise ChoosePythonError(
        message=f"This is no working Python (status {done.returncode})."
        + "".join(f" It said: {line:.200}" for line in last),
        where=path,
        hint="Choose the file that starts Python, e.g. .venv/bin/python.",
    )


def _judge(path: str, packages: dict[str, str]) -> list[str]:
    """Refuses what lacks a package or has an old one; warns of untried ones."""
    wanted = [
        f'"{name}>={oldest}"'
        for name, (oldest, _) in NEEDED.items()
        if name not in packages or _numbers(packages[name]) < _numbers(oldest)
    ]
    if wanted:
        found = ", ".join(
            f"{name} {packages.get(name, 'is missing')}" for name in NEEDED
        )
        raise ChoosePythonError(
            message=f"This Python cannot run a Flax module here: {found}.",
            where=path,
            hint=f"Install what is needed: {path} -m pip install {' '.join(wanted)}",
        )
    return [
        f"{name} {packages[name]} is newer than the versions this program was tested"
        f" with (below {untried})."
        for name, (_, untried) in NEEDED.items()
        if _numbers(packages[name]) >= _numbers(untried)
    ]


def _numbers(version: str) -> tuple[int, ...]:
    """Returns the release numbers of a version; a suffix does not count."""
    release = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in release[0].split(".")) if release else ()
