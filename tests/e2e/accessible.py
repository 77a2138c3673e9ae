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
class TreeRow:
    """A row of a tree.

    Attributes:
        path: Names from the top row down.
        mark: Origin that the row says it has; empty for none.
        texts: Texts of the other columns.
        cell: Its first cell.
    """

    path: tuple[str, ...]
    mark: str
    texts: tuple[str, ...]
    cell: Widget


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

    def table(self, pid: int, name: str) -> list[list[Widget]]:
        """Returns the cells of a table, tree or list, row by row."""
        found = self._ask("cells", pid=pid, name=name)
        if found is None or any(cell["role"] == "gone" for cell in found["cells"]):
            return []
        cells = [_widget(cell) for cell in found["cells"]]
        columns = max(found["columns"], 1)
        return [cells[i : i + columns] for i in range(0, len(cells), columns)]

    def tree(self, pid: int, name: str) -> list[TreeRow]:
        """Returns the rows of a tree; none while one of them is on its way."""
        rows = self.table(pid, name)
        if any(row[0].name in _WAYS_TO_SAY_NOTHING_YET for row in rows):
            return []
        return list(_with_paths(rows))

    def close(self) -> None:
        """Ends the script."""
        self._process.kill()
        self._process.communicate()


def _with_paths(rows: list[list[Widget]]) -> Iterator[TreeRow]:
    """Finds the path of each row: a child stands further to the right."""
    above: list[tuple[int, str]] = []
    for cell, *others in rows:
        key, _, mark = cell.name.partition(", ")
        while above and above[-1][0] >= cell.rect.x:
            above.pop()
        above.append((cell.rect.x, key))
        path = tuple(name for _, name in above)
        yield TreeRow(path, mark, tuple(other.name for other in others), cell)


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
