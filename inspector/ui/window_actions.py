"""What each action of the table does: the way from a key to a panel or operation.

`WindowActions` is given the window's parts and binds every id once; a test proves
that none is forgotten. Dialogs are imported when they are first wanted, which keeps
them out of the time to the first paint.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSettings, Qt
from PySide6.QtWidgets import QApplication, QMainWindow, QMessageBox, QWidget

from inspector import __version__, resources
from inspector.engine.messages.document import TARGET, StopModel
from inspector.engine.messages.reading import Exported
from inspector.ui import format as fmt
from inspector.ui import window_layout as layout
from inspector.ui.actions import ActionId, ActionSet
from inspector.ui.document_mirror import DocumentMirror
from inspector.ui.notices import Notices
from inspector.ui.operations import edits, exports, recipes, sources
from inspector.ui.panels.run import RunPanel
from inspector.ui.panels.sources import SourcesPanel
from inspector.ui.panels.target import TargetPanel
from inspector.ui.panels.tree_panel import TreePanel
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Mode, Theme

if TYPE_CHECKING:
    from inspector.ui.palette import CommandPalette

FOLDER_KEY = "folder"
"""Setting: the folder that the person opened something in last."""

RECENT_KEY = "recentFiles"
"""Setting: JSON list of what was opened last, newest first."""

_MOST_RECENT = 12

THEME_KEY = "theme"
"""Setting: the theme that the person chose."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a window that actions work on.

    Attributes:
        window: Parent of dialogs.
        client: The store.
        theme: Colours.
        settings: What is remembered.
        mirror: What the document is.
        notices: What has no place of its own.
        sources: Panel of the sources.
        target: Panel of the target.
        details: Panel of the details.
        run: Panel of the runs.
        docks: The docks.
    """

    window: QMainWindow
    client: StoreClient
    theme: Theme
    settings: QSettings
    mirror: DocumentMirror
    notices: Notices
    sources: SourcesPanel
    target: TargetPanel
    details: QWidget
    run: RunPanel
    docks: layout.Docks


class WindowActions(QObject):
    """The handlers of one window's actions."""

    def __init__(self, actions: ActionSet, parts: Parts) -> None:
        """Binds every action."""
        super().__init__(parts.window)
        self._actions, self._parts = actions, parts
        self._palette: CommandPalette | None = None
        for action_id, handler in self._handlers().items():
            actions.bind(action_id, handler)

    def _handlers(self) -> dict[ActionId, Callable[[], object]]:
        parts, docks = self._parts, self._parts.docks
        a = ActionId
        return {
            a.OPEN: self.open,
            a.OPEN_MODULE: self.open_module,
            a.OPEN_SAMPLE: self.open_sample,
            a.REPLAY_RECIPE: self.open_recipe,
            a.SAVE_RECIPE: self.save_recipe,
            a.EXPORT: self.export,
            a.CLOSE_SOURCE: parts.sources.close_current,
            a.EDITABLE_COPY: parts.sources.copy_as_target,
            a.RECHECK: parts.sources.recheck,
            a.QUIT: parts.window.close,
            a.UNDO: lambda: edits.undo(parts.client, owner=self),
            a.REDO: lambda: edits.redo(parts.client, owner=self),
            a.COPY: self.copy,
            a.PASTE: parts.target.paste,
            a.COPY_PATH: self.copy_path,
            a.RENAME: parts.target.rename,
            a.DELETE: parts.target.delete,
            a.CAST: self.cast,
            a.FILL: self.fill,
            a.FIND_SOURCE: parts.sources.focus_filter,
            a.FIND_TARGET: parts.target.focus_filter,
            a.COMMAND_PALETTE: self.open_palette,
            a.EXPAND_BELOW: self.expand_below,
            a.COLLAPSE_ALL: self.collapse_all,
            a.FOCUS_SOURCES: lambda: self._go_to(docks.sources, parts.sources),
            a.FOCUS_TARGET: parts.target.focus_tree,
            a.FOCUS_DETAILS: lambda: self._raise(docks.details, "detailTabs"),
            a.FOCUS_HISTORY: lambda: self._raise(docks.history, "historyList"),
            a.FOCUS_LOG: lambda: self._raise(docks.log, "logView"),
            a.FOCUS_PLAN: lambda: self._raise(docks.plan, "planTable"),
            a.FOCUS_RUN: self.show_run,
            a.THEME_SYSTEM: lambda: self._set_theme(Mode.SYSTEM),
            a.THEME_LIGHT: lambda: self._set_theme(Mode.LIGHT),
            a.THEME_DARK: lambda: self._set_theme(Mode.DARK),
            a.RESET_LAYOUT: lambda: layout.reset(parts.window, docks),
            a.RUN: self.run,
            a.STOP: self.stop,
            a.COMPARE: self.compare,
            a.COPY_SCRIPT: self.copy_script,
            a.ABOUT: self.about,
        }

    def open(self) -> None:
        """Asks for checkpoints and opens them."""
        sources.ask_which_to_open(
            self._parts.window, folder=self._folder(), on_chosen=self.open_paths
        )

    def open_paths(self, paths: list[str]) -> None:
        """Opens checkpoints and remembers their folder."""
        for path in paths:
            self._parts.sources.open_source(path)
        if paths:
            settings = self._parts.settings
            settings.setValue(FOLDER_KEY, str(Path(paths[-1]).parent))
            recent = [*paths, *(old for old in self._recent() if old not in paths)]
            settings.setValue(RECENT_KEY, json.dumps(recent[:_MOST_RECENT]))

    def open_sample(self) -> None:
        """Opens the checkpoint that the program brings."""
        self._parts.sources.open_source(str(resources.path("sample/digits")))

    def open_module(self, spec: str = "") -> None:
        """Opens the dialog that loads a module."""
        from inspector.ui.dialogs.module import (  # noqa: PLC0415 - see the module
            ModuleDialog,
        )

        parts = self._parts
        dialog = ModuleDialog(
            parts.client,
            parts.theme,
            parts.settings,
            parts.window,
            cwd=self._folder(),
            sources=tuple((one.id, one.name) for one in parts.mirror.info.sources),
        )
        if spec:
            dialog.show_spec(spec)
        self._show(dialog)

    def open_recipe(self, path: str = "") -> None:
        """Opens a recipe as the document; asks which when none is given."""
        if not path:
            recipes.ask_which_to_open(
                self._parts.window, folder=self._folder(), on_chosen=self.open_recipe
            )
            return
        banners = self._parts.target.banners
        banners.remove("recipe")
        recipes.open_recipe(
            self._parts.client,
            owner=self,
            path=path,
            on_done=lambda _changes: self._parts.mirror.refresh(),
            on_failure=lambda error: _drop(banners.show_error("recipe", error)),
        )

    def save_recipe(self) -> None:
        """Saves the document, asking where when it has no file yet."""
        recipe = self._parts.mirror.info.recipe
        if recipe:
            self._save_to(recipe)
        else:
            suggested = str(Path(self._folder()) / "untitled.recipe.json")
            recipes.ask_where_to_save(
                self._parts.window, suggested=suggested, on_chosen=self._save_to
            )

    def export(self) -> None:
        """Opens the dialog that writes the target."""
        from inspector.ui.dialogs.export import (  # noqa: PLC0415 - see the module
            ExportDialog,
        )

        parts = self._parts
        dialog = ExportDialog(
            parts.client, parts.theme, parts.window, folder=self._folder()
        )
        dialog.exported.connect(self._on_exported)
        dialog.cancelled.connect(self._on_export_cancelled)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show_target()

    def copy(self) -> None:
        """Copies source nodes for pasting; of a target node its path."""
        if self._focused() is self._parts.target:
            self._parts.target.copy_path()
        else:
            self._parts.sources.copy_nodes()

    def copy_path(self) -> None:
        """Copies the path of the current node of the tree in use."""
        self._focused().copy_path()

    def cast(self) -> None:
        """Asks for a dtype for the selected target nodes."""
        from inspector.ui.dialogs.cast import (  # noqa: PLC0415 - see the module
            CastDialog,
        )

        self._ask_about_selection(CastDialog)

    def fill(self) -> None:
        """Asks for a number for the selected target nodes."""
        from inspector.ui.dialogs.fill import (  # noqa: PLC0415 - see the module
            FillDialog,
        )

        self._ask_about_selection(FillDialog)

    def open_palette(self) -> None:
        """Opens the command palette."""
        from inspector.ui.palette import CommandPalette  # noqa: PLC0415 - see above

        parts = self._parts
        if self._palette is None:
            self._palette = CommandPalette(
                parts.window, self._actions, parts.client, parts.theme
            )
            self._palette.node_chosen.connect(self.reveal)
            self._palette.file_chosen.connect(lambda path: self.open_paths([path]))
        names = {source.id: source.name for source in parts.mirror.info.sources}
        names[TARGET] = parts.mirror.info.target.name
        self._palette.set_tree_names(names)
        self._palette.set_recent_files(self._recent())
        self._palette.open_at()

    def reveal(self, tree: str, path: tuple[str | int, ...]) -> None:
        """Shows a node in its tree."""
        panel: TreePanel = self._parts.sources
        if self._parts.mirror.source(tree) is None:
            panel = self._parts.target
        panel.reveal(tree, path)
        panel.focus_tree()

    def expand_below(self) -> None:
        """Expands everything below the current node of the tree in use."""
        view = self._focused().tree_view
        view.expand_below(view.currentIndex().siblingAtColumn(0))

    def collapse_all(self) -> None:
        """Collapses both trees."""
        self._parts.sources.tree_view.state_keeper.collapse_all()
        self._parts.target.tree_view.state_keeper.collapse_all()

    def show_run(self) -> None:
        """Brings the run panel to the front, with room to work in."""
        layout.open_high(self._parts.window, self._parts.docks.run)
        self._parts.run.focus_call()

    def run(self) -> None:
        """Runs the call of the run panel; the first time it is shown before."""
        self.show_run()
        self._parts.run.run_when_known()

    def compare(self) -> None:
        """Shows the runs of this session, to compare two of them."""
        self.show_run()
        results = self._parts.run.results
        results.tabs.setCurrentWidget(results.runs)

    def copy_script(self) -> None:
        """Copies the call of the run panel as a program."""
        if self._parts.run.call_side.form is None:
            self.show_run()
        self._parts.run.copy_code()

    def stop(self) -> None:
        """Ends the run that is on; else the model engine, whatever it does."""
        if self._parts.run.is_running:
            self._parts.run.stop()
            return
        self._parts.client.ask(StopModel(), owner=self, on_reply=lambda _done: None)

    def about(self) -> None:
        """Says what the program is."""
        box = QMessageBox(self._parts.window)
        box.setObjectName("aboutBox")
        box.setWindowTitle("About Flax Inspector")
        box.setText(
            f"<b>Flax Inspector {__version__}</b><p>Open Flax checkpoints and modules "
            "side by side, move pretrained variables by hand, export the result.</p>"
            "<p>Apache License 2.0.</p>"
        )
        box.setIconPixmap(self._parts.window.windowIcon().pixmap(48, 48))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _focused(self) -> TreePanel:
        """Returns the panel of the tree in use; sources when neither is."""
        widget = QApplication.focusWidget()
        target = self._parts.target
        if widget is not None and (widget is target or target.isAncestorOf(widget)):
            return target
        if self._parts.sources.view.current() is None:
            return target
        return self._parts.sources

    def _ask_about_selection(self, kind: Callable[..., QWidget]) -> None:
        parts = self._parts
        paths = tuple(parts.target.view.selected_paths())
        if paths:
            node = parts.target.model.find(TARGET, paths[0])
            single = node is not None and node.row is not None and len(paths) == 1
            dtype = node.row.dtype if single and node and node.row else ""
            self._show(
                kind(parts.client, parts.theme, paths, parts.window, dtype=dtype)
            )

    def _save_to(self, path: str) -> None:
        recipes.save(
            self._parts.client,
            owner=self,
            path=path,
            on_done=lambda _done: self._on_saved(path),
            on_failure=self._parts.notices.error,
        )

    def _on_saved(self, path: str) -> None:
        self._parts.settings.setValue(FOLDER_KEY, str(Path(path).parent))
        self._parts.mirror.refresh()
        self._parts.notices.info(f"Saved the recipe {Path(path).name}", path)

    def _on_exported(self, exported: Exported) -> None:
        leaves = fmt.plural(exported.leaves, "leaf", "leaves")
        name = Path(exported.out).name
        text = f"Exported {leaves}, {fmt.size(exported.nbytes)}, to {name}"
        self._parts.notices.info(text, exported.out)
        banners = self._parts.target.banners
        banner = banners.show_message("exported", f"{text}.")
        banner.setToolTip(exported.out)
        banner.add_button(
            "Show in folder",
            lambda: exports.show_in_folder(exported.out),
            name="showExported",
        )
        banner.add_button(
            "Copy path",
            lambda: exports.copy_path(exported.out),
            name="copyExportedPath",
        )

    def _on_export_cancelled(self) -> None:
        self._parts.notices.info("Export cancelled; what was there before is unchanged")

    def _recent(self) -> list[str]:
        try:
            stored = json.loads(str(self._parts.settings.value(RECENT_KEY, "[]")))
        except ValueError:
            return []
        return [str(path) for path in stored] if isinstance(stored, list) else []

    def _folder(self) -> str:
        folder = str(self._parts.settings.value(FOLDER_KEY, "") or "")
        return folder if folder and Path(folder).is_dir() else str(Path.cwd())

    def _go_to(self, dock: QWidget, panel: TreePanel) -> None:
        dock.show()
        panel.focus_tree()

    def _raise(self, dock: QWidget, name: str) -> None:
        dock.show()
        dock.raise_()
        widget = dock.findChild(QWidget, name)
        if widget is not None:
            widget.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _set_theme(self, mode: Mode) -> None:
        self._parts.theme.set_mode(mode)
        self._parts.settings.setValue(THEME_KEY, str(mode))

    def _show(self, dialog: QWidget) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()


def _drop(_value: object) -> None:
    """Takes a value that nobody needs, where a callback must return nothing."""
