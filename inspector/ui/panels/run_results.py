"""The results side of the run panel: outputs, updates, remarks, and looking inside.

The run panel tells it what runs and what came of it; each tab asks the store for
what it shows, and long jobs of a tab run, and are cancelled, in that tab. On the
window's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from inspector.engine.messages.calling import Call
from inspector.engine.messages.running import RunReport
from inspector.errors import ErrorInfo
from inspector.ui.banner_stack import BannerStack
from inspector.ui.panels.run_bad import BadPage
from inspector.ui.panels.run_calls import CallsPage
from inspector.ui.panels.run_history import RunsPage
from inspector.ui.panels.run_outputs import OutputsPage
from inspector.ui.panels.run_page import PageParts, ResultPage
from inspector.ui.panels.run_remarks import RemarksPage
from inspector.ui.panels.run_updates import UpdatesPage
from inspector.ui.panels.run_verify import VerifyPage
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import MARKS, SPACE

Page = TypeVar("Page", bound=ResultPage)


class RunResults(QWidget):
    """What came of runs, in tabs.

    Attributes:
        outputs: Outputs of the run that is shown.
        updates: Its updates.
        remarks: Its remarks and random draws.
        calls: Module calls of the newest recording.
        bad: The newest search for a bad value.
        verify: The newest verification.
        runs: All runs, to compare.
        banners: Where a run that failed says so.

    Signals:
        node_chosen: (tree, path): the person wants to see a value in the details.
        report_shown: `RunReport` of the run that is shown now.
    """

    node_chosen = Signal(str, object)
    report_shown = Signal(object)

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        call_of: Callable[[], Call | None] | None = None,
    ) -> None:
        """Starts without pages, see `steps`.

        Args:
            client: The store.
            theme: Colours and fonts.
            parent: Owner.
            call_of: Gives the call that would be run now, for looking inside it;
                None when it is incomplete. Without it, the call of the run shown.
        """
        super().__init__(parent)
        self._report: RunReport | None = None
        self.setObjectName("runResults")
        self.setAccessibleName("Results of runs")
        self.banners = BannerStack(theme, self)
        self.tabs = QTabWidget(self)
        self._client = client
        self._parts = PageParts(client, theme, call_of or self._call_shown)
        self._pages: tuple[ResultPage, ...] = ()
        self._lay_out()

    def steps(self) -> Iterator[None]:
        """Makes the pages, one in each step: all of them take too long for one."""
        parts = self._parts
        self.outputs = self._added(OutputsPage(parts, self.tabs))
        yield
        self.updates = self._added(UpdatesPage(parts, self.tabs))
        yield
        self.remarks = self._added(RemarksPage(parts, self.tabs))
        yield
        self.calls = self._added(CallsPage(parts, self.tabs))
        yield
        self.bad = self._added(BadPage(parts, self.tabs))
        yield
        self.verify = self._added(VerifyPage(parts, self.tabs))
        yield
        self.runs = self._added(RunsPage(parts, self.tabs))
        # Runs and their trees end with the store that made them.
        self._client.started.connect(self.clear)

    def _added(self, page: Page) -> Page:
        self._pages = (*self._pages, page)
        self.tabs.addTab(page, page.title)
        page.title_changed.connect(self._show_titles)
        page.node_chosen.connect(self.node_chosen)
        page.run_arrived.connect(self.show_run)
        return page

    def _lay_out(self) -> None:
        self.tabs.setObjectName("runTabs")
        self.tabs.setAccessibleName("Views of the run")
        self.tabs.setDocumentMode(True)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        self.tabs.setUsesScrollButtons(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 2 * SPACE, SPACE)
        column.setSpacing(0)
        column.addWidget(self.banners)
        column.addWidget(self.tabs, 1)

    @property
    def report(self) -> RunReport | None:
        """The run that is shown; None before the first."""
        return self._report

    @property
    def is_settled(self) -> bool:
        """Whether nothing that is in sight is on its way."""
        return not any(page.is_busy for page in self._pages)

    def show_report(self, report: RunReport) -> None:
        """Shows a finished run; the tab that the person looks at stays in front."""
        self._report = report
        self.banners.remove("run")
        for page in self._pages:
            page.show_report(report)
        self.report_shown.emit(report)

    def show_run(self, report: RunReport) -> None:
        """Shows a run of the person's choice, its outputs in front."""
        self.show_report(report)
        self.tabs.setCurrentWidget(self.outputs)

    def show_running(self, text: str) -> None:
        """Says that a run is on; what came of the last one stays in sight."""
        self.banners.remove("run")
        self.outputs.show_running(text)

    def show_stopped(self) -> None:
        """Goes back to the last run: the one that was on was stopped."""
        self.outputs.show_head()

    def show_error(self, error: ErrorInfo) -> None:
        """Says why a run failed; what came of the last one stays in sight."""
        self.outputs.show_head()
        self.banners.show_error("run", error)

    def clear(self) -> None:
        """Forgets everything: the target is another one."""
        self._report = None
        self.banners.remove("run")
        for page in self._pages:
            page.clear()

    def _call_shown(self) -> Call | None:
        return self._report.call if self._report is not None else None

    def _show_titles(self) -> None:
        bar = self.tabs.tabBar()
        glyph = MARKS["open"].glyph
        for number, page in enumerate(self._pages):
            self.tabs.setTabText(
                number, f"{page.title} {glyph}" if page.needs_look else page.title
            )
            spoken = f"{page.title}, needs a look" if page.needs_look else page.title
            bar.setAccessibleTabName(number, spoken)
