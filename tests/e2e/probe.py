"""Answers questions about a program's widgets over AT-SPI, a JSON object a line.

Runs on the system's Python, which has the introspection bindings that no wheel brings
(`python3-gi`, `gir1.2-atspi-2.0`); `accessible.Probe` starts it and asks. It reads
only: clicks and keys are real ones and come from ``xdotool``. Standard library and
Atspi alone.

Requests are ``{"op": NAME, …}``, answers ``{"result": …}`` or ``{"error": TEXT}``. A
widget that went away while it was looked at is no error: it is not there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import gi  # type: ignore[import-not-found]  # of the system's Python

gi.require_version("Atspi", "2.0")
# GLib's errors are how libatspi says that a widget or a program is gone.
from gi.repository import Atspi, GLib  # type: ignore[import-not-found]  # noqa: E402 - the version is chosen first

T = TypeVar("T")

MOST_CELLS = 4000
"""Cells of one table that are looked at; the tests' trees are far smaller."""

_CELLS = frozenset({"table cell", "tree item", "list item"})
_TABLES = frozenset({"tree", "tree table", "table", "list", "list box"})
_STATES = {
    "showing": Atspi.StateType.SHOWING,
    "enabled": Atspi.StateType.ENABLED,
    "focused": Atspi.StateType.FOCUSED,
    "selected": Atspi.StateType.SELECTED,
    "expanded": Atspi.StateType.EXPANDED,
    "expandable": Atspi.StateType.EXPANDABLE,
    "active": Atspi.StateType.ACTIVE,
    "checked": Atspi.StateType.CHECKED,
}


class Prober:
    """Looks at programs; keeps the widgets it found for the next question."""

    def __init__(self) -> None:
        """Connects to the accessibility bus."""
        Atspi.init()
        self._known: dict[tuple[int, str], Any] = {}
        self.operations: dict[str, Callable[..., object]] = {
            "ready": lambda: True,
            "find": self.find,
            "rows": self.rows,
            "tree": self.tree,
            "walk": self.walk,
        }

    def find(self, pid: int, name: str) -> dict[str, object] | None:
        """Returns the widget of an object name that can be seen, else None."""
        widget = self._widget(pid, name)
        return None if widget is None else describe(widget)

    def rows(self, pid: int, name: str) -> list[dict[str, object]] | None:
        """Returns the rows of a table or list: first cell, names of the others."""
        widget = self._widget(pid, name)
        if widget is None:
            return None
        columns = columns_of(widget)
        cells = [cell for cell in children(widget) if is_cell(cell)]
        starts = range(0, len(cells), columns)
        return attempt(lambda: [row(cells[i : i + columns]) for i in starts])

    def tree(self, pid: int, name: str) -> list[dict[str, object]] | None:
        """Returns the first cells of a tree's rows.

        A deep tree has thousands of cells, so the others are not looked at.
        """
        widget = self._widget(pid, name)
        if widget is None:
            return None
        columns = columns_of(widget)
        # Qt lists the header's sections first.
        starts = range(columns, min(widget.get_child_count(), MOST_CELLS), columns)
        return attempt(lambda: [row([widget.get_child_at_index(i)]) for i in starts])

    def walk(self, pid: int) -> list[dict[str, object]]:
        """Returns every widget that can be seen, windows first; no cells."""
        return [
            describe(widget)
            for window in self._windows(pid)
            for widget in below(window)
            if is_showing(widget)
        ]

    def _widget(self, pid: int, name: str) -> Any:
        known = self._known.get((pid, name))
        if known is not None and is_showing(known):
            return known
        for window in self._windows(pid):
            for widget in below(window):
                if has_name(widget, name) and is_showing(widget):
                    self._known[pid, name] = widget
                    return widget
        return None

    def _windows(self, pid: int) -> Iterator[Any]:
        for program in children(Atspi.get_desktop(0)):
            try:
                mine = program.get_process_id() == pid
            except GLib.Error:
                continue
            if mine:
                # What libatspi keeps is only brought up to date by a main loop.
                program.set_cache_mask(Atspi.Cache.NONE)
                yield from children(program)


def attempt(read: Callable[[], T]) -> T | None:
    """Returns what is read; None when a widget went away meanwhile."""
    try:
        return read()
    except (GLib.Error, AttributeError):
        return None


def columns_of(table: Any) -> int:
    """Returns the columns of a table; 1 for a list."""
    number = attempt(lambda: Atspi.Table.get_n_columns(table))
    return max(number or 1, 1)


def row(cells: list[Any]) -> dict[str, object]:
    """Returns what is asked of a row."""
    first, *others = cells
    return {
        "name": first.get_name() or "",
        "states": states_of(first),
        "rect": rect_of(first),
        "others": [other.get_name() for other in others],
    }


def children(widget: Any) -> Iterator[Any]:
    """Yields the children that are still there."""
    try:
        count = min(widget.get_child_count(), MOST_CELLS)
    except GLib.Error:
        return
    for index in range(count):
        try:
            child = widget.get_child_at_index(index)
        except GLib.Error:
            return
        if child is not None:
            yield child


def below(widget: Any) -> Iterator[Any]:
    """Yields a widget and everything below it except the cells of tables."""
    yield widget
    try:
        if widget.get_role_name() in _TABLES:
            return
    except GLib.Error:
        return
    for child in children(widget):
        yield from below(child)


def has_name(widget: Any, name: str) -> bool:
    """Returns whether Qt's path of a widget ends in an object name."""
    try:
        return bool(f".{widget.get_accessible_id()}".endswith(f".{name}"))
    except GLib.Error:
        return False


def is_showing(widget: Any) -> bool:
    """Returns whether a widget is on the screen now."""
    try:
        return bool(widget.get_state_set().contains(Atspi.StateType.SHOWING))
    except GLib.Error:
        return False


def describe(widget: Any) -> dict[str, object]:
    """Returns what a screen reader would know, and where it is on the screen."""
    try:
        return {
            "id": widget.get_accessible_id() or "",
            "role": widget.get_role_name(),
            "name": widget.get_name() or "",
            "description": widget.get_description() or "",
            "text": text_of(widget),
            "states": states_of(widget),
            "rect": rect_of(widget),
        }
    except GLib.Error:
        return {"role": "gone"}


def states_of(widget: Any) -> list[str]:
    """Returns which of `_STATES` a widget has."""
    states = widget.get_state_set()
    return [name for name, one in _STATES.items() if states.contains(one)]


def rect_of(widget: Any) -> list[int]:
    """Returns left, top, width and height on the screen, in pixels."""
    rect = widget.get_extents(Atspi.CoordType.SCREEN)
    return [rect.x, rect.y, rect.width, rect.height]


def is_cell(widget: Any) -> bool:
    """Returns whether a child of a table is a cell; headers and corners are none."""
    try:
        return widget.get_role_name() in _CELLS
    except GLib.Error:
        return False


def speaks(widget: Any, interface: str) -> bool:
    """Returns whether a widget has one of AT-SPI's interfaces."""
    return interface in widget.get_interfaces()


def text_of(widget: Any) -> str:
    """Returns the text that stands in a widget, empty where none can."""
    if not speaks(widget, "Text"):
        return ""
    return str(Atspi.Text.get_text(widget, 0, -1))


def main() -> None:
    """Answers until nobody asks any more."""
    prober = Prober()
    for line in sys.stdin:
        request = json.loads(line)
        operation = prober.operations[request.pop("op")]
        try:
            answer: dict[str, object] = {"result": operation(**request)}
        except GLib.Error as error:
            answer = {"error": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
