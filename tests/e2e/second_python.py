"""A virtual environment that can run a Flax module and nothing of the window.

It has jax and flax with what they need, linked from this environment, and a package
that no other environment has; no PySide6, no pip.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ONLY_THERE = "only_in_second_venv"
"""Package that the environment alone has; it gives ``FEATURES``."""

MODULE = f"""\
import importlib.util
import sys
from flax import linen as nn
from {ONLY_THERE} import FEATURES

assert importlib.util.find_spec("PySide6") is None, "the window's package is here"

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(FEATURES)(x)
"""
"""A module that only this environment can import."""


def make_environment(folder: Path) -> Path:
    """Makes the environment; returns what starts its Python."""
    command = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(command, check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for place in _places(_needed("jax", "flax")):
        link = site / place.name
        if not link.exists():
            link.symlink_to(place)
    (site / f"{ONLY_THERE}.py").write_text("FEATURES = 5\n", encoding="utf-8")
    return folder / "bin" / "python"


def _needed(*names: str) -> list[Distribution]:
    """Returns the distributions that some need, themselves included."""
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = re.split(r"[^\w.-]", waiting.pop())[0].lower().replace("_", "-")
        if name in found:
            continue
        try:
            one = distribution(name)
        except PackageNotFoundError:
            continue  # of another platform
        found[name] = one
        waiting += [text for text in one.requires or () if "extra ==" not in text]
    return list(found.values())


def _places(distributions: list[Distribution]) -> Iterator[Path]:
    """Yields the files and folders in site-packages that distributions consist of."""
    for one in distributions:
        names = {file.parts[0] for file in one.files or ()} - {"..", "__pycache__"}
        yield from (Path(str(one.locate_file(name))) for name in sorted(names))
