"""Every action of the window in one table, and the QActions made from it.

Menus, toolbar, context menus and the command palette are built from `SPECS`; the
window binds a handler to each id. Whether an action can be used now is a plain
function of `UiContext`. What an action does belongs to `operations` and the panels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QWidget

from inspector.ui.icons import icon
from inspector.ui.theme import Mode, Theme


class ActionId(StrEnum):
    """Ids of the actions; ``action.<id>`` is the object name of the QAction."""

    OPEN = "open"
    OPEN_MODULE = "openModule"
    OPEN_SAMPLE = "openSample"
    REPLAY_RECIPE = "replayRecipe"
    SAVE_RECIPE = "saveRecipe"
    EXPORT = "export"
    CLOSE_SOURCE = "closeSource"
    EDITABLE_COPY = "editableCopy"
    RECHECK = "recheckSources"
    QUIT = "quit"
    UNDO = "undo"
    REDO = "redo"
    COPY = "copy"
    PASTE = "paste"
    COPY_PATH = "copyPath"
    RENAME = "rename"
    DELETE = "delete"
    CAST = "cast"
    FILL = "fill"
    FIND_SOURCE = "findSource"
    FIND_TARGET = "findTarget"
    COMMAND_PALETTE = "commandPalette"
    EXPAND_BELOW = "expandBelow"
    COLLAPSE_ALL = "collapseAll"
    FOCUS_SOURCES = "focusSources"
    FOCUS_TARGET = "focusTarget"
    FOCUS_DETAILS = "focusDetails"
    FOCUS_HISTORY = "focusHistory"
    FOCUS_LOG = "focusLog"
    FOCUS_PLAN = "focusPlan"
    FOCUS_RUN = "focusRun"
    THEME_SYSTEM = "themeSystem"
    THEME_LIGHT = "themeLight"
    THEME_DARK = "themeDark"
    RESET_LAYOUT = "resetLayout"
    RUN = "run"
    STOP = "stop"
    COMPARE = "compare"
    COPY_SCRIPT = "copyScript"
    ABOUT = "about"


class Menu(StrEnum):
    """Menus of the menu bar, in their order."""

    FILE = "&File"
    EDIT = "&Edit"
    VIEW = "&View"
    RUN = "&Run"
    HELP = "&Help"


class Scope(StrEnum):
    """Where the shortcut of an action works."""

    WINDOW = "window"
    TREES = "trees"


@dataclass(frozen=True, slots=True)
class UiContext:
    """What the window knows that decides which actions can be used.

    Attributes:
        sources: Open sources.
        target_kind: ``"none"``, ``"module"`` or ``"checkpoint"``.
        can_undo: Whether the history has something to undo.
        can_redo: Whether it has something to redo.
        source_selected: Whether a node of the source tree is the current one.
        target_selected: Selected nodes of the target tree.
        tree_focused: Whether one of the two trees has the focus.
        clipboard: Whether the clipboard holds nodes of a source.
        model_running: Whether the model engine is starting, ready or busy.
        plan_open: Whether a plan waits for choices.
        can_run: Whether there is a module that can be run.
        is_run_on: Whether a run is on.
    """

    sources: int = 0
    target_kind: str = "none"
    can_undo: bool = False
    can_redo: bool = False
    source_selected: bool = False
    target_selected: int = 0
    tree_focused: bool = False
    clipboard: bool = False
    model_running: bool = False
    plan_open: bool = False
    can_run: bool = False
    is_run_on: bool = False

    @property
    def has_target(self) -> bool:
        """Whether there is a target."""
        return self.target_kind != "none"


def _always(_context: UiContext) -> bool:
    return True


def _with_target_node(context: UiContext) -> bool:
    return context.target_selected > 0


def _with_node(context: UiContext) -> bool:
    return context.source_selected or context.target_selected > 0


def _with_anything(context: UiContext) -> bool:
    return context.has_target or context.sources > 0


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action.

    Attributes:
        id: Its id.
        text: Text of its menu entry, with a mnemonic.
        shortcut: Keys in Qt's portable form; empty for a palette entry only.
        icon: Name of a drawing in ``resources/icons``; may be empty.
        menu: Menu that it stands in.
        group: Actions of one group stand together between separators.
        accessible_name: What a screen reader says, and the palette shows.
        enabled_when: Whether it can be used.
        scope: Where its shortcut works.
    """

    id: ActionId
    text: str
    shortcut: str
    icon: str
    menu: Menu
    group: int
    accessible_name: str
    enabled_when: Callable[[UiContext], bool] = _always
    scope: Scope = Scope.WINDOW


