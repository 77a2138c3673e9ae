"""The two sides of the run panel: left the call, right what came of it."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from inspector.ui.panels.run_bar import RunBar
from inspector.ui.panels.run_call import RunCall
from inspector.ui.panels.run_code import CodePage
from inspector.ui.panels.run_results import RunResults
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE

_CALL_WIDTH = 400
_RESULT_WIDTH = 620
_CALL_LEAST = 340
_RESULT_LEAST = 360


class RunBody(QSplitter):
    """A call and its results, side by side.

    Every part is made inside its own parent: to move it there later would lay out
    and style all of it once more.

    Attributes:
        call_side: The call as it is written.
        bar: Run, stop, and what belongs to them.
        results: What came of runs.
        code: The call as a program.
    """

    def __init__(self, client: StoreClient, theme: Theme, parent: QWidget) -> None:
        """Makes the left side; `steps` makes the right one."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setObjectName("runSplitter")
        self.setChildrenCollapsible(False)
        self.setHandleWidth(2 * SPACE)
        left = QWidget(self)
        self.call_side = RunCall(theme, left)
        self.bar = RunBar(theme, left)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.call_side, 1)
        column.addWidget(self.bar)
        # Less than the parts ask for: a small window scrolls them.
        left.setMinimumWidth(_CALL_LEAST)
        self._parts = client, theme

    def steps(self) -> Iterator[None]:
        """Makes the right side, a part in each step."""
        client, theme = self._parts
        self.results = RunResults(client, theme, self, call_of=self.call_side.call)
        yield
        yield from self.results.steps()
        yield
        self.code = CodePage(client, theme, self.results.tabs)
        self.results.tabs.addTab(self.code, "Code")
        self.results.tabs.setCurrentWidget(self.code)
        self.results.setMinimumWidth(_RESULT_LEAST)
        self.setStretchFactor(1, 1)
        self.setSizes([_CALL_WIDTH, _RESULT_WIDTH])
