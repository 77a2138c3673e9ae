"""What the person last called each module with, kept in the settings file.

Read and written by the run panel; nothing here runs or imports anything.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

from PySide6.QtCore import QSettings

from inspector.engine.messages.calling import FOUND, Call

_GROUP = "calls"


@dataclass(frozen=True, slots=True)
class Remembered:
    """A call, and what the panel remembers beside it.

    Attributes:
        call: The call.
        locked: Rng streams whose seed is locked.
        is_automatic: Whether a change runs it again.
    """

    call: Call
    locked: tuple[str, ...] = ()
    is_automatic: bool = False


def _key(spec: str) -> str:
    # Paths hold slashes and colons, which QSettings gives a meaning.
    return f"{_GROUP}/{hashlib.sha256(spec.encode()).hexdigest()[:24]}"


def remember(settings: QSettings, spec: str, remembered: Remembered) -> None:
    """Stores how a module was called, under its spec."""
    settings.setValue(_key(spec), json.dumps(asdict(remembered)))


def recall(settings: QSettings, spec: str) -> Remembered | None:
    """Returns how a module was called; None when there is nothing usable."""
    try:
        stored = json.loads(str(settings.value(_key(spec), "")))
        fields = stored["call"]
        call = Call(
            method=str(fields["method"]),
            inputs=_texts(fields["inputs"]),
            statics=tuple((str(n), str(v)) for n, v in fields["statics"]),
            mode=str(fields["mode"]),
            seeds=tuple((str(n), int(v)) for n, v in fields["seeds"]),
            mutable=_texts(fields.get("mutable", [FOUND])),
            device=str(fields["device"]),
            precision=str(fields["precision"]),
            apply=str(fields["apply"]),
        )
        return Remembered(call, _texts(stored["locked"]), bool(stored["is_automatic"]))
    except (ValueError, KeyError, TypeError):
        return None


def _texts(stored: object) -> tuple[str, ...]:
    if not isinstance(stored, list):
        raise TypeError
    return tuple(str(text) for text in stored)
