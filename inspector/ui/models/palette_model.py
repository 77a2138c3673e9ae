"""What the command palette lists: commands, nodes, files, ranked.

Owned by the palette; window's thread. Commands and files are ranked here, nodes come
from the store's search in the order the store gives them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from inspector.ui.palette_ranking import score

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()

ENTRY_ROLE = Qt.ItemDataRole.UserRole
"""Role of the `PaletteEntry` of a row."""

MOST_ENTRIES = 60
"""Rows that are shown at most."""


class EntryKind(StrEnum):
    """What an entry is; also the word at its right when it has no shortcut."""

    COMMAND = "command"
    NODE = "node"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """One thing that can be chosen.

    Attributes:
        kind: What it is.
        text: What is shown and matched.
        hint: Shown at the right: a shortcut, the tree of a node, "recent".
        key: What tells the palette what to do: an action, (tree, path), a path.
        enabled: Whether it can be chosen now.
    """

    kind: EntryKind
    text: str
    hint: str = ""
    key: Any = None
    enabled: bool = True


class PaletteModel(QAbstractListModel):
    """Ranked entries for one query."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Starts empty."""
        super().__init__(parent)
        self._fixed: tuple[PaletteEntry, ...] = ()
        self._nodes: tuple[PaletteEntry, ...] = ()
        self._query = ""
        self._shown: list[PaletteEntry] = []

    def set_fixed(self, entries: Sequence[PaletteEntry]) -> None:
        """Sets the commands and files."""
        self._fixed = tuple(entries)
        self._rank()

    def set_query(self, query: str) -> None:
        """Ranks for what was typed; the nodes of the older query go."""
        self._query = query.strip()
        self._nodes = ()
        self._rank()

    def set_nodes(self, entries: Sequence[PaletteEntry]) -> None:
        """Adds the nodes that the store found for the query."""
        self._nodes = tuple(entries)
        self._rank()

    def entry(self, row: int) -> PaletteEntry:
        """Returns the entry of a row."""
        return self._shown[row]

    def _rank(self) -> None:
        self.beginResetModel()
        if not self._query:
            self._shown = [entry for entry in self._fixed if entry.enabled]
        else:
            self._shown = self._ranked()
        del self._shown[MOST_ENTRIES:]
        self.endResetModel()

    def _ranked(self) -> list[PaletteEntry]:
        scored = []
        for number, entry in enumerate((*self._fixed, *self._nodes)):
            points = score(self._query, entry.text)
            if points is None:
                # The store's patterns match what letters in order do not.
                points = 0.0 if entry.kind is EntryKind.NODE else None
            if points is not None:
                # What cannot be chosen now comes after what can.
                scored.append((not entry.enabled, -points, number, entry))
        scored.sort(key=lambda item: item[:3])
        return [entry for *_, entry in scored]

    # Qt overrides

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        """Overridden: entries that match."""
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Overridden: text, hint and entry."""
        if not index.isValid():
            return None
        entry = self._shown[index.row()]
        answers: dict[int, Any] = {
            Qt.ItemDataRole.DisplayRole: entry.text,
            Qt.ItemDataRole.ToolTipRole: entry.text,
            Qt.ItemDataRole.AccessibleTextRole: f"{entry.text}, {entry.hint}",
            ENTRY_ROLE: entry,
        }
        return answers.get(role)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Overridden: what cannot be used now cannot be chosen."""
        if index.isValid() and not self._shown[index.row()].enabled:
            return Qt.ItemFlag.NoItemFlags
        return super().flags(index)
