"""The program that is shown gives the numbers of a run, bit for bit.

Each program runs in a process of its own that knows nothing of this one: several in
one process after the other, because importing JAX takes longer than they do.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.engine.messages.calling import Call
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.messages.running import WriteCode
from inspector.formats.export import ExportRequest, export_tree
from inspector.formats.values import ValueReader
from inspector.models import script
from inspector.variables.path import TreePath, join
from inspector.variables.plain import PlainTree, from_plain
from tests.models.loading import MODULES, quiet
from tests.models.running import arrays, initial_tree, run

FILE = MODULES / "callables.py"

_LINEN = {"inputs": ("float32[2,5]",), "statics": (("train", "false"),)}

CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "linen eval": ("Linen", _LINEN, {"inputs": ("float32[3,5]:normal(1)",)}),
    "linen train": (
        "Linen",
        _LINEN,
        {
            "inputs": ("float32[3,5]:normal(1)",),
            "mode": "train",
            "seeds": (("noise", 1), ("dropout", 2)),
        },
    ),
    "linen method": (
        "Linen",
        _LINEN,
        {
            "inputs": ("float32[3,5]:uniform(4)",),
            "method": "twice",
            "statics": (("scale", "0.5"),),
        },
    ),
    "linen field": (
        "Field",
        {"inputs": ("float32[2,5]", "mask=float32[4]")},
        {
            "inputs": ("float32[2,5]:normal(0)", "mask=float32[4]:arange"),
            "mode": "train",
            "seeds": (("dropout", 7),),
        },
    ),
    "nnx eval": ("Nnx", {}, {"inputs": ("float32[3,5]:normal(1)",), "mode": "eval"}),
    "nnx train": (
        "Nnx",
        {"seeds": (("default", 3), ("dropout", 5))},
        {"inputs": ("float32[3,5]:normal(1)",), "mode": "train"},
    ),
    "nnx reseeded": (
        "Nnx",
        {},
        {
            "inputs": ("float32[3,5]:normal(1)",),
            "mode": "train",
            "seeds": (("default", 9),),
        },
    ),
    "nnx handed": (
        "Handed",
        {},
        {
            "inputs": ("float32[3,5]:normal(1)",),
            "mode": "train",
            "seeds": (("dropout", 2),),
        },
    ),
    "nnx handed a default": ("Handed", {}, {"inputs": ("float32[3,5]:normal(1)",)}),
    "pytree": (
        "make_tree",
        {"seeds": (("params", 4),)},
        {"inputs": ("float32[2,5]:normal(0)",)},
    ),
    "applied": (
        "make_dict",
        {},
        {
            "inputs": ("float32[2,5]:normal(0)",),
            "apply": f"{FILE}:apply_dict",
        },
    ),
}

_DUMP = """
import jax as _jax, numpy as _np, json as _json
def _plain(tree):
    found = {}
    for path, leaf in _jax.tree_util.tree_leaves_with_path(tree):
        if _jax.dtypes.issubdtype(leaf.dtype, _jax.dtypes.prng_key):
            continue
        name = _jax.tree_util.keystr(path, simple=True, separator="/")
        name = name.removesuffix("/value")
        array = _np.asarray(leaf)
        found[name] = [str(array.dtype), array.shape, array.tobytes().hex()]
    return found
