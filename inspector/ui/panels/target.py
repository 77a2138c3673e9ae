"""The panel of the target: what is being made, leaf by leaf, with its origins.

Takes drops of source nodes and the edits on nodes; a plan that needs choices is
handed to whoever shows plans. On the window's thread.
"""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractItemView, QApplication, QWidget

from inspector.engine.messages.document import Changes, LoadRecorded, TargetInfo
from inspector.errors import ErrorInfo
from inspector.ui.actions import ActionId, ActionSet
from inspector.ui.document_mirror import DocumentMirror
from inspector.ui.drag import Transfer
from inspector.ui.drag_data import DraggedNodes, from_mime
from inspector.ui.models.document_trees import TargetTreeModel
from inspector.ui.operations import edits
from inspector.ui.origin_counts import OriginCounts
from inspector.ui.panels.tree_panel import TreePanel, first_of
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tree_view import TargetTreeView
from inspector.variables.path import TreePath

_MENU = (
    ActionId.PASTE, ActionId.COPY_PATH, None, ActionId.RENAME, ActionId.CAST,
    ActionId.FILL, ActionId.DELETE, None, ActionId.EXPAND_BELOW,
)  # fmt: skip


class TargetPanel(TreePanel):
    """The target.

    Attributes:
        transfer: The transfer that is being made.

    """

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        mirror: DocumentMirror,
        actions: ActionSet,
        parent: QWidget,
    ) -> None:
        """Shows what the store has as target."""
        super().__init__(client, theme, mirror, actions, parent, caption="Target")
        self.model = TargetTreeModel(client, self)
        self.view = TargetTreeView(self.model, theme, self)
        self.counts = OriginCounts(theme, self.title, "originCounts")
        self._shown = TargetInfo()
        self.mount(
            self.view,
            self.counts,
            name="target",
            invitation="Load a module to see where these variables could go.",
            actions=(ActionId.OPEN_MODULE,),
        )
        self._set_up_transfer()
        self.model.renamed.connect(self._on_renamed)

    def _set_up_transfer(self) -> None:
        self.transfer = Transfer(self.client, self.model, self.view.visible_paths, self)
        self.view.hovered.connect(self.transfer.hover)
        self.view.hover_ended.connect(self.transfer.end_hover)
        self.view.dropped.connect(self.drop)
        self.view.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.model.rows_loaded.connect(lambda *_args: self.transfer.refresh_marks())
        self.transfer.failed.connect(
            lambda error: self.banners.show_error("transfer", error)
        )

    def drop(self, nodes: DraggedNodes, path: TreePath) -> None:
        """Transfers nodes of a source onto a node of the target."""
        self.banners.remove("transfer")
        self.transfer.drop(nodes, path)

    def paste(self) -> None:
        """Does with the copied nodes what dropping them on the current node does."""
        nodes = from_mime(QApplication.clipboard().mimeData())
        current = self.view.current()
        if nodes is not None:
            self.drop(nodes, current[1] if current is not None else ())

    def rename(self) -> None:
        """Lets the person type another name in the row itself."""
        index = self.view.currentIndex().siblingAtColumn(0)
        node = self.model.node(index) if index.isValid() else None
        # Positions in a list are no names.
        if node is not None and node.row is not None and isinstance(node.row.key, str):
            # Without a trigger of its own, a click never starts a rename.
            self.view.setEditTriggers(QAbstractItemView.EditTrigger.AllEditTriggers)
            self.view.edit(index)
            self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)

    def delete(self) -> None:
        """Removes the selected nodes."""
        paths = tuple(self.view.selected_paths())
        if paths:
            self.banners.remove("edit")
            edits.delete(
                self.client, owner=self, paths=paths, on_failure=self._on_edit_failed
            )

    def menu_ids(self) -> tuple[ActionId | None, ...]:
        """Returns what the context menu of a target's node offers."""
        return _MENU

    def on_changes(self, changes: Changes) -> None:
        """Reads anew what changed; rows in view stay where they are."""
        if changes.base:
            self.model.reload()
        elif changes.structure or changes.values:
            self.model.refresh(structure=changes.structure)
        self._tell_notes(changes)

    def _tell_notes(self, changes: Changes) -> None:
        """Says what a change brought along; a new target makes old notes void."""
        if changes.base:
            self.banners.remove("notes")
            self.banners.remove("exported")
        if changes.notes:
            self.banners.show_message("notes", first_of(changes.notes, "note"))

    def on_document(self) -> None:
        """Shows name, counts and what is to be known of the target."""
        info = self.mirror.info.target
        if info.kind != "none" and self._shown.kind == "none":
            self.model.reload()
        self._shown = info
        self.title.set_subtitle(info.name)
        self.counts.set_counts(info.origins)
        self.set_empty(empty=info.kind == "none")
        self._tell_unloaded(info)

    def _tell_unloaded(self, info: TargetInfo) -> None:
        if info.kind != "module" or info.loaded:
            self.banners.remove("unloaded")
            return
        if self.banners.get("unloaded") is not None:
            return
        file = info.file or info.spec
        banner = self.banners.show_message(
            "unloaded",
            "This recipe's module has not been imported."
            f" Loading it runs the code of {file}.",
        )
        banner.add_button(
            "Load module",
            self._load_recorded,
            name="loadRecordedModule",
        )

    def _load_recorded(self) -> None:
        self.client.ask(
            LoadRecorded(),
            owner=self,
            on_reply=lambda _changes: self.mirror.refresh(),
            on_failure=self._on_edit_failed,
            activity="Loading the module",
        )

    def _on_renamed(self, path: TreePath, name: str) -> None:
        self.banners.remove("edit")
        edits.rename(
            self.client,
            owner=self,
            path=path,
            name=name,
            on_failure=self._on_edit_failed,
        )

    def _on_edit_failed(self, error: ErrorInfo) -> None:
        self.banners.show_error("edit", error)

    def _on_scrolled(self, _value: int) -> None:
        self.transfer.refresh_marks()
