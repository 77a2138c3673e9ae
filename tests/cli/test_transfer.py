from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flax.serialization
import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]  # has no type information
import orbax.checkpoint as ocp
import pytest
from flax import linen as nn
from flax.training.train_state import TrainState
from safetensors.numpy import save_file

from tests.cli import nets
from tests.cli.verbs import Result, Verb, layers

NETS = Path(nets.__file__).resolve()
CORPUS = Path(__file__).resolve().parents[1] / "corpus"
IMAGES = (2, 16, 16, 3)


def _flat(tree: Any) -> dict[tuple[str, ...], Any]:
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {tuple(entry.key for entry in path): leaf for path, leaf in leaves}


@dataclass(frozen=True)
class Case:
    """A pretrained net and a new module that holds it."""

    net: nn.Module
    shape: tuple[int, ...]
    factory: str
    place: str

    @property
    def variables(self) -> Any:
        return nets.pretrained(self.net, self.shape)

    def module(self) -> Any:
        return getattr(nets, self.factory)()

    def words(self) -> tuple[str, ...]:
        extents = ",".join(map(str, self.shape))
        model = f"{NETS}:{self.factory}"
        return "--model", model, "--input", f"float32[{extents}]"

    def check(self, out: Path, variables: Any) -> None:
        """Restores with flax alone: what was moved computes the same, bit for bit."""
        restored = flax.serialization.msgpack_restore(out.read_bytes())
        x = jax.random.normal(jax.random.key(3), self.shape)
        module = self.module()
        expected = jax.jit(self.net.apply)(variables, x)
        features = jax.jit(lambda tree, x: module.apply(tree, x, method="features"))
        np.testing.assert_array_equal(features(restored, x), expected)
        initial = _flat(module.init(jax.random.key(0), jnp.zeros(self.shape)))
        found = _flat(restored)
        assert found.keys() == initial.keys()
        heads = [path for path in initial if "head" in path]
        assert len(heads) == 2
        for path in heads:
            np.testing.assert_array_equal(found[path], initial[path])


RESNET = Case(nets.ResNet(), IMAGES, "headed_resnet", "backbone")
CASES = {
    "nested": Case(nets.ResNet(), IMAGES, "nested_resnet", "model/backbone"),
    "transformer": Case(
        nets.Transformer(), (2, 6, 8), "headed_transformer", "backbone"
    ),
    "scanned": Case(nets.Scanned(), (2, 4), "headed_scanned", "backbone"),
    "lstm": Case(nets.Recurrent(), (2, 6, 4), "headed_recurrent", "backbone"),
}


def transfer(verb: Verb, source: Path | str, case: Case, *words: str) -> Result:
    return verb("transfer", source, *case.words(), *words, "--json")


def write_msgpack(path: Path, tree: Any) -> Path:
    path.write_bytes(flax.serialization.to_bytes(tree))
    return path


@pytest.mark.parametrize("name", CASES)
def test_what_is_moved_computes_the_same_bit_for_bit(
    verb: Verb, tmp_path: Path, name: str
) -> None:
    case = CASES[name]
    variables = case.variables
    source = write_msgpack(tmp_path / "w.msgpack", variables)
    moved = len(jax.tree.leaves(variables))
    result = transfer(
        verb, source, case, "--to", case.place, "--out", "new/out.msgpack"
    )
    document = result.json
    assert document["summary"] == {
        "exact": moved,
        "converted": 0,
        "mismatch": 0,
        "missing": 0,
        "unused": 0,
    }
    for row in document["rows"]:
        collection, *rest = row["source_keys"]
        assert row["target_keys"] == [collection, *case.place.split("/"), *rest]
        assert row["target"] == "/".join(row["target_keys"])
        assert row["source_shape"] == row["target_shape"]
        assert row["source_dtype"] == row["target_dtype"] == "float32"
    out = tmp_path / "new" / "out.msgpack"
    assert document["written"]["out"] == str(out)
    assert document["written"]["leaves"] == moved + 2
    case.check(out, variables)