"""


def _dump(name: str) -> str:
    what = f"[{name!r}, _plain(outputs), _plain(updates)]"
    return f"print('DUMP', _json.dumps({what}))\n"


def _in_fresh_process(programs: dict[str, str], folder: Path) -> dict[str, Any]:
    """Runs programs one after the other; returns what each left behind."""
    parts = ["import sys\n"]
    for name, text in programs.items():
        parts.append(f"exec(compile({text!r}, {name!r}, 'exec'), globals())\n")
        parts += [_DUMP, _dump(name)]
    file = folder / "programs.py"
    file.write_text("".join(parts), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = {}
    for line in done.stdout.splitlines():
        if line.startswith("DUMP "):
            name, outputs, updates = json.loads(line.removeprefix("DUMP "))
            found[name] = outputs, updates
    assert list(found) == list(programs)
    return found


def _plain(found: dict[TreePath, np.ndarray]) -> dict[str, list[Any]]:
    return {
        join(path): [str(one.dtype), list(one.shape), one.tobytes().hex()]
        for path, one in found.items()
    }


def _requests(name: str) -> tuple[ModuleSpec, Call]:
    module, init, call = CASES[name]
    return ModuleSpec(f"{FILE}:{module}", **init), Call(**call)


def _without_inputs(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "inputs"}


def _compare(name: str, left: Any, done: Any) -> None:
    outputs, updates = left
    if "" in outputs:
        outputs = {"output": outputs.pop("")}
    assert outputs == _plain(arrays(done.outputs)), name
    wanted = _plain(arrays(done.updates))
    # An NNX program shows the whole state after the call.
    assert wanted.items() <= updates.items() if wanted else True, name
    if "train" in name and name != "linen field":
        assert wanted, name


def test_programs_repeat_runs_from_initial_values(tmp_path: Path) -> None:
    programs, dones = {}, {}
    for name in CASES:
        spec, call = _requests(name)
        tree = initial_tree(spec, tmp_path)
        fields = _without_inputs(CASES[name][2])
        dones[name] = run(spec, tree, tmp_path, *call.inputs, **fields)
        programs[name] = script.write_script(WriteCode(spec, call), quiet)
    left = _in_fresh_process(programs, tmp_path)
    for name in CASES:
        _compare(name, left[name], dones[name])


@pytest.mark.parametrize("suffix", [".msgpack", ".safetensors", ".npz", ""])
def test_programs_repeat_runs_from_exported_files(tmp_path: Path, suffix: str) -> None:
    names = ["linen train", "nnx train"]
    if suffix in {".safetensors", ".npz"}:
        # Nothing but names in these files: a list of NNX is a number in a name.
        names = ["linen train", "nnx eval"]
    programs, dones = {}, {}
    for number, name in enumerate(names):
        spec, call = _requests(name)
        tree = initial_tree(spec, tmp_path)
        out = tmp_path / f"exported{number}{suffix}"
        _export(tree, out)
        fields = _without_inputs(CASES[name][2])
        dones[name] = run(spec, tree, tmp_path, *call.inputs, **fields)
        request = WriteCode(spec, call, str(out))
        programs[name] = script.write_script(request, quiet)
    left = _in_fresh_process(programs, tmp_path)
    for name in names:
        _compare(name, left[name], dones[name])


def _export(tree: PlainTree, out: Path) -> None:
    reader = ValueReader(_no_checkpoint)
    try:
        export_tree(
            from_plain(tree),
            reader,
            ExportRequest(out, lossy=True),
            lambda done, total, text: None,
            lambda: False,
        )
    finally:
        reader.close()


def _no_checkpoint(locator: str) -> Any:
    raise AssertionError(locator)


def test_the_text_is_one_that_a_person_would_write() -> None:
    spec, call = _requests("linen train")
    text = script.write_script(WriteCode(spec, call), quiet)
    assert text.count("import jax\n") == 1
    assert "rngs = {'noise': jax.random.key(1), 'dropout': jax.random.key(2)}" in text
    assert "        train=True,\n" in text
    assert "        mutable=['batch_stats'],\n" in text
    assert "\n\n\ndef forward(" in text
    compile(text, "program", "exec")


def test_device_and_precision_are_said() -> None:
    spec, call = _requests("linen eval")
    asked = Call(inputs=call.inputs, device="cpu:0", precision="highest")
    text = script.write_script(WriteCode(spec, asked), quiet)
    assert 'jax.config.update("jax_default_device", jax.devices("cpu")[0])' in text
    assert 'jax.config.update("jax_default_matmul_precision", "highest")' in text
