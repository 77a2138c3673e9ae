"""Cast target arrays to another dtype."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QComboBox, QWidget

from inspector.ui.dialogs.module_form import DTYPES
from inspector.ui.dialogs.popover import Popover
from inspector.ui.operations import edits
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.variables.path import TreePath


class CastDialog(Popover):
    """Asks for a dtype and casts."""

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        paths: tuple[TreePath, ...],
        parent: QWidget | None = None,
        *,
        dtype: str = "",
    ) -> None:
        """Asks for a dtype; ``dtype`` is the present one of a single leaf."""
        super().__init__(
            client, theme, paths, parent, title="Cast to a dtype", button="Cast"
        )
        self.setObjectName("castDialog")
        self.dtype = QComboBox(self)
        self.dtype.addItems([name for name in DTYPES if name != dtype])
        self.lay_out(self.dtype, name="castDtype", accessible="Dtype")

    def apply(self) -> None:
        """Overridden: casts."""
        self.send(partial(edits.cast, dtype=self.dtype.currentText()))
