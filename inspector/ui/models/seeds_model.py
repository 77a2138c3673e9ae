"""The table of rng streams: seed, lock, and who drew from it in the last run.

A stream appears when the form names it or when a run drew from it; a locked one
keeps its seed when new ones are drawn. On the window's thread; asks nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QObject, Qt, Signal

from inspector.engine.messages.running import RngUse
from inspector.ui import format as fmt
from inspector.ui.models.record_table import Index, ResultRole
from inspector.variables.path import join

SEED_END = 1 << 32
"""Seeds are below this."""

_MOST_NAMES = 3
_DISPLAY = Qt.ItemDataRole.DisplayRole


class SeedColumn(IntEnum):
    """Columns of the table."""

    STREAM = 0
    SEED = 1
    LOCK = 2
    DRAWS = 3


_TITLES = ("Stream", "Seed", "Lock", "Drawn by")


@dataclass(frozen=True, slots=True)
class Stream:
    """One rng stream.

    Attributes:
        name: Its name.
        seed: Its seed; None when none is given, which leaves it to the model.
        is_locked: Whether it keeps its seed when new ones are drawn.
        uses: Draws of the last run that asked for it.
        was_run: Whether a run has told who draws.
    """

    name: str
    seed: int | None = None
    is_locked: bool = False
    uses: tuple[RngUse, ...] = ()
    was_run: bool = False

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """Streams whose keys it silently got in place of its own."""
        names = (use.used for use in self.uses if use.used != self.name)
        return tuple(dict.fromkeys(names))


class SeedsModel(QAbstractTableModel):
    """The rng streams of a call.

    Signals:
        edited: The person, or new seeds, changed a seed.
        locks_changed: A lock was set or taken off.
    """

    edited = Signal()
    locks_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Starts without streams."""
        super().__init__(parent)
        self._streams: list[Stream] = []
        self._unset = "0"

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams."""
        return tuple(self._streams)

    @property
    def seeds(self) -> tuple[tuple[str, int], ...]:
        """(stream, seed) of those that have one, as `Call.seeds`."""
        return tuple((s.name, s.seed) for s in self._streams if s.seed is not None)

    def show_streams(self, streams: Sequence[Stream]) -> None:
        """Shows the streams of another call."""
        self.beginResetModel()
        self._streams = list(streams)
        self.endResetModel()

    def set_unset_text(self, text: str) -> None:
        """Says what stands for the seed of a stream that has none of its own."""
        self._unset = text

    def show_draws(self, uses: Iterable[RngUse]) -> None:
        """Tells who drew in a run; streams that nobody knew are added."""
        by_stream: dict[str, list[RngUse]] = {
            stream.name: [] for stream in self._streams
        }
        for use in uses:
            by_stream.setdefault(use.stream, []).append(use)
        known = {stream.name: stream for stream in self._streams}
        self.show_streams(
            [
                replace(
                    known.get(name, Stream(name)),
                    uses=tuple(found),
                    was_run=True,
                )
                for name, found in by_stream.items()
            ]
        )

    def draw_new(self, number: Any) -> int:
        """Gives every stream that is not locked another seed; returns how many.

        Args:
            number: Called with a limit, gives a whole number below it.
        """
        free = [n for n, stream in enumerate(self._streams) if not stream.is_locked]
        for row in free:
            self._streams[row] = replace(self._streams[row], seed=number(SEED_END))
            self._tell(row)
        if free:
            self.edited.emit()
        return len(free)

    def toggle_lock(self, row: int) -> None:
        """Locks a stream, or takes its lock off."""
        stream = self._streams[row]
        self._streams[row] = replace(stream, is_locked=not stream.is_locked)
        self._tell(row)
        self.locks_changed.emit()

    def _tell(self, row: int) -> None:
        last = self.index(row, len(SeedColumn) - 1)
        self.dataChanged.emit(self.index(row, 0), last)

    # Overrides of Qt.

    def rowCount(self, parent: Index | None = None) -> int:
        """Overridden."""
        return 0 if parent is not None and parent.isValid() else len(self._streams)

    def columnCount(self, parent: Index | None = None) -> int:
        """Overridden."""
        return 0 if parent is not None and parent.isValid() else len(SeedColumn)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _DISPLAY
    ) -> Any:
        """Overridden: titles above what they name."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _TITLES[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            flag = Qt.AlignmentFlag
            side = flag.AlignRight if section == SeedColumn.SEED else flag.AlignLeft
            return int(side | flag.AlignVCenter)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Overridden: seeds can be typed."""
        flags = super().flags(index)
        if index.isValid() and index.column() == SeedColumn.SEED:
            return flags | Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = _DISPLAY) -> Any:
        """Overridden."""
        if not index.isValid():
            return None
        stream, column = self._streams[index.row()], SeedColumn(index.column())
        is_unset = column is SeedColumn.SEED and stream.seed is None
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole}:
            return self._unset if is_unset else _text(stream, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _spoken(self._unset if is_unset else "", stream, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _explained(stream, column)
        return _looks(stream, column).get(role)

    def setData(self, index: Index, value: Any, role: int = 2) -> bool:
        """Overridden: takes a whole number that can be a seed, nothing else."""
        text = str(value).replace(",", "").replace("_", "").strip()
        if role != Qt.ItemDataRole.EditRole or index.column() != SeedColumn.SEED:
            return False
        if not (text.isascii() and text.isdigit()) or int(text) >= SEED_END:
            return False
        stream = self._streams[index.row()]
        if stream.seed == int(text):
            return False
        self._streams[index.row()] = replace(stream, seed=int(text))
        self._tell(index.row())
        self.edited.emit()
        return True


def _text(stream: Stream, column: SeedColumn) -> str:
    if column is SeedColumn.STREAM:
        return stream.name
    if column is SeedColumn.SEED:
        return "" if stream.seed is None else str(stream.seed)
    return _draws(stream) if column is SeedColumn.DRAWS else ""


def _draws(stream: Stream) -> str:
    if not stream.was_run:
        return ""
    if not stream.uses:
        return "nothing"
    paths = [join(use.path) or "the module" for use in stream.uses]
    names = list(dict.fromkeys(paths))
    shown = ", ".join(names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    total = fmt.plural(sum(use.draws for use in stream.uses), "draw", "draws")
    from_ = f", with the keys of {', '.join(stream.fallbacks)}"
    return f"{shown}{more}, {total}{from_ if stream.fallbacks else ''}"


def _explained(stream: Stream, column: SeedColumn) -> str:
    if column is SeedColumn.LOCK:
        if stream.is_locked:
            return f"{stream.name} keeps its seed when new seeds are drawn"
        return f"Lock the seed of {stream.name}: it stays when new seeds are drawn"
    if column is not SeedColumn.DRAWS or not stream.was_run:
        return f"Seed of the rng stream {stream.name}"
    if not stream.uses:
        return f"The last run drew nothing from {stream.name}"
    lines = [
        f"{join(use.path) or 'the module'}: {fmt.plural(use.draws, 'draw', 'draws')}"
        + (f", silently from {use.used}" if use.used != stream.name else "")
        for use in stream.uses
    ]
    return "\n".join(lines)


def _spoken(unset: str, stream: Stream, column: SeedColumn) -> str:
    if column is SeedColumn.LOCK:
        return "locked" if stream.is_locked else "not locked"
    return unset or _text(stream, column)


def _looks(stream: Stream, column: SeedColumn) -> dict[int, str]:
    quiet = column is SeedColumn.SEED and stream.seed is None
    is_draws = column is SeedColumn.DRAWS
    return {
        ResultRole.MARK: "open" if is_draws and stream.fallbacks else "",
        ResultRole.LOOK: "number" if column is SeedColumn.SEED else "text",
        ResultRole.TOKEN: "secondary" if quiet or is_draws else "text",
    }