def train_state(case: Case, variables: Any, *, wrapped: bool) -> Any:
    """A TrainState; ``wrapped`` holds all variables as its params, as many do."""
    rest = {key: value for key, value in variables.items() if key != "params"}
    params = variables if wrapped else variables["params"]
    tx = optax.adam(1e-3)
    state = TrainState(
        step=5, apply_fn=case.net.apply, params=params, tx=tx, opt_state=tx.init(params)
    )
    document = flax.serialization.to_state_dict(state)
    return document if wrapped else document | rest


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_train_state_gives_its_variables(
    verb: Verb, tmp_path: Path, *, wrapped: bool
) -> None:
    variables = RESNET.variables
    state = train_state(RESNET, variables, wrapped=wrapped)
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "state", state)
    words = ("--from", "params") if wrapped else ()
    result = transfer(
        verb, "state", RESNET, *words, "--to", "backbone", "--out", "out.msgpack"
    )
    assert result.json["summary"]["exact"] == 17
    RESNET.check(tmp_path / "out.msgpack", variables)


def test_a_checkpoint_of_flax_optim_goes_onto_its_module(
    verb: Verb, tmp_path: Path
) -> None:
    item = CORPUS / "flaxlegacy-flax034-resnet-optim" / "data"
    saved = flax.serialization.msgpack_restore((item / "checkpoint_300").read_bytes())
    variables = {
        "params": saved["optimizer"]["target"],
        "batch_stats": saved["model_state"]["batch_stats"],
    }
    model = ("--model", f"{NETS}:ResNet", "--input", "float32[1,16,16,3]")
    result = verb("transfer", item, *model, "--out", "out.msgpack", "--json")
    summary = result.json["summary"]
    assert (summary["exact"], summary["missing"]) == (17, 0)
    restored = flax.serialization.msgpack_restore(
        (tmp_path / "out.msgpack").read_bytes()
    )
    x = jax.random.normal(jax.random.key(3), IMAGES)
    apply = jax.jit(nets.ResNet().apply)
    np.testing.assert_array_equal(apply(restored, x), apply(variables, x))


def write_layers(folder: Path) -> Path:
    flat = {"/".join(path): value for path, value in _flat(layers(0, 1, 2)).items()}
    save_file(flat, folder / "w.safetensors")
    return folder / "w.safetensors"


LAYERS = """
from flax import linen as nn

class Net(nn.Module):
    width: int = 3
    dtype: str = "float32"

    @nn.compact
    def __call__(self, x):
        for index in range(3):
            name = f"layer_{index}"
            x = nn.Dense(
                self.width, use_bias=False, param_dtype=self.dtype, name=name
            )(x)
        return nn.BatchNorm(use_running_average=True, name="a/b")(x)
"""


def test_from_to_and_only_choose_what_is_moved(
    quick_verb: Verb, tmp_path: Path
) -> None:
    (tmp_path / "net.py").write_text(LAYERS)
    source = write_layers(tmp_path)
    head = ("transfer", source, "--model", "net.py:Net", "--input", "float32[1,3]")
    pairs = {
        ("--from", "layer_2", "--to", "layer_0"),
        ("--from", "params/layer_2", "--to", "layer_0"),
        ("--from", "/params/layer_2/", "--to", "params/layer_0", "--only", "params"),
        ("--from", "layer_2/kernel", "--to", "layer_0/kernel"),
    }
    for words in pairs:
        (row,) = quick_verb(*head, *words, "--json").json["rows"]
        assert (row["source"], row["target"], row["verdict"]) == (
            "params/layer_2/kernel",
            "params/layer_0/kernel",
            "exact",
        )
    refusals = {
        ("--from", "layer_9"): ("layer_9: the source has nothing", "layer_0"),
        ("--to", "layer_9"): ("layer_9: the target has nothing", "layer_0"),
        ("--only", "cache"): ("neither side has a collection", "params"),
    }
    for words, parts in refusals.items():
        quick_verb(*head, *words, "--json").refused(*parts)


