"""An owner of engines, to be killed while its model compiles.

Wanted: ``{"owner": "client"|"window", "spec", "state", "mark"}``. Tells ``compiling``
when the file ``mark`` is there, which the module makes when its compile begins, and
then waits for its end.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from benchmarks.children.speech import tell, wanted
from inspector.engine.messages.document import TARGET, LoadTarget
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.messages.viewing import ReadNumbers

_INPUT = "float32[1,8]"
_NUMBERS = ReadNumbers(TARGET, ("params", "w"), ((0, 1), (0, 1)))
_LOOK_S = 0.02
_LIMIT_S = 300.0


def _announce(mark: Path) -> None:
    """Tells when the compile has begun; on a thread of its own."""
    waiting = threading.Event()
    for _ in range(int(_LIMIT_S / _LOOK_S)):
        if mark.exists():
            tell(compiling=True)
            return
        waiting.wait(_LOOK_S)


def _own_as_client(spec: str, state: str) -> None:
    from inspector.engine.start import start_store  # noqa: PLC0415 - no Qt here

    client = start_store(state_dir=state, private=True)
    client.call(LoadTarget(ModuleSpec(spec, inputs=(_INPUT,))))
    client.call(_NUMBERS)


def _own_as_window(spec: str, state: str) -> None:
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415 - only for a window

    from inspector.app import open_window  # noqa: PLC0415 - only for a window
    from inspector.engine.messages.document import Changes  # noqa: PLC0415 - as above

    app = QApplication(["flax-inspector"])
    window = open_window(
        ["--model", spec, "--input", _INPUT, "--state-dir", state],
    )

    def on_changed(changes: object) -> None:
        if isinstance(changes, Changes) and changes.base:
            window.client.ask(_NUMBERS, owner=window, on_reply=lambda _: app.quit())

    window.client.changed.connect(on_changed)
    app.exec()


def main() -> None:
    """Starts the engines and waits for the end."""
    job = wanted()
    threading.Thread(target=_announce, args=(Path(job["mark"]),), daemon=True).start()
    own = _own_as_window if job["owner"] == "window" else _own_as_client
    own(job["spec"], job["state"])
    # The compile came to its end, so it was not long enough.
    sys.exit(1)


if __name__ == "__main__":
    main()
