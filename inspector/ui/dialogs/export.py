"""The dialog that writes the target to a file.

Says what will be written, asks where and in which format, and starts the export,
which then runs in the background under the status bar. It comes back when the store
needs an answer: something the format cannot say, a source that changed, an error.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.document import AskDocument, DocumentInfo, Export
from inspector.engine.messages.envelope import Progress
from inspector.engine.messages.reading import Exported
from inspector.errors import ErrorInfo, WriteFileError
from inspector.ui import format as fmt
from inspector.ui.dialogs.form_rows import add_row, make_form
from inspector.ui.dialogs.task_dialog import MARGINS, TaskDialog, name_widgets
from inspector.ui.operations import edits, exports
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.viewers.number_field import NumberField

_MOST_SEED = (1 << 32) - 1
_LIST_HEIGHT = 110
_SEED_WIDTH = 120


class NoPathError(WriteFileError):
    """The person asked to export without saying where to."""

    def __init__(self) -> None:
        """Says what is missing."""
        super().__init__(
            "There is no path to write to.", hint="Type one, or choose it with Browse."
        )


class ExportDialog(TaskDialog):
    """Where to, in which format, and what will be in it.

    Signals:
        exported: `Exported`, when the file is there.
        cancelled: The person stopped it; the old file, or nothing, is there.
    """

    exported = Signal(object)
    cancelled = Signal()

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        folder: str = "",
    ) -> None:
        """Starts with a path in ``folder``; `show_target` fills in the rest."""
        super().__init__(
            client, theme, parent, name="export", title="Export the target",
            button="Export",
        )  # fmt: skip
        self._folder = folder or str(Path.home())
        self._ticket = 0
        self._may_run = False
        self.path = QLineEdit(self)
        self.browse = QPushButton("Browse…", self)
        self.format = QComboBox(self)
        self.summary = QLabel(self)
        self.notice = QLabel(self)
        self.losses = QPlainTextEdit(self)
        self.lossy = QCheckBox("Write it all the same", self)
        self.changed = QCheckBox("Use the sources as they are now", self)
        self._seeds = QWidget(self)
        self._seed_form = make_form(self._seeds)
        self._name_widgets()
        self._lay_out()
        self._connect()
        self._forget_answers()
        self.resize(520, 280)

    def _name_widgets(self) -> None:
        name_widgets((
            (self.path, "exportPath", "File or folder to write"),
            (self.browse, "exportBrowse", "Choose the file or folder"),
            (self.format, "exportFormat", "Format"),
            (self.summary, "exportSummary", "What will be written"),
            (self.notice, "exportNotice", "What happens to what is there"),
            (self.losses, "exportLosses", "What the format cannot say"),
            (self.lossy, "exportLossy", "Write it all the same"),
            (self.changed, "exportChanged", "Use the sources as they are now"),
            (self.start_button, "exportButton", "Export"),
            (self._seeds, "exportSeeds", "Seeds of the initial values"),
        ))  # fmt: skip
        self.path.setFont(self._theme.mono_font())
        for _, _, label in exports.FORMATS:
            self.format.addItem(label)
        for note, look in ((self.summary, "secondary"), (self.notice, "warning")):
            note.setWordWrap(True)
            note.setProperty("look", look)
        self.losses.setReadOnly(True)
        self.losses.setFixedHeight(_LIST_HEIGHT)
        self.losses.setFont(self._theme.mono_font("small"))
        self.start_button.setDefault(True)
        self.browse.setAutoDefault(False)

    def _lay_out(self) -> None:
        where = QHBoxLayout()
        where.setSpacing(4)
        where.addWidget(self.path, 1)
        where.addWidget(self.browse)
        form = make_form()
        add_row(form, "Write to", where, buddy=self.path)
        add_row(form, "Format", self.format)
        column = QVBoxLayout(self)
        column.setContentsMargins(*MARGINS)
        column.setSpacing(8)
        column.addLayout(form)
        for widget in (
            self.summary, self._seeds, self.notice, self.banner, self.losses,
            self.lossy, self.changed,
        ):  # fmt: skip
            column.addWidget(widget)
        column.addStretch(1)
        column.addWidget(self.progress)
        column.addLayout(self.button_row())

    def _connect(self) -> None:
        self.path.textChanged.connect(self._on_path)
        self.format.activated.connect(self._on_format)
        self.browse.clicked.connect(self._on_browse)
        self.lossy.toggled.connect(self._on_answer)
        self.changed.toggled.connect(self._on_answer)
        self.start_button.clicked.connect(self.start)

    def show_target(self) -> None:
        """Opens the dialog with what would be written now."""
        self._forget_answers()
        self._client.ask(
            AskDocument(), owner=self, on_reply=self._on_document, slot="document"
        )
        self.show()
        self.raise_()
        self.activateWindow()
        self.path.setFocus()
        self.path.selectAll()

    def request(self) -> Export:
        """Returns the request that the fields stand for."""
        name = exports.FORMATS[self.format.currentIndex()][0]
        return Export(
            out=self.path.text().strip(),
            format=name,
            lossy=self.lossy.isChecked() and not self.lossy.isHidden(),
            overwrite=True,
            changed=self.changed.isChecked() and not self.changed.isHidden(),
            run=self._may_run,
            cwd=self._folder,
        )

    def start(self) -> None:
        """Starts the export; the dialog goes as soon as writing has begun."""
        if not self.path.text().strip():
            self.banner.show_error(NoPathError().info())
            self.path.setFocus()
            return
        self.banner.clear()
        self.set_busy("Checking…")
        self._ticket = exports.export_target(
            self._client,
            owner=self,
            request=self.request(),
            on_done=self._on_exported,
            on_failure=self._on_failure,
            on_progress=self._on_progress,
            on_cancelled=self._on_cancelled,
        )

    def _forget_answers(self) -> None:
        self._may_run = False
        self.banner.clear()
        self.losses.hide()
        for box in (self.lossy, self.changed):
            box.setChecked(False)
            box.hide()
        self.set_idle()

    def set_idle(self) -> None:
        """Overridden: nothing is left to cancel."""
        super().set_idle()
        self._ticket = 0

    def _on_document(self, info: DocumentInfo) -> None:
        target = info.target
        counts = dict(target.origins)
        parts = [fmt.plural(target.leaves, "leaf", "leaves"), fmt.size(target.nbytes)]
        initial, unset = counts.get("initial", 0), counts.get("unset", 0)
        text = f"{target.name}: {', '.join(parts)}."
        if initial:
            leaves = fmt.plural(initial, "leaf gets its", "leaves get their")
            text += f" {leaves} initial value, made by the module."
        self.summary.setText(text)
        self.summary.setToolTip(fmt.exact_size(target.nbytes))
        self._show_seeds(target.seeds if initial else ())
        if unset:
            self.banner.show_error(_UnsetLeavesError(unset).info())
        changed = [source for source in info.sources if source.changed]
        if changed:
            self._ask_about_changed(", ".join(source.name for source in changed))
        if not self.path.text():
            self.path.setText(str(Path(self._folder) / _suggested_name(target.name)))
            self.path.selectAll()

    def _ask_about_changed(self, names: str) -> None:
        self.changed.setText(f"Use {names} as it is on disk now")
        self.changed.show()

    def _show_seeds(self, seeds: tuple[tuple[str, int], ...]) -> None:
        while self._seed_form.rowCount():
            self._seed_form.removeRow(0)
        for stream, seed in seeds:
            box = NumberField(self._theme, self._seeds, last=_MOST_SEED, number=seed)
            box.setFixedWidth(_SEED_WIDTH)
            box.setObjectName(f"seed.{stream}")
            box.setAccessibleName(f"Seed of the rng stream {stream}")
            box.number_changed.connect(partial(self._on_seed, stream))
            add_row(self._seed_form, f"Seed of {stream}", box)
        self._seeds.setVisible(bool(seeds))

    def _on_seed(self, stream: str, seed: int) -> None:
        edits.set_seed(
            self._client,
            owner=self,
            stream=stream,
            seed=seed,
            on_failure=self.banner.show_error,
        )

    def _on_path(self, text: str) -> None:
        name = exports.format_of(text)
        index = next(i for i, entry in enumerate(exports.FORMATS) if entry[0] == name)
        self.format.setCurrentIndex(index)
        self._forget_losses()
        path = text.strip()
        self.notice.setText(
            f"{Path(path).name} exists and is replaced once the new one is complete."
            if path and self._is_local(path)
            else ""
        )
        self.notice.setVisible(bool(self.notice.text()))

    def _is_local(self, path: str) -> bool:
        """Whether something is there, as far as the window's own machine knows."""
        try:
            found = Path(self._folder, os.path.expanduser(path))  # noqa: PTH111 - lets ~nobody be
            return found.is_file() or (found.is_dir() and any(found.iterdir()))
        except (OSError, ValueError):
            return False

    def _on_format(self, index: int) -> None:
        self.path.setText(
            exports.with_suffix(self.path.text().strip(), exports.FORMATS[index][0])
        )
        self._forget_losses()

    def _forget_losses(self) -> None:
        self.losses.hide()
        self.lossy.setChecked(False)
        self.lossy.hide()
        self.start_button.setEnabled(self._ticket == 0)

    def _on_answer(self) -> None:
        waits = not self.lossy.isHidden() and not self.lossy.isChecked()
        self.start_button.setEnabled(self._ticket == 0 and not waits)

    def _on_browse(self) -> None:
        dialog = QFileDialog(self, "Export to", self.path.text() or self._folder)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.fileSelected.connect(self.path.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _on_progress(self, progress: Progress) -> None:
        # The store has accepted the request; from here on the status bar shows it.
        if progress.done > 0:
            self.hide()

    def _on_exported(self, exported: Exported) -> None:
        self.set_idle()
        self.exported.emit(exported)
        self.accept()

    def _on_cancelled(self) -> None:
        self.set_idle()
        self.cancelled.emit()
        super().reject()

    def _on_failure(self, error: ErrorInfo) -> None:
        self.set_idle()
        self.show()
        if error.kind == "LossyExportError":
            self._ask_about_losses(error)
            return
        if error.kind == "ModuleNotImportedError":
            # It is a question; where the store asked it from is of no use here.
            self.banner.show_error(
                replace(error, traceback=""),
                action=f"Run {Path(error.where).name} and export",
                on_action=self._on_run_allowed,
            )
            return
        if error.kind == "ExportChangedSourceError":
            self._ask_about_changed(error.where)
        self.banner.show_error(error)

    def _on_run_allowed(self) -> None:
        self._may_run = True
        self.start()

    def _ask_about_losses(self, error: ErrorInfo) -> None:
        """Shows what would be lost; Export waits until the person agrees."""
        lead, losses = split_losses(error.message)
        self.banner.show_error(
            ErrorInfo(error.kind, lead, "", "Choose another format, or agree below.")
        )
        self.losses.setPlainText(losses)
        self.losses.show()
        self.lossy.show()
        self._on_answer()
        self.lossy.setFocus(Qt.FocusReason.OtherFocusReason)

    # Qt overrides

    def reject(self) -> None:
        """Overridden: Escape ends a running export before the dialog."""
        if self._ticket:
            self._client.cancel(self._ticket)
            return
        super().reject()


class _UnsetLeavesError(WriteFileError):
    """Leaves have neither a value nor an initialiser."""

    def __init__(self, count: int) -> None:
        """Says how many."""
        leaves = fmt.plural(count, "leaf has", "leaves have")
        super().__init__(
            f"{leaves} no value and no initialiser, so the target cannot be written.",
            hint="Transfer or fill them, or delete them; the tree marks them ◌.",
        )


def split_losses(message: str) -> tuple[str, str]:
    """Splits what a lossy export would change into a sentence and one line each."""
    lead, separator, rest = message.partition(": ")
    if not separator:
        return message, message
    return f"{lead}.", rest.rstrip(".").replace("; ", "\n")


def _suggested_name(target: str) -> str:
    """Returns a file name made of the target's: its class, or its stem."""
    name = target.rpartition(":")[2] or target
    kept = "".join(c if c.isalnum() or c in "-_" else "-" for c in name)
    return f"{kept.strip('-').lower() or 'target'}.msgpack"
