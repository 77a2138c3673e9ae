"""Empty states: an invitation in place of an empty panel.

Panels show one while there is nothing to list; its buttons are ordinary actions.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE


class Invitation(QWidget):
    """A sentence in the middle of a panel, and buttons below it."""

    def __init__(
        self,
        theme: Theme,
        text: str,
        actions: tuple[QAction, ...],
        *,
        parent: QWidget,
        name: str,
    ) -> None:
        """Shows a sentence.

        Args:
            theme: Colours.
            text: The sentence.
            actions: A button each.
            parent: The panel.
            name: Object name.
        """
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(text)
        label = QLabel(text, self)
        label.setProperty("look", "secondary")
        label.setWordWrap(True)
        label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(6 * SPACE, 0, 6 * SPACE, 0)
        column.setSpacing(4 * SPACE)
        column.addStretch(2)
        column.addWidget(label)
        if actions:
            row = QHBoxLayout()
            row.setSpacing(2 * SPACE)
            row.addStretch(1)
            for action in actions:
                row.addWidget(self._button(action, name))
            row.addStretch(1)
            column.addLayout(row)
        column.addStretch(3)
        self._theme = theme

    def _button(self, action: QAction, name: str) -> QPushButton:
        button = QPushButton(action.text().replace("&", ""), self)
        button.setObjectName(f"{name}.{action.objectName()}")
        button.setAccessibleName(str(action.property("accessibleName")))
        button.clicked.connect(action.trigger)
        return button
