"""The widgets of a program as assistive tools see them.

`Probe` owns the process on the system's Python that speaks AT-SPI and asks it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

_SCRIPT = Path(__file__).with_name("probe.py")
_SYSTEM_PYTHON = "/usr/bin/python3"

_WAYS_TO_SAY_NOTHING_YET = frozenset({"…", ""})


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle on the screen, in pixels."""

    x: int
    y: int
    width: int
    height: int

    @property
    def center(self) -> tuple[int, int]:
        """Its middle."""
        return self.x + self.width // 2, self.y + self.height // 2


@dataclass(frozen=True, slots=True)
class Widget:
    """What AT-SPI tells of a widget or a cell.

    Attributes:
        id: Object names from the application down, joined with dots.
        role: Role in AT-SPI's words.
        name: Accessible name.
        description: Accessible description.
        text: Text in it, for fields.
        states: Those of `probe._STATES` that it has.
        rect: Where it is.
    """

    id: str
    role: str
    name: str
    description: str
    text: str
    states: frozenset[str]
    rect: Rect

    @property
    def said(self) -> str:
        """Everything that it says, in one text."""
        return "\n".join(t for t in (self.name, self.description, self.text) if t)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, tree or list.

    Attributes:
        texts: Accessible name of each cell that was looked at.
        states: States of the first cell.
        rect: Where the first cell is.
    """

    texts: tuple[str, ...]
    states: frozenset[str]
    rect: Rect

    @property
    def name(self) -> str:
        """What its first cell is called: in the target, key and origin."""
        return self.texts[0]

    @property
    def mark(self) -> str:
        """Origin that a row of the target says it has; empty for none."""
        return self.name.partition(", ")[2]


class Probe:
    """Asks the script that speaks AT-SPI; one question at a time."""

    def __init__(self, env: Mapping[str, str], log: IO[bytes]) -> None:
        """Starts the script and waits until it is connected."""
        self._process = subprocess.Popen(
            [_SYSTEM_PYTHON, str(_SCRIPT)],
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        self._ask("ready")

    def _ask(self, op: str, **values: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"op": op, **values}) + "\n"
        self._process.stdin.write(line.encode())
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        # The bus says so when a program ends while it is asked: nothing is there.
        return answer.get("result")

    def find(self, pid: int, name: str) -> Widget | None:
        """Returns the visible widget of an object name; None without one."""
        found = self._ask("find", pid=pid, name=name)
        return None if found is None or found["role"] == "gone" else _widget(found)

    def walk(self, pid: int) -> list[Widget]:
        """Returns every visible widget of a program, the cells of tables left out."""
        found = self._ask("walk", pid=pid) or []
        return [_widget(one) for one in found if one["role"] != "gone"]

    def rows(self, pid: int, name: str) -> list[Row]:
        """Returns the rows of a table or tree, all cells of them."""
        return [_row(one) for one in self._ask("rows", pid=pid, name=name) or []]

    def tree(self, pid: int, name: str) -> dict[tuple[str, ...], Row]:
        """Returns the rows of a tree by path, without their other cells.

        None is given while one of them is still on its way.
        """
        rows = [_row(one) for one in self._ask("tree", pid=pid, name=name) or []]
        if any(row.name in _WAYS_TO_SAY_NOTHING_YET for row in rows):
            return {}
        return dict(_with_paths(rows))

    def close(self) -> None:
        """Ends the script."""
        self._process.kill()
        self._process.communicate()


def _with_paths(rows: list[Row]) -> Iterator[tuple[tuple[str, ...], Row]]:
    """Finds the path of each row: a child stands further to the right."""
    above: list[tuple[int, str]] = []
    for row in rows:
        while above and above[-1][0] >= row.rect.x:
            above.pop()
        above.append((row.rect.x, row.name.partition(", ")[0]))
        yield tuple(name for _, name in above), row


def _row(found: Mapping[str, Any]) -> Row:
    return Row(
        (found["name"], *(text or "" for text in found["others"])),
        frozenset(found["states"]),
        Rect(*found["rect"]),
    )


def _widget(found: Mapping[str, Any]) -> Widget:
    return Widget(
        found["id"],
        found["role"],
        found["name"],
        found["description"],
        found["text"],
        frozenset(found["states"]),
        Rect(*found["rect"]),
    )
