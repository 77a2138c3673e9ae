"""Where a benchmark works: a folder of its own, a size, and somebody who listens.

Made by ``__main__`` for each benchmark; the folder is gone when the benchmark ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The checkout; children are started from it."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """What a benchmark is given.

    Attributes:
        folder: Empty folder for generated data.
        quick: Whether small data and few runs will do, to try a benchmark out.
        say: Tells a person what is being done.
    """

    folder: Path
    quick: bool
    say: Callable[[str], None]

    def size(self, full: int, quick: int) -> int:
        """Returns a number of runs, leaves or bytes for this kind of run."""
        return quick if self.quick else full

    def file(self, name: str) -> Path:
        """Returns a path in the folder."""
        return self.folder / name

    def empty(self, name: str) -> Path:
        """Makes a folder in the folder."""
        made = self.folder / name
        made.mkdir(parents=True, exist_ok=True)
        return made
