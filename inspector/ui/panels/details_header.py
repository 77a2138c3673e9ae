"""The head of the details panel: which node it is, how large, where it comes from."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.document import TARGET
from inspector.engine.messages.viewing import Details
from inspector.errors import ErrorInfo
from inspector.ui import format as fmt
from inspector.ui.banner import ErrorBanner
from inspector.ui.marks import MARK_SIZE, paint_mark
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE
from inspector.ui.viewers.elided_label import ElidedLabel
from inspector.variables.path import TreePath, quote
from inspector.variables.tree import Container

_SEPARATOR = " / "
_UNNAMED_ROOT = "the whole tree"
_OTHERS_FINE = "The other leaves of the file can be read all the same."


class MarkLabel(QWidget):
    """The mark of one origin."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Starts blank."""
        super().__init__(parent)
        self._theme = theme
        self._origin = ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setObjectName("originMark")
        theme.changed.connect(self.update)

    def show_origin(self, origin: str) -> None:
        """Shows the mark of an origin, with its meaning for who sees no shapes."""
        self._origin = origin
        meaning = self._theme.mark(origin).meaning
        self.setToolTip(meaning)
        self.setAccessibleName(meaning or "No mark")
        self.update()

    # Qt overrides

    def sizeHint(self) -> QSize:
        """Overridden: a mark and a little air."""
        return QSize(MARK_SIZE + 3, MARK_SIZE + 5)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Overridden: the mark."""
        del event
        painter = QPainter(self)
        centre = QPointF(self.rect().center()) + QPointF(0.5, 0.5)
        paint_mark(painter, centre, self._origin, self._theme, outline=False)
        painter.end()


class DetailsHeader(QWidget):
    """Path, abstract value, sizes, origin, sharding, note and error of a node."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Starts empty."""
        super().__init__(parent)
        self._theme = theme
        self.title = ElidedLabel(self, copy_name="path")
        self.title.setProperty("look", "title")
        self.title.setFont(theme.font("title", bold=True))
        self.title.setObjectName("detailsTitle")
        self.title.setAccessibleDescription("Path")
        self.array = ElidedLabel(
            self, copy_name="shape and dtype", mode=Qt.TextElideMode.ElideRight
        )
        self.array.setProperty("look", "mono")
        self.array.setFont(theme.mono_font())
        self.array.setObjectName("detailsArray")
        self.array.setAccessibleDescription("Shape and dtype")
        self.sizes = QLabel(self)
        self.sizes.setProperty("look", "secondary")
        self.sizes.setObjectName("detailsSizes")
        self.sizes.setAccessibleDescription("Parameters and bytes")
        self.mark = MarkLabel(theme, self)
        self.origin = self._make_line("detailsOrigin", "Origin")
        self.origin_word = QLabel(self)
        self.origin_word.setProperty("look", "secondary")
        self.sharding = self._make_line("detailsSharding", "Sharding", quiet=True)
        self.note = self._make_line("detailsNote", "Note", quiet=True)
        self.banner = ErrorBanner(theme, self)
        self._lay_out()

    def _make_line(
        self, name: str, accessible: str, *, quiet: bool = False
    ) -> ElidedLabel:
        label = ElidedLabel(self, copy_name=accessible.lower())
        label.setObjectName(name)
        label.setAccessibleDescription(accessible)
        if quiet:
            label.setProperty("look", "secondary")
        return label

    def _lay_out(self) -> None:
        self._facts = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._facts.setSpacing(4)
        self._facts.addWidget(self.array, 1)
        self._facts.addWidget(self.sizes)
        origin = QHBoxLayout()
        origin.setSpacing(4)
        origin.addWidget(self.mark)
        origin.addWidget(self.origin, 1)
        origin.addWidget(self.origin_word)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.title)
        column.addLayout(self._facts)
        column.addLayout(origin)
        column.addWidget(self.sharding)
        column.addWidget(self.note)
        column.addWidget(self.banner)

    def show_path(self, path: TreePath, root: str = "") -> None:
        """Shows the path at once, before anything else about it is known.

        Args:
            path: The node's path.
            root: Name of its tree, the title of the root.
        """
        text = _SEPARATOR.join(str(key) for key in path) or root or _UNNAMED_ROOT
        self.title.show_text(text, copy_text=quote(path), tool_tip=quote(path) or text)

    def show_details(self, details: Details, root: str = "") -> None:
        """Shows a node of the tree that is called ``root``."""
        row = details.row
        self.show_path(details.path, root)
        if row.dtype:
            self.array.show_text(fmt.array(row.dtype, row.shape))
        else:
            self.array.show_text(_kind_text(row.kind, row.children))
        self.sizes.setText(" · ".join(_sizes(details, exact=False)))
        self.sizes.setToolTip("\n".join(_sizes(details, exact=True)))
        self._fit_facts()
        self._show_origin(details)
        self._show_line(self.sharding, row.sharding, "saved with ")
        self._show_line(self.note, details.note, "")
        if row.error:
            self.banner.show_error(
                ErrorInfo("ReadLeafError", row.error, hint=_OTHERS_FINE)
            )
        else:
            self.banner.clear()

    def _show_origin(self, details: Details) -> None:
        row = details.row
        is_target = details.tree == TARGET
        for widget in (self.mark, self.origin, self.origin_word):
            widget.setVisible(is_target)
        if not is_target:
            return
        self.mark.show_origin(row.origin)
        mark = self._theme.mark(row.origin)
        if row.kind in set(Container):
            counts = [
                f"{count:,} {self._theme.mark(name).word}"
                for name, count in row.origins
            ]
            self.origin.show_text(", ".join(counts))
            self.origin_word.setText("")
            return
        lines = details.text.split("\n") if details.text else [mark.meaning]
        self.origin.show_text(", ".join(lines), tool_tip="\n".join(lines))
        self.origin_word.setText(mark.word)

    @staticmethod
    def _show_line(label: ElidedLabel, text: str, lead: str) -> None:
        label.show_text(f"{lead}{text}".replace("\n", ", "), copy_text=text)
        label.setVisible(bool(text))

    def _fit_facts(self) -> None:
        """Puts the sizes below the shape where both have no room in a line."""
        array = self.array.fontMetrics().horizontalAdvance(self.array.text())
        sizes = self.sizes.fontMetrics().horizontalAdvance(self.sizes.text())
        direction = QBoxLayout.Direction
        fits = array + sizes + 3 * SPACE <= self.width()
        self._facts.setDirection(
            direction.LeftToRight if fits else direction.TopToBottom
        )

    def show_failure(self, error: ErrorInfo) -> None:
        """Shows why the node cannot be described."""
        self.array.show_text(" ")
        self.sizes.setText("")
        for widget in (self.mark, self.origin, self.origin_word):
            widget.hide()
        self.sharding.hide()
        self.note.hide()
        self.banner.show_error(error)

    # Qt overrides

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Overridden: one line or two."""
        super().resizeEvent(event)
        self._fit_facts()


def _kind_text(kind: str, children: int) -> str:
    if kind in set(Container):
        word = "key" if kind == Container.DICT else "item"
        return f"{kind} of {fmt.plural(children, word)}"
    return kind


def _sizes(details: Details, *, exact: bool) -> list[str]:
    """Returns the numbers of a node: leaves, parameters, bytes, bytes in the file."""
    row = details.row
    count = fmt.exact_count if exact else fmt.count
    size = fmt.exact_size if exact else fmt.size
    parts = []
    if row.kind in set(Container):
        parts.append("1 leaf" if row.leaves == 1 else f"{count(row.leaves)} leaves")
    if row.parameters or row.dtype:
        word = "param" if row.parameters == 1 else "params"
        parts.append(f"{count(row.parameters)} {word}")
        parts.append(size(row.nbytes))
    if details.stored_bytes and details.stored_bytes != row.nbytes:
        parts.append(f"{size(details.stored_bytes)} in the file")
    return parts