_A = ActionId
_F, _E, _V, _R, _H = Menu.FILE, Menu.EDIT, Menu.VIEW, Menu.RUN, Menu.HELP
_T = Scope.TREES

SPECS: tuple[ActionSpec, ...] = (
    ActionSpec(_A.OPEN, "&Open…", "Ctrl+O", "open", _F, 0, "Open a checkpoint"),
    ActionSpec(_A.OPEN_MODULE, "Load &Module…", "Ctrl+M", "module", _F, 0,
               "Load a module as the target"),
    ActionSpec(_A.OPEN_SAMPLE, "Open Sam&ple", "", "sample", _F, 0, "Open the sample"),
    ActionSpec(_A.REPLAY_RECIPE, "Open &Recipe…", "Ctrl+Shift+O", "recipe", _F, 1,
               "Open a recipe"),
    ActionSpec(_A.SAVE_RECIPE, "&Save Recipe…", "Ctrl+S", "save", _F, 1,
               "Save the recipe", _with_anything),
    ActionSpec(_A.EXPORT, "&Export…", "Ctrl+E", "export", _F, 2, "Export the target",
               lambda c: c.has_target),
    ActionSpec(_A.EDITABLE_COPY, "Make Editable Cop&y", "Ctrl+Shift+E", "edit", _F, 3,
               "Make an editable copy of the source",
               lambda c: c.source_selected),
    ActionSpec(_A.RECHECK, "Check Sources for C&hanges", "F5", "refresh", _F, 3,
               "Check the sources for changes on disk", lambda c: c.sources > 0),
    ActionSpec(_A.CLOSE_SOURCE, "&Close Source", "Ctrl+W", "close", _F, 3,
               "Close the source", lambda c: c.source_selected),
    ActionSpec(_A.QUIT, "&Quit", "Ctrl+Q", "quit", _F, 5,
               "Quit; unsaved edits are offered back the next time"),
    ActionSpec(_A.UNDO, "&Undo", "Ctrl+Z", "undo", _E, 0, "Undo", lambda c: c.can_undo),
    ActionSpec(_A.REDO, "&Redo", "Ctrl+Shift+Z", "redo", _E, 0, "Redo",
               lambda c: c.can_redo),
    ActionSpec(_A.COPY, "&Copy", "Ctrl+C", "copy", _E, 1, "Copy the selected nodes",
               _with_node, _T),
    ActionSpec(_A.PASTE, "&Paste onto Target", "Ctrl+V", "paste", _E, 1,
               "Transfer the copied nodes onto the selected target node",
               lambda c: c.clipboard and c.has_target, _T),
    ActionSpec(_A.COPY_PATH, "Copy P&ath", "Ctrl+Shift+C", "path", _E, 1,
               "Copy the path of the selected node", _with_node, _T),
    ActionSpec(_A.RENAME, "Re&name", "F2", "rename", _E, 2,
               "Rename the selected target node", lambda c: c.target_selected == 1, _T),
    ActionSpec(_A.CAST, "Cas&t to Dtype…", "Ctrl+T", "cast", _E, 2,
               "Cast the selected target nodes to a dtype", _with_target_node),
    ActionSpec(_A.FILL, "&Fill with Number…", "Ctrl+Shift+F", "fill", _E, 2,
               "Fill the selected target nodes with a number", _with_target_node),
    ActionSpec(_A.DELETE, "&Delete", "Del", "delete", _E, 2,
               "Delete the selected target nodes", _with_target_node, _T),
    ActionSpec(_A.FIND_SOURCE, "Find in &Sources", "Ctrl+F", "search", _E, 3,
               "Find in the sources"),
    ActionSpec(_A.FIND_TARGET, "Find in Tar&get", "Ctrl+G", "search", _E, 3,
               "Find in the target"),
    ActionSpec(_A.COMMAND_PALETTE, "Command &Palette…", "Ctrl+K", "search", _V, 0,
               "Search leaves and commands"),
    ActionSpec(_A.EXPAND_BELOW, "&Expand Everything Below", "Ctrl+Shift+Right",
               "expand", _V, 1, "Expand everything below the selected node",
               _with_node),
    ActionSpec(_A.COLLAPSE_ALL, "&Collapse All", "Ctrl+Shift+Left", "collapse", _V, 1,
               "Collapse both trees", _with_anything),
    ActionSpec(_A.FOCUS_SOURCES, "&Sources", "Ctrl+1", "", _V, 2, "Go to the sources"),
    ActionSpec(_A.FOCUS_TARGET, "&Target", "Ctrl+2", "", _V, 2, "Go to the target"),
    ActionSpec(_A.FOCUS_DETAILS, "&Details", "Ctrl+3", "", _V, 2, "Go to the details"),
    ActionSpec(_A.FOCUS_HISTORY, "&History", "Ctrl+4", "history", _V, 2,
               "Go to the history"),
    ActionSpec(_A.FOCUS_LOG, "&Log", "Ctrl+5", "log", _V, 2, "Go to the log"),
    ActionSpec(_A.FOCUS_PLAN, "Pla&n", "Ctrl+6", "", _V, 2, "Go to the plan",
               lambda c: c.plan_open),
    ActionSpec(_A.FOCUS_RUN, "R&un", "Ctrl+7", "run", _V, 2, "Go to the run panel"),
    ActionSpec(_A.THEME_SYSTEM, "Theme of the S&ystem", "", "theme", _V, 3,
               "Follow the light or dark theme of the system"),
    ActionSpec(_A.THEME_LIGHT, "L&ight Theme", "", "light", _V, 3, "Light theme"),
    ActionSpec(_A.THEME_DARK, "Da&rk Theme", "", "dark", _V, 3, "Dark theme"),
    ActionSpec(_A.RESET_LAYOUT, "Reset Lay&out", "", "layout", _V, 4,
               "Put the panels back where they were at first"),
    ActionSpec(_A.RUN, "&Run", "Ctrl+R", "run", _R, 0,
               "Run the module on the target's values",
               lambda c: c.can_run and not c.is_run_on),
    ActionSpec(_A.STOP, "S&top Model", "Ctrl+.", "stop", _R, 0,
               "Stop the run or the model engine; a fresh one takes over",
               lambda c: c.model_running or c.is_run_on),
    ActionSpec(_A.COMPARE, "&Compare Runs", "", "history", _R, 1,
               "Compare the outputs of two runs", lambda c: c.can_run),
    ActionSpec(_A.COPY_SCRIPT, "Copy as &Python", "Ctrl+Shift+P", "copy", _R, 1,
               "Copy the call as a Python program", lambda c: c.can_run),
    ActionSpec(_A.ABOUT, "&About Flax Inspector", "", "about", _H, 1,
               "About Flax Inspector"),
)  # fmt: skip
"""The table, in the order of the menus."""


