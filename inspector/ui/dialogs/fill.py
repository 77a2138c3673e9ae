"""Fill target arrays with one number."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QLineEdit, QWidget

from inspector.errors import InspectorError
from inspector.ui.dialogs.popover import Popover
from inspector.ui.models import number_text
from inspector.ui.operations import edits
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.variables.path import TreePath


class FillDialog(Popover):
    """Asks for a number and fills."""

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        paths: tuple[TreePath, ...],
        parent: QWidget | None = None,
        *,
        dtype: str = "",
    ) -> None:
        """Asks for a number; ``dtype`` is known for a single leaf."""
        super().__init__(
            client, theme, paths, parent, title="Fill with a number", button="Fill"
        )
        self.setObjectName("fillDialog")
        self._dtype = dtype
        self.number = QLineEdit("0", self)
        self.number.setPlaceholderText("0, 1e-3, nan, inf, 1+2j, true")
        self.number.selectAll()
        self.number.textChanged.connect(self._on_text)
        self.lay_out(self.number, name="fillNumber", accessible="Number")

    def _on_text(self, text: str) -> None:
        self.show_problem(problem_of(text, self._dtype))

    def apply(self) -> None:
        """Overridden: fills."""
        text = self.number.text().strip()
        if problem := problem_of(text, self._dtype):
            self.show_problem(problem)
            return
        self.send(partial(edits.fill, number=text.replace("−", "-")))


def problem_of(text: str, dtype: str) -> str:
    """Returns why a text cannot fill arrays; empty when it can.

    Args:
        text: As typed.
        dtype: Dtype of the one array; empty for several arrays, where any number
            will do and the store knows each dtype.
    """
    if dtype:
        return _problem(text, dtype)
    if text.strip().lower() in {"true", "false"}:
        return ""
    return _problem(text, "complex128")


def _problem(text: str, dtype: str) -> str:
    try:
        number_text.checked(text, dtype)
    except InspectorError as error:
        return error.message
    return ""
