"""Starts a store and begins its session, for the window and the command line.

The one place that knows which folder a session's state lies in when nobody says.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from inspector.engine.client import EngineClient
from inspector.engine.launch import engine_command
from inspector.engine.messages.document import Begin
from inspector.errors import ErrorInfo


def state_folder(given: str = "") -> Path:
    """Returns the folder for sessions, scratch and settings.

    Args:
        given: What the person said; empty for ``FLAX_INSPECTOR_STATE``, else the
            place that the system keeps for such things.
    """
    chosen = given or os.environ.get("FLAX_INSPECTOR_STATE", "")
    if chosen:
        # Path.expanduser raises where nobody has the name; a shell lets it be.
        return Path(os.path.expanduser(chosen)).absolute()  # noqa: PTH111 - see above
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        default = Path.home() / ".local" / "state"
        base = Path(os.environ.get("XDG_STATE_HOME", "") or default)
    return base / "flax-inspector"


def launch_store(
    *,
    on_event: Callable[[object], None] | None = None,
    on_closed: Callable[[ErrorInfo], None] | None = None,
    on_log: Callable[[str], None] | None = None,
) -> EngineClient:
    """Starts a store process; its session begins with a `Begin` of the caller's.

    Args:
        on_event: Is given every event's body, on the client's thread.
        on_closed: Is given how the store ended.
        on_log: Is given every line of its stderr.
    """
    return EngineClient(
        engine_command("store"),
        name="store",
        on_event=on_event,
        on_closed=on_closed,
        on_log=on_log,
    )


def start_store(
    *, state_dir: str = "", python: str = "", private: bool = False
) -> EngineClient:
    """Starts a store and waits until its session has begun.

    Args:
        state_dir: As for `state_folder`.
        python: Interpreter of the model; empty for ours.
        private: Whether nothing of the session is offered again.

    Raises:
        EngineError: The store cannot be started.
        RemoteError: The session cannot begin, e.g. a state folder without room.
    """
    client = launch_store()
    try:
        client.call(Begin(str(state_folder(state_dir)), python, private))
    except BaseException:
        client.kill()
        client.close()
        raise
    return client
