"""The run panel: an invitation until there is a module, then a call and its results.

What it holds (`run_desk`) is some forty widgets and their modules, so it is made when
it is first wanted and not for the first picture of the window. On the window's thread.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from inspector.ui.document_mirror import DocumentMirror
from inspector.ui.panels.run_invitation import RunInvitation
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE

if TYPE_CHECKING:
    from inspector.ui.banner_stack import BannerStack
    from inspector.ui.panels.run_bar import RunBar
    from inspector.ui.panels.run_body import RunBody
    from inspector.ui.panels.run_call import RunCall
    from inspector.ui.panels.run_code import CodePage
    from inspector.ui.panels.run_desk import RunDesk
    from inspector.ui.panels.run_results import RunResults

_DESK = "inspector.ui.panels.run_desk"
_LEAST_HEIGHT = 24 * SPACE


class RunPanel(QFrame):
    """A call and its results, made when they are first wanted.

    Attributes:
        invitation: What is shown before.

    Signals:
        node_chosen: (tree, path): the person wants to see a value in the details.
        state_changed: A run began or ended, or there is another call.
        module_wanted: The person wants to load a module.
    """

    node_chosen = Signal(str, object)
    state_changed = Signal()
    module_wanted = Signal()

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        mirror: DocumentMirror,
        settings: QSettings,
        parent: QWidget,
    ) -> None:
        """Invites to load a module; asks nothing before it is looked at."""
        super().__init__(parent)
        self.setObjectName("runPanel")
        self.setAccessibleName("Run")
        self.setMinimumHeight(_LEAST_HEIGHT)
        self._parts = client, theme, mirror, settings
        self._mirror = mirror
        self._desk: RunDesk | None = None
        self._half: RunDesk | None = None
        self._glance = QTimer(self)
        self._glance.setSingleShot(True)
        self._glance.setInterval(0)
        self._glance.timeout.connect(self._look)
        self.invitation = RunInvitation(self)
        self.invitation.wanted.connect(self._on_wanted)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self.invitation)
        mirror.updated.connect(self._on_document)

    @property
    def desk(self) -> RunDesk:
        """What the panel holds; made now if it was not."""
        desk = self._begun()
        if self._desk is None:
            self._desk = desk
            self._column.replaceWidget(self.invitation, desk)
            self.invitation.hide()
            self.invitation.deleteLater()
            desk.node_chosen.connect(self.node_chosen)
            desk.state_changed.connect(self.state_changed)
            desk.module_wanted.connect(self.module_wanted)
            desk.complete()
            desk.show_document()
            desk.show()
        return desk

    def _begun(self) -> RunDesk:
        """Makes the first half of the desk."""
        if self._half is None:
            # Its modules take a while to import, see the module's docstring.
            make = importlib.import_module(_DESK).RunDesk
            half: RunDesk = make(*self._parts, self)
            half.hide()
            self._half = half
        return self._half

    @property
    def body(self) -> RunBody:
        """Both sides."""
        return self.desk.body

    @property
    def call_side(self) -> RunCall:
        """The call as it is written."""
        return self.desk.call_side

    @property
    def bar(self) -> RunBar:
        """Run, stop, and what belongs to them."""
        return self.desk.bar

    @property
    def results(self) -> RunResults:
        """What came of runs."""
        return self.desk.results

    @property
    def code(self) -> CodePage:
        """The call as a program."""
        return self.desk.code

    @property
    def banners(self) -> BannerStack:
        """What went wrong before anything ran."""
        return self.desk.banners

    @property
    def is_running(self) -> bool:
        """Whether a run is on."""
        return self._desk is not None and self._desk.is_running

    @property
    def has_module(self) -> bool:
        """Whether there is a module that can be run."""
        target = self._mirror.info.target
        return target.kind == "module" and target.loaded

    @property
    def is_in_sight(self) -> bool:
        """Whether some of it can be seen; a dock behind another tab cannot."""
        return self.isVisible() and not self.visibleRegion().isEmpty()

    @property
    def is_settled(self) -> bool:
        """Whether everything in sight is there."""
        if self._desk is None:
            return not self._glance.isActive()
        return self._desk.is_settled

    def look_soon(self) -> None:
        """Asks for what the panel lacks, once it lies where it is seen."""
        if self._desk is not None:
            self._desk.look_soon()
        else:
            self._glance.start()

    def run(self) -> None:
        """Runs the call that stands there."""
        self.desk.run()

    def run_when_known(self) -> None:
        """Runs as soon as it is known how the module is called."""
        self.desk.run_when_known()

    def focus_call(self) -> None:
        """Puts the focus into the call, or on what there is to do before."""
        self.desk.focus_call()

    def stop(self) -> None:
        """Ends the run wherever it is; the model that takes over loads the module."""
        self.desk.stop()

    def copy_code(self) -> None:
        """Puts the call on the clipboard, as a program with the same numbers."""
        self.desk.copy_code()

    def _look(self) -> None:
        if not self.is_in_sight or not self.has_module:
            return
        if self._half is None:
            # A part in each turn: clicks and pictures come in between.
            self._begun()
            self._glance.start()
        elif self._desk is None and self._half.step():
            self._glance.start()
        else:
            self.desk.look_soon()

    def _on_document(self) -> None:
        if self._desk is None:
            self.invitation.show_target(self._mirror.info.target)
            self._glance.start()

    def _on_wanted(self) -> None:
        self.desk.load_module()

    # Overrides of Qt.

    def showEvent(self, event: QShowEvent) -> None:
        """Overridden: the first look makes what there is to see."""
        super().showEvent(event)
        # Not at once: while docks are laid out, one may be shown for a moment.
        self.look_soon()
