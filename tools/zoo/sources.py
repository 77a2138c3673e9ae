"""Where the modules of the zoo come from, and how they get into a cache.

A repository is taken at one commit: from a folder of bare clones when
``FLAX_INSPECTOR_ZOO_MIRROR`` names one (``OWNER+NAME/repo`` or ``OWNER/NAME.git``),
else from GitHub by ``git fetch``. A package is installed by pip beside the others,
without its dependencies unless they are named. Nothing of theirs enters this
repository. What cannot be had is skipped by name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

MIRROR = "FLAX_INSPECTOR_ZOO_MIRROR"
"""Environment variable: a folder of bare clones."""

CACHE = "FLAX_INSPECTOR_ZOO_CACHE"
"""Environment variable: the folder that what was fetched is kept in."""

_STUB = '''"""Stands for a package that is imported and not used by the model."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Anything()


class _Anything:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything()

    def __call__(self, *args, **kwargs):
        return args[0] if len(args) == 1 and callable(args[0]) else _Anything()

    def __mro_entries__(self, bases):
        return (object,)
'''


class UnavailableError(Exception):
    """A source cannot be had on this machine; its text says why."""


@dataclass(frozen=True, slots=True)
class Repository:
    """Files of a public repository at one commit.

    Attributes:
        name: ``owner/name`` on GitHub.
        commit: Hash of the commit, whole.
        files: Files and folders to take.
        licence: Its licence.
        stubs: Packages that the files import and the models do not need.
        strip: Leading folders to leave out, so that files lie at the root.
    """

    name: str
    commit: str
    files: tuple[str, ...]
    licence: str = "Apache-2.0"
    stubs: tuple[str, ...] = ()
    strip: int = 0

    @property
    def version(self) -> str:
        """The commit, short."""
        return f"{self.name}@{self.commit[:10]}"

    def fetch(self, cache: Path) -> Path:
        """Brings the files into the cache.

        Returns:
            Folder that is to be first on ``sys.path``.

        Raises:
            UnavailableError: The commit cannot be had.
        """
        key = f"{self.name.replace('/', '+')}-{self.commit[:10]}-{self._key()}"
        folder = cache / key
        if folder.is_dir():
            return folder
        partial = cache / f"{key}.part"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        clone = self._clone(cache)
        archive = _run(
            ["git", "-C", str(clone), "archive", self.commit, *self.files], self.version
        )
        options = ["tar", "-x", f"--strip-components={self.strip}", "-C", str(partial)]
        subprocess.run(options, input=archive, check=True)
        for stub in self.stubs:
            _write_stub(partial, stub)
        _complete_packages(partial)
        partial.rename(folder)
        return folder

    def _key(self) -> str:
        """Tells apart several selections of one commit."""
        text = "".join((*self.files, *self.stubs))
        return f"{sum(ord(c) * n for n, c in enumerate(text, 1)) % 10**8:08d}"

    def _clone(self, cache: Path) -> Path:
        if mirror := os.environ.get(MIRROR):
            for place in (f"{self.name.replace('/', '+')}/repo", f"{self.name}.git"):
                if (Path(mirror) / place).is_dir():
                    return Path(mirror) / place
        clone = cache / "clones" / f"{self.name.replace('/', '+')}.git"
        if not clone.is_dir():
            _run(["git", "init", "-q", "--bare", str(clone)], self.version)
        url = f"https://github.com/{self.name}.git"
        fetch = ["git", "-C", str(clone), "fetch", "-q", "--depth=1", url, self.commit]
        _run(fetch, self.version)
        return clone


@dataclass(frozen=True, slots=True)
class Package:
    """A package of PyPI.

    Attributes:
        name: Its name there.
        release: Its version.
        licence: Its licence.
        extras: Requirements that are installed with it.
        installed: Whether it is one of the test requirements, hence here already.
        stubs: Packages that it imports and the models do not need.
    """

    name: str
    release: str
    licence: str
    extras: tuple[str, ...] = ()
    installed: bool = False
    stubs: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """Name and version as pip writes them."""
        return f"{self.name}=={self.release}"

    def fetch(self, cache: Path) -> Path:
        """Installs the package into a folder of its own.

        Raises:
            UnavailableError: pip cannot install it.
        """
        cache.mkdir(parents=True, exist_ok=True)
        if self.installed:
            return cache
        folder = cache / f"{self.name}-{self.release}"
        if folder.is_dir():
            return folder
        partial = cache / f"{self.name}-{self.release}.part"
        shutil.rmtree(partial, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
        options = ["--quiet", "--no-deps", "--target", str(partial)]
        _run([*pip, *options, self.version, *self.extras], self.version)
        for stub in self.stubs:
            _write_stub(partial, stub)
        partial.rename(folder)
        return folder


Source = Repository | Package


def cache_folder() -> Path:
    """Returns the folder that what was fetched is kept in."""
    if named := os.environ.get(CACHE):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "flax-inspector" / "zoo"


def _run(command: list[str], what: str) -> bytes:
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        message = f"{what}: {error}"
        raise UnavailableError(message) from error
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        message = f"{what}: {lines[-1] if lines else 'it failed'}"
        raise UnavailableError(message)
    return done.stdout


def _write_stub(root: Path, name: str) -> None:
    folder = root.joinpath(*name.split("."))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text(_STUB, encoding="utf-8")


def _complete_packages(root: Path) -> None:
    """Gives every folder an ``__init__.py``, as those left out had theirs."""
    for folder in root.rglob("*"):
        if folder.is_dir() and folder.name.isidentifier():
            (folder / "__init__.py").touch()
