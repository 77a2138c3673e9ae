"""The steps of the main job, as several tests take them."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.accessible import Rect
from tests.e2e.program import Program
from tests.e2e.waiting import wait_for


def marks(program: Program, *below: str) -> set[str]:
    """Returns what the rows at and below a target path say of their origin."""
    tree = program.tree("targetTree")
    return {row.mark for path, row in tree.items() if path[: len(below)] == below}


def drag_encoder(program: Program) -> None:
    """Drags the trained encoder onto the backbone; its plan shows meanwhile."""
    program.row("targetTree", "params", "backbone", "conv1", "kernel")
    start = program.place("sourceTree", "digits", "params", "encoder")
    end = program.place("targetTree", "params", "backbone")
    leaf = program.row("targetTree", "params", "backbone", "conv1", "kernel").rect

    def hovering() -> None:
        program.wait_said("would fill 15 exact")
        wait_for(lambda: is_green(program, leaf), "the mark of a leaf while hovering")

    assert not is_green(program, leaf)
    program.drag(start, end, hovering)
    wait_for(
        lambda: marks(program, "params", "backbone") == {"exact"},
        "the marks of the backbone",
        seen=lambda: program.tree("targetTree"),
    )


def is_green(program: Program, row: Rect) -> bool:
    """Returns whether a row of a tree has the mark of what fits exactly."""
    picture = program.desktop.picture()
    colors = [
        picture.pixelColor(x, y)
        for x in range(row.x, row.x + row.height)
        for y in range(row.y, row.y + row.height)
    ]
    return any(one.green() - one.red() > 60 for one in colors)


def delete(program: Program, *path: str) -> None:
    """Deletes a node of the target with the keyboard."""
    program.click(program.place("targetTree", *path))
    program.key("Delete")
    wait_for(
        lambda: (tree := program.tree("targetTree")) and path not in tree,
        f"{'/'.join(path)} to go",
        seen=program.said,
    )


def start_export(program: Program, path: Path) -> None:
    """Begins to export the target with the keyboard."""
    program.key("ctrl+e")
    program.wait_focus("exportPath")
    program.key("ctrl+a")
    program.type(str(path))
    program.key("Return")


def export(program: Program, path: Path) -> None:
    """Exports the target with the keyboard and waits for the file."""
    start_export(program, path)
    wait_for(path.exists, path.name, seen=program.said)
    wait_for(lambda: program.find("exportDialog") is None, "the end of the export")
