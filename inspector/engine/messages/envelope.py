"""The envelopes around every message."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.errors import ErrorInfo

PROTOCOL = 1
"""Raised when a message changes in a way that the other end must know."""


@dataclass(frozen=True, slots=True)
class Request:
    """Asks for something.

    Attributes:
        id: Chosen by the sender, unique on its pipe.
        body: Any message that says what is wanted.
    """

    id: int
    body: object


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to the request of the same id."""

    id: int
    body: object


@dataclass(frozen=True, slots=True)
class Failure:
    """The request of the same id could not be met, or was cancelled."""

    id: int
    error: ErrorInfo


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a request is.

    Attributes:
        id: Id of the request.
        done: Units done, e.g. bytes.
        total: Units in all; 0 when unknown.
        text: What is being done, for a person.
    """

    id: int
    done: int
    total: int
    text: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """Asks to stop the request of this id; unknown ids are ignored."""

    id: int


@dataclass(frozen=True, slots=True)
class Event:
    """Something happened that nobody asked for just now (store -> window)."""

    body: object


@dataclass(frozen=True, slots=True)
class Hello:
    """First message of every engine, an `Event` sent before anything is asked.

    Attributes:
        protocol: `PROTOCOL` of the engine.
        engine: ``"store"``, ``"reader"`` or ``"model"``.
        pid: Its process id, which is also its process group.
        python: Version of its interpreter, e.g. ``"3.11.7"``.
        versions: (package, version) of what matters there, e.g. jax and flax.
    """

    protocol: int
    engine: str
    pid: int
    python: str
    versions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """The answer of a request that has nothing to say."""


CLASSES: tuple[type, ...] = (
    Request, Reply, Failure, Progress, Cancel, Event, Hello, Done, ErrorInfo,
)  # fmt: skip
"""Every class of this module, for the codec."""
