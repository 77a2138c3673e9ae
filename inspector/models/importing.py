"""Imports the file or package that a spec names, and finds the name in it.

A file is imported under its full package name, so relative imports, siblings and
pickles work as in the person's own runs. Runs their code, on the thread of the
model process that does so; nothing is constructed here.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from inspector.errors import LoadModuleError
from inspector.models import explain
from inspector.models.spec import Target, did_you_mean
from inspector.models.user_code import UserCode, as_program, digest_of, is_library

ALIAS = "user_"
"""Put before the name of a file whose own name is taken, e.g. ``jax.py``."""


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported file or package.

    Attributes:
        target: What was asked for.
        module: The module.
        root: Folder that is first on ``sys.path``.
        file: File that defines it; None when unknown.
        digest: SHA-256 of that file in hex; empty without one.
        original: Import name of the top package before `ALIAS` was put before
            it; empty when it was not.
    """

    target: Target
    module: ModuleType
    root: Path
    file: Path | None
    digest: str
    original: str = ""

    @property
    def roots(self) -> tuple[Path, ...]:
        """Folders whose files count as the person's in a traceback."""
        if self.file is None or self.file.is_relative_to(self.root):
            return (self.root,)
        return (self.root, self.file.parent)

    def import_lines(self, name: str) -> tuple[str, ...]:
        """Returns the lines of a Python program that import a name from it."""
        own = self.file is not None and self.file.is_relative_to(self.root)
        if self.original:
            return (*self._alias_lines(), f"from {self.module.__name__} import {name}")
        path = ("import sys", f"sys.path.insert(0, {str(self.root)!r})")
        line = f"from {self.module.__name__} import {name}"
        return (*path, line) if own else (line,)

    def _alias_lines(self) -> tuple[str, ...]:
        top = self.module.__name__.partition(".")[0]
        package = self.root / self.original
        folders = [str(package)] if package.is_dir() else None
        file = package / "__init__.py" if folders else self.file
        return (
            "import importlib.util",
            "import sys",
            f"sys.path.insert(0, {str(self.root)!r})",
            f"spec = importlib.util.spec_from_file_location({top!r}, {str(file)!r}, "
            f"submodule_search_locations={folders!r})",
            f"sys.modules[{top!r}] = importlib.util.module_from_spec(spec)",
            f"spec.loader.exec_module(sys.modules[{top!r}])",
        )


def import_target(target: Target, code: UserCode, *, beside: bool = False) -> Imported:
    """Imports what a spec names; its project becomes the present one.

    Args:
        target: The parsed spec.
        code: The projects of this process.
        beside: Import it into the present project instead, its root behind that
            one's, as for a module that is an argument of another.

    Raises:
        LoadModuleError: The code failed in any way, `SystemExit` included.
    """
    root, parts = _package_name(target)
    if not beside:
        code.enter(root)
    elif str(root) not in sys.path:
        sys.path.insert(1, str(root))
    original = parts[0] if _is_taken(root, parts, target) else ""
    try:
        with as_program(target.place):
            module = _import_alias(root, parts) if original else _import(parts)
    except BaseException as error:
        # The code may end the process or be interrupted as it likes: it is theirs.
        raise explain.failure(
            error,
            (root,),
            doing=f"Importing {target.title.partition(':')[0]}",
            where=target.place,
        ) from error
    finally:
        code.collect()
    file = Path(module.__file__).resolve() if module.__file__ else None
    return Imported(
        target, module, root, file, digest_of(file) if file else "", original
    )


def _import(parts: tuple[str, ...]) -> ModuleType:
    return importlib.import_module(".".join(parts))


def _package_name(target: Target) -> tuple[Path, tuple[str, ...]]:
    """Returns the folder that holds the outermost package, and the import name."""
    file = target.file
    if file is None:
        return target.cwd, tuple(target.package.split("."))
    folder = file.parent
    if not file.stem.isidentifier():
        return folder, (file.stem,)
    parts = [] if file.stem == "__init__" else [file.stem]
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, tuple(parts)


def _is_taken(root: Path, parts: tuple[str, ...], target: Target) -> bool:
    """Returns whether importing the file by its name would give something else."""
    if target.file is None:
        return False
    if parts[0] in sys.stdlib_module_names or not parts[0].isidentifier():
        return True
    file = getattr(sys.modules.get(parts[0]), "__file__", None)
    return file is not None and (
        is_library(file) or not Path(file).resolve().is_relative_to(root)
    )


def _import_alias(root: Path, parts: tuple[str, ...]) -> ModuleType:
    """Imports a file whose top name is taken, under `ALIAS` and that name."""
    alias = ALIAS + "".join(c if c.isalnum() else "_" for c in parts[0])
    package = root / parts[0]
    if alias not in sys.modules:
        inside = (package / "__init__.py").is_file()
        file = package / "__init__.py" if inside else root / f"{parts[0]}.py"
        spec = importlib.util.spec_from_file_location(
            alias, file, submodule_search_locations=[str(package)] if inside else None
        )
        if spec is None or spec.loader is None:
            raise ImportError(parts[0])
        module = importlib.util.module_from_spec(spec)
        sys.modules[alias] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[alias]
            raise
    return _import((alias, *parts[1:]))


def find(imported: Imported, offered: tuple[str, ...]) -> object:
    """Returns what the name of a spec stands for.

    Args:
        imported: Where to look.
        offered: Names that are offered as modules, for hints.

    Raises:
        LoadModuleError: No name was given, or there is nothing of that name.
    """
    target = imported.target
    here = ", ".join(offered) or "no Linen module"
    if not target.name:
        raise LoadModuleError(
            message="The spec names a file and no module in it.",
            where=target.place,
            hint=f"Add :NAME. It offers {here}.",
        )
    found: object = imported.module
    for part in target.name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            names = (*offered, *(n for n in vars(imported.module) if n[0] != "_"))
            raise LoadModuleError(
                message=f"There is no “{target.name}” in it.",
                where=target.place,
                hint=did_you_mean(target.name, names) or f"It offers {here}.",
            ) from error
    return found
