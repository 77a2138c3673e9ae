"""Looks for what does not fit: cut texts, hidden columns, parts over one another."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QWidget,
)

from inspector.ui.viewers.elided_label import ElidedLabel


def faults(root: QWidget) -> list[str]:
    """Returns a line for everything below a widget that does not fit."""
    found = []
    for widget in root.findChildren(QWidget):
        if not widget.isVisible() or widget.objectName().startswith("qt_"):
            continue
        name = widget.objectName() or type(widget).__name__
        found += [f"{name}: {fault}" for fault in _faults_of(widget)]
    return found


def overlaps(widgets: list[QWidget], root: QWidget) -> list[tuple[str, str]]:
    """Returns the names of visible widgets that lie over one another, or outside."""
    areas = {
        widget.objectName(): QRect(widget.mapTo(root, widget.rect().topLeft()),
                                   widget.size())
        for widget in widgets
        if widget.isVisible()
    }  # fmt: skip
    names = sorted(areas)
    pairs = [
        (one, other)
        for number, one in enumerate(names)
        for other in names[number + 1 :]
        if areas[one].intersects(areas[other])
    ]
    outside = [
        (name, "outside") for name in names if not root.rect().contains(areas[name])
    ]
    return pairs + outside


def _faults_of(widget: QWidget) -> Iterator[str]:
    match widget:
        case ElidedLabel():
            if widget.text().strip() and not widget.toolTip():
                yield "may be cut and has no tool tip"
        case QLabel():
            yield from _cut_label(widget)
        case QAbstractButton():
            if widget.text() and widget.minimumSizeHint().width() > widget.width() + 1:
                yield f"{widget.text()!r} is cut"
        case QHeaderView():
            yield from _cut_headers(widget)
        case QAbstractItemView():
            if widget.horizontalScrollBar().isVisible():
                yield "scrolls sideways"


def _cut_label(label: QLabel) -> Iterator[str]:
    if not label.text():
        return
    if label.wordWrap():
        if label.heightForWidth(label.width()) > label.height():
            yield f"{label.text()!r} loses lines"
    elif label.sizeHint().width() > label.width() + 1:
        yield f"{label.text()!r} is cut"


def _cut_headers(header: QHeaderView) -> Iterator[str]:
    if header.orientation() != Qt.Orientation.Horizontal or header.model() is None:
        return
    for section in range(header.count()):
        text = str(header.model().headerData(section, Qt.Orientation.Horizontal) or "")
        room = header.sectionSize(section)
        if not header.isSectionHidden(section) and (
            header.fontMetrics().horizontalAdvance(text) > room
        ):
            yield f"header {text!r} is cut"
