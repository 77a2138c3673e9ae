"""Each known mistake: what happened, in which line of the person's, what to do."""

from __future__ import annotations

import importlib
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx

from inspector.errors import LoadModuleError
from inspector.models.explain import failure
from inspector.models.explain_rules import RULES

of: Any = importlib.import_module("tests.modules.mistakes")
FILE = Path(of.__file__)
ROOTS = (FILE.parent,)
KEY = jax.random.key(0)
X = jnp.ones((2, 3))
PARAMS = {"Dense_0": {"kernel": jnp.ones((5, 4)), "bias": jnp.ones(4)}}


def marked(mark: str) -> str:
    """Returns ``file:line`` of the line that ends in a mark."""
    lines = FILE.read_text(encoding="utf-8").split("\n")
    found = [n for n, text in enumerate(lines, 1) if text.endswith(f"# <- {mark}")]
    assert len(found) == 1, mark
    return f"{FILE}:{found[0]}"


def explained(run: Callable[[], object]) -> LoadModuleError:
    try:
        run()
    except Exception as error:
        told = failure(error, ROOTS, doing="Tracing")
        told.__cause__ = error
        return told
    raise AssertionError


def init(module: Any, **rest: Any) -> Callable[[], object]:
    """Returns a function that traces ``init`` of a class or of an instance."""

    def run() -> object:
        made = module() if isinstance(module, type) else module
        return jax.eval_shape(lambda k, x: made.init(k, x, **rest), KEY, X)

    return run


def apply(module: Any, variables: Any, *inputs: Any, **rest: Any) -> Any:
    """Returns a function that traces ``apply``."""
    inputs = inputs or (X,)
    return lambda: jax.eval_shape(lambda v: module.apply(v, *inputs, **rest), variables)


def normed(*collections: str) -> dict[str, Any]:
    variables = jax.eval_shape(of.Normed().init, KEY, X)
    return {name: variables[name] for name in collections}


def rngs() -> nnx.Rngs:
    return nnx.Rngs(params=0)


