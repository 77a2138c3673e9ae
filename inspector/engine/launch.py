"""The command and the environment of every engine process.

One place knows the forms: a checkout, an installed wheel, a frozen bundle (where
``python -m`` does not exist) and an interpreter that the person chose. Called by
whoever owns an engine, from any thread; starts nothing itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

ENGINES = ("store", "reader", "model")
"""Names of the engines."""

_CODE = Path(__file__).resolve().parents[2]

# Our package is found by name, ahead of everything, and nothing else of our folder
# is: beside an installed ``inspector`` lie our numpy and jaxlib, which another
# interpreter must not meet, and its own site-packages may hold an ``inspector``.
_BOOT = """\
import sys
from importlib.machinery import PathFinder
class FindInspector:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "inspector":
            return PathFinder.find_spec(name, [{code!r}])
sys.meta_path.insert(0, FindInspector)
from inspector.engine.launch_serve import serve
serve(sys.argv[1])
"""


def engine_command(name: str, python: str | None = None) -> list[str]:
    """Returns the command that starts an engine; it works from any folder.

    Args:
        name: One of `ENGINES`.
        python: Interpreter to run it on; None or empty for our own.

    Raises:
        ValueError: There is no such engine.
    """
    if name not in ENGINES:
        raise ValueError(name)
    if not python and getattr(sys, "frozen", False):
        return [sys.executable, "engine", name]
    # -P: the folder that the program was started from offers no modules. The code
    # of the person is put on the path by the model, when they have named it.
    boot = _BOOT.format(code=str(_CODE))
    return [python or sys.executable, "-P", "-c", boot, name]


_OURS_ALONE = ("_PYI_", "_MEIPASS", "PYINSTALLER_", "PYSIDE6_", "QT_")


def clean_environment(
    environ: Mapping[str, str] | None = None, *, frozen: bool | None = None
) -> dict[str, str]:
    """Returns the environment for a process that is not the window.

    A bundle's bootloader points ``LD_LIBRARY_PATH`` at the bundle, which would give
    *our* jaxlib to another interpreter, in silence where the versions are close. The
    person's own settings stay, ``PYTHONPATH`` and ``XLA_FLAGS`` among them.

    Args:
        environ: Environment to start from; None for that of this process.
        frozen: Whether it is that of a frozen bundle; None to look.
    """
    result = dict(os.environ if environ is None else environ)
    if frozen is None:
        frozen = bool(getattr(sys, "frozen", False))
    for name in list(result):
        if name.startswith(_OURS_ALONE):
            del result[name]
    original = result.pop("LD_LIBRARY_PATH_ORIG", None)
    if original is not None:
        result["LD_LIBRARY_PATH"] = original
    elif frozen:
        result.pop("LD_LIBRARY_PATH", None)
    return result
