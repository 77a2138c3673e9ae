"""The window's composition root: arguments in, a running window out.

`run` is the program; `open_window` makes the same window in a test that owns the
application. The order matters: settings (so that the first paint has the right theme
and place), theme, client, window, first paint. The store starts before all of that,
beside it, and is listened to after the first paint. Nothing here knows what a panel
does.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import shiboken6
from PySide6.QtCore import QSettings, QTimer
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication

from inspector import resources
from inspector.cli.arguments import add_module, add_shared
from inspector.cli.specs import module_spec
from inspector.engine.messages.document import Begin
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.start import state_folder
from inspector.errors import UsageError
from inspector.ui.drag_data import DraggedNodes
from inspector.ui.main_window import MainWindow
from inspector.ui.models.tree_node import TreeNode
from inspector.ui.notices import Notices
from inspector.ui.screenshot import Screenshot
from inspector.ui.startup import Startup, Wanted
from inspector.ui.store_client import StoreClient
from inspector.ui.store_transport import EarlyStore
from inspector.ui.theme import Mode, Theme
from inspector.ui.tour import Tour
from inspector.ui.warm_up import WarmUp
from inspector.ui.watchdog import start_if_asked
from inspector.ui.window_actions import THEME_KEY

PANELS = ("sources", "target", "details", "plan", "run", "history", "log")
"""Panels of this version that ``--panel`` can show."""

_RESERVED_PANELS = ("graph", "programs")
_SAMPLE_INPUT = "float32[1,8,8,1]"


class PanelAbsentError(UsageError):
    """``--panel`` names a panel that this version does not have."""

    def __init__(self, name: str) -> None:
        """Names it and those there are."""
        super().__init__(
            f"This version has no panel {name!r}",
            where="--panel",
            hint=f"There are: {', '.join(PANELS)}.",
        )


class WindowSizeError(UsageError):
    """``--size`` is not of the form WIDTHxHEIGHT."""

    def __init__(self, text: str) -> None:
        """Shows what was given and what would do."""
        super().__init__(
            f"A size is WIDTHxHEIGHT in pixels, not {text!r}",
            where="--size",
            hint="For example --size 1440x900.",
        )


@dataclass(frozen=True, slots=True)
class Options:
    """What the arguments ask for.

    Attributes:
        wanted: What to open.
        state_dir: Folder for sessions and settings.
        python: Interpreter of the model; empty for ours.
        mode: Theme of this run; None for what the person chose.
        panel: Panel to bring to the front; empty for none.
        size: Width and height of the window; None for what is remembered.
        screenshot: Picture to write; None to stay open.
        tour: Folder for what the tour leaves; None for no tour.
    """

    wanted: Wanted
    state_dir: Path
    python: str
    mode: Mode | None
    panel: str
    size: tuple[int, int] | None
    screenshot: Path | None
    tour: Path | None

    @property
    def is_private(self) -> bool:
        """Whether it must not depend on what the person did before, nor change it."""
        return self.screenshot is not None or self.tour is not None


def parse(argv: Sequence[str]) -> Options:
    """Reads the arguments of a window.

    Args:
        argv: Arguments without the program's name.

    Raises:
        UsageError: They make no sense; says which and what would.
    """
    parser = _parser()
    arguments = parser.parse_args(list(argv))
    if arguments.panel and arguments.panel not in PANELS:
        raise PanelAbsentError(arguments.panel)
    picture = Path(arguments.screenshot) if arguments.screenshot else None
    tour = Path(arguments.tour) if arguments.tour else None
    return Options(
        _wanted(arguments, offer_sessions=picture is None and tour is None),
        state_folder(arguments.state_dir),
        arguments.python or os.environ.get("FLAX_INSPECTOR_PYTHON", ""),
        Mode(arguments.theme) if arguments.theme else None,
        arguments.panel,
        _size(arguments.size),
        picture.absolute() if picture is not None else None,
        tour.absolute() if tour is not None else None,
    )


def open_window(argv: Sequence[str]) -> MainWindow:
    """Makes and shows the window; needs a QApplication, returns at once.

    Closing the window ends its store.

    Args:
        argv: Arguments without the program's name.

    Raises:
        UsageError: The arguments make no sense.
    """
    window, startup = _make(parse(argv))
    window.show()
    QTimer.singleShot(0, startup, startup.begin)
    return window


def run(argv: Sequence[str]) -> int:
    """Runs the program with a window.

    Args:
        argv: Arguments without the program's name.

    Returns:
        Exit status: 0 done, 1 there is no picture (the reason is on stderr), 2 usage.
    """
    try:
        options = parse(argv)
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    app = _application()
    window, startup = _make(options)
    window.notices.install_hooks()
    reasons: list[str] = []
    if options.screenshot is not None:
        _take_picture(window, startup, options, reasons)
    if options.tour is not None:
        Tour(window, startup, options.tour, _ending(window, reasons))
    window.show()
    QTimer.singleShot(0, startup, startup.begin)
    status = app.exec()
    window.client.close()
    window.notices.remove_hooks()
    # Now, while the application is there: what Python frees at its exit comes in any
    # order, and a widget that outlives the application ends in a crash.
    shiboken6.delete(window)
    for reason in filter(None, reasons):
        sys.stderr.write(f"{reason}\n")
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="flax-inspector", description="Open checkpoints and a module in a window."
    )
    parser.add_argument("paths", metavar="PATH", nargs="*", help="checkpoints to open")
    add_module(parser, required=False)
    parser.add_argument("--recipe", metavar="R", default="", help="recipe to open")
    parser.add_argument("--screenshot", metavar="OUT.png", default="")
    parser.add_argument(
        "--tour",
        metavar="DIR",
        default="",
        help="do the main job on the sample step by step; pictures and export go here",
    )
    parser.add_argument(
        "--panel", metavar="NAME", default="", help=f"one of {', '.join(PANELS)}"
    )
    parser.add_argument("--size", metavar="WxH", default="")
    parser.add_argument("--theme", choices=("light", "dark"), default="")
    add_shared(parser)
    return parser


def _wanted(arguments: argparse.Namespace, *, offer_sessions: bool) -> Wanted:
    if arguments.paths or arguments.model or arguments.recipe:
        module = module_spec(arguments) if arguments.model else None
        return Wanted(
            tuple(arguments.paths), module, arguments.recipe, str(Path.cwd()),
            offer_sessions,
        )  # fmt: skip
    classifier = resources.path("sample/classifier.py")
    return Wanted(
        (str(resources.path("sample/digits")),),
        ModuleSpec(f"{classifier}:Classifier", inputs=(_SAMPLE_INPUT,)),
        offer_sessions=offer_sessions,
    )


def _size(text: str) -> tuple[int, int] | None:
    if not text:
        return None
    width, separator, height = text.lower().partition("x")
    if not separator or not width.isdigit() or not height.isdigit():
        raise WindowSizeError(text)
    return int(width), int(height)


def _application() -> QApplication:
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    QGuiApplication.setDesktopFileName("flax-inspector")
    app = QApplication(["flax-inspector"])
    app.setApplicationName("flax-inspector")
    app.setApplicationDisplayName("Flax Inspector")
    return app


def _make(options: Options) -> tuple[MainWindow, Startup]:
    folder = options.state_dir
    if options.is_private:
        own = tempfile.TemporaryDirectory(
            prefix="flax-inspector-", ignore_cleanup_errors=True
        )
        folder = Path(own.name)
    folder.mkdir(parents=True, exist_ok=True)
    # The store starts on another core while the window is made here.
    early = EarlyStore(Begin(str(folder), options.python, options.is_private))
    settings = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    app = QApplication.instance()
    theme = Theme(options.mode or _chosen_mode(settings), app)
    theme.apply()
    client = StoreClient()
    window = MainWindow(client, theme, Notices(client), settings)
    client.setParent(window)
    window.setWindowIcon(QIcon(str(resources.path("icons/app.svg"))))
    if options.size is not None:
        window.resize(*options.size)
    startup = Startup(window, early.connect, options.wanted)
    WarmUp(client, window)
    window.closing.connect(client.close)
    window.closing.connect(early.close)
    if options.is_private:
        # A connection to a bound method does not keep its object alive, and the
        # folder goes with it; one to a function does.
        window.closing.connect(lambda: own.cleanup())  # noqa: PLW0108 - see above
    start_if_asked(window)
    if options.panel and options.screenshot is None and options.panel != "plan":
        window.show_panel(options.panel)
    return window, startup


def _chosen_mode(settings: QSettings) -> Mode:
    try:
        return Mode(str(settings.value(THEME_KEY, Mode.SYSTEM)))
    except ValueError:
        return Mode.SYSTEM


def _take_picture(
    window: MainWindow, startup: Startup, options: Options, reasons: list[str]
) -> None:
    assert options.screenshot is not None  # the caller has looked
    Screenshot(
        window,
        startup,
        options.screenshot,
        prepare=lambda: _prepare(window, options.panel),
        on_done=_ending(window, reasons),
    )


def _ending(window: MainWindow, reasons: list[str]) -> Callable[[str], None]:
    """Returns what ends the program, with the reason when something failed."""

    def on_done(reason: str) -> None:
        reasons.append(reason)
        window.close()
        QApplication.quit()

    return on_done


def _prepare(window: MainWindow, panel: str) -> None:
    """Chooses what gives the panels something to show."""
    leaf = _first_array(window.target.model.root) or _first_array(
        window.sources.model.root
    )
    if leaf is not None:
        window.handlers.reveal(leaf.tree, leaf.path)
    sources = window.mirror.info.sources
    if panel == "plan" and sources and window.mirror.info.target.kind != "none":
        nodes = DraggedNodes(sources[0].id, sources[0].name, ((),))
        window.target.transfer.preview(nodes, ())
    elif panel and panel != "plan":
        window.show_panel(panel)


def _first_array(root: TreeNode) -> TreeNode | None:
    for node in root.known():
        if node.row is not None and node.row.kind == "array":
            return node
    return None
