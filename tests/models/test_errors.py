"""Mistakes in the person's code: what, which line, what to do, and the traceback."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from inspector.engine.messages.module import LoadModule, ModuleSpec
from inspector.errors import UsageError
from inspector.models import explain, service
from tests.models.loading import NETS, Write, fails, load

HEAD = "import jax\nimport jax.numpy as jnp\nfrom flax import linen as nn\n"


def net(body: str, fields: str = "") -> str:
    """Returns a file whose line 7 is the body of a compact call."""
    return (
        f"{HEAD}class Net(nn.Module):\n    {fields or 'width: int = 2'}\n"
        f"    @nn.compact\n    def __call__(self, x):\n        {body}\n"
    )


IMPORTS = {
    "exit": ("import sys\nsys.exit(2)", 2, "called sys.exit(2).", "__main__"),
    "argparse": (
        "import argparse\np = argparse.ArgumentParser()\n"
        "p.add_argument('data')\np.parse_args()",
        4,
        "called sys.exit(2).",
        "__main__",
    ),
    "interrupt": ("raise KeyboardInterrupt", 1, "was interrupted", "__main__"),
    "dependency": (
        "import tensorflow_that_is_absent.x",
        1,
        "No module named 'tensorflow_that_is_absent'",
        "--python",
    ),
    "old": (
        "import jax\njax.random.KeyArray",
        2,
        "has no attribute 'KeyArray'",
        "another version of jax than",
    ),
    "mutable": (
        "from flax import linen as nn\nclass N(nn.Module):\n    l: list = [1]",
        2,
        "mutable default",
        "Use a tuple",
    ),
    "order": (
        "from flax import linen as nn\nclass N(nn.Module):\n    a: int = 1\n    b: int",
        2,
        "non-default argument",
        "without a default first",
    ),
    "reserved": (
        "from flax import linen as nn\nclass N(nn.Module):\n    parent: int",
        2,
        "ReservedModuleAttributeError",
        "Rename the field",
    ),
}


@pytest.mark.parametrize("case", IMPORTS)
def test_import_that_fails(case: str, write: Write) -> None:
    source, line, message, hint = IMPORTS[case]
    file = write("net.py", source)
    error = fails(f"{file}:N")
    assert error.message.startswith("Importing net.py ")
    assert message in error.message
    assert error.where == f"{file}:{line}"
    assert hint in error.hint


TRACES = {
    "branch": (
        "return x if x.sum() > 0 else -x",
        "TracerBoolConversionError",
        "jnp.where",
    ),
    "number": ("return nn.Dense(int(x.sum()))(x)", "ConcretizationTypeError", "static"),
    "numpy": ("import numpy; return numpy.asarray(x)", "TracerArray", "jax.numpy"),
    "assigned": (
        "self.d = nn.Dense(2); return x",
        "SetAttributeFrozen",
        "in setup only",
    ),
    "twice": (
        "return nn.Dense(2, name='a')(x) + nn.Dense(2, name='a')(x)",
        "NameInUseError",
        "another name=",
    ),
    "flag": (
        "return nn.Dropout(0.5)(x)",
        "must be passed",
        "e.g. deterministic=true (--call)",
    ),
    "unbound": (
        "return nn.Dense(2, parent=None)(x)",
        "CallCompactUnbound",
        "init and apply",
    ),
    "plain": (
        "raise ValueError('width 3 is odd')",
        "ValueError: width 3 is odd",
        "--input",
    ),
    "exit": ("raise SystemExit('stop')", "called sys.exit('stop')", "__main__"),
    "endless": ("return self(x)", "RecursionError", "without end"),
    "shape": ("return x @ jnp.ones((5, 2))", "dot_general", "--input"),
}


@pytest.mark.parametrize("case", TRACES)
def test_trace_that_fails(case: str, write: Write) -> None:
    body, message, hint = TRACES[case]
    file = write("net.py", net(body))
    error = fails(f"{file}:Net", "float32[2,3]")
    assert error.message.startswith("Tracing init of Net with inputs float32[2,3] ")
    assert message in error.message
    assert error.where == f"{file}:8"
    assert hint in error.hint
    text = "".join(traceback.format_exception(error))
    assert str(file) in text
    assert error.info(text).traceback == text


def test_submodule_outside_of_compact(write: Write) -> None:
    file = write(
        "net.py",
        HEAD
        + "class Net(nn.Module):\n    def __call__(self, x):\n"
        + "        return nn.Dense(2)(x)\n",
    )
    error = fails(f"{file}:Net", "f32[1,2]")
    assert "AssignSubModuleError" in error.message
    assert "@nn.compact" in error.hint
    assert error.where == f"{file}:6"


def test_constructor_that_raises(write: Write) -> None:
    file = write(
        "net.py",
        HEAD
        + "class Net(nn.Module):\n    width: int = 1\n    def __post_init__(self):\n"
        "        super().__post_init__()\n        raise OSError('no weights')\n",
    )
    error = fails(f"{file}:Net", "f32[1,2]")
    assert error.message == "Constructing Net failed: OSError: no weights"
    assert error.where == f"{file}:8"
    assert "--kwargs" in error.hint


def test_attribute_without_annotation(write: Write) -> None:
    file = write(
        "net.py",
        HEAD + "class Net(nn.Module):\n    features = 4\n    @nn.compact\n"
        "    def __call__(self, x):\n        return nn.Dense(self.features)(x)\n",
    )
    error = fails(f"{file}:Net", "f32[1,2]", kwargs={"features": 8})
    assert error.message == "Net has no argument “features”."
    assert "no type annotation" in error.hint
    notes = load(f"{file}:Net", "f32[1,2]").notes
    assert notes == ("features has no type annotation in Net, so it cannot be set.",)


ARGUMENTS = {
    "near": ("Mlp", {"feature": 3}, "no argument “feature”", "features"),
    "missing": ("Configured", {}, "needs a value for config, inner", '"config": 1'),
    "type": ("Table", {"size": "ab"}, 'Expected int, got "ab"', "quotes"),
    "boolean": ("Table", {"size": True}, "Expected int, got true", "quotes"),
    "dtype": (
        "Mlp",
        {"dtype": "float31"},
        "“float31” is not the name of a dtype",
        "float32",
    ),
    "function": ("Mlp", {"act": "rleu"}, "“rleu” names no function or class", "relu"),
    "instance": ("ready", {"features": 3}, "is an instance already", "Leave them out"),
    "enum": (
        "Configured",
        {"config": {}, "inner": {"module": "Mlp"}, "mode": "FASTER"},
        "“FASTER” is none of FAST, SLOW",
        "FAST",
    ),
    "nested": (
        "Configured",
        {"config": {"widht": 2}, "inner": {"module": "Mlp"}},
        "Config has no argument “widht”",
        "width",
    ),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_wrong_constructor_argument(case: str) -> None:
    name, kwargs, message, hint = ARGUMENTS[case]
    error = fails(name, "f32[1,2]", kwargs=kwargs)
    assert message in error.message
    assert hint in error.hint


KINDS = {
    "NUMBER": "NUMBER is an int, not a module.",
    "Config": "Config returned a Config, not a module.",
    "jax": "jax is a Python module.",
}


@pytest.mark.parametrize("name", KINDS)
def test_what_is_no_module_is_said_in_words(name: str) -> None:
    error = fails(name, "f32[1,2]")
    assert error.message == KINDS[name]
    assert "flax.linen.Module" in error.hint


def test_nnx_module_without_variables(write: Write) -> None:
    file = write(
        "net.py",
        "from flax import nnx\nclass Net(nnx.Module):\n    pass\nready = Net()\n",
    )
    words = "holds no variables: there is nothing to fill."
    assert fails(f"{file}:ready").message == f"ready {words}"
    assert fails(f"{file}:Net").message == f"Net {words}"


def test_bound_instance() -> None:
    error = fails("bound", "f32[1,2]")
    assert "bound to variables already" in error.message


def test_unknown_and_missing_name() -> None:
    error = fails("Mlpp")
    assert error.message == "There is no “Mlpp” in it."
    assert error.hint == "Did you mean Mlp?"
    error = fails(f"{NETS}:")
    assert "no module in it" in error.message
    assert "Mlp, Normed" in error.hint


CALLS: dict[str, tuple[tuple[str, ...], dict[str, Any], str, str]] = {
    "surplus": (
        ("f32[1]", "f32[2]"),
        {},
        "takes 1 inputs by position, 2 are given",
        "",
    ),
    "keyword": (("y=f32[1]",), {}, "has no argument “y”", "arguments: x"),
    "static": (
        ("f32[1]",),
        {"statics": (("train", "true"),)},
        "no argument “train”",
        "x",
    ),
    "method": (
        ("f32[1]",),
        {"method": "encode"},
        "Mlp has no method “encode”",
        "--method",
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_call_that_does_not_fit(case: str) -> None:
    inputs, rest, message, hint = CALLS[case]
    error = fails("Mlp", *inputs, **rest)
    assert message in error.message
    assert hint in error.hint


@pytest.mark.parametrize(
    ("kwargs", "statics"), [("{", ()), ("[1]", ()), ("{}", (("train", "True"),))]
)
def test_text_that_is_no_json(
    kwargs: str, statics: tuple[tuple[str, str], ...]
) -> None:
    spec = ModuleSpec(f"{NETS}:Normed", kwargs, ("f32[1,8,8,1]",), statics=statics)
    with pytest.raises(UsageError, match="JSON"):
        service.load_module(LoadModule(spec), lambda text: None)


def test_long_messages_are_cut() -> None:
    assert len(explain.first_paragraph(ValueError("x" * 5000))) == 600
    assert explain.first_paragraph(ValueError("one\ntwo\n\nthree")) == "one two"
