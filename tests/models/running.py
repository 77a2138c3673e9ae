"""Helpers of the tests of forward passes: lay values out, run, read what came."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from inspector.engine.messages.calling import Call
from inspector.engine.messages.module import MakeInitial, ModuleSpec
from inspector.engine.messages.running import RunDone, RunModule
from inspector.models import running, service
from inspector.models.describe import describe
from inspector.models.loading import kept_subject
from inspector.models.outputs import write_trees
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree
from inspector.variables.value import Raw
from tests.models.loading import quiet

_NUMBERS = itertools.count()


def lay_out(variables: object, folder: Path) -> PlainTree:
    """Returns a variables pytree as the store sends it, its numbers in a file."""
    file = folder / f"variables{next(_NUMBERS)}.raw"
    return write_trees({"it": describe(variables)}, str(file)).trees["it"]


def initial_tree(spec: ModuleSpec, folder: Path) -> PlainTree:
    """Returns the initial values of a module as the store sends them."""
    subject = kept_subject(spec, "", quiet)
    file = folder / f"initial{next(_NUMBERS)}.raw"
    made = service.make_initial(MakeInitial(spec, (), str(file)), quiet)
    table = {path: (offset, shape, dtype) for path, offset, shape, dtype in made.table}
    tree = subject.traced.tree()

    def filled(path: TreePath, leaf: Leaf) -> Leaf:
        if leaf.kind not in {Kind.ARRAY, Kind.KEY}:
            return leaf
        raw = Raw(made.file, *table[path])
        return Leaf(
            leaf.kind,
            leaf.shape,
            leaf.dtype,
            raw,
            note=leaf.note,
            variable=leaf.variable,
        )

    leaves = tuple((path, filled(path, leaf)) for path, leaf in tree.leaves)
    return PlainTree(leaves, tree.containers)


def spec_in(file: Path, name: str, *inputs: str, **rest: Any) -> ModuleSpec:
    """Returns the spec of a module in a file; ``rest`` are fields of the spec."""
    return ModuleSpec(f"{file}:{name}", inputs=tuple(inputs), **rest)


def request(
    spec: ModuleSpec, tree: PlainTree, folder: Path, *inputs: str, **rest: Any
) -> RunModule:
    """Returns the request of a run; ``rest`` are fields of `Call`."""
    call = Call(inputs=tuple(inputs), **rest)
    out = folder / f"run{next(_NUMBERS)}.raw"
    return RunModule(spec, "", call, f"stamp{id(tree)}", tree, out=str(out))


def run(
    spec: ModuleSpec, tree: PlainTree, folder: Path, *inputs: str, **rest: Any
) -> RunDone:
    """Runs a module as the store asks for it."""
    return running.run(request(spec, tree, folder, *inputs, **rest), quiet)


def arrays(tree: PlainTree) -> dict[TreePath, np.ndarray]:
    """Reads the arrays of a tree from its file; random keys as their words."""
    found = {}
    for path, leaf in tree.leaves:
        if isinstance(leaf.value, Raw):
            raw = leaf.value
            assert raw.offset % 64 == 0
            data = Path(raw.file).read_bytes()
            dtype = dtypes.to_numpy(raw.dtype)
            array = np.frombuffer(data, dtype, math.prod(raw.shape), raw.offset)
            found[path] = array.reshape(raw.shape)
    return found


def kinds(done: RunDone) -> list[str]:
    """Returns the kinds of a run's remarks."""
    return [remark.kind for remark in done.remarks]


def text_of(done: RunDone, kind: str) -> str:
    """Returns the one remark of a kind."""
    (found,) = [remark.text for remark in done.remarks if remark.kind == kind]
    return found


def same_arrays(found: Mapping[TreePath, np.ndarray], wanted: object) -> None:
    """Asserts that arrays equal those of a pytree bit for bit."""
    leaves = {
        leaf.path or ("output",): np.asarray(
            jax.random.key_data(leaf.value)
            if jax.numpy.issubdtype(leaf.value.dtype, jax.dtypes.prng_key)
            else leaf.value
        )
        for leaf in describe(wanted).leaves
        if leaf.kind is Kind.ARRAY
    }
    assert list(found) == list(leaves)
    for path, array in leaves.items():
        assert found[path].dtype == array.dtype, path
        assert found[path].shape == array.shape, path
        assert found[path].tobytes() == array.tobytes(), path
