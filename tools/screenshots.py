"""Makes the pictures of the documentation from the running program.

``python -m tools.screenshots`` runs the tour on the sample in both themes and puts
its picture after the transfer into ``docs/images``; so no picture is older than the
code that it shows. Needs no display.
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
PICTURE = "2-transferred.png"


def take(theme: str) -> Path:
    """Runs the tour in one theme.

    Args:
        theme: ``"light"`` or ``"dark"``.

    Returns:
        The picture in the documentation's folder.

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
        out = IMAGES / f"window-{theme}.png"
        shutil.copyfile(Path(folder, PICTURE), out)
    return out


def main() -> int:
    """Takes every picture."""
    for theme in ("light", "dark"):
        sys.stdout.write(f"{take(theme)}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
