"""Variables for a module, from a checkpoint or a recipe: loaded, filled, opened.

Shared by the verbs that run modules.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from inspector.cli.output import note
from inspector.cli.store import StoreSession
from inspector.engine.messages import document, viewing
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.messages.reading import Exported
from inspector.errors import InspectorError, ModuleNotImportedError, RemoteError
from inspector.variables.path import join

_RECIPE = ".json"
_SHOWN = 8
_FITS = ("exact", "converted")


class FillVariablesError(InspectorError):
    """The variables of a file are not those of the module."""

    def __init__(self, where: str, lines: list[str]) -> None:
        """Names the first leaves that do not fit."""
        more = len(lines) - _SHOWN
        shown = "; ".join(lines[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
        super().__init__(
            f"{len(lines)} variables do not fit the module: {shown}",
            where=where,
            hint="Give the --kwargs they were made with, or transfer what fits and "
            "run the recipe.",
        )


class NothingFitsError(InspectorError):
    """A file has no variable of the module at all."""

    def __init__(self, where: str) -> None:
        """Names the file."""
        super().__init__(
            "None of its variables is one of the module",
            where=where,
            hint="See ls for what it holds.",
        )


def is_recipe(path: str) -> bool:
    """Returns whether a path names a recipe and no checkpoint."""
    return path.lower().endswith(_RECIPE) and Path(path).expanduser().is_file()


def warn(sentences: Iterable[str]) -> None:
    """Prints warnings on stderr."""
    for text in filter(None, sentences):
        note(f"warning: {text}")


def load(spec: ModuleSpec, store: StoreSession) -> None:
    """Makes a module the target, printing what the person should know of it."""
    changes = store.ask(document.LoadTarget(spec))
    assert isinstance(changes, document.Changes)
    warn(changes.notes)


def open_variables(path: str, folder: Path, store: StoreSession) -> document.SourceInfo:
    """Opens variables as a source; those of a recipe are made first.

    Args:
        path: A checkpoint or a recipe.
        folder: Folder for what a recipe makes.
        store: The open store, whose document a recipe becomes.

    Raises:
        RemoteError: They cannot be read or made.
    """
    if is_recipe(path):
        open_recipe(path, store)
        path = made_of_target(folder, store)
    source = store.open_source(path)
    warn((source.incomplete, *source.warnings))
    return source


def open_recipe(path: str, store: StoreSession) -> None:
    """Opens a recipe as the store's document."""
    changes = store.ask(document.OpenRecipe(path, str(Path.cwd())))
    assert isinstance(changes, document.Changes)
    warn(changes.notes)


def made_of_target(folder: Path, store: StoreSession) -> str:
    """Writes the target to a file of its own; names a file before it runs it.

    Returns:
        The file.
    """
    out = str(folder / f"variables-{len(list(folder.iterdir()))}.npz")
    try:
        written = store.ask(document.Export(out))
    except RemoteError as error:
        if error.error.kind != ModuleNotImportedError.__name__:
            raise
        note(f"running {error.where} for the initial values of unfilled leaves")
        written = store.ask(document.Export(out, run=True))
    assert isinstance(written, Exported)
    return written.out


def fill(source: document.SourceInfo, store: StoreSession) -> None:
    """Fills the module's variables from a source, by their paths.

    Leaves that the source lacks keep their initial values, with a warning.

    Raises:
        FillVariablesError: A variable has another shape or dtype than the module's.
        NothingFitsError: There is nothing to fill.
    """
    plan = store.ask(viewing.MakePlan(source.id, (), ()))
    assert isinstance(plan, viewing.PlanInfo)
    rows = list(store.plan_rows(plan.plan))
    unfit = [_line(row) for row in rows if row.verdict == "mismatch"]
    if unfit:
        raise FillVariablesError(source.path, unfit)
    if not any(row.verdict in _FITS for row in rows):
        raise NothingFitsError(source.path)
    _tell(rows, "missing", "are not in the file and keep their initial values")
    _tell(rows, "converted", "are converted")
    store.ask(viewing.ApplyPlan(plan.plan))


def _tell(rows: list[viewing.PlanLine], verdict: str, what: str) -> None:
    names = [join(row.target) for row in rows if row.verdict == verdict and row.target]
    if names:
        shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        note(f"warning: {len(names)} variables {what}: {shown}")


def _line(row: viewing.PlanLine) -> str:
    place = join(row.target or row.source or ())
    return f"{place}: {row.why}" if row.why else place
