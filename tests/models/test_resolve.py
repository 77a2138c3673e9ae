"""From the text of a call to what can be traced, compared with a direct apply."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from inspector.engine.messages.calling import Call
from inspector.errors import InspectorError, LoadModuleError, UsageError
from inspector.models.inputs import made
from inspector.models.loading import load_subject
from inspector.models.resolve import resolve
from inspector.models.subject import ResolvedCall, Subject
from tests.models.loading import Write, quiet, spec_of

HEAD = """
import enum
from typing import Any, Callable
import jax
import jax.numpy as jnp
from flax import linen as nn

class Pool(enum.Enum):
    MEAN = "mean"
    MAX = "max"
"""
CHOICES = (
    HEAD
    + """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x, *rest, pool: Pool = Pool.MEAN, act: Callable = nn.relu,
                 dtype: Any = jnp.float32, title="plain", sizes=(1, 2)):
        assert isinstance(pool, Pool) and isinstance(title, str), (pool, title)
        assert isinstance(sizes, tuple)
        x = act(nn.Dense(3, dtype=dtype)(x))
        return x.mean(0) if pool is Pool.MEAN else x.max(0)

    def double(self, x):
        return 2 * x

def outside(variables, x, *, scale=1.0):
    return variables["params"]["Dense_0"]["bias"] + scale * x.sum()
"""
)


def subject_of(name: str, *inputs: str, **rest: Any) -> Subject:
    return load_subject(spec_of(name, *inputs, **rest), quiet)


def run(subject: Subject, call: Call, rngs: Mapping[str, Any] | None = None) -> Any:
    """Runs a call on fresh variables, outside of ``jax.jit``."""
    resolved = resolve(subject, call)
    module: nn.Module = subject.module
    variables = jax.jit(module.init)(jax.random.key(0), *made(resolved.args))
    forward = subject.forward(resolved, ())
    return forward(variables, rngs or {}, made(resolved.args), made(resolved.kwargs))[0]


def fails(subject: Subject, call: Call) -> InspectorError:
    with pytest.raises((LoadModuleError, UsageError)) as caught:
        resolve(subject, call)
    return caught.value


def test_inputs_statics_and_code(write: Write) -> None:
    file = write("net.py", CHOICES)
    subject = subject_of(f"{file}:Net", "f32[2,3]")
    call = Call(
        inputs=("f32[2,3]:normal(1)",),
        statics=(
            ("pool", '"MAX"'),
            ("act", '"tanh"'),
            ("dtype", '"bfloat16"'),
            ("title", '"relu"'),
            ("sizes", "[3]"),
        ),
    )
    found = resolve(subject, call)
    assert found.statics["pool"].name == "MAX"  # type: ignore[attr-defined]  # an enum of the file
    assert found.statics["dtype"] is jnp.bfloat16
    assert found.statics["title"] == "relu"
    assert found.statics["sizes"] == (3,)
    assert found.codes["pool"] == "Pool.MAX"
    assert found.codes["dtype"] == "jnp.bfloat16"
    assert found.codes["sizes"] == "(3,)"
    assert found.codes[0] == 'jax.random.normal(jax.random.key(1), (2, 3), "float32")'
    assert "from net import Pool" in found.imports
    assert "import jax" in found.imports
    assert run(subject, call).dtype == jnp.bfloat16


def test_function_in_place_of_a_method(write: Write) -> None:
    file = write("net.py", CHOICES)
    write("other.py", "from net import outside\n")
    subject = subject_of(f"{file}:Net", "f32[2,3]")
    call = Call(
        inputs=("f32[2,3]",), statics=(("scale", "2.0"),), apply=f"{file}:outside"
    )
    assert np.asarray(run(subject, call)).tolist() == [12, 12, 12]
    beside = Call(inputs=("f32[2,3]",), apply="other.py:outside", cwd=str(file.parent))
    found = resolve(subject, beside)
    assert found.apply is subject.imported.module.outside
    assert found.apply_code[-2:] == ("from other import outside", "apply = outside")
    error = fails(subject, Call(inputs=("f32[1]",), apply=f"{file}:HEAD"))
    assert error.message == "There is no “HEAD” in it."
    error = fails(subject, Call(apply=f"{file}:outside"))
    assert error.message.startswith("outside(x, *, scale=1.0) needs an input for x")
    error = fails(subject, Call(apply=f"{file}:enum"))
    assert error.message == "enum is no function."


def test_method() -> None:
    subject = subject_of("Shared", "f32[2,5]")
    assert resolve(subject, Call("__call__", ("f32[2,5]",))).method == ""
    assert resolve(subject, Call("other", ("f32[2,5]",))).method == "other"
    error = fails(subject, Call("othre", ("f32[2,5]",)))
    assert error.hint == "Did you mean other?"


WRONG: dict[str, tuple[Call, str]] = {
    "missing": (Call(), "needs an input for x; given: none"),
    "surplus": (Call(inputs=("f32[1]", "f32[1]", "f32[1]")), "takes 2 inputs"),
    "unknown": (Call(inputs=("f32[1]",), statics=(("b", "1"),)), "no argument “b”"),
    "keyword": (Call(inputs=("f32[1]", "y=f32[1]")), "no argument “y”"),
    "twice": (Call(inputs=("f32[1]", "x=f32[1]")), "x of Normed.__call__"),
    "both": (
        Call(inputs=("x=f32[1]",), statics=(("x", "1"),)),
        "The argument x is given twice",
    ),
    "json": (Call(inputs=("f32[1]",), statics=(("train", "True"),)), "not JSON"),
    "mode": (Call(inputs=("f32[1]",), mode="test"), "“test” is not a mode"),
}


@pytest.mark.parametrize("case", WRONG)
def test_call_that_does_not_fit(case: str) -> None:
    call, message = WRONG[case]
    assert message in fails(subject_of("Normed", "f32[1,8,8,1]"), call).message


def modes(subject: Subject, call: Call) -> list[ResolvedCall]:
    return [
        resolve(
            subject,
            Call(call.method, call.inputs, call.statics, mode, apply=call.apply),
        )
        for mode in ("", "train", "eval")
    ]


def test_required_flag() -> None:
    subject = subject_of("Normed", "f32[1,8,8,1]")
    plain, train, eval_ = modes(subject, Call(inputs=("f32[1,8,8,1]",)))
    assert plain.statics == {"train": False}
    assert [remark.kind for remark in plain.remarks] == ["mode"]
    assert "value for inference" in plain.remarks[0].text
    assert (train.statics, eval_.statics) == ({"train": True}, {"train": False})
    assert train.remarks == eval_.remarks == ()
    given = modes(subject, Call(inputs=("f32[1]",), statics=(("train", "false"),)))
    assert [one.statics for one in given] == [{"train": False}] * 3
    by_position = modes(subject, Call(inputs=("f32[1]", "true")))
    assert [one.statics for one in by_position] == [{}] * 3
    assert by_position[0].args[1] is True


def test_no_switch() -> None:
    _, train, _ = modes(subject_of("Mlp", "f32[1,3]"), Call(inputs=("f32[1,3]",)))
    assert train.statics == train.fields == {}
    assert train.remarks[0].text == (
        "The module has no train/eval switch, so mode train changes nothing."
    )


def test_relative_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.full((1, 3), 2, "float32"))
    call = Call(inputs=("x.npy",), cwd=str(tmp_path))
    found = resolve(subject_of("Mlp", "f32[1,3]"), call)
    assert found.args[0].tolist() == [[2, 2, 2]]
    assert found.texts == ("x.npy",)
