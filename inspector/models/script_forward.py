"""Python lines that call a module under ``jax.jit``, one way for each framework.

For the programs that `script` writes: what stands here is what `Subject.forward` of
the family does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from inspector.models.subject import ResolvedCall, Subject


@dataclass(frozen=True, slots=True)
class Written:
    """What a call turned out to need.

    Attributes:
        subject: The module.
        call: The call.
        seeds: Seed by stream.
        mutable: Collections that may be updated.
    """

    subject: Subject
    call: ResolvedCall
    seeds: Mapping[str, int]
    mutable: tuple[str, ...]

    @property
    def statics(self) -> list[str]:
        """The static arguments as code, e.g. ``"train=True"``."""
        codes = self.call.codes
        return [
            f"{name}={codes.get(name, repr(value))}"
            for name, value in self.call.statics.items()
        ]

    @property
    def keys(self) -> str:
        """The keys of the streams as code."""
        items = (f"{name!r}: jax.random.key({s})" for name, s in self.seeds.items())
        return "{" + ", ".join(items) + "}"


def _linen(written: Written) -> list[str]:
    call = written.call
    lines = [f"rngs = {written.keys}", ""]
    if call.fields:
        fields = ", ".join(f"{name}={value!r}" for name, value in call.fields.items())
        lines = [f"module = module.clone({fields})", *lines]
    if call.apply is not None:
        return [*lines, *_applied(written, "variables")]
    arguments = ["variables", "*args", "**kwargs", *written.statics, "rngs=rngs"]
    if call.method:
        arguments.append(f"method={call.method!r}")
    if written.mutable:
        arguments.append(f"mutable={list(written.mutable)!r}")
    result = "outputs, updates" if written.mutable else "outputs"
    lines += [
        "",
        "def forward(variables, rngs, *args, **kwargs):",
        "    return module.apply(",
        *(f"        {argument}," for argument in arguments),
        "    )",
        "",
        "",
        f"{result} = jax.jit(forward)(variables, rngs, *inputs, **named)",
    ]
    return lines if written.mutable else [*lines, "updates = {}"]


def _nnx(written: Written) -> list[str]:
    call = written.call
    lines = ["from flax import nnx"]
    if call.mode:
        lines.append(f"module.{call.mode}()")
    if written.seeds:
        seeds = ", ".join(f"{name}={seed}" for name, seed in written.seeds.items())
        lines.append(f"nnx.reseed(module, {seeds})")
    if call.apply is not None:
        return [*lines, *_applied(written, "module")]
    method = f".{call.method}" if call.method else ""
    rngs = f"{call.rngs_argument}=nnx.Rngs(**rngs)" if call.rngs_argument else ""
    parts = ["*args", "**kwargs", *written.statics, rngs]
    arguments = ", ".join(part for part in parts if part)
    return [
        *lines,
        *([f"rngs = {written.keys}"] if rngs else []),
        "graphdef, state = nnx.split(module)",
        "",
        "",
        "def forward(state, *args, **kwargs):",
        "    module = nnx.merge(graphdef, state)",
        f"    outputs = module{method}({arguments})",
        "    return outputs, nnx.state(module)",
        "",
        "",
        "# The state after the call; what the call does not change is as before.",
        "outputs, updates = jax.jit(forward)(state, *inputs, **named)",
    ]


def _pytree(written: Written) -> list[str]:
    call = written.call
    method = f".{call.method}" if call.method else ""
    target = f"module{method}" if call.apply is None else "apply"
    given = [] if call.apply is None else ["module"]
    arguments = ", ".join([*given, "*args", "**kwargs", *written.statics])
    return [
        "leaves, structure = jax.tree.flatten(module)",
        "# Arrays are arguments of the program; functions and numbers are part of it.",
        "arrays = [one if hasattr(one, 'dtype') else None for one in leaves]",
        "",
        "",
        "def forward(arrays, *args, **kwargs):",
        "    pairs = zip(arrays, leaves)",
        "    whole = [leaf if array is None else array for array, leaf in pairs]",
        "    module = jax.tree.unflatten(structure, whole)",
        f"    return {target}({arguments})",
        "",
        "",
        "outputs = jax.jit(forward)(arrays, *inputs, **named)",
        "updates = {}",
    ]


def _applied(written: Written, first: str) -> list[str]:
    arguments = ", ".join([first, "*args", "**kwargs", *written.statics])
    return [
        "",
        f"def forward({first}, *args, **kwargs):",
        f"    return apply({arguments})",
        "",
        "",
        f"outputs = jax.jit(forward)({first}, *inputs, **named)",
        "updates = {}",
    ]


FORWARDS: dict[str, Callable[[Written], list[str]]] = {
    "linen": _linen,
    "nnx": _nnx,
    "pytree": _pytree,
}
"""Family -> lines that define ``forward`` and leave ``outputs`` and ``updates``."""
