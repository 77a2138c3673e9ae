"""The modules of the person's projects inside this process, one project at a time.

``sys.modules`` and ``sys.path`` exist once per process, but two files of one name in
two folders, each with siblings of its own, must both load. So the modules of a
project are put on a shelf when another project is entered, taken back when it is
entered again, and dropped when one of their files changed.

Used by `importing` on the thread that runs the person's code. What is imported and
how it fails is decided there.
"""

from __future__ import annotations

import hashlib
import importlib
import linecache
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

_OURS = Path(__file__).resolve().parents[1]
_LIBRARY_PARTS = frozenset({"site-packages", "dist-packages"})


def _library_folders() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    names = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    names += site.getsitepackages()
    return (_OURS, *(Path(name).resolve() for name in names))


_LIBRARIES = _library_folders()


def is_library(file: str | Path) -> bool:
    """Returns whether a file belongs to Python, an installed package, or to us.

    The parts of the path count too: a project may hold its virtual environment.
    """
    path = Path(file)
    if _LIBRARY_PARTS.intersection(path.parts) or str(file).startswith("<"):
        return True
    return any(path.is_relative_to(folder) for folder in _LIBRARIES)


def digest_of(file: Path) -> str:
    """Returns the SHA-256 of a file in hex; empty when it cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


@dataclass
class _Shelf:
    """What one project brought into the process.

    Attributes:
        path: ``sys.path`` as the project left it.
        modules: Its modules by import name.
        digests: Digest of each of their files when it was imported.
    """

    path: list[str]
    modules: dict[str, ModuleType] = field(default_factory=dict)
    digests: dict[Path, str] = field(default_factory=dict)

    def changed(self) -> bool:
        """Returns whether a file is no longer what was imported."""
        return any(digest_of(file) != old for file, old in self.digests.items())


class UserCode:
    """Which project is the present one, and what the others have on their shelves.

    Attributes:
        root: Root folder of the present project; None before the first.
    """

    def __init__(self) -> None:
        """Remembers the process as it is without any project."""
        self.root: Path | None = None
        self._plain_path = list(sys.path)
        self._before: set[str] = set()
        self._shelves: dict[Path, _Shelf] = {}

    def resume(self, root: Path) -> None:
        """Makes a project the present one as it was left, changed files or not."""
        if self.root != root:
            self.enter(root, fresh=False)

    def enter(self, root: Path, *, fresh: bool = True) -> None:
        """Makes a project the present one, its root first on ``sys.path``.

        Modules whose files changed since are forgotten, with all others of the
        project, because they hold on to each other's classes.

        Args:
            root: Root folder of the project.
            fresh: Whether to look for changed files at all.
        """
        self.leave()
        shelf = self._shelves.get(root)
        if shelf is None or (fresh and shelf.changed()):
            others = [entry for entry in self._plain_path if entry != str(root)]
            shelf = self._shelves[root] = _Shelf([str(root), *others])
        self._before = set(sys.modules)
        sys.modules.update(shelf.modules)
        sys.path[:] = shelf.path
        self.root = root
        # A file written within the resolution of its folder's time stamp would
        # not be seen, nor would changed lines appear in tracebacks.
        importlib.invalidate_caches()
        linecache.checkcache()

    def collect(self) -> None:
        """Notes which modules the present project imported so far."""
        if self.root is None:
            return
        shelf = self._shelves[self.root]
        shelf.path = list(sys.path)
        for name in set(sys.modules) - self._before - set(shelf.modules):
            module = sys.modules[name]
            places = list(_places(module))
            if not places or any(is_library(place) for place in places):
                continue
            shelf.modules[name] = module
            if file := getattr(module, "__file__", None):
                shelf.digests[Path(file)] = digest_of(Path(file))

    def files(self) -> tuple[str, ...]:
        """Returns the files of the present project that were imported, sorted."""
        if self.root is None:
            return ()
        return tuple(sorted(str(file) for file in self._shelves[self.root].digests))

    def leave(self) -> None:
        """Puts the present project's modules on their shelf."""
        if self.root is None:
            return
        self.collect()
        for name in self._shelves[self.root].modules:
            sys.modules.pop(name, None)
        sys.path[:] = self._plain_path
        self.root = None


def _places(module: ModuleType) -> Iterator[str]:
    if file := getattr(module, "__file__", None):
        yield file
    else:
        # A namespace package has folders and no file.
        yield from getattr(module, "__path__", ())


@contextmanager
def as_program(argv: str) -> Iterator[None]:
    """Runs the body as ``python argv`` would, leaving no byte code behind.

    A module that parses its command line at import finds an empty one. Byte code
    is not written because Python trusts it by the second and the size: a file
    edited twice in a second would be loaded in its old form.
    """
    before = sys.argv, sys.dont_write_bytecode
    sys.argv, sys.dont_write_bytecode = [argv], True
    try:
        yield
    finally:
        sys.argv, sys.dont_write_bytecode = before
