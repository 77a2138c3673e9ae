"""Makes the pictures of the documentation from the running program.

``python -m tools.screenshots`` runs the tour on the sample in both themes and puts
its pictures after the transfer and the run into ``docs/images``; so no picture is
older than the code that it shows. Needs no display.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
SIZE = "1440x900"
PICTURES = {"window": "2-transferred.png", "run": "4-run.png"}
"""Name in the documentation -> name in the tour."""


def take(theme: str) -> list[Path]:
    """Runs the tour in one theme.

    Args:
        theme: ``"light"`` or ``"dark"``.

    Returns:
        The pictures in the documentation's folder.

    Raises:
        CalledProcessError: The tour failed; its reason is on stderr.
    """
    with tempfile.TemporaryDirectory(prefix="flax-inspector-tour-") as folder:
        command = [sys.executable, str(ROOT / "main.py"), "--tour", folder]
        environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
        subprocess.run(
            [*command, "--theme", theme, "--size", SIZE], env=environment, check=True
        )
        IMAGES.mkdir(parents=True, exist_ok=True)
        made = []
        for name, picture in PICTURES.items():
            out = IMAGES / f"{name}-{theme}.png"
            shutil.copyfile(Path(folder, picture), out)
            made.append(out)
    return made


def main() -> int:
    """Takes every picture."""
    for theme in ("light", "dark"):
        for path in take(theme):
            sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
