"""From the arguments of a module to its `ModuleSpec`; shared with the window."""

from __future__ import annotations

import argparse
from pathlib import Path

from inspector.engine.messages.calling import FOUND, Call
from inspector.engine.messages.module import ModuleSpec
from inspector.errors import UsageError


class ReadArgumentError(UsageError):
    """An argument of the form NAME=VALUE is not of that form."""

    def __init__(self, option: str, text: str, example: str) -> None:
        """Names the option, what was given and what would do."""
        super().__init__(
            f"{option} takes NAME=VALUE, not {text!r}",
            hint=f"For example {option} {example}.",
        )


class ReadSeedError(UsageError):
    """A seed is larger than `jax.random.key` takes."""

    def __init__(self, option: str, text: str) -> None:
        """Names the option and what was given."""
        super().__init__(
            f"{option} takes a seed of at most 64 bits with its sign, not {text!r}",
            hint=f"For example {option} params=0.",
        )


def module_spec(
    arguments: argparse.Namespace, model: str = "", kwargs: str | None = None
) -> ModuleSpec:
    """Makes the spec of the module that the arguments name.

    What ``init`` needs is taken from the call's arguments where the ``--init-…``
    form is not given.

    Args:
        arguments: The arguments.
        model: The module, where it is no argument of its own.
        kwargs: Constructor arguments; None for those of ``--kwargs``.

    Raises:
        ReadArgumentError: A ``NAME=VALUE`` argument is malformed.
    """
    seeds = arguments.init_rng or arguments.rng
    option = "--init-rng" if arguments.init_rng else "--rng"
    return ModuleSpec(
        model or arguments.model,
        kwargs=arguments.kwargs if kwargs is None else kwargs,
        inputs=tuple(arguments.init_input or arguments.input),
        method=arguments.init_method or arguments.method,
        statics=_statics(arguments),
        seeds=tuple(_seed(option, text) for text in seeds),
        cwd=str(Path.cwd()),
    )


def call_of(arguments: argparse.Namespace) -> Call:
    """Makes the call that the arguments describe.

    Raises:
        ReadArgumentError: A ``NAME=VALUE`` argument is malformed.
    """
    return Call(
        method=arguments.method,
        inputs=tuple(arguments.input),
        statics=_statics(arguments),
        mode=arguments.mode,
        seeds=tuple(_seed("--rng", text) for text in arguments.rng),
        mutable=tuple(arguments.mutable) or (FOUND,),
        device=arguments.device,
        precision=arguments.precision,
        apply=arguments.apply,
        cwd=str(Path.cwd()),
    )


def _statics(arguments: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    return tuple(_pair("--call", text, "train=false") for text in arguments.call)


def _pair(option: str, text: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ReadArgumentError(option, text, example)
    return name, value


def _seed(option: str, text: str) -> tuple[str, int]:
    name, value = _pair(option, text, "params=0")
    try:
        seed = int(value)
    except ValueError:
        raise ReadArgumentError(option, text, "params=0") from None
    if not -(1 << 63) <= seed < 1 << 63:
        raise ReadSeedError(option, text)
    return name, seed
