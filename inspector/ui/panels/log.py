"""The log panel: what the engines and the program said, newest last."""

from __future__ import annotations

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.document import Changes, EngineStatus, Notice
from inspector.errors import ErrorInfo
from inspector.ui.models.log_model import LEVEL_ROLE, LEVELS, LogEntry, LogModel
from inspector.ui.notices import Notices
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import ROW_HEIGHT, SPACE
from inspector.ui.viewers.cell_delegate import CellDelegate

_FILTERS = (("Everything", "debug"), ("Info and above", "info"),
            ("Warnings and errors", "warning"), ("Errors", "error"))  # fmt: skip


class _LevelFilter(QSortFilterProxyModel):
    """Shows entries of a level and the graver ones."""

    def __init__(self, parent: QWidget) -> None:
        """Shows everything but what is for debugging."""
        super().__init__(parent)
        self._least = LEVELS.index("info")

    def set_least(self, level: str) -> None:
        """Shows entries from a level on."""
        self.beginFilterChange()
        self._least = LEVELS.index(level)
        self.endFilterChange()

    # Qt overrides

    def filterAcceptsRow(
        self, row: int, parent: QModelIndex | QPersistentModelIndex
    ) -> bool:
        """Overridden: compares levels."""
        source = self.sourceModel()
        return bool(source.index(row, 0, parent).data(LEVEL_ROLE) >= self._least)


class _LogView(QTableView):
    """Copies whole entries where Qt would copy one cell.

    Signals:
        copy_wanted: Ctrl+C was pressed.
    """

    copy_wanted = Signal()

    # Qt overrides

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Overridden: Ctrl+C copies the selected entries."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        else:
            super().keyPressEvent(event)


class LogPanel(QWidget):
    """A table of entries with a filter by level."""

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        notices: Notices | None = None,
    ) -> None:
        """Listens to the client, and to ``notices`` when the window has them.

        Args:
            client: Events of the store.
            theme: Colours.
            parent: Owner.
            notices: Where all notices of the window end; without it the panel
                takes those of the store from the client.
        """
        super().__init__(parent)
        self._theme = theme
        self.model = LogModel(theme, self)
        self._shown = _LevelFilter(self)
        self._shown.setSourceModel(self.model)
        self.view = self._make_view()
        self.level = self._make_level()
        self._lay_out()
        client.engine_changed.connect(self._on_engine)
        client.closed.connect(self._on_closed)
        client.changed.connect(self._on_changed)
        if notices is None:
            client.noticed.connect(self.add_notice)
        else:
            notices.posted.connect(self.add_notice)

    def _make_view(self) -> QTableView:
        view = _LogView(self)
        view.setModel(self._shown)
        view.setObjectName("logView")
        view.setAccessibleName("Log")
        view.setShowGrid(False)
        view.setWordWrap(False)
        view.setTabKeyNavigation(False)
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setItemDelegate(CellDelegate(self._theme, view))
        view.verticalHeader().hide()
        view.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        header = view.horizontalHeader()
        # Time, level and sentence need no names, and a low window has no room for it.
        header.hide()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.resizeSection(0, 76)
        header.resizeSection(1, 72)
        header.setStretchLastSection(True)
        copy = QAction("Copy", view)
        copy.triggered.connect(lambda _checked=False: self.copy())
        view.addAction(copy)
        view.copy_wanted.connect(self.copy)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        return view

    def _make_level(self) -> QComboBox:
        box = QComboBox(self)
        box.setObjectName("logLevel")
        box.setAccessibleName("Which entries are shown")
        for text, level in _FILTERS:
            box.addItem(text, level)
        box.setCurrentIndex(1)
        box.currentIndexChanged.connect(self._on_level)
        return box

    def _lay_out(self) -> None:
        self.setObjectName("log")
        self.setAccessibleName("Log")
        caption = QLabel("Show", self)
        caption.setProperty("look", "small")
        line = QHBoxLayout()
        line.setContentsMargins(2 * SPACE, SPACE, 2 * SPACE, 0)
        line.setSpacing(2 * SPACE)
        line.addWidget(caption)
        line.addWidget(self.level)
        line.addStretch(1)
        for text, name, handler in (
            ("Copy", "logCopy", self.copy),
            ("Clear", "logClear", self.model.clear),
        ):
            button = QPushButton(text, self)
            button.setProperty("look", "flat")
            button.setObjectName(name)
            button.setAccessibleName(f"{text} the log")
            button.clicked.connect(lambda _checked=False, call=handler: call())
            line.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE)
        column.addLayout(line)
        column.addWidget(self.view, 1)

    def add(self, level: str, text: str, detail: str = "") -> None:
        """Appends an entry; the view follows when it stood at the end."""
        bar = self.view.verticalScrollBar()
        follows = bar.value() >= bar.maximum()
        known = level if level in LEVELS else "info"
        self.model.add(LogEntry(known, text, detail))
        if follows:
            self.view.scrollToBottom()

    def add_notice(self, notice: Notice) -> None:
        """Appends what a person should read."""
        self.add(notice.level, notice.error.text(), notice.error.traceback)

    def copy(self) -> None:
        """Copies the selected entries, or all shown ones when none is selected."""
        rows = sorted({i.row() for i in self.view.selectionModel().selectedRows()})
        if not rows:
            rows = list(range(self._shown.rowCount()))
        lines = [
            self.model.entry(
                self._shown.mapToSource(self._shown.index(row, 0)).row()
            ).line()
            for row in rows
        ]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _on_level(self, index: int) -> None:
        self._shown.set_least(self.level.itemData(index))
        self.view.scrollToBottom()

    def _on_engine(self, status: EngineStatus) -> None:
        # A state alone is for debugging; a sentence is meant for the person.
        level = "info" if status.text else "debug"
        self.add(
            "warning" if status.state == "ended" else level,
            f"{status.engine}: {status.text or status.state}",
        )

    def _on_closed(self, error: ErrorInfo) -> None:
        self.add("error", error.text(), error.traceback)

    def _on_changed(self, changes: Changes) -> None:
        if changes.text:
            self.add("info", changes.text)
        for note in changes.notes:
            self.add("warning", note)
