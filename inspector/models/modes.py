"""The train/eval switch: flags by the names that people give them, both ways round.

A flag is an argument of the method, a field of the module, or, in NNX, an attribute
of layers that ``.train()`` and ``.eval()`` set. Nothing is traced here; `mode_proof`
shows whether a switch has any effect.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flax import nnx

from inspector.engine.messages.calling import Mode
from inspector.errors import UsageError

TRAINING = {
    "train": True,
    "training": True,
    "is_training": True,
    "is_train": True,
    "enable_dropout": True,
    "deterministic": False,
    "use_running_average": False,
    "inference": False,
    "eval": False,
}
"""Flags of the mode, with the value that means training."""

INFERENCE = {name: not value for name, value in TRAINING.items()}
"""Flags of the mode, with the value that means inference."""

TRAIN, EVAL = "train", "eval"
"""The two modes."""

NNX_SWITCH = ".train() / .eval()"
_NNX_FLAGS = ("deterministic", "use_running_average")


@dataclass(frozen=True, slots=True)
class Switch:
    """Something that a mode sets.

    Attributes:
        name: Name of the flag, or `NNX_SWITCH`.
        where: ``"argument"``, ``"field"`` or ``"method"``, as in `Mode`.
    """

    name: str
    where: str

    def value(self, mode: str) -> bool:
        """Returns what the flag is in a mode."""
        return (TRAINING if mode == TRAIN else INFERENCE)[self.name]

    def words(self, mode: str) -> str:
        """Returns what a mode sets, e.g. ``"train=True"``."""
        if self.where == "method":
            return f".{mode}()"
        return f"{self.name}={self.value(mode)}"


@dataclass(frozen=True, slots=True)
class Switches:
    """Every switch of one method of a module.

    Attributes:
        found: The switches; all are set together.
        doubled: Flags that are given in the constructor and are arguments too.
    """

    found: tuple[Switch, ...]
    doubled: tuple[str, ...] = ()

    def described(self, effect: str = "unknown", why: str = "") -> Mode:
        """Returns the switch as the window shows it.

        Args:
            effect: As in `Mode`.
            why: Why the effect is unknown.
        """
        if not self.found:
            return Mode(text="The module has no train/eval switch.")
        first = self.found[0]
        text = self._mapping()
        if effect == "same":
            text += " It has no effect: both modes trace to the same program."
        elif why:
            text += f" Whether it has an effect is unknown: {why}"
        text += "".join(f" {doubled_note(name)}" for name in self.doubled)
        if first.where == "method":
            return Mode(first.name, first.where, effect=effect, text=text)
        train, inference = (json.dumps(first.value(mode)) for mode in (TRAIN, EVAL))
        return Mode(first.name, first.where, train, inference, effect, text)

    def _mapping(self) -> str:
        sides = (
            f"{mode.capitalize()} means "
            + " and ".join(switch.words(mode) for switch in self.found)
            for mode in (TRAIN, EVAL)
        )
        fields = [s.name for s in self.found if s.where == "field"]
        end = f" ({', '.join(fields)}: set in the module's fields)" if fields else ""
        return f"{', '.join(sides)}{end}."


def doubled_note(name: str) -> str:
    """Returns the sentence about a flag of the constructor and of the call."""
    return (
        f"{name} is given in the constructor already, so the call leaves it out: "
        "Flax refuses a flag that both give."
    )


def switches_of(
    module: Any, family: str, parameters: Iterable[inspect.Parameter]
) -> Switches:
    """Returns what a mode sets.

    Flags in the arguments come before those in the fields. A Linen field that has a
    value already wins over an optional argument of its name, for Flax refuses both.

    Args:
        module: The constructed module.
        family: As in `Subject`.
        parameters: Parameters of the method.
    """
    named = {one.name: one for one in parameters if one.name in TRAINING}
    fields = _fields(module) if family == "linen" else {}
    doubled = tuple(
        name
        for name, parameter in named.items()
        if parameter.default is None and fields.get(name) is not None
    )
    found = [
        Switch(name, "field" if name in doubled else "argument")
        for name in TRAINING
        if name in named
    ]
    if not found:
        found = [Switch(name, "field") for name in TRAINING if name in fields]
    if family == "nnx" and _has_nnx_flags(module):
        found.append(Switch(NNX_SWITCH, "method"))
    return Switches(tuple(found), doubled)


def _fields(module: Any) -> dict[str, object]:
    """Returns the fields of a Linen module that are flags of the mode."""
    if not dataclasses.is_dataclass(module):
        return {}
    return {
        field.name: getattr(module, field.name, None)
        for field in dataclasses.fields(module)
        if field.name in TRAINING
    }


def _has_nnx_flags(module: Any) -> bool:
    if not isinstance(module, nnx.Module):
        return False
    return any(
        hasattr(inner, name)
        for _, inner in nnx.iter_modules(module)
        for name in _NNX_FLAGS
    )


def check_mode(mode: str) -> None:
    """Refuses what is no mode.

    Raises:
        UsageError: It is none of ``"train"``, ``"eval"`` and empty.
    """
    if mode not in {"", TRAIN, EVAL}:
        raise UsageError(
            message=f"“{mode}” is not a mode.", hint="The modes are train and eval."
        )
