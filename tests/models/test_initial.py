"""Trees, streams, and values equal to those of a plain eager ``init``."""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from inspector.engine.messages.module import ModuleSpec
from inspector.errors import LoadModuleError
from inspector.models import initial, memory
from inspector.models.call import prepare
from inspector.models.linen import trace_init
from inspector.models.raw_file import RawFile, layout
from tests.models.loading import (
    Write,
    fails,
    load,
    make,
    run_code,
    same,
    shapes_of,
    spec_of,
)

CASES: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "mlp": ("Mlp", ("float32[2,3]",), {}),
    "bfloat16": (
        "Mlp",
        ("f32[2,3]",),
        {"kwargs": {"features": [4], "dtype": "bfloat16", "act": "nn.gelu"}},
    ),
    "initialiser": (
        "Mlp",
        ("f32[2,3]",),
        {"kwargs": {"kernel_init": "nn.initializers.normal(stddev=0.02)"}},
    ),
    "inference": ("Normed", ("float32[1,8,8,1]",), {}),
    "train": ("Normed", ("float32[1,8,8,1]",), {"statics": (("train", "true"),)}),
    "scan": ("Scanned", ("float32[2,6]",), {}),
    "shared": ("Shared", ("float32[2,5]",), {}),
    "method": ("Shared", ("float32[2,5]",), {"method": "other"}),
    "boxed": ("Boxed", ("float32[2,3]",), {}),
    "odd": ("Odd", ("float32[2,3]",), {"seeds": (("noise", 4),)}),
    "lstm": ("Lstm", ("float32[2,5,3]", "int32[2]"), {"seeds": (("params", 9),)}),
    "key": ("Keyed", ("key=key<fry>[]", "x=float32[2,3]"), {}),
    "positional key": (
        "Keyed",
        ("float32[2,3]", "key<rbg>[]"),
        {"statics": (("scale", "0.5"),)},
    ),
    "no input": ("Table", (), {"kwargs": {"size": 7}}),
    "factory": ("small_mlp", ("float32[1,2]",), {"kwargs": {"width": 4}}),
    "partial": ("Narrow", ("float32[1,2]",), {}),
    "instance": ("ready", ("float32[1,2]",), {}),
    "configured": (
        "Configured",
        ("float32[1,2]",),
        {
            "kwargs": {
                "config": {"width": 4, "dtype": "float16", "acts": ["nn.tanh"]},
                "inner": {"module": "Mlp", "kwargs": {"features": [2]}},
                "block": "nn.Dense",
                "mode": "SLOW",
                "anything": [
                    "jax.nn.silu",
                    0.5,
                    None,
                    {"module": "types:SimpleNamespace", "kwargs": {"size": [1, 2]}},
                ],
            }
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_values_and_code_are_those_of_a_plain_init(case: str, tmp_path: Path) -> None:
    name, inputs, rest = CASES[case]
    loaded = load(name, *inputs, **rest)
    made = make(spec_of(name, *inputs, **rest), tmp_path / "values")
    assert list(shapes_of(loaded)) == ["/".join(map(str, path)) for path in made]
    same(made, run_code(loaded.call))


def test_module_that_is_known_without_our_code(tmp_path: Path) -> None:
    made = make(
        ModuleSpec("flax.linen:Dense", '{"features": 3}', ("f32[1,2]",)), tmp_path / "v"
    )
    plain = nn.Dense(3).init({"params": jax.random.key(0)}, jnp.ones((1, 2)))
    assert made["params", "kernel"].tobytes() == plain["params"]["kernel"].tobytes()
    assert made["params", "bias"].tolist() == [0.0, 0.0, 0.0]


def test_only_the_leaves_asked_for(tmp_path: Path) -> None:
    spec = spec_of("Scanned", "float32[2,6]")
    everything = make(spec, tmp_path / "all")
    path = ("params", "again", "Dense_0", "kernel")
    one = make(spec, tmp_path / "one", (path,))
    assert list(one) == [path]
    assert one[path].tobytes() == everything[path].tobytes()
    assert (tmp_path / "one").stat().st_size == 6 * 6 * 4
    assert [p.name for p in tmp_path.iterdir() if "part" in p.name] == []


def test_seeds_change_what_depends_on_them(tmp_path: Path) -> None:
    inputs = ("float32[2,5,3]", "int32[2]")
    first = make(spec_of("Lstm", *inputs), tmp_path / "a")
    second = make(spec_of("Lstm", *inputs, seeds=(("lstm", 1),)), tmp_path / "b")
    changed = {p for p in first if first[p].tobytes() != second[p].tobytes()}
    assert changed == {("carry", "first")}


def test_streams() -> None:
    assert load("Lstm", "float32[2,5,3]", "int32[2]").streams == ("params", "lstm")
    train = load("Normed", "float32[1,8,8,1]", statics=(("train", "true"),))
    assert train.streams == ("params", "dropout")
    assert load("Normed", "float32[1,8,8,1]").streams == ("params",)


def test_flag_of_the_mode_is_chosen_and_said() -> None:
    loaded = load("Normed", "float32[1,8,8,1]")
    assert loaded.notes == (
        "train=False: it is needed and was not given; this is the value for inference.",
    )
    assert "train=False," in loaded.call
    assert f"# {loaded.notes[0]}" in loaded.call


def test_tree_of_boxes_and_odd_leaves() -> None:
    boxed = load("Boxed", "float32[2,3]")
    notes = {"/".join(map(str, path)): leaf.note for path, leaf in boxed.tree.leaves}
    assert notes == {
        "params/Dense_0/kernel": "LogicallyPartitioned names=('embed', 'mlp')",
        "params/Dense_0/bias": "",
        "params/Dense_1/kernel": "Partitioned names=(None, 'm')",
        "params/Dense_1/bias": "",
    }
    odd = load("Odd", "float32[2,3]")
    leaves = {"/".join(map(str, path)): leaf for path, leaf in odd.tree.leaves}
    assert shapes_of(odd) == {
        "state/pair/0": "float32[2]",
        "state/pair/1/0": "int8[3]",
        "state/key": "key<fry>[]",
        "state/keys": "key<fry>[2]",
        "state/half": "bfloat16[2,2]",
        "state/mean": "float32[3]",
        "params/Dense_0/kernel": "float32[3,3]",
        "params/Dense_0/bias": "float32[3]",
    }
    others = {
        p: (leaf.kind.value, leaf.note) for p, leaf in leaves.items() if not leaf.dtype
    }
    assert others == {
        "params_axes/kernel_axes": ("empty dict", "Axes names=('embed', 'mlp')"),
        "state/count": ("int", ""),
        "state/text": ("str", ""),
        "state/nothing": ("None", ""),
        "state/empty": ("empty dict", ""),
    }
    assert dict(odd.tree.containers) == {
        ("state", "pair"): "tuple",
        ("state", "pair", 1): "list",
    }


def test_scanned_layers_are_stacked_and_losses_sown() -> None:
    shapes = shapes_of(load("Scanned", "float32[2,6]"))
    assert shapes["params/ScanBlock_0/Dense_0/kernel"] == "float32[3,6,6]"
    assert shapes["params/tied/Dense_0/kernel"] == "float32[6,6]"
    assert shapes["losses/ScanBlock_0/size/0"] == "float32[3]"


def test_shared_and_unused_submodules() -> None:
    loaded = load("Shared", "float32[2,5]")
    assert {p.split("/")[1] for p in shapes_of(loaded)} == {
        "core",
        "blocks_0",
        "blocks_1",
    }
    assert loaded.notes == (
        "unused is declared in setup and __call__ never calls it, so it has no "
        "variables here; another method (--method) may.",
    )


def test_lost_variables_are_named(tmp_path: Path) -> None:
    loaded = load("Bare", "float32[1,2]")
    notes = {path: leaf.note for path, leaf in loaded.tree.leaves}
    assert notes["params", "lost", "kernel"].startswith("made inside a bare jax.jit")
    assert notes["params", "Dense_0", "kernel"] == ""
    spec = spec_of("Bare", "float32[1,2]")
    with pytest.raises(LoadModuleError, match="what is left is a tracer") as caught:
        make(spec, tmp_path / "v")
    assert caught.value.where == "params/lost/kernel"
    assert not (tmp_path / "v").exists()
    kept = ("params", "Dense_0", "kernel")
    assert make(spec, tmp_path / "v", (kept,))[kept].shape == (2, 2)


def test_variables_of_a_bare_transformation_are_lost(write: Write) -> None:
    file = write(
        "net.py",
        """
        import jax
        from flax import linen as nn

        class Net(nn.Module):
            @nn.compact
            def __call__(self, x):
                def inner(y):
                    z = nn.Dense(2, name="d")(y)
                    self.variable("state", "mean", z.mean)
                    return z.sum()

                return jax.vmap(inner)(x)
        """,
    )
    source = file.read_text()
    for transformation in ("jax.vmap", "jax.grad", "jax.jit"):
        file.write_text(source.replace("jax.vmap", transformation))
        notes = {
            p: leaf.note for p, leaf in load(f"{file}:Net", "f32[2,3]").tree.leaves
        }
        assert notes["state", "mean"].startswith("made inside a bare jax.jit, vmap")
        whole = transformation == "jax.jit"
        assert bool(notes["params", "d", "bias"]) is whole


def test_a_billion_parameters_allocate_nothing(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.monotonic()
    loaded = load("Huge", "float32[1,16384]")
    assert time.monotonic() - start < 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
    assert sum(leaf.size for _, leaf in loaded.tree.leaves) > 1e9
    small = ("params", "small", "bias")
    made = make(spec_of("Huge", "float32[1,16384]"), tmp_path / "v", (small,))
    assert made[small].tolist() == [0.0, 0.0]


def test_too_little_memory_or_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = spec_of("Huge", "float32[1,16384]")
    kernel = ("params", "Dense_0", "kernel")
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 30)
    with pytest.raises(LoadModuleError, match=r"of memory and 1\.0 GiB are available"):
        make(spec, tmp_path / "v", (kernel,))
    monkeypatch.setattr(memory, "free_disk_bytes", lambda folder: 3 << 20)
    with pytest.raises(
        LoadModuleError, match=r"1\.0 GiB on disk and 3\.0 MiB are free"
    ):
        make(spec, tmp_path / "v", (kernel,))
    assert list(tmp_path.iterdir()) == []


def test_unknown_path(tmp_path: Path) -> None:
    with pytest.raises(
        LoadModuleError, match="no variable params/Dense_0/kernels"
    ) as e:
        make(
            spec_of("Mlp", "f32[1,2]"),
            tmp_path / "v",
            (("params", "Dense_0", "kernels"),),
        )
    assert "Did you mean params/Dense_0/kernel" in e.value.hint


def test_input_files_are_used_as_they_are(tmp_path: Path) -> None:
    x = np.arange(6, dtype="float32").reshape(2, 3)
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "inputs.npz", x=x, other=x + 1)
    for text, mean in (
        ("x.npy", [1.5, 2.5, 3.5]),
        ("inputs.npz:other", [2.5, 3.5, 4.5]),
    ):
        spec = spec_of("Odd", text, cwd=str(tmp_path))
        loaded = load("Odd", text, cwd=str(tmp_path))
        made = make(spec, tmp_path / "v")
        assert made["state", "mean"].tolist() == mean
        same(made, run_code(loaded.call))


def test_forward_pass_is_left_out() -> None:
    module = nn.Dense(3)
    call = prepare(module, ModuleSpec("", "{}", ("f32[2,3]",)), Path())
    traced = trace_init(module, call, {}, ())
    plan = initial.make_plan(traced, [leaf.path for leaf in traced.arrays])
    kept = {equation.primitive.name for equation in plan.equations}
    assert "dot_general" in {e.primitive.name for e in traced.jaxpr.jaxpr.eqns}
    assert "dot_general" not in kept
    assert plan.peak >= 3 * 3 * 4


def test_file_is_whole_or_absent(tmp_path: Path) -> None:
    places = layout([(("a",), (3,), "float32"), (("b",), (2, 2), "bfloat16")])
    assert [(p.offset, p.stop) for p in places] == [(0, 12), (64, 72)]
    file = tmp_path / "v"
    file.write_bytes(b"old")
    ones = np.ones(3, "float32")
    with (
        pytest.raises(LoadModuleError, match="no value for b"),
        RawFile(file, places) as out,
    ):
        out.write(places[0], ones)
    with (
        pytest.raises(LoadModuleError, match=r"Expected bfloat16\[2, 2\]"),
        RawFile(file, places) as out,
    ):
        out.write(places[1], ones)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_numbers_differ_from_one_jitted_call_at_most_in_last_bits(
    tmp_path: Path,
) -> None:
    made = make(spec_of("Scanned", "float32[2,6]"), tmp_path / "v")
    code = load("Scanned", "float32[2,6]").call
    jitted = run_code(code.replace("module.init(", "jax.jit(module.init)("))
    for path, array in made.items():
        np.testing.assert_allclose(array, jitted[path], rtol=2e-5, err_msg=str(path))


def test_missing_input_is_explained() -> None:
    error = fails("Mlp")
    assert error.message == "Mlp.__call__(x) needs an input for x; given: none."
    assert error.hint == (
        "Give the shape and dtype of it, e.g. float32[1,8,8,1] (--input); a flag as "
        "a static argument, x=true (--call)."
    )
