"""Running the target's module, and asking how it can be called.

Each starts a request of the store; what comes back is for the caller. Window's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from inspector.engine.messages.calling import (
    AskCallForm,
    AskDevices,
    Call,
    CallForm,
    Devices,
    Proposals,
    ProposeInputs,
)
from inspector.engine.messages.envelope import Progress
from inspector.engine.messages.running import AskCode, Code, Run, RunReport
from inspector.errors import ErrorInfo
from inspector.ui.store_client import StoreClient

OnFailure = Callable[[ErrorInfo], object]


@dataclass(frozen=True, slots=True)
class Answers:
    """Who hears how a run ends.

    Attributes:
        done: Gets the report.
        failed: Gets the error.
        stopped: Called when the person stopped it.
        progress: Told what is being done.
    """

    done: Callable[[RunReport], object]
    failed: OnFailure
    stopped: Callable[[], object]
    progress: Callable[[Progress], object]


def run(
    client: StoreClient, *, owner: QObject, request: Run, name: str, answers: Answers
) -> int:
    """Starts a forward pass; cancelling the ticket ends it wherever it is."""
    return client.ask(
        request,
        owner=owner,
        on_reply=answers.done,
        on_failure=answers.failed,
        on_progress=answers.progress,
        on_cancelled=answers.stopped,
        slot="run",
        activity=f"Running {name}",
    )


def ask_form(
    client: StoreClient,
    *,
    owner: QObject,
    method: str,
    on_done: Callable[[CallForm], object],
    on_failure: OnFailure,
) -> int:
    """Asks how a method of the target's module is called; an older question goes."""
    return client.ask(
        AskCallForm(method),
        owner=owner,
        on_reply=on_done,
        on_failure=on_failure,
        slot="form",
        activity="Looking at how the module is called",
    )


def ask_devices(
    client: StoreClient,
    *,
    owner: QObject,
    on_done: Callable[[Devices], object],
    on_failure: OnFailure,
) -> int:
    """Asks which devices there are; the first time this starts JAX's backend."""
    return client.ask(
        AskDevices(),
        owner=owner,
        on_reply=on_done,
        on_failure=on_failure,
        slot="devices",
    )


def ask_code(
    client: StoreClient,
    *,
    owner: QObject,
    call: Call,
    on_done: Callable[[str], object],
    on_failure: OnFailure,
    slot: str = "code",
) -> int:
    """Asks for a call as a Python program."""

    def told(code: Code) -> None:
        on_done(code.text)

    return client.ask(
        AskCode(call), owner=owner, on_reply=told, on_failure=on_failure, slot=slot
    )


def copy_text(text: str) -> None:
    """Puts a text on the clipboard."""
    QGuiApplication.clipboard().setText(text)


def propose(
    client: StoreClient,
    *,
    owner: QObject,
    request: ProposeInputs,
    on_done: Callable[[Proposals], object],
    on_failure: OnFailure,
) -> int:
    """Asks which inputs fit a source, likeliest first."""
    return client.ask(
        request,
        owner=owner,
        on_reply=on_done,
        on_failure=on_failure,
        slot="proposals",
        activity="Trying inputs that fit the checkpoint",
    )