def test_a_transfer_of_nothing_writes_nothing(verb: Verb, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(LAYERS)
    source = write_layers(tmp_path)
    head = ("transfer", source, "--model", "net.py:Net", "--input", "float32[1,3]")
    pair = ("--from", "layer_0", "--to", r"a\/b")
    verb(*head, *pair, "--out", "x.npz", "--save-recipe", "r.json").refused("othing")
    assert not (tmp_path / "x.npz").exists()
    assert not (tmp_path / "r.json").exists()


def test_shapes_and_dtypes_that_differ_are_told_and_skipped(
    quick_verb: Verb, tmp_path: Path
) -> None:
    (tmp_path / "net.py").write_text(LAYERS)
    source = write_layers(tmp_path)
    head = ("transfer", source, "--model", "net.py:Net")
    document = quick_verb(*head, "--input", "float32[1,5]", "--json").json
    assert document["summary"] == {
        "exact": 2,
        "converted": 0,
        "mismatch": 1,
        "missing": 4,
        "unused": 0,
    }
    (row,) = [row for row in document["rows"] if row["verdict"] == "mismatch"]
    assert row["source_shape"] == [3, 3]
    assert row["target_shape"] == [5, 3]
    assert row["why"]
    missing = [row for row in document["rows"] if row["verdict"] == "missing"]
    for row in missing:
        assert row["source"] is row["source_keys"] is row["source_shape"] is None
        assert row["target_keys"][1] == "a/b"

    cast = ("--kwargs", '{"dtype": "bfloat16"}', "--input", "float32[1,3]")
    document = quick_verb(*head, *cast, "--json").json
    rows = [row for row in document["rows"] if row["verdict"] == "converted"]
    assert len(rows) == 3
    for row in rows:
        assert row["rule"]
        assert (row["source_dtype"], row["target_dtype"]) == ("float32", "bfloat16")


BAD_MODULES = {
    "syntax.py": ("def broken(:\n", "syntax.py:1", "SyntaxError"),
    "leaves.py": ("import sys\n\nsys.exit(3)\n", "leaves.py:3", "sys.exit(3)"),
    "needs.py": ("import not_there\n", "needs.py:1", "--python"),
    "raises.py": (
        "from flax import linen as nn\n\nclass Net(nn.Module):\n"
        "    def setup(self):\n        raise ValueError('no such size')\n"
        "    def __call__(self, x):\n        return x\n",
        "raises.py:5",
        "ValueError: no such size",
    ),
    "other.py": ("class Nett:\n    pass\n", "other.py", "Did you mean Nett"),
    "nnx.py": (
        "from flax import nnx\n\nclass Net(nnx.Module):\n    pass\n",
        "nnx.py:3",
        "Net holds no variables",
    ),
}


def test_modules_that_cannot_be_loaded_name_their_line_and_what_to_do(
    quick_verb: Verb, tmp_path: Path
) -> None:
    source = write_layers(tmp_path)
    for name, (text, *parts) in BAD_MODULES.items():
        (tmp_path / name).write_text(text)
        words = ("--model", f"{name}:Net", "--input", "float32[1,3]", "--json")
        result = quick_verb("transfer", source, *words)
        result.refused(str(tmp_path), *parts)
        assert len(result.err.splitlines()) >= 2, f"{name}: no hint"


def test_calls_that_do_not_fit_the_module_say_what_would(
    quick_verb: Verb, tmp_path: Path
) -> None:
    (tmp_path / "net.py").write_text(LAYERS)
    source = write_layers(tmp_path)
    head = ("transfer", source, "--model", "net.py:Net", "--json")
    given = ("--input", "float32[1,3]")
    refusals: dict[tuple[str, ...], tuple[int, str]] = {
        (): (1, "needs an input for x"),
        ("--input", "float32[1,3"): (2, "A shape has brackets"),
        ("--input", "absent.npy"): (1, "There is no such file"),
        (*given, "--kwargs", "{"): (2, "not JSON"),
        (*given, "--kwargs", '{"widht": 4}'): (1, "Did you mean width?"),
        (*given, "--method", "encode"): (1, "no method “encode”"),
        (*given, "--call", "train=true"): (1, "no argument “train”"),
    }
    for words, (status, part) in refusals.items():
        quick_verb(*head, *words).refused(part, status=status)


NOISY = """
import os, subprocess, sys
try:
    input("What? ")
except EOFError:
    pass
os.write(1, b"\\x00\\xff" * 100)
print("printed")
child = "import sys; sys.stdout.write(repr(sys.stdin.read()))"
subprocess.run([sys.executable, "-c", child], check=True)
"""


def test_noise_of_a_module_does_not_reach_the_json(
    quick_verb: Verb, tmp_path: Path
) -> None:
    (tmp_path / "noisy.py").write_text(NOISY + LAYERS)
    source = write_layers(tmp_path)
    words = ("--model", "noisy.py:Net", "--input", "float32[1,3]", "--json")
    assert quick_verb("transfer", source, *words).json["summary"]["exact"] == 3
