"""Where the parts of the main window stand, and remembering it.

Docks, toolbar and menus are made here from parts that the window hands over; the
layout is kept in the settings file of the state folder. No part's meaning is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QSettings, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDockWidget,
    QHBoxLayout,
    QMainWindow,
    QMenuBar,
    QSizePolicy,
    QTabWidget,
    QToolBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from inspector.ui.actions import ActionId, ActionSet, Menu
from inspector.ui.banner_stack import BannerStack
from inspector.ui.dock_title import DockTitle, PanelFrame
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE

_GEOMETRY = "window/geometry"
_STATE = "window/state"
# Raised when the docks are others, so that an old layout is not laid over them.
_VERSION = 2

_SIZE = (1440, 900)
_LOWER_MAX = 210
_LOWER_MIN = 128
# Height that the trees and the details have before the lower panels get more.
_UPPER_WANTED = 572
_PLAN_PART = 0.42
_DETAILS_MIN_HEIGHT = 40 * SPACE
_DOCK_AREA = Qt.DockWidgetArea


@dataclass(frozen=True, slots=True)
class Docks:
    """The docks of the window."""

    sources: QDockWidget
    details: QDockWidget
    plan: QDockWidget
    run: QDockWidget
    history: QDockWidget
    log: QDockWidget


def make_docks(
    window: QMainWindow,
    theme: Theme,
    *,
    sources: tuple[QWidget, DockTitle],
    details: QWidget,
    lower: dict[str, QWidget],
) -> Docks:
    """Makes the docks around the target.

    Args:
        window: The window.
        theme: Colours.
        sources: Panel of the sources and its title.
        details: Panel of the details.
        lower: Title -> panel of each tab below: plan, run, history, log.
    """
    window.setDockNestingEnabled(True)
    window.setDockOptions(
        QMainWindow.DockOption.AllowTabbedDocks
        | QMainWindow.DockOption.AllowNestedDocks
        | QMainWindow.DockOption.GroupedDragging
    )
    window.setTabPosition(_DOCK_AREA.AllDockWidgetAreas, QTabWidget.TabPosition.North)
    window.setCorner(Qt.Corner.BottomLeftCorner, _DOCK_AREA.BottomDockWidgetArea)
    window.setCorner(Qt.Corner.BottomRightCorner, _DOCK_AREA.BottomDockWidgetArea)
    # Less than its parts ask for: a small window cuts them at the bottom instead of
    # growing beyond the screen.
    details.setMinimumHeight(_DETAILS_MIN_HEIGHT)
    left = _dock(window, "Sources", sources[0], sources[1])
    right = _dock(
        window,
        "Details",
        PanelFrame(details, window),
        DockTitle(theme, "Details", window),
    )
    window.addDockWidget(_DOCK_AREA.LeftDockWidgetArea, left)
    window.addDockWidget(_DOCK_AREA.RightDockWidgetArea, right)
    made = [
        _dock(window, title, _framed(panel, window), None)
        for title, panel in lower.items()
    ]
    for dock in made:
        window.addDockWidget(_DOCK_AREA.BottomDockWidgetArea, dock)
    for dock in made[1:]:
        window.tabifyDockWidget(made[0], dock)
    made[0].hide()
    plan, run, history, log = made
    history.raise_()
    return Docks(left, right, plan, run, history, log)


def make_center(
    panel: QWidget, title: DockTitle, banners: BannerStack, parent: QWidget
) -> QWidget:
    """Returns the middle of the window: messages, title and panel of the target."""
    center = QWidget(parent)
    framed = QVBoxLayout()
    framed.setSpacing(0)
    framed.addWidget(title)
    framed.addWidget(panel, 1)
    column = QVBoxLayout(center)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(SPACE)
    column.addWidget(banners)
    column.addLayout(framed, 1)
    return center


def make_toolbar(window: QMainWindow, actions: ActionSet) -> QToolBar:
    """Makes the toolbar: open, undo, the search in the middle, export."""
    bar = QToolBar("Toolbar", window)
    bar.setObjectName("toolBar")
    bar.setMovable(False)
    bar.setIconSize(QSize(4 * SPACE, 4 * SPACE))
    bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
    for action_id in (ActionId.OPEN, ActionId.OPEN_MODULE):
        bar.addWidget(_button(bar, actions, action_id, with_text=True))
    bar.addSeparator()
    for action_id in (ActionId.UNDO, ActionId.REDO):
        bar.addWidget(_button(bar, actions, action_id, with_text=False))
    bar.addWidget(_stretch(bar))
    search = _button(bar, actions, ActionId.COMMAND_PALETTE, with_text=True)
    search.setProperty("look", "search")
    search.setMinimumWidth(260)
    search.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    bar.addWidget(search)
    bar.addWidget(_stretch(bar))
    export = _button(bar, actions, ActionId.EXPORT, with_text=True)
    export.setProperty("look", "primary")
    export.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
    bar.addWidget(export)
    window.addToolBar(bar)
    return bar


def fill_menus(bar: QMenuBar, actions: ActionSet, panels: Docks) -> None:
    """Makes the menus from the table, and entries that open closed panels."""
    for name in Menu:
        menu = bar.addMenu(str(name))
        menu.setObjectName(f"menu{name.name.title()}")
        for action in actions.in_menu(name):
            if action is None:
                menu.addSeparator()
            else:
                menu.addAction(action)
        if name is Menu.VIEW:
            shown = menu.addMenu("&Panels")
            shown.setObjectName("menuPanels")
            for dock in (
                panels.sources,
                panels.details,
                panels.run,
                panels.history,
                panels.log,
            ):
                shown.addAction(dock.toggleViewAction())


def restore(window: QMainWindow, settings: QSettings, docks: Docks) -> bool:
    """Puts everything where it was last.

    Returns:
        Whether there was a last time; else the docks want `share_out` when shown.
    """
    available = QGuiApplication.primaryScreen().availableSize()
    window.resize(min(_SIZE[0], available.width()), min(_SIZE[1], available.height()))
    geometry, state = settings.value(_GEOMETRY), settings.value(_STATE)
    if isinstance(geometry, QByteArray):
        window.restoreGeometry(geometry)
    if isinstance(state, QByteArray):
        window.restoreState(state, _VERSION)
    # A plan is of the moment; it opens with the next drop.
    docks.plan.hide()
    return isinstance(state, QByteArray)


def remember(window: QMainWindow, settings: QSettings) -> None:
    """Keeps where everything is."""
    settings.setValue(_GEOMETRY, window.saveGeometry())
    settings.setValue(_STATE, window.saveState(_VERSION))


def share_out(window: QMainWindow, docks: Docks) -> None:
    """Gives the docks their parts of a window that is shown."""
    width, height = window.width(), window.height()
    side = [docks.sources, docks.details]
    parts = [int(width * 0.31), int(width * 0.30)]
    window.resizeDocks(side, parts, Qt.Orientation.Horizontal)
    lower = lower_height(height)
    window.resizeDocks([docks.history], [lower], Qt.Orientation.Vertical)


def lower_height(height: int) -> int:
    """Returns the height of the lower panels in a window, in pixels."""
    return min(_LOWER_MAX, max(_LOWER_MIN, height - _UPPER_WANTED))


def open_plan(window: QMainWindow, docks: Docks) -> None:
    """Shows the plan and gives it the room that choosing wants."""
    open_high(window, docks.plan)


def open_high(window: QMainWindow, dock: QDockWidget) -> None:
    """Shows a lower panel and gives it the room that working in it wants."""
    dock.show()
    dock.raise_()
    wanted = int(window.height() * _PLAN_PART)
    if dock.height() < wanted:
        window.resizeDocks([dock], [wanted], Qt.Orientation.Vertical)


def close_plan(window: QMainWindow, docks: Docks) -> None:
    """Hides the plan and gives the trees their room back."""
    if docks.plan.isVisible():
        docks.plan.hide()
        lower = lower_height(window.height())
        window.resizeDocks([docks.history], [lower], Qt.Orientation.Vertical)


def reset(window: QMainWindow, docks: Docks) -> None:
    """Puts every dock back where it was at the first start."""
    lower = (docks.plan, docks.run, docks.history, docks.log)
    for dock in (docks.sources, docks.details, *lower):
        dock.setFloating(False)
        # Side by side the lower ones would be wider than a small window.
        dock.hide()
    window.addDockWidget(_DOCK_AREA.LeftDockWidgetArea, docks.sources)
    window.addDockWidget(_DOCK_AREA.RightDockWidgetArea, docks.details)
    for number, dock in enumerate(lower):
        window.addDockWidget(_DOCK_AREA.BottomDockWidgetArea, dock)
        if number:
            window.tabifyDockWidget(lower[number - 1], dock)
    for dock in (docks.sources, docks.details, *lower[1:]):
        dock.show()
    docks.history.raise_()
    share_out(window, docks)


def _dock(
    window: QMainWindow, title: str, panel: QWidget, bar: DockTitle | None
) -> QDockWidget:
    dock = QDockWidget(title, window)
    dock.setObjectName(f"dock{title}")
    dock.setAccessibleName(title)
    dock.setWidget(panel)
    if bar is None:
        # Tabs name the lower panels; dragging a tab moves its dock.
        bar_widget: QWidget = QWidget(dock)
        bar_widget.setFixedHeight(0)
    else:
        bar.closes(dock)
        bar_widget = bar
    dock.setTitleBarWidget(bar_widget)
    return dock


def _framed(panel: QWidget, window: QWidget) -> QWidget:
    if panel.property("look") == "panel":
        return panel
    return PanelFrame(panel, window)


def _button(
    bar: QToolBar, actions: ActionSet, action_id: ActionId, *, with_text: bool
) -> QToolButton:
    action = actions[action_id]
    button = QToolButton(bar)
    button.setDefaultAction(action)
    button.setObjectName(f"toolbar.{action_id}")
    button.setAccessibleName(str(action.property("accessibleName")))
    button.setProperty("look", "button")
    style = Qt.ToolButtonStyle
    button.setToolButtonStyle(
        style.ToolButtonTextBesideIcon if with_text else style.ToolButtonIconOnly
    )
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


def _stretch(bar: QToolBar) -> QWidget:
    space = QWidget(bar)
    space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    row = QHBoxLayout(space)
    row.setContentsMargins(0, 0, SPACE, 0)
    return space
