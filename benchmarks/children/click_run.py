"""A window in which Run is clicked, until the output's numbers are on the screen.

Wanted: ``{"argv": [...], "runs": n}`` with a module. Tells ``beside``, for each click
the seconds until the numbers were shown without those of the run itself.
"""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QTableView

from benchmarks.children.heart import Heart
from benchmarks.children.speech import tell, wanted
from inspector.app import open_window
from inspector.engine.messages.running import RunReport
from inspector.ui.main_window import MainWindow

_LIMIT_S = 120.0


def main() -> None:
    """Clicks."""
    job = wanted()
    app = QApplication([])
    window = open_window(job["argv"])
    window.show()
    heart = Heart(window)

    def work() -> None:
        try:
            tell(beside=_measure(window, heart, int(job["runs"])))
        finally:
            heart.stop()
            window.close()
            app.quit()

    QTimer.singleShot(0, work)
    app.exec()


def _measure(window: MainWindow, heart: Heart, runs: int) -> list[float]:
    heart.wait(lambda: window.mirror.info.target.kind == "module", "module", _LIMIT_S)
    window.show_panel("run")
    button = window.findChild(QPushButton, "runButton")
    table = window.findChild(QTableView, "outputTable")
    assert button is not None
    assert table is not None
    heart.wait(lambda: button.isEnabled() and window.is_settled, "form", _LIMIT_S)
    results = window.run.results
    found = []
    for _ in range(runs + 1):
        before = results.report

        def is_shown(before: RunReport | None = before) -> bool:
            return (
                results.report is not before
                and window.is_settled
                and table.model().rowCount() > 0
            )

        start = time.perf_counter()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        heart.wait(is_shown, "numbers", _LIMIT_S)
        assert results.report is not None
        found.append(time.perf_counter() - start - results.report.run_s)
    return found[1:]


if __name__ == "__main__":
    main()
