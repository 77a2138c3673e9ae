"""The lower part of the module dialog: arguments, inputs, call, seeds of one module.

Builds the form from a `ModuleOffer` and reads a `ModuleSpec` back from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.module import ModuleOffer, ModuleSpec
from inspector.errors import LoadModuleError
from inspector.ui.dialogs.form_rows import add_row, make_form
from inspector.ui.dialogs.module_form import UNGIVEN, FieldEditor
from inspector.ui.dialogs.module_inputs import (
    EXAMPLE,
    PairRows,
    input_of,
    pairs_of,
)
from inspector.ui.theme import Theme


class ReadSeedError(LoadModuleError):
    """What was typed as the seed of an rng stream is no seed."""

    def __init__(self, stream: str, text: str) -> None:
        """Names the stream and what was typed."""
        super().__init__(
            f"‘{text}’ is no seed of the rng stream ‘{stream}’.",
            hint="A seed is a whole number from 0 to 4294967295.",
        )


class ReadStaticError(LoadModuleError):
    """A static argument of the call has a name or a value that cannot be used."""

    def __init__(self, name: str, text: str) -> None:
        """Names the argument and what was typed."""
        super().__init__(
            f"The static argument ‘{name}’ has no usable value: ‘{text}’.",
            hint='Give a name, and JSON as value: true, false, 3, 0.5, "text".',
        )


_SEED_END = 1 << 32
_NOTES = {
    "nnx": "An NNX module is made without inputs; these are for its first run.",
    "pytree": "A pytree is made without inputs; these are for its first run.",
}
"""Family -> what its inputs are for, where that is not ``init``."""

_T = TypeVar("_T")


class ModulePage(QScrollArea):
    """The form of one module.

    Signals:
        edited: The person changed something.
    """

    edited = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Starts without arguments; inputs and seeds are there from the start."""
        super().__init__(parent)
        self._theme = theme
        self._editors: list[FieldEditor] = []
        self._culprit: QWidget | None = None
        self._stream = "params"
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setObjectName("modulePage")
        self.setAccessibleName("Arguments, inputs and seeds")
        content = QWidget(self)
        self.setWidget(content)
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(4)
        self._arguments_caption = self._caption("Constructor arguments", content)
        column.addWidget(self._arguments_caption)
        self._form_host = QWidget(content)
        self._form = make_form(self._form_host)
        self._form.setVerticalSpacing(4)
        column.addWidget(self._form_host)
        self.inputs = self._rows(
            content, "moduleInputs", ("keyword", EXAMPLE), "Add input"
        )
        self.statics = self._rows(
            content,
            "moduleStatics",
            ("name, e.g. train", "true"),
            "Add static argument",
        )
        self.seeds = self._rows(content, "moduleSeeds", ("rng stream", "0"), "Add seed")
        self.method = QLineEdit(content)
        self.method.setPlaceholderText("__call__")
        self.method.setObjectName("moduleMethod")
        self.method.setAccessibleName("Method that init runs")
        self.method.setFont(theme.mono_font())
        self._call_caption = self._caption("Inputs of the call", content)
        column.addWidget(self._call_caption)
        self.note = QLabel(content)
        self.note.setObjectName("moduleInputsNote")
        self.note.setProperty("look", "secondary")
        self.note.setWordWrap(True)
        self.note.hide()
        column.addWidget(self.note)
        column.addWidget(self.inputs)
        self.proposals = QVBoxLayout()
        column.addLayout(self.proposals)
        column.addWidget(self._caption("Static arguments of the call", content))
        column.addWidget(self.statics)
        column.addWidget(self._caption("Seeds of init", content))
        column.addWidget(self.seeds)
        column.addWidget(self._caption("Method", content))
        column.addWidget(self.method)
        column.addStretch(1)

    def _caption(self, text: str, parent: QWidget) -> QLabel:
        label = QLabel(text, parent)
        label.setProperty("look", "small")
        label.setContentsMargins(0, 8, 0, 0)
        return label

    def _rows(
        self, parent: QWidget, name: str, captions: tuple[str, str], add_text: str
    ) -> PairRows:
        rows = PairRows(
            self._theme, parent, name=name, captions=captions, add_text=add_text
        )
        rows.edited.connect(self.edited)
        return rows

    def show_offer(self, offer: ModuleOffer) -> None:
        """Makes the form of a module, with its defaults."""
        while self._form.rowCount():
            self._form.removeRow(0)
        self._editors = []
        for field in offer.fields:
            editor = FieldEditor(field, self._form_host)
            editor.edited.connect(self.edited)
            star = " *" if field.required else ""
            label = add_row(self._form, f"{field.name}{star}", editor.widget)
            label.setToolTip(editor.widget.toolTip())
            self._editors.append(editor)
        self._arguments_caption.setText(
            "Constructor arguments" if offer.fields else "No constructor arguments"
        )
        call = f" of __call__{offer.call}" if offer.call else " of the call"
        self._call_caption.setText(f"Inputs{call}")
        if not self.inputs.pairs():
            self.inputs.set_pairs([("", "")])
        self._stream = "default" if offer.family == "nnx" else "params"
        if not self.seeds.pairs() or self._is_seed_untouched():
            self.seeds.set_pairs([(self._stream, "0")])
        self.note.setText(_NOTES.get(offer.family, ""))
        self.note.setVisible(bool(self.note.text()))

    def _is_seed_untouched(self) -> bool:
        return self.seeds.pairs() in ([("params", "0")], [("default", "0")])

    def show_spec(self, module: ModuleSpec) -> None:
        """Fills in what is known of a module, e.g. what was used the last time."""
        try:
            kwargs = json.loads(module.kwargs)
        except ValueError:
            kwargs = {}
        for editor in self._editors:
            if editor.field.name in kwargs:
                editor.set_value(kwargs[editor.field.name])
        self.inputs.set_pairs(pairs_of(module.inputs) or [("", "")])
        self.statics.set_pairs(list(module.statics))
        seeds = [(stream, str(seed)) for stream, seed in module.seeds]
        self.seeds.set_pairs(seeds or [(self._stream, "0")])
        self.method.setText(module.method)

    def add_proposal(self, name: str, on_wanted: Callable[[], object]) -> None:
        """Adds a button that asks for inputs that fit a source of this name."""
        text = f"Propose inputs that fit {name}"
        button = QPushButton(text, self.widget())
        button.setObjectName("moduleProposeInputs")
        button.setAccessibleName(text)
        button.setProperty("look", "flat")
        button.setAutoDefault(False)
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        button.clicked.connect(lambda _checked=False: on_wanted())
        self.proposals.addWidget(button)

    def take_inputs(self, inputs: tuple[str, ...]) -> None:
        """Puts inputs into the form."""
        self.inputs.set_pairs(pairs_of(inputs))
        self.edited.emit()

    def read_spec(self, spec: str, cwd: str) -> ModuleSpec:
        """Returns what the form says.

        Args:
            spec: ``file.py:Name`` or ``package.module:Name``.
            cwd: Folder for relative paths.

        Raises:
            LoadModuleError: A field holds something that means nothing there.
        """
        return ModuleSpec(
            spec=spec,
            kwargs=json.dumps(self._kwargs()),
            inputs=self._read(self.inputs, input_of),
            method=self.method.text().strip(),
            statics=self._read(self.statics, _static),
            seeds=self._read(self.seeds, _seed),
            cwd=cwd,
        )

    def focus_culprit(self) -> None:
        """Goes to the field that `read_spec` could not read, and shows it."""
        if self._culprit is not None:
            self._culprit.setFocus()
            self.ensureWidgetVisible(self._culprit)

    def _kwargs(self) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for editor in self._editors:
            self._culprit = editor.widget
            value = editor.value()
            if value is not UNGIVEN:
                given[editor.field.name] = value
        return given

    def _read(self, rows: PairRows, read: Callable[[str, str], _T]) -> tuple[_T, ...]:
        """Reads every row of a table that has a value."""
        found: list[_T] = []
        for name, text, field in rows.entries():
            self._culprit = field
            found.append(read(name, text))
        return tuple(found)


def _static(name: str, text: str) -> tuple[str, str]:
    lowered = text.lower()
    value = lowered if lowered in {"true", "false"} else text
    value = "null" if text == "None" else value
    try:
        json.loads(value)
    except ValueError:
        raise ReadStaticError(name, text) from None
    if not name.isidentifier():
        raise ReadStaticError(name, text)
    return name, value


def _seed(stream: str, text: str) -> tuple[str, int]:
    try:
        seed = int(text)
    except ValueError:
        raise ReadSeedError(stream, text) from None
    if not 0 <= seed < _SEED_END:
        raise ReadSeedError(stream, text)
    return stream or "params", seed
