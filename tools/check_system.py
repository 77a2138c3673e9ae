"""Names the system packages that Qt and the tests need and this machine lacks.

Run by the Makefile on the bare interpreter (standard library only), after the wheels
are installed: ``check_system.py PYTHON [--tests]``. As root on Debian or Ubuntu it
installs them, else it prints the command that does. Without it a bare machine shows
only Qt's "could not load the Qt platform plugin" and an abort.

Asking ``ldd`` what is missing, instead of installing a fixed list, asks nothing of a
desktop that has everything. Other systems than Linux need nothing: exit status 0.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

QT_FILES = (
    "lib/libQt6Core.so.6",
    "lib/libQt6Gui.so.6",
    "lib/libQt6Widgets.so.6",
    "lib/libQt6Svg.so.6",
    "lib/libQt6DBus.so.6",
    "plugins/platforms/libqxcb.so",
    "plugins/platforms/libqoffscreen.so",
    "plugins/imageformats/libqsvg.so",
    "plugins/iconengines/libqsvgicon.so",
)
"""Files of the wheel, below ``PySide6/Qt``, whose libraries the window loads."""

LIBRARY_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libglx0",
    "libICE.so.6": "libice6",
    "libOpenGL.so.0": "libopengl0",
    "libSM.so.6": "libsm6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    # From Debian 13 and Ubuntu 24.04 on it is libglib2.0-0t64; apt knows both names.
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xinput.so.0": "libxcb-xinput0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
"""Soname to the Debian and Ubuntu package that has it."""

TEST_PROGRAMS = {
    "Xvfb": "xvfb",
    "dbus-daemon": "dbus",
    "openbox": "openbox",
    "xdotool": "xdotool",
    "xprop": "x11-utils",
}
"""Program to its package: what the tests of the real window start."""

TEST_FILES = {
    "/usr/lib/*/girepository-1.0/Atspi-2.0.typelib": "gir1.2-atspi-2.0",
    "/usr/lib/python3/dist-packages/gi/__init__.py": "python3-gi",
    "/usr/libexec/at-spi-bus-launcher": "at-spi2-core",
}
"""Pattern of a file to its package: how these tests find widgets, on the system's
Python, as no wheel brings the bindings."""

INSTALL = ("apt-get", "install", "-y", "--no-install-recommends")
"""Head of the command that installs packages."""


def missing_libraries(ldd_output: str) -> list[str]:
    """Returns the sonames that a run of ``ldd`` reports as not found, in order."""
    return [
        line.split()[0] for line in ldd_output.splitlines() if "=> not found" in line
    ]


def is_there(pattern: str) -> bool:
    """Returns whether a file matches an absolute pattern."""
    return any(Path("/").glob(pattern.removeprefix("/")))


def qt_folder(python: str) -> Path:
    """Returns ``PySide6/Qt`` of an interpreter without importing PySide6.

    Args:
        python: Path of an interpreter that has PySide6 installed.

    Raises:
        subprocess.CalledProcessError: It has not.
    """
    code = (
        "from importlib.util import find_spec\n"
        "print(find_spec('PySide6').submodule_search_locations[0])"
    )
    found = subprocess.run(
        [python, "-c", code], check=True, capture_output=True, text=True
    )
    return Path(found.stdout.strip(), "Qt")


def lacks(python: str, *, tests: bool) -> dict[str, str]:
    """Returns what this machine lacks.

    Args:
        python: Path of an interpreter that has PySide6 installed.
        tests: Whether the programs of the end-to-end tests are needed too.

    Returns:
        Name of the library or program to its package, empty where that is unknown.
    """
    found: dict[str, str] = {}
    qt = qt_folder(python)
    for name in QT_FILES:
        # A missing library is no error for ldd; a missing file is a newer Qt's layout.
        done = subprocess.run(
            ["ldd", str(qt / name)], check=False, capture_output=True, text=True
        )
        for soname in missing_libraries(done.stdout):
            found[soname] = LIBRARY_PACKAGES.get(soname, "")
    if tests:
        found |= {
            program: package
            for program, package in TEST_PROGRAMS.items()
            if shutil.which(program) is None
        }
        found |= {
            pattern: package
            for pattern, package in TEST_FILES.items()
            if not is_there(pattern)
        }
    return found


def install(packages: list[str]) -> bool:
    """Installs packages when this is root with apt; returns whether it did.

    Raises:
        subprocess.CalledProcessError: apt failed; it has said why.
    """
    if not packages or shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    # Without it debconf asks questions, which stops a build for ever.
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "-qq", "update"], check=True, env=env)
    quiet = ("-qq", "-o", "Dpkg::Use-Pty=0")
    subprocess.run([*INSTALL, *quiet, *packages], check=True, env=env)
    return True


def main(arguments: list[str] | None = None) -> int:
    """Checks, installs or explains; returns the exit status.

    Args:
        arguments: Command line without the program; the real one when None.
    """
    parser = argparse.ArgumentParser(description="Check for system packages.")
    parser.add_argument("python", help="interpreter that has PySide6")
    parser.add_argument("--tests", action="store_true", help="check for Xvfb too")
    options = parser.parse_args(arguments)
    if sys.platform != "linux":
        return 0
    found = lacks(options.python, tests=options.tests)
    packages = sorted({package for package in found.values() if package})
    if found and install(packages):
        found = lacks(options.python, tests=options.tests)
    if not found:
        return 0
    for name, package in sorted(found.items()):
        print(f"missing: {name:28} {package or 'package unknown'}", file=sys.stderr)
    command = " ".join(["sudo", *INSTALL, *packages])
    print(f"Install them with:\n\n    {command}\n", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
