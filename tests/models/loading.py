"""Helpers of the tests of the model room: load, make values, run the shown code."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from inspector.engine.messages.module import (
    LoadModule,
    MakeInitial,
    ModuleLoaded,
    ModuleSpec,
)
from inspector.errors import InspectorError, LoadModuleError
from inspector.models import service
from inspector.models.describe import describe
from inspector.variables import dtypes
from inspector.variables.leaf import Kind
from inspector.variables.path import TreePath

MODULES = Path(__file__).parents[1] / "modules"
NETS = MODULES / "nets.py"


def quiet(text: str) -> None:
    """Takes progress and says nothing."""
    assert text


def spec_of(
    name: str, *inputs: str, kwargs: Mapping[str, object] | None = None, **rest: Any
) -> ModuleSpec:
    """Returns a spec of a module in ``nets.py``, or of any other file."""
    spec = name if ":" in name else f"{NETS}:{name}"
    return ModuleSpec(spec, json.dumps(kwargs or {}), tuple(inputs), **rest)


def load(name: str, *inputs: str, **rest: Any) -> ModuleLoaded:
    """Loads a module as the store asks for it."""
    return service.load_module(LoadModule(spec_of(name, *inputs, **rest)), quiet)


def fails(name: str, *inputs: str, **rest: Any) -> InspectorError:
    """Loads a module and returns the error it must give."""
    try:
        load(name, *inputs, **rest)
    except LoadModuleError as error:
        return error
    raise AssertionError(name)


def make(
    spec: ModuleSpec, file: Path, paths: tuple[TreePath, ...] = ()
) -> dict[TreePath, np.ndarray]:
    """Makes initial values and reads them back from the file."""
    made = service.make_initial(MakeInitial(spec, paths, str(file)), quiet)
    assert made.file == str(file)
    data = file.read_bytes()
    found = {}
    for path, offset, shape, dtype in made.table:
        assert offset % 64 == 0
        count = math.prod(shape)
        array = np.frombuffer(data, dtypes.to_numpy(dtype), count, offset)
        found[path] = array.reshape(shape)
    return found


def run_code(code: str) -> dict[TreePath, np.ndarray]:
    """Runs the shown program in a process without our module handling."""
    service.forget()
    modules, path = dict(sys.modules), list(sys.path)
    space: dict[str, Any] = {}
    try:
        exec(compile(code, "shown.py", "exec"), space)
        return arrays_of(space["variables"])
    finally:
        for name in set(sys.modules) - set(modules):
            file = getattr(sys.modules[name], "__file__", None) or ""
            if "site-packages" not in file:
                del sys.modules[name]
        sys.path[:] = path


def arrays_of(variables: object) -> dict[TreePath, np.ndarray]:
    """Returns the arrays of a variables pytree, random keys as their words."""
    found = {}
    for leaf in describe(variables).leaves:
        if leaf.kind is Kind.ARRAY:
            value = leaf.value
            if jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key):
                value = jax.random.key_data(value)
            found[leaf.path] = np.asarray(value)
    return found


def same(
    left: Mapping[TreePath, np.ndarray], right: Mapping[TreePath, np.ndarray]
) -> None:
    """Asserts that two sets of arrays are equal bit for bit."""
    assert list(left) == list(right)
    for path, array in left.items():
        assert array.dtype == right[path].dtype, path
        assert array.shape == right[path].shape, path
        assert array.tobytes() == right[path].tobytes(), path


def shapes_of(loaded: ModuleLoaded) -> dict[str, str]:
    """Returns ``path -> dtype[shape]`` of the arrays and keys of a loaded tree."""
    return {
        "/".join(map(str, path)): f"{leaf.dtype}{list(leaf.shape)}".replace(" ", "")
        for path, leaf in loaded.tree.leaves
        if leaf.kind in {Kind.ARRAY, Kind.KEY}
    }


Write = Callable[..., Path]
