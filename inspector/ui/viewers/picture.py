"""Histogram and picture of an array: any 2-D slice, as many cells as a screen shows.

Asks for a thinned slice at a time and says what was left out. Window's thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from inspector.engine.messages.reading import Numbers, Picture, StatisticsReply
from inspector.engine.messages.viewing import Details, ReadNumbers, ReadPicture
from inspector.errors import ErrorInfo
from inspector.ui.models import number_text
from inspector.ui.models.array_slice import ArraySlice, picture_slice
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.viewers.colour_bar import ColourBar
from inspector.ui.viewers.colour_maps import colourise, scale_for
from inspector.ui.viewers.elided_label import ElidedLabel
from inspector.ui.viewers.histogram import Histogram
from inspector.ui.viewers.picture_canvas import PictureCanvas
from inspector.ui.viewers.slice_chooser import SliceChooser
from inspector.ui.viewers.viewer import Viewer
from inspector.variables import dtypes

MOST_CELLS = 160
"""Rows and columns asked for; float32, so at most 100 KiB."""

_ORDINAL_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_TEENS = range(11, 14)


class PictureViewer(Viewer):
    """The histogram of the leaf, and a picture of a 2-D slice below it."""

    title = "Picture"

    def __init__(
        self, client: StoreClient, theme: Theme, parent: QWidget | None = None
    ) -> None:
        """Makes the widgets, empty."""
        super().__init__(client, theme, parent)
        self._details: Details | None = None
        self._slice: ArraySlice = picture_slice(())
        self._picture: Picture | None = None
        self._data: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self._asked: ArraySlice | None = None
        self._pending: ArraySlice | None = None
        self.histogram = Histogram(theme, self)
        self.chooser = SliceChooser(theme, "pictureSlice", self)
        self.chooser.chosen.connect(self._on_chosen)
        self.canvas = PictureCanvas(theme, self)
        self.canvas.pointed.connect(self._on_pointed)
        self.bar = ColourBar(theme, self)
        self.readout = ElidedLabel(self, copy_name="value")
        self.note = QLabel(self)
        self._lay_out()

    def _lay_out(self) -> None:
        self.readout.setProperty("look", "mono")
        self.readout.setObjectName("pictureReadout")
        self.readout.setAccessibleDescription("Value under the cursor")
        self.readout.setFont(self.theme.mono_font("small"))
        self.readout.show_text(" ")
        self.note.setProperty("look", "small")
        self.note.setObjectName("pictureNote")
        self.note.setAccessibleDescription("What the picture leaves out")
        picture = QHBoxLayout()
        picture.setSpacing(12)
        picture.addWidget(self.canvas, 1)
        picture.addWidget(self.bar)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.readout, 1)
        foot.addWidget(self.note, 0, Qt.AlignmentFlag.AlignRight)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.histogram)
        column.addWidget(self.chooser)
        column.addLayout(picture, 1)
        column.addLayout(foot)

    @property
    def is_ready(self) -> bool:
        """Overridden: the histogram is made over several turns."""
        return self.histogram.is_ready

    @staticmethod
    def fitness(details: Details) -> int:
        """Arrays, best of all."""
        return 100 if details.has_numbers else 0

    def show_details(self, details: Details) -> None:
        """Overridden: asks for the picture; the same array keeps its slice."""
        known = self._details
        same = known is not None and (
            (known.tree, known.path, known.row.shape)
            == (details.tree, details.path, details.row.shape)
        )
        self._details = details
        if not same:
            self._slice = picture_slice(details.row.shape)
            self.chooser.set_slice(self._slice)
            self._show_nothing()
        self._asked = self._pending = None
        if details.ready:
            self._ask(self._slice)
        else:
            self._show_nothing()

    def show_statistics(self, statistics: StatisticsReply | None) -> None:
        """Overridden: the histogram comes with them."""
        self.histogram.show_statistics(statistics)

    def clear(self) -> None:
        """Overridden: forgets the array."""
        self.client.drop(self, "picture")
        self.client.drop(self, "cell")
        self._details = None
        self._asked = self._pending = None
        self._show_nothing()

    def _show_nothing(self) -> None:
        self._picture = None
        self._data = np.zeros((0, 0), np.float32)
        self.canvas.clear()
        self.bar.show_scale(None)
        self.note.setText("")
        self.readout.show_text(" ")

    def _ask(self, array_slice: ArraySlice) -> None:
        details = self._details
        if details is None or 0 in details.row.shape:
            self.note.setText("The array is empty." if details else "")
            return
        self._asked = array_slice
        self.client.ask(
            ReadPicture(
                details.tree,
                details.path,
                array_slice.rows_axis,
                array_slice.columns_axis,
                array_slice.index,
                MOST_CELLS,
                MOST_CELLS,
            ),
            owner=self,
            on_reply=self._on_picture,
            on_failure=self._on_failure,
            slot="picture",
        )

    def _on_chosen(self, array_slice: ArraySlice) -> None:
        # While a slider moves, one request is under way and the newest waits for
        # it; replacing the one under way would show nothing until the hand rests.
        if self._asked is not None:
            self._pending = array_slice
        else:
            self._ask(array_slice)

    def _on_picture(self, picture: Picture) -> None:
        asked, pending = self._asked, self._pending
        self._asked = self._pending = None
        if asked is not None:
            self._slice = asked
        self._show_picture(picture)
        if pending is not None:
            self._ask(pending)

    def _show_picture(self, picture: Picture) -> None:
        self._picture = picture
        self._data = np.frombuffer(picture.data, "<f4").reshape(
            picture.rows, picture.columns
        )
        scale = scale_for(picture.low, picture.high)
        pixels = colourise(self._data, scale)
        image = QImage(
            pixels.tobytes(),
            picture.columns,
            picture.rows,
            4 * picture.columns,
            QImage.Format.Format_RGBX8888,
        )
        # The image only borrows its bytes; the copy owns them.
        self.canvas.show_image(image.copy())
        self.bar.show_scale(
            scale,
            has_nan=bool(np.isnan(self._data).any()),
            has_inf=bool(np.isinf(self._data).any()),
        )
        self.note.setText(left_out(picture.row_step, picture.column_step))

    def _on_failure(self, error: ErrorInfo) -> None:
        self._asked = self._pending = None
        self._show_nothing()
        self.note.setText(error.message)
        self.note.setToolTip(error.text())

    def _on_pointed(self, row: int, column: int) -> None:
        details, picture = self._details, self._picture
        if row < 0 or picture is None or details is None:
            self.client.drop(self, "cell")
            self.readout.show_text(" ")
            return
        index = self._slice.at(row * picture.row_step, column * picture.column_step)
        self._say(index, _picture_value(self._data[row, column], details.row.dtype))
        if not number_text.is_exact_in_float32(details.row.dtype):
            self._ask_exact(details, index)

    def _say(self, index: tuple[int, ...], value: str) -> None:
        place = ", ".join(str(position) for position in index)
        self.readout.show_text(f"[{place}] {value}", copy_text=value.strip("= ≈|"))

    def _ask_exact(self, details: Details, index: tuple[int, ...]) -> None:
        def on_reply(numbers: Numbers) -> None:
            value = np.frombuffer(numbers.data, dtypes.to_numpy(numbers.dtype))[0]
            self._say(index, f"= {number_text.text_of(value, numbers.dtype)}")

        self.client.ask(
            ReadNumbers(details.tree, details.path, tuple((i, i + 1) for i in index)),
            owner=self,
            on_reply=on_reply,
            on_failure=lambda _error: None,
            slot="cell",
        )


def _picture_value(value: Any, dtype: str) -> str:
    """Writes a number of the picture, honest about what float32 lost."""
    if number_text.is_exact_in_float32(dtype):
        return f"= {_in_dtype(value, dtype)}"
    about = "| |" if number_text.kind_of(dtype) == "complex" else "≈"
    return f"{about} {number_text.text_of(value, 'float32')}"


def _in_dtype(value: Any, dtype: str) -> str:
    if number_text.kind_of(dtype) in {"bool", "int"} and not np.isfinite(value):
        return number_text.text_of(value, "float32")
    return number_text.text_of(dtypes.to_numpy(dtype).type(value), dtype)


def left_out(row_step: int, column_step: int) -> str:
    """Says which rows and columns a picture shows; empty when it shows all."""
    parts = []
    if row_step > 1:
        parts.append(f"{ordinal(row_step)} row")
    if column_step > 1:
        parts.append(f"{ordinal(column_step)} column")
    return f"every {' and '.join(parts)} shown" if parts else ""


def ordinal(number: int) -> str:
    """Returns ``2nd``, ``3rd``, ``4th``, ``11th``, ``22nd``."""
    teen = number % 100 in _TEENS
    ending = "th" if teen else _ORDINAL_ENDINGS.get(number % 10, "th")
    return f"{number}{ending}"
