"""What the person last chose for each module, and which interpreters there are.

Kept in the settings file of the state folder; the module dialog reads and writes it.
Nothing here imports or runs anything of the person's.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

from PySide6.QtCore import QSettings

from inspector.engine.messages.module import ModuleSpec

_GROUP = "modules"
_RECENT_KEY = "recentModules"
_MOST_RECENT = 12
_LOOK_UP_LEVELS = 4

_VENV_FOLDERS = (".venv", "venv", "env")
_PYTHONS = ("bin/python", "Scripts/python.exe")


def _key(spec: str) -> str:
    # Paths hold slashes and colons, which QSettings gives a meaning.
    return f"{_GROUP}/{hashlib.sha256(spec.encode()).hexdigest()[:24]}"


def remember(settings: QSettings, module: ModuleSpec, python: str) -> None:
    """Stores how a module was loaded, under its spec, and puts it first."""
    settings.setValue(
        _key(module.spec), json.dumps({"module": asdict(module), "python": python})
    )
    recent = [spec for spec in recent_specs(settings) if spec != module.spec]
    settings.setValue(_RECENT_KEY, json.dumps([module.spec, *recent][:_MOST_RECENT]))


def recall(settings: QSettings, spec: str) -> tuple[ModuleSpec, str] | None:
    """Returns (module, interpreter) as stored; None when there is nothing usable."""
    try:
        stored = json.loads(str(settings.value(_key(spec), "")))
        fields = stored["module"]
        module = ModuleSpec(
            spec=str(fields["spec"]),
            kwargs=str(fields["kwargs"]),
            inputs=tuple(str(text) for text in fields["inputs"]),
            method=str(fields["method"]),
            statics=tuple((str(n), str(v)) for n, v in fields["statics"]),
            seeds=tuple((str(n), int(v)) for n, v in fields["seeds"]),
            cwd=str(fields["cwd"]),
        )
        return module, str(stored["python"])
    except (ValueError, KeyError, TypeError):
        return None


def recent_specs(settings: QSettings) -> list[str]:
    """Returns the specs that were loaded last, newest first."""
    try:
        stored = json.loads(str(settings.value(_RECENT_KEY, "[]")))
    except ValueError:
        return []
    return [spec for spec in stored if isinstance(spec, str)]


def file_of(spec: str) -> str:
    """Returns the file part of ``file.py:Name``; empty for ``package.module:Name``."""
    path, separator, name = spec.rpartition(":")
    if not separator or not name.isidentifier():
        path = spec
    return path if path.endswith(".py") else ""


def name_of(spec: str) -> str:
    """Returns the ``Name`` of a spec; empty when there is none."""
    _, separator, name = spec.rpartition(":")
    return name if separator and name.isidentifier() else ""


def place_of(spec: str) -> str:
    """Returns a spec without its ``:Name``."""
    name = name_of(spec)
    return spec[: -len(name) - 1] if name else spec


def nearby_pythons(spec: str) -> list[str]:
    """Returns interpreters of virtual environments beside or above a module's file.

    The nearest first; looks at a few folders only, and runs nothing.
    """
    path = file_of(spec)
    if not path:
        return []
    found: list[str] = []
    folder = Path(os.path.expanduser(path)).parent  # noqa: PTH111 - lets ~nobody be
    for level in (folder, *folder.parents)[:_LOOK_UP_LEVELS]:
        for name in _VENV_FOLDERS:
            for python in _PYTHONS:
                candidate = level / name / python
                if candidate.exists():
                    found.append(str(candidate))
    return found
