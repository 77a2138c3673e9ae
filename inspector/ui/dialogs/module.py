"""The dialog that loads a module as the target.

Names the file and says that importing runs it; only then asks the store what the
file offers, shows the form, and loads. Errors of the person's code appear in it with
their line. It does not block; the window's thread never waits.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QSettings, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.document import Changes, LoadTarget
from inspector.engine.messages.envelope import Progress
from inspector.engine.messages.module import (
    ListModules,
    ModuleOffer,
    ModuleOffers,
    ModuleSpec,
)
from inspector.errors import ErrorInfo, LoadModuleError
from inspector.ui.banner_stack import BannerStack
from inspector.ui.dialogs import module_memory as memory
from inspector.ui.dialogs.form_rows import add_row, make_form
from inspector.ui.dialogs.module_page import ModulePage
from inspector.ui.dialogs.task_dialog import MARGINS, TaskDialog, name_widgets
from inspector.ui.panels.run_proposals import InputProposals
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme

_OURS = "This program's Python"
_OTHER = "Choose another…"
_INVITATION = "Import the file to see its classes, their arguments and inputs."


class ModuleDialog(TaskDialog):
    """Chooses a module, its arguments and inputs, and loads it.

    Signals:
        loaded: `Changes` after the module became the target.
    """

    loaded = Signal(object)

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        settings: QSettings,
        parent: QWidget | None = None,
        *,
        cwd: str = "",
        sources: tuple[tuple[str, str], ...] = (),
    ) -> None:
        """Starts with an empty form.

        Args:
            client: The store.
            theme: Fonts and colours.
            settings: Where what was used last is kept.
            parent: Owner.
            cwd: Folder that relative paths start from.
            sources: (id, name) of the open sources, whose variables inputs are to
                fit.
        """
        super().__init__(
            client, theme, parent, name="module", title="Load a module", button="Load"
        )
        self._settings = settings
        self._cwd = cwd or str(Path.cwd())
        self._offers: tuple[ModuleOffer, ...] = ()
        self._is_imported = False
        self._preset: ModuleSpec | None = None
        self.spec = QComboBox(self)
        self.browse = QPushButton("Browse…", self)
        self.python = QComboBox(self)
        self.warning = QLabel(self)
        self.import_button = QPushButton("Import", self)
        self.add_starter(self.import_button)
        self.choice = QComboBox(self)
        self.choice.setEditable(True)
        self.choice.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.about = QLabel(self)
        self.page = ModulePage(theme, self)
        self._proposal_banners = BannerStack(theme, self)
        self._proposals = InputProposals(
            client, self._proposal_banners, self.page.take_inputs
        )
        for source, name in sources:
            self.page.add_proposal(name, partial(self._propose, source))
        self.invitation = QLabel(_INVITATION, self)
        self.keep = QCheckBox("Keep the edits that still fit", self)
        self._name_widgets()
        self._lay_out()
        self._connect()
        self._show_offers(())
        self.resize(560, 640)

    def _name_widgets(self) -> None:
        name_widgets((
            (self.spec, "moduleSpec", "Python file or import path of the module"),
            (self.browse, "moduleBrowse", "Choose a Python file"),
            (self.python, "modulePython", "Interpreter that runs the module"),
            (self.warning, "moduleWarning", "What importing does"),
            (self.import_button, "moduleImport", "Import the file"),
            (self.choice, "moduleChoice", "Class, instance or function, or any name"),
            (self.about, "moduleAbout", "What the class says of itself"),
            (self.invitation, "moduleInvitation", "What comes next"),
            (self.keep, "moduleKeep", "Keep the edits that still fit"),
            (self.start_button, "moduleLoad", "Load the module"),
        ))  # fmt: skip
        self.spec.setEditable(True)
        self.spec.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.spec.setFont(self._theme.mono_font())
        self._line.setFont(self._theme.mono_font())
        self.spec.addItems(memory.recent_specs(self._settings))
        self.spec.setCurrentIndex(-1)
        self._line.setPlaceholderText("file.py, file.py:Class or package.module:Class")
        self.warning.setProperty("look", "secondary")
        self.warning.setWordWrap(True)
        self.about.setProperty("look", "secondary")
        self.about.setWordWrap(True)
        self.invitation.setProperty("look", "secondary")
        self.invitation.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._fill_pythons("")

    @property
    def _line(self) -> QLineEdit:
        line = self.spec.lineEdit()
        assert line is not None  # an editable combo box has one
        return line

    def _lay_out(self) -> None:
        where = QHBoxLayout()
        where.setSpacing(4)
        where.addWidget(self.spec, 1)
        where.addWidget(self.browse)
        importing = QHBoxLayout()
        importing.setSpacing(12)
        importing.addWidget(self.warning, 1)
        importing.addWidget(self.import_button, 0, Qt.AlignmentFlag.AlignTop)
        form = make_form()
        add_row(form, "Module", where, buddy=self.spec)
        add_row(form, "Python", self.python)
        add_row(form, "", importing)
        add_row(form, "Name", self.choice)
        add_row(form, "", self.about)
        column = QVBoxLayout(self)
        column.setContentsMargins(*MARGINS)
        column.setSpacing(8)
        column.addLayout(form)
        column.addWidget(self.page, 1)
        column.addWidget(self.invitation, 1)
        column.addWidget(self._proposal_banners)
        column.addWidget(self.banner)
        column.addWidget(self.progress)
        column.addLayout(self.button_row(self.keep))

    def _connect(self) -> None:
        self.browse.clicked.connect(self._on_browse)
        self.browse.setAutoDefault(False)
        self.import_button.clicked.connect(self.import_module)
        self.spec.editTextChanged.connect(self._on_spec_edited)
        self.spec.activated.connect(self._on_spec_activated)
        self.python.activated.connect(self._on_python)
        self.choice.currentIndexChanged.connect(self._on_choice)
        name_line = self.choice.lineEdit()
        assert name_line is not None  # an editable combo box has one
        name_line.editingFinished.connect(self._on_name_typed)
        self.page.edited.connect(self.banner.clear)
        self.start_button.clicked.connect(self.load)

    def show_spec(self, spec: str, module: ModuleSpec | None = None) -> None:
        """Names a module without running it.

        Args:
            spec: ``file.py``, with or without ``:Name``, or an import path.
            module: What to fill in once it is imported; None for what was used the
                last time.
        """
        self.spec.setEditText(spec)
        self._on_spec_chosen()
        self._preset = module
        self.import_button.setFocus()

    def import_module(self) -> None:
        """Imports what is named, which runs its code, and lists what it offers."""
        spec = self.spec.currentText().strip()
        if not spec:
            self.banner.show_error(_NothingNamedError().info())
            self.spec.setFocus()
            return
        self.banner.clear()
        self.set_busy(f"Importing {Path(memory.place_of(spec)).name}…")
        self._client.ask(
            ListModules(spec, self._cwd, python=self.chosen_python()),
            owner=self,
            on_reply=self._on_offers,
            on_failure=self._on_failure,
            on_progress=self._on_progress,
            on_cancelled=self.set_idle,
            slot="module",
        )

    def load(self) -> None:
        """Loads the module with what the form says."""
        offer = self.current_offer()
        if offer is None:
            self.import_module()
            return
        place = memory.place_of(self.spec.currentText().strip())
        try:
            module = self.page.read_spec(f"{place}:{offer.name}", self._cwd)
        except LoadModuleError as error:
            self.banner.show_error(error.info())
            self.page.focus_culprit()
            return
        self.banner.clear()
        self.set_busy(f"Tracing {offer.name}…")
        python = self.chosen_python()

        def on_loaded(changes: Changes) -> None:
            memory.remember(self._settings, module, python)
            self.set_idle()
            self.accept()
            self.loaded.emit(changes)

        self._client.ask(
            LoadTarget(module, python, keep=self.keep.isChecked()),
            owner=self,
            on_reply=on_loaded,
            on_failure=self._on_failure,
            on_progress=self._on_progress,
            on_cancelled=self.set_idle,
            slot="module",
            activity=f"Loading {offer.name}",
        )

    def current_offer(self) -> ModuleOffer | None:
        """Returns what is chosen; None before the import.

        A name that is typed and not listed is taken as it stands: any callable that
        returns a pytree can be loaded.
        """
        if not self._is_imported:
            return None
        typed = self.choice.currentText().strip()
        for index, offer in enumerate(self._offers):
            if typed in {offer.name, self.choice.itemText(index)}:
                return offer
        return ModuleOffer(typed, "function") if typed else None

    def chosen_python(self) -> str:
        """Returns the path of the chosen interpreter; empty for ours."""
        return str(self.python.currentData() or "")

    def _fill_pythons(self, chosen: str) -> None:
        spec = self.spec.currentText().strip()
        absolute = str(Path(self._cwd) / spec) if spec else ""
        nearby = memory.nearby_pythons(absolute)
        self.python.clear()
        self.python.addItem(_OURS, "")
        for path in dict.fromkeys([*nearby, *([chosen] if chosen else [])]):
            self.python.addItem(path, path)
        self.python.addItem(_OTHER, None)
        self.python.setCurrentIndex(max(0, self.python.findData(chosen)))
        if nearby and not chosen:
            self.python.setToolTip(f"Near the file there is {nearby[0]}")

    def _show_offers(self, offers: tuple[ModuleOffer, ...]) -> None:
        self._offers = offers
        with QSignalBlocker(self.choice):
            self.choice.clear()
            for offer in offers:
                kind = "" if offer.kind == "class" else f" ({offer.kind})"
                self.choice.addItem(offer.name + kind)
        imported = self._is_imported
        for widget in (self.choice, self.page):
            widget.setEnabled(imported)
        self.start_button.setEnabled(imported)
        # Enter does what comes next: import first, then load.
        (self.start_button if imported else self.import_button).setDefault(True)
        self.page.setVisible(imported)
        self.invitation.setVisible(not imported)

    def set_idle(self) -> None:
        """Overridden: what can be done depends on what is known of the file."""
        super().set_idle()
        self.start_button.setEnabled(self._is_imported)

    def _on_progress(self, progress: Progress) -> None:
        self.progress.set_progress(progress.done, progress.total)
        if progress.text:
            self.status.setText(progress.text)

    def _on_failure(self, error: ErrorInfo) -> None:
        self.set_idle()
        self.banner.show_error(error)

    def _on_offers(self, offers: ModuleOffers) -> None:
        self.set_idle()
        spec = self.spec.currentText().strip()
        name = memory.name_of(spec)
        if not offers.offers:
            self.banner.show_error(_NothingOfferedError(spec).info())
        self._is_imported = True
        self._show_offers(offers.offers)
        names = [offer.name for offer in offers.offers]
        with QSignalBlocker(self.choice):
            self.choice.setCurrentIndex(names.index(name) if name in names else 0)
            if name and name not in names:
                self.choice.setEditText(name)
        self._on_choice()
        self.choice.setFocus()

    def _on_choice(self, _index: int = 0) -> None:
        # The text decides: it may be a name that is not listed.
        offer = self.current_offer()
        if offer is None:
            self.about.setText("")
            return
        self.about.setText(offer.doc)
        self.about.setVisible(bool(offer.doc))
        self.page.show_offer(offer)
        spec = f"{memory.place_of(self.spec.currentText().strip())}:{offer.name}"
        stored = memory.recall(self._settings, spec)
        known = self._preset or (stored[0] if stored else None)
        if known is not None and memory.name_of(known.spec) in {"", offer.name}:
            self.page.show_spec(known)

    def _on_name_typed(self) -> None:
        offer = self.current_offer()
        if offer is not None and offer not in self._offers:
            self._on_choice()

    def _propose(self, source: str) -> None:
        """Asks which inputs fit an open source; the likeliest goes into the form."""
        offer = self.current_offer()
        if offer is None:
            return
        place = memory.place_of(self.spec.currentText().strip())
        try:
            module = self.page.read_spec(f"{place}:{offer.name}", self._cwd)
        except LoadModuleError as error:
            self.banner.show_error(error.info())
            self.page.focus_culprit()
            return
        self._proposals.propose(source, module.method, module)

    def _on_spec_edited(self, text: str) -> None:
        name = Path(memory.file_of(text.strip()) or text.strip()).name
        self.warning.setText(
            f"Importing runs the code of {name or 'the file'} on the Python above."
        )
        self.import_button.setEnabled(bool(text.strip()))
        self._preset = None
        if self._is_imported:
            self._is_imported = False
            self._show_offers(())

    def _on_spec_chosen(self) -> None:
        spec = self.spec.currentText().strip()
        stored = memory.recall(self._settings, spec)
        self._fill_pythons(stored[1] if stored else "")
        self._on_spec_edited(spec)

    def _on_spec_activated(self, _index: int) -> None:
        self._on_spec_chosen()

    def _on_browse(self) -> None:
        dialog = QFileDialog(self, "Choose a Python file", self._cwd)
        dialog.setNameFilters(["Python files (*.py)", "All files (*)"])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.show_spec)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _on_python(self, index: int) -> None:
        if self.python.itemData(index) is not None:
            self._is_imported = False
            self._show_offers(())
            return
        self.python.setCurrentIndex(0)
        dialog = QFileDialog(self, "Choose a Python interpreter", self._cwd)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._fill_pythons)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    # Qt overrides

    def reject(self) -> None:
        """Overridden: Escape ends what is going on first, then the dialog."""
        self._client.drop(self, "module")
        if self.progress.share is not None:
            self.set_idle()
            return
        super().reject()


class _NothingNamedError(LoadModuleError):
    """The person asked to import without naming anything."""

    def __init__(self) -> None:
        """Says what to name."""
        super().__init__(
            "No module is named.",
            hint="Choose a Python file, or type an import path such as"
            " package.module:Class.",
        )


class _NothingOfferedError(LoadModuleError):
    """The file was imported, but holds no module."""

    def __init__(self, spec: str) -> None:
        """Names the file and what would count."""
        super().__init__(
            "It lists no module.",
            where=spec,
            hint="A class derived from flax.linen.Module or flax.nnx.Module, a class"
            " that is a pytree, an instance, or a function that says it returns one is"
            " listed. Anything else that returns a pytree can be named above.",
        )
