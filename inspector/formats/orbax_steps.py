"""The steps of a training run's folder: which there are, and which one is meant.

Steps are folders (orbax, T5X) or files (flax before orbax) whose names end in a
number: ``10``, ``ckpt_00001000``, ``checkpoint_300``. Called by the registry.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from inspector.errors import ReadFileError
from inspector.formats.checkpoint import Step
from inspector.formats.orbax import has_items, is_step
from inspector.formats.orbax_items import (
    TEMPORARY,
    entries_in,
    folders_in,
    is_item,
)
from inspector.formats.recognise import looks_like_msgpack
from inspector.formats.safe_files import is_folder

_NAME = re.compile(r"(?:.*[_\-.])?(?P<number>\d{1,18})$")
_NAMED = 8


@dataclass(frozen=True, slots=True)
class StepsOf:
    """The steps of one folder.

    Attributes:
        folder: The run's folder.
        steps: All of them, sorted by number.
    """

    folder: Path
    steps: tuple[Step, ...]

    @property
    def finished(self) -> list[Step]:
        """The whole ones, sorted by number."""
        return [step for step in self.steps if not step.incomplete]

    def choose(self, wanted: str | None) -> Step:
        """Returns the step that is meant, by default the newest whole one.

        Args:
            wanted: A number or a folder's name; None for the newest.

        Raises:
            ReadFileError: There is no such step, or none that is whole.
        """
        if wanted is None:
            if self.finished:
                return self.finished[-1]
            raise self._error(problem="None of its steps is whole")
        for step in reversed(self.steps):
            if step.name == wanted:
                return step
        if wanted.isascii() and wanted.isdigit():
            alike = [step for step in self.steps if step.number == int(wanted)]
            # Beside a whole step of the number, its temporary folder is not meant.
            for step in sorted(alike, key=lambda step: bool(step.incomplete)):
                return step
        raise self._error(problem=f"It has no step {wanted}")

    def text_of(self, step: Step) -> str:
        """Returns the shortest text that names exactly this step."""
        same = [other for other in self.steps if other.number == step.number]
        return str(step.number) if len(same) == 1 else step.name

    def _error(self, *, problem: str) -> ReadFileError:
        lines = [
            f"{step.name} ({step.incomplete})" if step.incomplete else step.name
            for step in self.steps[-_NAMED:]
        ]
        return ReadFileError(
            f"{problem}.",
            where=str(self.folder),
            hint=f"Its steps: {', '.join(lines)}.",
        )


def step_number(name: str) -> int | None:
    """Returns the number of a step's name; None when it is none."""
    match = _NAME.match(name.partition(TEMPORARY)[0])
    return int(match["number"]) if match else None


def steps_of(folder: Path) -> StepsOf | None:
    """Finds the steps of a folder.

    Returns:
        The steps; None when nothing whole or unfinished in it is a step.

    Raises:
        ReadFileError: The folder may not be read.
    """
    steps: list[Step] = []
    genuine = False
    for path in entries_in(folder):
        number = step_number(path.name)
        if number is None:
            continue
        if is_folder(path):
            reason = _incomplete(path)
            genuine = genuine or not reason or TEMPORARY in path.name
            steps.append(Step(path.name, number, reason))
        elif not path.suffix[1:].isalpha() and looks_like_msgpack(path):
            genuine = True
            steps.append(Step(path.name, number))
    if not genuine:
        return None
    steps.sort(key=lambda step: (step.number, not step.incomplete, step.name))
    return StepsOf(folder, tuple(steps))


def _incomplete(path: Path) -> str:
    """Returns why a step's folder is not whole; empty when it is."""
    if TEMPORARY in path.name:
        return "not finished: a temporary folder"
    try:
        if not entries_in(path):
            return "the folder is empty"
        return "" if is_item(path) else _incomplete_items(path)
    except ReadFileError as error:
        return error.message


def _incomplete_items(path: Path) -> str:
    """Returns why a step with several items is not whole; empty when it is."""
    folders = folders_in(path)
    unfinished = [item.name for item in folders if TEMPORARY in item.name]
    if unfinished:
        return f"its item {unfinished[0]} was not finished"
    if has_items(path):
        return ""
    return "it holds no items" if is_step(path) else "nothing in it is a checkpoint"
