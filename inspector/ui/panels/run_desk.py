"""What the run panel holds: a call of the target's module, and what came of it.

Left the call, right its results. Asks the store how the module is called when it is
first looked at, and runs only when the person says so. On the window's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePath

from PySide6.QtCore import QSettings, Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.calling import (
    Call,
    CallForm,
    Devices,
)
from inspector.engine.messages.document import TARGET, Changes
from inspector.engine.messages.envelope import Progress
from inspector.engine.messages.running import Run, RunReport
from inspector.engine.messages.viewing import AskChildren, ChildPage
from inspector.errors import ErrorInfo, ModuleNotImportedError
from inspector.ui.banner_stack import BannerStack
from inspector.ui.document_mirror import DocumentMirror
from inspector.ui.operations import modules, runs
from inspector.ui.panels.run_body import RunBody
from inspector.ui.panels.run_code import CodePage
from inspector.ui.panels.run_invitation import RunInvitation
from inspector.ui.panels.run_memory import Remembered, recall, remember
from inspector.ui.panels.run_proposals import InputProposals
from inspector.ui.panels.run_results import RunResults
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE

_AGAIN_MS = 300
"""How long a change has to rest before the call is run again by itself."""

_LEAST_HEIGHT = 24 * SPACE


class RunDesk(QFrame):
    """A call and its results.

    Attributes:
        body: Both sides.
        call_side: The call as it is written.
        bar: Run, stop, and what belongs to them.
        banners: What went wrong before anything ran.

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
        self.setObjectName("runDesk")
        self._client, self._mirror, self._settings = client, mirror, settings
        self._spec = ""
        self._is_form_wanted = False
        self._are_devices_known = False
        self._ticket: int | None = None
        self._ran: Call | None = None
        self._is_again_wanted = False
        self._is_run_wanted = False
        self._again = self._timer(_AGAIN_MS, self._on_again)
        self._glance = self._timer(0, self._look)
        self.banners = BannerStack(theme, self)
        self.setMinimumHeight(_LEAST_HEIGHT)
        self.stack = QStackedWidget(self)
        self.invitation = RunInvitation(self.stack)
        self.body = RunBody(client, theme, self.stack)
        body = self.body
        self.call_side, self.bar = body.call_side, body.bar
        self._is_complete = False
        self._steps = self._make_results()
        take = self.call_side.take_inputs
        self._proposals = InputProposals(client, self.banners, take)
        self._lay_out()
        self._connect()
        self._show_state()

    def _timer(self, pause_ms: int, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(pause_ms)
        timer.timeout.connect(slot)
        return timer

    def _lay_out(self) -> None:
        self.stack.addWidget(self.invitation)
        self.stack.addWidget(self.body)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.banners)
        whole.addWidget(self.stack, 1)

    def _connect(self) -> None:
        self._mirror.updated.connect(self.show_document)
        self._client.changed.connect(self._on_changed)
        self._client.started.connect(self._on_started)
        self.invitation.wanted.connect(self.load_module)
        self.call_side.changed.connect(self._on_call)
        self.call_side.locks_changed.connect(self._remember)
        self.call_side.method_chosen.connect(self._ask_form)
        self.call_side.proposal_wanted.connect(self._propose)
        self.bar.run_button.clicked.connect(self._on_run)
        self.bar.stop_button.clicked.connect(self.stop)
        self.bar.copy_button.clicked.connect(self.copy_code)
        self.bar.automatic.toggled.connect(self._on_automatic)

    def complete(self) -> None:
        """Makes the side of the results, if it is not there yet."""
        for _ in self._steps:
            pass

    def step(self) -> bool:
        """Makes a part of that side; returns whether there is more to make."""
        next(self._steps, None)
        return not self._is_complete

    def _make_results(self) -> Iterator[None]:
        yield from self.body.steps()
        self._is_complete = True
        self.body.results.node_chosen.connect(self.node_chosen)
        self.body.results.report_shown.connect(self._on_report_shown)

    @property
    def results(self) -> RunResults:
        """What came of runs."""
        if not self._is_complete:
            self.complete()
        return self.body.results

    @property
    def code(self) -> CodePage:
        """The call as a program."""
        if not self._is_complete:
            self.complete()
        return self.body.code

    @property
    def is_running(self) -> bool:
        """Whether a run is on."""
        return self._ticket is not None

    @property
    def is_in_sight(self) -> bool:
        """Whether it can be seen; what lies behind another tab counts as visible."""
        return self.isVisible() and not self.visibleRegion().isEmpty()

    @property
    def has_module(self) -> bool:
        """Whether there is a module that can be run."""
        target = self._mirror.info.target
        return target.kind == "module" and target.loaded

    @property
    def is_settled(self) -> bool:
        """Whether everything in sight is there."""
        if not self.is_in_sight or self.stack.currentWidget() is not self.body:
            return True
        waits = (
            self._is_form_wanted
            or self.is_running
            or self._again.isActive()
            or self._glance.isActive()
        )
        return not waits and not self.code.is_busy and self.results.is_settled

    # What the person does.

    def _on_run(self) -> None:
        # The button's own argument is not for `run`.
        self.run()

    def run(self, *, fresh: bool = False) -> None:
        """Runs the call that stands there; says what it lacks when it is incomplete.

        Args:
            fresh: Whether a module of an opened recipe may be imported for it.
        """
        if not self.has_module or self.is_running:
            return
        call = self.call_side.call()
        if call is None:
            self.call_side.focus_problem()
            return
        self._ran = call
        self.banners.remove("run")
        self.bar.show_stale("")
        if self.results.tabs.currentWidget() is self.code:
            self.results.tabs.setCurrentWidget(self.results.outputs)
        self.results.show_running("Running…")
        answers = runs.Answers(
            self._on_report, self._on_failure, self._on_stopped, self._on_progress
        )
        self._ticket = runs.run(
            self._client,
            owner=self,
            request=Run(call, fresh),
            name=self._mirror.info.target.name,
            answers=answers,
        )
        self._show_state()

    def look_soon(self) -> None:
        """Asks for what the panel lacks, once it lies where it is seen."""
        self._glance.start()

    def run_when_known(self) -> None:
        """Runs as soon as it is known how the module is called."""
        if self.call_side.form is None or self._is_form_wanted:
            self._is_run_wanted = True
        else:
            self.run()

    def focus_call(self) -> None:
        """Puts the focus into the call, or on what there is to do before."""
        if self.has_module:
            self.call_side.input_table.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            self.invitation.button.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def stop(self) -> None:
        """Ends the run wherever it is; the model that takes over loads the module."""
        self._again.stop()
        self._is_again_wanted = False
        if self._ticket is not None:
            self._client.cancel(self._ticket)

    def copy_code(self) -> None:
        """Puts the call on the clipboard, as a program with the same numbers."""
        call = self.call_side.call()
        if call is None:
            self.call_side.focus_problem()
            return
        runs.ask_code(
            self._client,
            owner=self,
            call=call,
            on_done=runs.copy_text,
            on_failure=lambda error: self.banners.show_error("code", error),
            slot="copy",
        )

    def load_module(self) -> None:
        """Wants a module loaded, or imports the one of the recipe."""
        target = self._mirror.info.target
        if target.kind == "module" and not target.loaded:
            modules.import_recorded(
                self._client,
                owner=self,
                name=target.name,
                on_failure=lambda error: self.banners.show_error("form", error),
            )
        else:
            self.module_wanted.emit()

    def _propose(self, source: str) -> None:
        self._proposals.propose(source, self.call_side.method)

    # What comes of it.

    def _on_progress(self, progress: Progress) -> None:
        self.bar.progress.set_progress(progress.done, progress.total)
        if progress.text:
            self.results.show_running(f"{progress.text}…")

    def _on_report(self, report: RunReport) -> None:
        self._end()
        self.results.show_report(report)
        self._remember()

    def _on_report_shown(self, report: RunReport) -> None:
        self.call_side.show_report(report)

    def _on_failure(self, error: ErrorInfo) -> None:
        self._end()
        self.results.show_error(error)
        if error.kind == ModuleNotImportedError.__name__:
            banner = self.results.banners.get("run")
            name = PurePath(error.where).name or "the module"
            again = partial(self.run, fresh=True)
            if banner is not None:
                banner.show_error(error, action=f"Run {name}", on_action=again)

    def _on_stopped(self) -> None:
        self._end()
        self.results.show_stopped()

    def _end(self) -> None:
        self._ticket = None
        self._show_state()
        if self._is_again_wanted:
            self._is_again_wanted = False
            self._again.start()

    # The call.

    def _on_call(self) -> None:
        """Hears that the call is another one."""
        self._remember()
        call = self.call_side.call()
        self.code.show_call(call)
        if self._ran is not None and call != self._ran:
            self.bar.show_stale("The call changed since this run.")
        elif self._ran is not None:
            self.bar.show_stale("")
        self._show_state()
        self._run_again()

    def _run_again(self) -> None:
        if not self.bar.automatic.isChecked() or self.call_side.call() is None:
            return
        if self.is_running:
            # To end the run would load the module again; it is let finish.
            self._is_again_wanted = True
        else:
            self._again.start()

    def _on_again(self) -> None:
        if self.bar.automatic.isChecked() and self.call_side.call() != self._ran:
            self.run()

    def _on_automatic(self, checked: bool) -> None:
        self._remember()
        if checked and self.call_side.call() != self._ran:
            self._run_again()

    def _remember(self) -> None:
        call = self.call_side.call()
        if call is not None and self._spec:
            remember(
                self._settings,
                self._spec,
                Remembered(call, self.call_side.locked, self.bar.automatic.isChecked()),
            )

    # The document.

    def show_document(self) -> None:
        """Shows what belongs to the target as it is now."""
        target = self._mirror.info.target
        sources = [(one.id, one.name) for one in self._mirror.info.sources]
        self.call_side.show_sources(sources)
        shown = self.body if self.has_module else self.invitation
        self.stack.setCurrentWidget(shown)
        if not self.has_module:
            self.invitation.show_target(target)
            self._forget()
        elif target.spec != self._spec:
            self._forget()
            self._spec = target.spec
            self._want_form()
        self._show_state()

    def _forget(self) -> None:
        if not self._spec:
            return
        self._spec = ""
        self._ran = None
        self._is_form_wanted = self._is_run_wanted = False
        for reason in self.banners.reasons():
            self.banners.remove(reason)
        self._client.drop(self, "form")
        self.call_side.clear()
        self.results.clear()
        self.results.tabs.setCurrentWidget(self.code)
        self.code.clear()
        self.bar.show_stale("")

    def _on_changed(self, changes: Changes) -> None:
        if changes.base and self._spec:
            # The same module may be loaded anew, with other methods.
            self._want_form()
        touched = changes.base or changes.structure or changes.values
        if touched and self._ran is not None:
            self.bar.show_stale("Values changed since this run.")

    def _on_started(self) -> None:
        self._are_devices_known = False
        self._ticket = None
        self._forget()
        self._show_state()

    def _want_form(self) -> None:
        self._is_form_wanted = True
        self._glance.start()

    def _look(self) -> None:
        """Asks for what the panel lacks; only while somebody looks at it."""
        if not self.has_module or not self.is_in_sight:
            return
        if self._is_form_wanted:
            stored = recall(self._settings, self._spec)
            self._ask_form(stored.call.method if stored is not None else "")
            self._client.ask(
                AskChildren(TARGET, ()),
                owner=self,
                on_reply=self._on_collections,
                slot="collections",
            )
        if not self._are_devices_known:
            self._are_devices_known = True
            runs.ask_devices(
                self._client,
                owner=self,
                on_done=self._on_devices,
                on_failure=self._on_no_devices,
            )

    def _ask_form(self, method: str) -> None:
        self._is_form_wanted = True
        self.banners.remove("form")
        runs.ask_form(
            self._client,
            owner=self,
            method=method,
            on_done=self._on_form,
            on_failure=lambda error: self._on_no_form(method, error),
        )

    def _on_form(self, form: CallForm) -> None:
        self._is_form_wanted = False
        stored = recall(self._settings, self._spec)
        if stored is not None and stored.call.method != form.method:
            stored = None
        if stored is not None:
            self.bar.automatic.blockSignals(True)
            self.bar.automatic.setChecked(stored.is_automatic)
            self.bar.automatic.blockSignals(False)
        self.call_side.show_form(form, stored)
        self.code.show_call(self.call_side.call())
        self._show_state()
        if self._is_run_wanted:
            self._is_run_wanted = False
            self.run()

    def _on_no_form(self, method: str, error: ErrorInfo) -> None:
        self._is_form_wanted = self._is_run_wanted = False
        banner = self.banners.show_message("form", "", "error")
        text = "Look at __call__" if method else "Try again"
        banner.show_error(error, action=text, on_action=lambda: self._ask_form(""))
        self._show_state()

    def _on_collections(self, page: ChildPage) -> None:
        names = [str(row.key) for row in page.rows]
        self.call_side.show_collections(names)

    def _on_devices(self, devices: Devices) -> None:
        self.call_side.show_devices(devices)

    def _on_no_devices(self, error: ErrorInfo) -> None:
        self._are_devices_known = False
        self.banners.show_error("devices", error)

    def _show_state(self) -> None:
        can_run = self.has_module and self.call_side.form is not None
        form = self.call_side.form
        if form is not None and form.problem:
            can_run = False
        self.bar.show_state(can_run=can_run, is_running=self.is_running)
        self.state_changed.emit()

    # Overrides of Qt.

    def showEvent(self, event: QShowEvent) -> None:
        """Overridden: the first look asks how the module is called."""
        super().showEvent(event)
        # Not at once: while docks are laid out, one may be shown for a moment.
        self.look_soon()
