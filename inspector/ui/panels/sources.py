"""The panel of the open sources.

Lists every open checkpoint with its tree, says what is wrong with one and offers
the next step. Sources are never changed here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget

from inspector.engine.messages.document import Changes, DocumentInfo, SourceInfo
from inspector.errors import ErrorInfo
from inspector.ui.actions import ActionId, ActionSet
from inspector.ui.document_mirror import DocumentMirror
from inspector.ui.icons import icon
from inspector.ui.models.document_trees import SourceTreeModel
from inspector.ui.operations import edits, sources
from inspector.ui.panels.tree_panel import TreePanel, first_of
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tree_view import SourceTreeView

_MENU = (
    ActionId.COPY, ActionId.COPY_PATH, None, ActionId.EXPAND_BELOW, None,
    ActionId.EDITABLE_COPY, ActionId.CLOSE_SOURCE,
)  # fmt: skip


class SourcesPanel(TreePanel):
    """Open checkpoints.

    Signals:
        opened: `SourceInfo` of a source that was just opened.
        logged: (level, sentence, traceback) about a source, for the log.
    """

    opened = Signal(object)
    logged = Signal(str, str, str)

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        mirror: DocumentMirror,
        actions: ActionSet,
        parent: QWidget,
    ) -> None:
        """Shows what the mirror knows."""
        super().__init__(client, theme, mirror, actions, parent, caption="Sources")
        self.model = SourceTreeModel(client, self)
        self.view = SourceTreeView(self.model, theme, self)
        self._count = QLabel(self.title)
        self._count.setProperty("look", "secondary")
        self._seen: dict[str, SourceInfo] = {}
        self.mount(
            self.view,
            self._count,
            name="source",
            invitation="Drop a checkpoint here, or open the sample.",
            actions=(ActionId.OPEN, ActionId.OPEN_SAMPLE),
        )

    def open_source(self, locator: str, cwd: str = "") -> None:
        """Opens a checkpoint; an error is said above the tree."""
        reason = f"open.{locator}"
        self.banners.remove(reason)
        sources.open_source(
            self.client,
            owner=self,
            locator=locator,
            cwd=cwd,
            on_done=self.opened.emit,
            on_failure=lambda error: self._say(reason, error),
        )

    def current_source(self) -> SourceInfo | None:
        """Returns the source of the current node."""
        current = self.view.current()
        return self.mirror.source(current[0]) if current is not None else None

    def close_current(self) -> None:
        """Closes the source of the current node."""
        source = self.current_source()
        if source is not None:
            sources.close_source(
                self.client,
                owner=self,
                source=source.id,
                on_failure=self._sayer(source.id),
            )

    def copy_as_target(self) -> None:
        """Makes an editable copy of the current source the target."""
        source = self.current_source()
        if source is not None:
            edits.make_editable_copy(
                self.client,
                owner=self,
                source=source.id,
                on_failure=self._sayer(source.id),
            )

    def recheck(self) -> None:
        """Looks whether somebody changed the files."""
        sources.recheck_sources(
            self.client, owner=self, on_done=lambda _info: self.mirror.refresh()
        )

    def recheck_quietly(self) -> None:
        """Does the same when nobody asked: what fails then is not said."""
        if self.mirror.info.sources and self.client.is_running:
            sources.recheck_sources(
                self.client,
                owner=self,
                on_done=self._on_rechecked,
                on_failure=lambda _error: None,
            )

    def copy_nodes(self) -> None:
        """Copies the current node, for pasting onto the target."""
        nodes = self.view.dragged()
        if nodes is not None:
            QApplication.clipboard().setMimeData(nodes.to_mime())

    def menu_ids(self) -> tuple[ActionId | None, ...]:
        """Returns what the context menu of a source's node offers."""
        return _MENU

    def extend_menu(self, menu: QMenu) -> None:
        """Offers the other steps of a manager's folder."""
        source = self.current_source()
        if source is None or len(source.steps) <= 1:
            return
        steps = QMenu("Open Another &Step", menu)
        steps.setObjectName("stepsMenu")
        steps.setIcon(icon("step", self.theme))
        for step in source.steps:
            action = steps.addAction(f"Step {step.name}")
            action.setCheckable(True)
            action.setChecked(step.name == source.step)
            action.setEnabled(not step.incomplete and step.name != source.step)
            action.setToolTip(step.incomplete)
            locator = step_locator(source, step.name)
            action.triggered.connect(
                lambda _checked=False, where=locator: self.open_source(where)
            )
        menu.insertMenu(menu.actions()[-1], steps)

    def on_changes(self, changes: Changes) -> None:
        """Reads the rows again when a source was read anew."""
        if changes.sources:
            self.model.refresh(structure=True)

    def on_document(self) -> None:
        """Shows the sources that are open now."""
        infos = self.mirror.info.sources
        self.model.set_sources(infos)
        self.set_empty(empty=not infos)
        self._count.setText(f"{len(infos)} open" if infos else "")
        for source in infos:
            known = self._seen.get(source.id)
            if known != source:
                self._tell(source)
            if known is None:
                self._log(source)
        for gone in set(self._seen) - {source.id for source in infos}:
            for kind in ("changed", "incomplete", "warnings", "edit"):
                self.banners.remove(f"{kind}.{gone}")
        self._seen = {source.id: source for source in infos}

    def _on_rechecked(self, info: DocumentInfo) -> None:
        if info.sources != self.mirror.info.sources:
            self.mirror.refresh()

    def _sayer(self, source_id: str) -> Callable[[ErrorInfo], None]:
        """Returns what says an error of an operation on a source."""
        reason = f"edit.{source_id}"
        self.banners.remove(reason)
        return lambda error: self._say(reason, error)

    def _say(self, reason: str, error: ErrorInfo) -> None:
        """Says an error; its traceback is ours, of no use here, and goes to the log."""
        self.banners.show_error(reason, replace(error, traceback=""))
        self.logged.emit("error", error.text(), error.traceback)

    def _tell(self, source: SourceInfo) -> None:
        """Says what is wrong with a source, each thing in a banner of its own."""
        self._tell_changed(source)
        reason = f"incomplete.{source.id}"
        if source.incomplete:
            text = f"{source.name} is not whole: {source.incomplete}"
            self.banners.show_message(reason, text, "warning")
        else:
            self.banners.remove(reason)
        reason = f"warnings.{source.id}"
        if source.warnings:
            text = f"{source.name}: {first_of(source.warnings, 'warning')}"
            self.banners.show_message(reason, text, "warning")
        else:
            self.banners.remove(reason)

    def _log(self, source: SourceInfo) -> None:
        """Keeps every sentence about a new source; the banner shows the first few."""
        for text in filter(None, (source.incomplete, *source.warnings)):
            self.logged.emit("warning", f"{source.name}: {text}", "")

    def _tell_changed(self, source: SourceInfo) -> None:
        reason = f"changed.{source.id}"
        if not source.changed:
            self.banners.remove(reason)
            return
        text = f"{source.name} was changed by somebody else: {source.changed}"
        banner = self.banners.show_message(reason, text, "warning")
        banner.add_button(
            "Use the file as it is now",
            lambda: self._accept(source),
            name="acceptSource",
        )

    def _accept(self, source: SourceInfo) -> None:
        sources.accept_source(
            self.client,
            owner=self,
            source=source.id,
            on_failure=self._sayer(source.id),
        )


def step_locator(source: SourceInfo, step: str) -> str:
    """Returns the locator of another step of a source's manager folder.

    The source's own locator ends in ``@STEP`` (before a ``::`` part) when it names
    its step; otherwise the step folder is below the manager's.
    """
    base, separator, inside = source.locator.partition("::")
    suffix = f"@{source.step}"
    if source.step and base.endswith(suffix):
        base = base[: -len(suffix)]
    return f"{base}@{step}{separator}{inside}"
