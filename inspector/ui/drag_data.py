"""What a drag or a copy of source nodes carries.

One private type for this program and plain text (the paths) for every other one.
Used by the trees, the clipboard and tests.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

from inspector.variables.path import TreePath, quote

MIME_TYPE = "application/x-flax-inspector-nodes"
"""Type of the private part: JSON with the source's id and the paths."""


@dataclass(frozen=True, slots=True)
class DraggedNodes:
    """Nodes of one source.

    Attributes:
        source: Id of the source.
        name: Its name, for a person.
        paths: Their key paths; ``((),)`` is the whole source.
    """

    source: str
    name: str
    paths: tuple[TreePath, ...]

    def text(self) -> str:
        """Returns the paths as `ls` and ``--from`` take them, a line each."""
        return "\n".join(quote(path) or "/" for path in self.paths)

    def to_mime(self) -> QMimeData:
        """Returns the nodes as something that can be dragged or copied."""
        data = QMimeData()
        body = {
            "source": self.source,
            "name": self.name,
            "paths": [list(path) for path in self.paths],
        }
        data.setData(MIME_TYPE, json.dumps(body).encode())
        data.setText(self.text())
        return data


def from_mime(data: QMimeData | None) -> DraggedNodes | None:
    """Reads dragged or copied nodes; None when the data are something else."""
    if data is None or not data.hasFormat(MIME_TYPE):
        return None
    try:
        body = json.loads(bytes(data.data(MIME_TYPE).data()))
        paths = tuple(tuple(path) for path in body["paths"])
        return DraggedNodes(str(body["source"]), str(body["name"]), paths)
    except (ValueError, KeyError, TypeError):
        return None


def leave_text_on_clipboard() -> None:
    """Replaces copied nodes on the clipboard by their text; called on closing.

    Nodes mean nothing without their window. And what Python put there would be freed
    when the C library ends the process, after Python itself is gone, which crashes;
    text alone is Qt's own.
    """
    clipboard = QGuiApplication.clipboard()
    if from_mime(clipboard.mimeData()) is not None:
        clipboard.setText(clipboard.text())
