"""Writing the target to a file, and what to do with the file afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

from inspector.engine.messages.document import Export
from inspector.engine.messages.envelope import Progress
from inspector.engine.messages.reading import Exported
from inspector.errors import ErrorInfo
from inspector.ui.store_client import StoreClient

FORMATS: tuple[tuple[str, str, str], ...] = (
    ("orbax", "", "Orbax folder"),
    ("msgpack", ".msgpack", "Flax msgpack"),
    ("safetensors", ".safetensors", "safetensors"),
    ("npz", ".npz", "NumPy npz"),
)
"""(name in messages, suffix, name for a person) of what can be written."""


def format_of(path: str) -> str:
    """Returns the format that the suffix of a path stands for; else Orbax."""
    suffix = Path(path).suffix.lower()
    return next((name for name, end, _ in FORMATS if end and end == suffix), "orbax")


def with_suffix(path: str, format_name: str) -> str:
    """Returns the path with the suffix of a format in place of another format's."""
    suffixes = {end for _, end, _ in FORMATS if end}
    wanted = next(end for name, end, _ in FORMATS if name == format_name)
    if not path:
        return path
    current = Path(path).suffix.lower()
    stem = path[: -len(current)] if current in suffixes else path
    return stem.rstrip("/\\") + wanted if wanted else stem


def export_target(
    client: StoreClient,
    *,
    owner: QObject,
    request: Export,
    on_done: Callable[[Exported], None],
    on_failure: Callable[[ErrorInfo], None],
    on_progress: Callable[[Progress], None] | None = None,
    on_cancelled: Callable[[], None] | None = None,
) -> int:
    """Starts an export; the status bar shows it and can cancel it."""
    return client.ask(
        request,
        owner=owner,
        on_reply=on_done,
        on_failure=on_failure,
        on_progress=on_progress,
        on_cancelled=on_cancelled,
        activity=f"Export to {Path(request.out).name}",
    )


def show_in_folder(path: str) -> bool:
    """Opens the folder of a file in the file manager; False when there is none."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(path).parent)))


def copy_path(path: str) -> None:
    """Puts a path on the clipboard."""
    QGuiApplication.clipboard().setText(path)
