"""The call side of the run panel: method, mode, device, inputs, seeds.

Shows a `CallForm` and what the person wrote; `call` gives the `Call` that stands
there. Asks nobody: the run panel does. On the window's thread.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.calling import FOUND, Call, CallForm, Devices
from inspector.engine.messages.running import RunReport
from inspector.ui.models.arguments_model import ArgumentColumn, ArgumentsModel
from inspector.ui.models.call_draft import (
    arguments_of,
    inputs_of,
    statics_of,
    takes_more,
)
from inspector.ui.models.seeds_model import SeedsModel, Stream
from inspector.ui.panels.run_device import DeviceBox, MutableButton, PrecisionBox
from inspector.ui.panels.run_editing import ArgumentTable, SeedTable
from inspector.ui.panels.run_memory import Remembered
from inspector.ui.panels.run_mode import ModeToggle, note_of
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE

_CALL = "__call__"
_FILES = (
    "Arrays and pictures (*.npy *.npz *.png *.jpg *.jpeg *.gif *.bmp *.webp *.tif"
    " *.tiff);;All files (*)"
)
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff")


class RunCall(QScrollArea):
    """A call as it is being written.

    Attributes:
        arguments: Its arguments.
        seeds: Its rng streams.

    Signals:
        changed: The call is another one.
        method_chosen: The person chose a method; its form is wanted.
        proposal_wanted: Id of the source that inputs are to fit.
        locks_changed: A seed was locked, or its lock taken off.
    """

    changed = Signal()
    method_chosen = Signal(str)
    proposal_wanted = Signal(str)
    locks_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Starts without a form."""
        super().__init__(parent)
        self.setObjectName("runCall")
        self.setAccessibleName("The call")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._form: CallForm | None = None
        self._collections: tuple[str, ...] = ()
        self.arguments = ArgumentsModel(self)
        self.seeds = SeedsModel(self)
        content = QWidget(self)
        self._make_head(content)
        self.input_table = ArgumentTable(self.arguments, theme, content)
        self.seed_table = SeedTable(self.seeds, theme, content)
        self._make_buttons(content)
        self._lay_out(content)
        self.setWidget(content)
        self._connect()

    def _make_head(self, parent: QWidget) -> None:
        self.method_box = QComboBox(parent)
        self.method_box.setObjectName("methodBox")
        self.method_box.setAccessibleName("Method")
        adjust = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.method_box.setSizeAdjustPolicy(adjust)
        self.method_box.setMinimumContentsLength(10)
        self.mode = ModeToggle(parent)
        self.device_box = DeviceBox(parent)
        self.precision_box = PrecisionBox(parent)
        self.note = QLabel(parent)
        self.note.setObjectName("callNote")
        self.note.setProperty("look", "secondary")
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        self.note.setMinimumWidth(1)
        self.note.hide()
        self.problem = QLabel(parent)
        self.problem.setObjectName("callProblem")
        self.problem.setProperty("look", "error")
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.setWordWrap(True)
        self.problem.setMinimumWidth(1)
        self.problem.hide()

    def _make_buttons(self, parent: QWidget) -> None:
        self.propose_button = _flat("Propose from checkpoint", "proposeInputs", parent)
        self.propose_button.setToolTip(
            "Inputs under which the module takes the variables of an open source"
        )
        self._sources = QMenu(self.propose_button)
        self._sources.setObjectName("proposeMenu")
        self.file_button = _flat("File…", "inputFile", parent)
        self.file_button.setAccessibleName("Choose a file for the selected input")
        self.file_button.setToolTip("An array or a picture for the selected input")
        self.add_button = _flat("Add input", "addInput", parent)
        self.mutable = MutableButton(parent)
        self.new_seeds = _flat("New seeds", "newSeeds", parent)
        self.new_seeds.setToolTip("Another seed for every stream that is not locked")

    def _lay_out(self, content: QWidget) -> None:
        head = QGridLayout()
        head.setSpacing(2 * SPACE)
        head.addWidget(self.method_box, 0, 0)
        head.addWidget(self.mode, 0, 1)
        head.addWidget(self.device_box, 1, 0)
        head.addWidget(self.precision_box, 1, 1)
        head.setColumnStretch(0, 1)
        head.setColumnStretch(1, 1)
        column = QVBoxLayout(content)
        column.setContentsMargins(3 * SPACE, 2 * SPACE, 2 * SPACE, SPACE)
        column.setSpacing(SPACE)
        column.addLayout(head)
        column.addWidget(self.note)
        column.addWidget(self.problem)
        column.addWidget(self.input_table)
        column.addLayout(_row(self.propose_button, self.file_button, self.add_button))
        column.addWidget(self.seed_table)
        column.addLayout(_row(self.new_seeds, self.mutable))
        column.addStretch(1)

    def _connect(self) -> None:
        self.method_box.activated.connect(self._on_method)
        for box in (self.device_box, self.precision_box):
            box.activated.connect(self._tell)
        self.mode.chosen.connect(self._tell)
        self.mutable.chosen.connect(self._tell)
        self.arguments.edited.connect(self._tell)
        self.seeds.edited.connect(self._tell)
        self.seeds.locks_changed.connect(self.locks_changed)
        self.new_seeds.clicked.connect(self.draw_seeds)
        self.add_button.clicked.connect(self.arguments.add_row)
        self.file_button.clicked.connect(self._on_file)
        self.propose_button.clicked.connect(self._on_propose)
        self.input_table.selectionModel().currentRowChanged.connect(self._show_file)

    # What is shown.

    @property
    def form(self) -> CallForm | None:
        """How the method is called; None before it is known."""
        return self._form

    @property
    def method(self) -> str:
        """The method as a `Call` takes it."""
        return self._form.method if self._form is not None else ""

    @property
    def locked(self) -> tuple[str, ...]:
        """Streams whose seed is locked."""
        return tuple(stream.name for stream in self.seeds.streams if stream.is_locked)

    def call(self) -> Call | None:
        """Returns the call that stands there; None while it is incomplete."""
        form = self._form
        if form is None or form.problem or self.arguments.first_problem()[1]:
            return None
        return Call(
            method=form.method,
            inputs=inputs_of(self.arguments.rows, form),
            statics=statics_of(self.arguments.rows),
            mode=self.mode.mode,
            seeds=self.seeds.seeds,
            mutable=self.mutable.mutable,
            device=self.device_box.device,
            precision=self.precision_box.precision,
        )

    def clear(self) -> None:
        """Forgets the form."""
        self._form = None
        self.arguments.show_rows(())
        self.seeds.show_streams(())
        self.method_box.clear()

    def show_form(self, form: CallForm, remembered: Remembered | None) -> None:
        """Shows how a method is called.

        Args:
            form: The form.
            remembered: What was written before for this method; None for the form's
                own inputs.
        """
        self._form = form
        self._show_methods(form)
        self.mode.show_mode(form.mode)
        before = remembered.call if remembered is not None else None
        if before is None:
            rows = arguments_of(form, form.inputs)
        else:
            rows = arguments_of(form, before.inputs, before.statics)
            self.mode.choose(before.mode)
            self.device_box.choose(before.device)
            self.precision_box.choose(before.precision)
        self.arguments.show_rows(rows)
        self._show_streams(form, remembered)
        mutable = before.mutable if before is not None else (FOUND,)
        self.mutable.show_call(mutable, self._collections)
        self.add_button.setVisible(takes_more(form))
        self._show_words()
        self._show_file()

    def show_devices(self, devices: Devices) -> None:
        """Lists the devices, and why one is missing that is to be expected."""
        self.device_box.show_devices(devices)
        self._show_words()

    def show_collections(self, names: Sequence[str]) -> None:
        """Offers the collections of the target as mutable ones."""
        self._collections = tuple(names)
        self.mutable.add_known(names)

    def show_sources(self, sources: Sequence[tuple[str, str]]) -> None:
        """Offers to fit inputs to open sources, each an (id, name)."""
        self._sources.clear()
        for source, name in sources:
            self._sources.addAction(name, partial(self.proposal_wanted.emit, source))
        self.propose_button.setVisible(bool(sources))
        several = len(sources) > 1
        self.propose_button.setMenu(self._sources if several else None)  # type: ignore[arg-type]  # Qt takes None
        self._only_source = sources[0][0] if len(sources) == 1 else ""

    def show_report(self, report: RunReport) -> None:
        """Tells who drew random numbers in a run, and what was mutable."""
        self.seeds.show_draws(report.rngs)
        self.mutable.add_known(report.mutable)
        self._show_seeds()

    def take_inputs(self, inputs: tuple[str, ...]) -> None:
        """Puts other inputs in the place of those that stand there."""
        if self._form is None:
            return
        statics = statics_of(self.arguments.rows)
        self.arguments.show_rows(arguments_of(self._form, inputs, statics))
        self._tell()

    def draw_seeds(self) -> None:
        """Draws another seed for every stream that is not locked."""
        self.seeds.draw_new(secrets.randbelow)

    def focus_problem(self) -> None:
        """Puts the focus where something is missing."""
        row, _ = self.arguments.first_problem()
        if row >= 0:
            index = self.arguments.index(row, ArgumentColumn.VALUE)
            flag = QItemSelectionModel.SelectionFlag
            self.input_table.selectionModel().setCurrentIndex(
                index, flag.ClearAndSelect
            )
            self.input_table.setFocus(Qt.FocusReason.OtherFocusReason)
            self.ensureWidgetVisible(self.input_table)

    def _show_methods(self, form: CallForm) -> None:
        self.method_box.clear()
        for name in form.methods or (_CALL,):
            self.method_box.addItem(name, "" if name == _CALL else name)
        row = self.method_box.findData(form.method)
        self.method_box.setCurrentIndex(max(0, row))
        title = f"{form.method or _CALL}{form.signature}"
        self.method_box.setToolTip(f"{title}\n{form.doc}".rstrip())
        self.method_box.setEnabled(len(form.methods) > 1)

    def _show_streams(self, form: CallForm, remembered: Remembered | None) -> None:
        seeds = dict(remembered.call.seeds) if remembered is not None else {}
        locked = remembered.locked if remembered is not None else ()
        names = dict.fromkeys((*form.streams, *seeds))
        self.seeds.set_unset_text("0" if form.family != "nnx" else "stored")
        self.seeds.show_streams(
            [Stream(name, seeds.get(name), name in locked) for name in names]
        )
        self._show_seeds()

    def _show_seeds(self) -> None:
        has_any = bool(self.seeds.streams)
        self.seed_table.setVisible(has_any)
        self.new_seeds.setVisible(has_any)

    def _show_words(self) -> None:
        form = self._form
        notes = [note_of(form.mode)] if form is not None else []
        notes.append(self.device_box.problem)
        text = "\n".join(filter(None, notes))
        self.note.setText(text)
        self.note.setVisible(bool(text))
        problem = form.problem if form is not None else ""
        problem = problem or self._first_problem()
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))

    def _first_problem(self) -> str:
        # What is not written yet is no mistake; the star in the table says it.
        row, problem = self.arguments.first_problem()
        return problem if row >= 0 and self.arguments.rows[row].text else ""

    # What the person does.

    def _tell(self) -> None:
        self._show_words()
        self._show_file()
        self.changed.emit()

    def _on_method(self, row: int) -> None:
        method = str(self.method_box.itemData(row) or "")
        if method != self.method:
            self.method_chosen.emit(method)

    def _on_propose(self) -> None:
        if self._only_source:
            self.proposal_wanted.emit(self._only_source)

    def _input_row(self) -> int:
        """Returns the row that a file is for: the current input, or the only one."""
        rows = self.arguments.rows
        inputs = [n for n, row in enumerate(rows) if not row.is_static]
        current = self.input_table.currentIndex().row()
        if current in inputs:
            return current
        return inputs[0] if len(inputs) == 1 else -1

    def _show_file(self) -> None:
        self.file_button.setEnabled(self._input_row() >= 0)

    def _on_file(self) -> None:
        dialog = QFileDialog(self, "Choose an input", "", _FILES)
        dialog.setObjectName("inputFileDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.take_file)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def take_file(self, path: str) -> None:
        """Makes a file the selected input; a picture fills the shape that is there."""
        number = self._input_row()
        if number < 0:
            return
        row = self.arguments.rows[number]
        is_picture = path.lower().endswith(_PICTURES)
        column = ArgumentColumn.VALUE
        if is_picture and row.takes_fill:
            column = ArgumentColumn.FILL
        self.arguments.setData(self.arguments.index(number, column), path)


def _flat(text: str, name: str, parent: QWidget) -> QPushButton:
    button = QPushButton(text, parent)
    button.setObjectName(name)
    button.setAccessibleName(text)
    button.setProperty("look", "flat")
    return button


def _row(*widgets: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(SPACE)
    for widget in widgets:
        row.addWidget(widget)
    row.addStretch(1)
    return row
