"""Where the files of ``resources/`` lie: in a checkout, a wheel, a frozen bundle.

The window, the command line and tests ask here, from any process; nobody else does
arithmetic on ``__file__``. Nothing here reads a resource.
"""

from __future__ import annotations

from pathlib import Path

from inspector.errors import InspectorError

_PACKAGE = Path(__file__).resolve().parent


class FindResourceError(InspectorError):
    """A file that the program brings is absent, so the installation is damaged."""

    def __init__(self, name: str, place: Path) -> None:
        """Names the resource and the path where it should be."""
        super().__init__(
            f"The resource {name!r} is missing.",
            where=str(place),
            hint="Install the program again; its files are incomplete.",
        )


def root(package: Path = _PACKAGE) -> Path:
    """Returns the folder that holds the resources.

    Args:
        package: Folder of the ``inspector`` package; other than our own only in
            tests.

    Returns:
        ``inspector/_resources``, where a wheel and a bundle have them, else
        ``resources`` beside the package, as in a checkout or an editable install.
    """
    inside = package / "_resources"
    return inside if inside.is_dir() else package.parent / "resources"


def path(name: str) -> Path:
    """Returns the path of one resource, a file or a folder.

    Args:
        name: Path below the resources with forward slashes, e.g. ``"sample/digits"``
            or ``"icons/app.svg"``.

    Raises:
        FindResourceError: It is not there.
    """
    found = root().joinpath(*name.split("/"))
    if not found.exists():
        raise FindResourceError(name, found)
    return found
