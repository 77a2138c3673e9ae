"""The reference for a first window: an empty QMainWindow of the same size.

Tells ``painted`` and ends.
"""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow

from benchmarks.children.painting import FirstPicture
from benchmarks.children.speech import tell_painted


def main() -> None:
    """Shows it."""
    app = QApplication([])
    window = QMainWindow()
    window.resize(1280, 800)

    def on_shown() -> None:
        tell_painted()
        QTimer.singleShot(0, app.quit)

    FirstPicture(app, on_shown)
    window.show()
    app.exec()


if __name__ == "__main__":
    main()
