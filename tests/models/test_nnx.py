"""NNX modules: their tree, their streams, and initial values equal to plain ones."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from flax import nnx

from inspector.engine.messages.module import (
    ListModules,
    LoadModule,
    ModuleLoaded,
    ModuleSpec,
)
from inspector.errors import InspectorError, LoadModuleError
from inspector.models import service
from inspector.models.loading import kept_subject
from inspector.models.subject import Values
from inspector.variables.leaf import Kind
from inspector.variables.path import TreePath
from tests.models.loading import MODULES, Write, quiet
from tests.models.running import arrays, initial_tree, run, spec_in

FILE = MODULES / "callables.py"

PARTS = """
    from functools import partial

    from flax import nnx

    class Lora(nnx.Param):
        pass

    class Net(nnx.Module):
        def __init__(self, width: int = 3, *, rngs: nnx.Rngs):
            self.shared = nnx.Linear(2, width, rngs=rngs)
            self.again = self.shared
            self.named = nnx.Dict({"a": nnx.Linear(width, 1, rngs=rngs)})
            self.adapter = Lora(rngs.params.normal((2,)))

        def __call__(self, x):
            return self.named["a"](self.again(x))

    class Alone(nnx.Module):
        def __init__(self):
            self.scale = nnx.Param(nnx.initializers.ones(nnx.Rngs(0).params(), (4,)))

        def __call__(self, x):
            return x * self.scale

    class Annotated(nnx.Module):
        def __init__(self, rngs: nnx.Rngs):
            init = nnx.with_partitioning(nnx.initializers.ones, ("data", None))
            self.lin = nnx.Linear(2, 3, kernel_init=init, rngs=rngs)

        def __call__(self, x):
            return self.lin(x)

    ready = Net(rngs=nnx.Rngs(5))
    Wide = partial(Net, width=7)

    def make(width: int = 4) -> Net:
        return Net(width, rngs=nnx.Rngs(0))
"""


def load(file: Path, name: str, **rest: Any) -> ModuleLoaded:
    return service.load_module(LoadModule(spec_in(file, name, **rest)), quiet)


def leaves(loaded: ModuleLoaded) -> dict[TreePath, tuple[str, str, tuple[int, ...]]]:
    return {
        path: (leaf.variable, leaf.dtype, leaf.shape)
        for path, leaf in loaded.tree.leaves
    }


def test_paths_types_and_the_state_of_streams() -> None:
    found = leaves(load(FILE, "Nnx"))
    assert found["first", "kernel"] == ("Param", "float32", (5, 4))
    assert found["norm", "mean"] == ("BatchStat", "float32", (4,))
    assert found["blocks", 1, "bias"] == ("Param", "float32", (4,))
    assert found["drop", "rngs", "count"] == ("RngCount", "uint32", ())
    assert found["drop", "rngs", "key"] == ("RngKey", "key<fry>", ())
    assert len(found) == 12


@pytest.mark.parametrize(
    ("seeds", "rngs"),
    [
        ((), {"default": 0}),
        ((("default", 3), ("dropout", 5)), {"default": 3, "dropout": 5}),
    ],
)
def test_initial_values_are_those_of_the_plain_constructor(
    seeds: tuple[tuple[str, int], ...], rngs: dict[str, int], tmp_path: Path
) -> None:
    plain: Any = importlib.import_module("tests.modules.callables")
    wanted: Any = nnx.state(plain.Nnx(rngs=nnx.Rngs(**rngs)))
    flatten: Any = nnx.to_flat_state
    spec = spec_in(FILE, "Nnx", seeds=seeds)
    found = arrays(initial_tree(spec, tmp_path))
    flat: dict[TreePath, Any] = {
        tuple(path): one.get_value() for path, one in flatten(wanted)
    }
    assert set(found) == set(flat)
    for path, value in flat.items():
        is_key = jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key)
        array = np.asarray(jax.random.key_data(value) if is_key else value)
        assert found[path].tobytes() == array.tobytes(), path


def test_instances_partials_factories_and_no_rngs(write: Write) -> None:
    file = write("parts.py", PARTS)
    assert leaves(load(file, "Wide"))["again", "kernel"][2] == (2, 7)
    made = leaves(load(file, "make", kwargs='{"width": 6}'))
    assert made["again", "bias"][2] == (6,)
    assert list(leaves(load(file, "Alone"))) == [("scale",)]
    assert leaves(load(file, "ready"))["adapter",] == ("Lora", "float32", (2,))


def test_a_tied_module_has_one_copy(write: Write) -> None:
    found = leaves(load(write("parts.py", PARTS), "Net"))
    kernels = [path for path in found if path[-1] == "kernel"]
    assert len(kernels) == 2
    assert ("named", "a", "kernel") in kernels


def test_values_of_an_instance_are_its_own(write: Write, tmp_path: Path) -> None:
    file = write("parts.py", PARTS)
    spec = spec_in(file, "ready")
    found = arrays(initial_tree(spec, tmp_path))
    subject = kept_subject(spec, "", quiet)
    own: Any = subject.imported.module
    assert np.array_equal(found["adapter",], np.asarray(own.ready.adapter.get_value()))


def test_annotated_variables_need_no_mesh(write: Write, tmp_path: Path) -> None:
    spec = spec_in(write("parts.py", PARTS), "Annotated")
    loaded = service.load_module(LoadModule(spec), quiet)
    notes = dict(loaded.tree.leaves)
    assert "('data', None)" in notes["lin", "kernel"].note
    done = run(spec, initial_tree(spec, tmp_path), tmp_path, "float32[1,2]")
    assert np.array_equal(
        arrays(done.outputs)["output",], np.full((1, 3), 2, np.float32)
    )


def test_the_offers_of_a_file(write: Write) -> None:
    file = write("parts.py", PARTS)
    offers = service.list_modules(ListModules(str(file))).offers
    found = [(one.name, one.kind, one.family) for one in offers]
    assert found == [
        ("Net", "class", "nnx"),
        ("Alone", "class", "nnx"),
        ("Annotated", "class", "nnx"),
        ("ready", "instance", "nnx"),
        ("Wide", "factory", "nnx"),
        ("make", "factory", "nnx"),
    ]
    assert [one.name for one in offers[0].fields] == ["width"]


def _build(spec: ModuleSpec, change: Any) -> InspectorError:
    subject = kept_subject(spec, "", quiet)
    values = {
        leaf.path: jax.ShapeDtypeStruct(leaf.value.shape, leaf.value.dtype)  # type: ignore[no-untyped-call]  # its constructor has no annotations
        for leaf in subject.traced.described.leaves
        if leaf.kind is Kind.ARRAY
    }
    change(values)
    with pytest.raises(LoadModuleError) as caught:
        subject.build(Values(values))
    return caught.value


def test_a_tree_that_does_not_fit_is_refused_leaf_by_leaf() -> None:
    spec = spec_in(FILE, "Nnx")
    path = ("first", "kernel")
    missing = _build(spec, lambda values: values.pop(path))
    assert missing.message == (
        "callables.py:Nnx needs first/kernel, which the tree does not have."
    )
    unknown = _build(spec, lambda values: values.update({("odd",): values[path]}))
    assert unknown.message == "callables.py:Nnx has no place for odd."
    other = jax.ShapeDtypeStruct((3, 3), np.float32)  # type: ignore[no-untyped-call]  # its constructor has no annotations
    shape = _build(spec, lambda values: values.update({path: other}))
    assert shape.message == (
        "first/kernel is float32[5,4] in the module, and float32[3,3] in the tree."
    )