CASES: dict[str, tuple[Callable[[], object], str, str, str]] = {
    # Case: what provokes it, the mark of the line, what happened, part of the hint.
    "unknown argument": (
        init(of.UnknownArgument),
        "unknown argument",
        "Plain takes no argument “features” (TypeError)",
        "`features: TYPE = …` in the class",
    ),
    "missing argument": (
        init(of.MissingArgument),
        "missing argument",
        "Dense was constructed without features (TypeError)",
        "Dense(features=…)",
    ),
    "function as method": (
        init(of.Initializer),
        "method",
        "kernel_init has no type annotation in Initializer, so Python takes it for a "
        "method and gives it the module first (TypeError)",
        "`kernel_init: Callable = …`",
    ),
    "field in setup": (
        init(of.FieldInSetup),
        "field in setup",
        "setup assigns a field, and fields are fixed once the module is constructed "
        "(SetAttributeInModuleSetupError)",
        "another name",
    ),
    "assigned in compact": (
        init(of.AssignedInCompact),
        "assigned in compact",
        "AssignedInCompact assigns self.layer outside of setup "
        "(SetAttributeFrozenModuleError)",
        "layer = …",
    ),
    "not compact": (
        init(of.NotCompact),
        "not compact",
        "a submodule (Dense) is made in a method that is not compact "
        "(AssignSubModuleError)",
        "@nn.compact",
    ),
    "parameter": (
        init(of.ParamNotCompact),
        "param",
        "a parameter is made in a method that is not compact (ValueError)",
        "@nn.compact",
    ),
    "name twice": (
        init(of.NameTwice),
        "name twice",
        "NameTwice makes two things called “a”, this submodule being the second "
        "(NameInUseError)",
        "another name=",
    ),
    "setup and compact": (
        init(of.SetupAndCompact),
        "setup and compact",
        "SetupAndCompact makes two things called “a”, this submodule being the second "
        "(NameInUseError)",
        "another name=",
    ),
    "post init": (
        init(of.PostInit),
        "",
        "the class has an __init__ or __post_init__ of its own that leaves out the one "
        "of Flax (IncorrectPostInitOverrideError)",
        "super().__post_init__()",
    ),
    "own init": (
        init(of.OwnInit(3)),
        "",
        "the class has an __init__ or __post_init__ of its own that leaves out the one "
        "of Flax (IncorrectPostInitOverrideError)",
        "fields in place of __init__",
    ),
    "unbound": (
        init(of.Unbound),
        "unbound",
        "a module is called that is bound to no variables "
        "(CallCompactUnboundModuleError)",
        "only inside init and apply",
    ),
    "setup attribute": (
        init(of.SetupAttribute),
        "setup attribute",
        "Inner has no attribute enc yet: what setup makes exists only inside "
        "init/apply (AttributeError)",
        ".bind(variables).enc",
    ),
    "setup unbound": (
        lambda: of.Inner().setup(),
        "",
        "setup of a module is called that is bound to no variables "
        "(CallSetupUnboundModuleError)",
        "only inside init and apply",
    ),
    "leaked": (
        lambda: of.BareScan().apply(of.BareScan().init(KEY, X), X),
        "bare",
        "an array left the jax transformation in which it was made "
        "(UnexpectedTracerError)",
        "nn.scan",
    ),
    "class": (
        init(of.ClassAsInstance),
        "class",
        "a class is used where an instance is needed (InvalidInstanceModuleError)",
        "Name() in place of Name",
    ),
    "no call": (
        init(of.NoCall),
        "",
        "NoCall has no __call__ (AttributeError)",
        "--method NAME",
    ),
    "branch": (
        init(of.Branch),
        "branch",
        "Python has to decide by a value (bool[]) that is not known while shapes are "
        "found (TracerBoolConversionError)",
        "jnp.where",
    ),
    "number": (
        init(of.Number),
        "number",
        "a Python number is needed and comes from the value of an array "
        "(ConcretizationTypeError)",
        "static argument",
    ),
    "index": (
        init(of.Index),
        "index",
        "an index or a size is the value of an array, not known while shapes are found "
        "(TracerIntegerConversionError)",
        "jnp.take",
    ),
    "numpy": (
        init(of.Numpy),
        "numpy",
        "numpy is given an array that has no numbers yet while shapes are found "
        "(TracerArrayConversionError)",
        "jax.numpy",
    ),
    "output": (
        lambda: jax.jit(lambda k: of.Text().init_with_output(k, X))(KEY),
        "",
        "the method returns something that is no array (object) (TypeError)",
        "Return arrays",
    ),
    "flag nowhere": (
        init(of.FlagNowhere),
        "flag nowhere",
        "the flag deterministic must be passed to the constructor or at call time, and "
        "is given nowhere (ValueError)",
        "deterministic=true (--call)",
    ),
    "flag twice": (
        init(of.FlagTwice),
        "twice",
        "the flag deterministic is given both in the constructor and in the call "
        "(ValueError)",
        "one of the two alone",
    ),
    "stream": (
        apply(of.NoStream(), {}),
        "no stream",
        "Dropout_0 draws from the rng stream “dropout”, which has no key "
        "(InvalidRngError)",
        "--rng dropout=0",
    ),
    "matrix product": (
        init(of.Shape),
        "shape",
        "a matrix product (dot_general) of 3 columns with 5 rows (TypeError)",
        "--input",
    ),
    "broadcast": (
        init(of.Broadcast),
        "broadcast",
        "add of arrays whose shapes do not go together: (2, 3), (5, 2) (TypeError)",
        "--kwargs",
    ),
    "endless": (
        init(of.Endless),
        "endless",
        "the module calls itself without end (RecursionError)",
        "calls itself",
    ),
    "params twice": (
        apply(of.Dense(), {"params": {"params": PARAMS}}),
        "",
        "the variables have params twice, as params/params "
        "(ApplyScopeInvalidVariablesStructureError)",
        "below the outer params",
    ),
    "no collections": (
        apply(of.Dense(), {"params": 3}),
        "",
        "the variables are no dict of collections "
        "(ApplyScopeInvalidVariablesTypeError)",
        "a collection first",
    ),
    "parameter missing": (
        apply(of.Dense(), {"params": PARAMS}, jnp.ones((2, 5))),
        "second",
        "params has no second/kernel (ScopeParamNotFoundError)",
        "another module",
    ),
    "collection missing": (
        apply(of.Dense(), {}),
        "width",
        "params is missing for Dense_0 (kernel) (ScopeCollectionNotFound)",
        "initial values",
    ),
    "not mutable": (
        apply(of.Normed(), normed("params", "batch_stats"), train=True),
        "statistics",
        "the method updates mean of BatchNorm_0, and batch_stats must not change in "
        "this call (ModifyScopeVariableError)",
        "--mutable batch_stats",
    ),
    "nnx list": (
        lambda: of.NnxList(rngs()),
        "nnx list",
        "NnxList.layers is a plain list with modules or arrays in it, which NNX would "
        "not see (ValueError)",
        "nnx.List",
    ),
    "nnx rngs": (
        of.NnxNoRngs,
        "nnx no rngs",
        "Linear makes random numbers and was constructed without rngs (TypeError)",
        "Linear(…, rngs=rngs)",
    ),
    "nnx stream": (
        lambda: of.NnxNoStream(rngs()),
        "nnx no stream",
        "the module draws from the rng stream “noise”, which nnx.Rngs was not given "
        "(AttributeError)",
        "--rng noise=0",
    ),
    "nnx dropout": (
        lambda: of.NnxNoDropoutRngs(rngs())(X),
        "nnx dropout",
        "Dropout is in training mode and has no rngs to draw from (ValueError)",
        "--mode eval",
    ),
    "nnx flag": (
        lambda: of.NnxFlag(nnx.Rngs(0))(jnp.ones((2, 4))),
        "nnx flag",
        "MultiHeadAttention was not told whether it trains: deterministic is given "
        "nowhere (ValueError)",
        ".train() or .eval()",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_mistake(case: str) -> None:
    run, mark, message, hint = CASES[case]
    error = explained(run)
    assert error.message == f"Tracing failed: {message}."
    assert hint in error.hint
    assert error.where == (marked(mark) if mark else "")
    # The whole traceback is one click away.
    assert type(error.__cause__).__name__ in "".join(traceback.format_exception(error))


DEFINITIONS = {
    "class N(nn.Module):\n    l: list = [1]": (
        "the field l has a list as its default, which every instance would share "
        "(mutable default) (ValueError)",
        "default_factory",
    ),
    "class N(nn.Module):\n    a: int = 1\n    b: int": (
        "the field b has no default and stands behind one that has (non-default "
        "argument) (TypeError)",
        "first",
    ),
    "class N(nn.Module):\n    parent: int": (
        "a field is called parent, a name that Flax uses itself "
        "(ReservedModuleAttributeError)",
        "Rename the field",
    ),
}


@pytest.mark.parametrize("source", DEFINITIONS)
def test_mistake_in_a_class(source: str) -> None:
    message, hint = DEFINITIONS[source]
    whole = f"from flax import linen as nn\n{source}"
    error = explained(lambda: exec(whole, {"__name__": "__main__"}))
    assert error.message == f"Tracing failed: {message}."
    assert hint in error.hint


def test_every_rule_can_be_filled_in() -> None:
    for rule in RULES:
        groups = re.compile(rule.pattern).groups
        filled = [f"<{n}>" for n in range(groups)]
        assert rule.words.format(*filled) != "" or rule.kind == "SyntaxError"
        assert rule.hint.format(*filled).endswith((".", "…"))


def test_memory() -> None:
    error = explained(lambda: _raise(RuntimeError("RESOURCE_EXHAUSTED: Out of memory")))
    assert "allocates more than there is" in error.message
    assert "smaller" in error.hint


def _raise(error: Exception) -> None:
    raise error
