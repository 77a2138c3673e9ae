"""Helpers of the tests that look inside: a request with chosen values, the answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from inspector.engine.messages.inspecting import (
    BadReport,
    CallsDone,
    FindBadModule,
    RecordModule,
    VerifyModules,
    VerifyReport,
)
from inspector.engine.messages.running import RunModule
from inspector.models import service_inspect
from inspector.models.linen_subject import nested
from inspector.models.subject import Values
from inspector.variables.path import TreePath
from tests.models.loading import MODULES, quiet, spec_of
from tests.models.running import arrays, initial_tree, lay_out, request

FAULTY = MODULES / "faulty.py"

Edit = Callable[[dict[TreePath, np.ndarray]], None]


def asked(
    name: str,
    init: str,
    folder: Path,
    *inputs: str,
    edit: Edit | None = None,
    **rest: Any,
) -> RunModule:
    """Returns the request of a call of a module in ``faulty.py``.

    Args:
        name: The module.
        init: Input of its ``init``.
        folder: Scratch.
        inputs: Inputs of the call; that of ``init`` without any.
        edit: Changes its initial values.
        rest: ``kwargs`` and ``statics`` of the module, or fields of `Call`.
    """
    options = {key: rest.pop(key) for key in ("kwargs", "statics") if key in rest}
    spec = spec_of(f"{FAULTY}:{name}", init, **options)
    tree = initial_tree(spec, folder)
    if edit is not None:
        values = {path: array.copy() for path, array in arrays(tree).items()}
        edit(values)
        tree = lay_out(nested(Values(values)), folder)
    return request(spec, tree, folder, *(inputs or (init,)), **rest)


def bad(run: RunModule, *, gradient: bool = False) -> BadReport:
    """Looks for the first bad value."""
    return service_inspect.find_bad(FindBadModule(run, gradient), quiet)


def recorded(run: RunModule) -> CallsDone:
    """Records a call."""
    return service_inspect.record(RecordModule(run), quiet)


def verified(a: RunModule, b: RunModule, tolerance: float = 1e-5) -> VerifyReport:
    """Compares two models."""
    return service_inspect.verify(VerifyModules(a, b, tolerance), quiet)


def saved(folder: Path, name: str, values: list[Any], dtype: str) -> str:
    """Writes an array to a file and returns the text of the input."""
    file = folder / name
    np.save(file, np.asarray(values, dtype))
    return str(file)


def line_of(text: str) -> int:
    """Returns the number of the first line of ``faulty.py`` that holds a text."""
    lines = FAULTY.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)