_MOST_TEXT = 56
"""Characters of an edit's text in a menu."""

_THEMES = {
    _A.THEME_SYSTEM: Mode.SYSTEM,
    _A.THEME_LIGHT: Mode.LIGHT,
    _A.THEME_DARK: Mode.DARK,
}

_ICON_TEXTS = {
    _A.OPEN_MODULE: "Module…",
    _A.COMMAND_PALETTE: "Search or run a command…   Ctrl+K",
}


class ActionSet(QObject):
    """The QActions of one window, made from the table.

    Iterating gives the actions in the table's order, as the palette wants them.
    """

    def __init__(self, window: QWidget, theme: Theme) -> None:
        """Makes every action and adds the window-wide ones to ``window``."""
        super().__init__(window)
        self._theme = theme
        self._actions: dict[ActionId, QAction] = {}
        self._bound: set[ActionId] = set()
        for spec in SPECS:
            self._actions[spec.id] = self._make(spec, window)
        self._group_themes(theme.mode)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.update_enabled(UiContext())

    def __iter__(self) -> Iterator[QAction]:
        """Yields every action."""
        return iter(self._actions.values())

    def __getitem__(self, action_id: ActionId) -> QAction:
        """Returns one action."""
        return self._actions[action_id]

    @property
    def bound(self) -> frozenset[ActionId]:
        """Ids that have a handler."""
        return frozenset(self._bound)

    def bind(self, action_id: ActionId, handler: Callable[[], object]) -> None:
        """Connects a handler to an action."""
        self._bound.add(action_id)
        self._actions[action_id].triggered.connect(lambda _checked=False: handler())

    def scoped(self, scope: Scope) -> list[QAction]:
        """Returns the actions whose shortcut works in a scope."""
        return [self._actions[spec.id] for spec in SPECS if spec.scope is scope]

    def in_menu(self, menu: Menu) -> Iterator[QAction | None]:
        """Yields the actions of a menu, None between two groups."""
        group: int | None = None
        for spec in SPECS:
            if spec.menu is not menu:
                continue
            if group is not None and spec.group != group:
                yield None
            group = spec.group
            yield self._actions[spec.id]

    def update_enabled(self, context: UiContext) -> None:
        """Enables what can be used now."""
        for spec in SPECS:
            self._actions[spec.id].setEnabled(spec.enabled_when(context))

    def set_history(self, undo_text: str, redo_text: str) -> None:
        """Names in the menu what undo and redo would do; empty for nothing."""
        for action_id, text in ((_A.UNDO, undo_text), (_A.REDO, redo_text)):
            word = "Undo" if action_id is _A.UNDO else "Redo"
            action = self._actions[action_id]
            action.setText(f"&{word} {_shortened(text)}".rstrip())
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            action.setToolTip(f"{word} {text}".rstrip() + f" ({keys})")

    def _make(self, spec: ActionSpec, window: QWidget) -> QAction:
        action = QAction(spec.text, window)
        action.setObjectName(f"action.{spec.id}")
        if spec.shortcut:
            action.setShortcut(QKeySequence(spec.shortcut))
        if spec.scope is Scope.TREES:
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        else:
            window.addAction(action)
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        action.setToolTip(spec.accessible_name + (f" ({keys})" if keys else ""))
        action.setStatusTip(spec.accessible_name)
        # A QAction has no accessible name; tool buttons and the palette take this.
        action.setProperty("accessibleName", spec.accessible_name)
        # Tool buttons take this; Qt's own would lose the dots, and Qt leaves two
        # pixels between icon and text, where a thin space makes a gap.
        text = _ICON_TEXTS.get(spec.id, spec.text.replace("&", ""))
        action.setIconText(f"\N{THIN SPACE}{text}")
        action.setMenuRole(_menu_role(spec.id))
        return action

    def _group_themes(self, chosen: Mode) -> None:
        """Lets the menu tell which theme is in force."""
        group = QActionGroup(self)
        for action_id, mode in _THEMES.items():
            action = self._actions[action_id]
            action.setCheckable(True)
            action.setChecked(mode is chosen)
            # In a menu the mark takes the place of the drawing.
            action.setIconVisibleInMenu(False)
            group.addAction(action)

    def _on_theme_changed(self) -> None:
        for spec in SPECS:
            if spec.icon:
                self._actions[spec.id].setIcon(icon(spec.icon, self._theme))


def _shortened(text: str) -> str:
    """Keeps a menu narrow; the history has the whole text."""
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"


def _menu_role(action_id: ActionId) -> QAction.MenuRole:
    roles = {
        _A.QUIT: QAction.MenuRole.QuitRole,
        _A.ABOUT: QAction.MenuRole.AboutRole,
    }
    return roles.get(action_id, QAction.MenuRole.NoRole)
