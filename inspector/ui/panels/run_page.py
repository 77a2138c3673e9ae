"""What the pages of results have in common: a strip, banners, one or more tables.

`run_results` makes the pages and tells them what runs; each asks the store for what
it shows. On the window's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.engine.messages.calling import Call
from inspector.engine.messages.running import Remark, RunReport
from inspector.errors import InspectorError
from inspector.ui.panels.run_job import JobStrip
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE


class NoCallError(InspectorError):
    """There is no call to look into."""

    def __init__(self) -> None:
        """Says what is missing."""
        super().__init__(
            "There is no call to look into.",
            hint="Load a module and fill in its inputs first.",
        )


@dataclass(frozen=True, slots=True)
class PageParts:
    """What every page is made with.

    Attributes:
        client: The store.
        theme: Colours.
        call_of: Gives the call that would be run now; None when it is incomplete.
    """

    client: StoreClient
    theme: Theme
    call_of: Callable[[], Call | None]


class ResultPage(QWidget):
    """One tab of the results.

    Attributes:
        title: Text of the tab.
        strip: The head of the page.

    Signals:
        node_chosen: (tree, path): the person wants to see a value in the details.
        title_changed: The tab reads otherwise, or carries a mark.
        run_arrived: `RunReport` of a run that the page started or chose.
    """

    node_chosen = Signal(str, object)
    title_changed = Signal()
    run_arrived = Signal(object)

    name = ""
    """Text of the tab without counts."""

    def __init__(self, parts: PageParts, parent: QWidget, strip: JobStrip) -> None:
        """Lays out the strip and its banners; the page adds what is below."""
        super().__init__(parent)
        self.client, self.theme = parts.client, parts.theme
        self._call_of = parts.call_of
        self.title = self.name
        self.needs_look = False
        self.strip = strip
        strip.setParent(self)
        strip.banners.setParent(self)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(SPACE)
        self.column.addWidget(strip)
        self.column.addWidget(strip.banners)
        self.setAccessibleName(self.name)

    @property
    def is_busy(self) -> bool:
        """Whether something that the page shows is on its way."""
        return self.strip.is_busy

    def show_report(self, report: RunReport) -> None:
        """Overridden by pages that show a run."""

    def clear(self) -> None:
        """Forgets everything: the target is another one."""
        self.strip.drop()
        for reason in self.strip.banners.reasons():
            self.strip.banners.remove(reason)

    def call(self) -> Call | None:
        """Returns the call to look into; says what is missing when there is none."""
        call = self._call_of()
        if call is None:
            self.strip.show_error(NoCallError().info())
        return call

    def set_title(self, count: int = 0, *, needs_look: bool = False) -> None:
        """Puts a count, and whether there is something to read, on the tab."""
        self.title = f"{self.name} {count:,}" if count else self.name
        self.needs_look = needs_look
        self.title_changed.emit()

    def show_remarks(self, remarks: tuple[Remark, ...]) -> None:
        """Says the remarks of a job above its table."""
        self.strip.banners.remove("remarks")
        if remarks:
            text = "\n".join(remark.text for remark in remarks)
            self.strip.banners.show_message("remarks", text, "warning")
