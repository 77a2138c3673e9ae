"""The only place with names of JAX and Flax that are private or change by version.

Every one has a test in ``tests/models/test_compat.py`` that fails when an upgrade
moves it. Public names are used where they are needed, not here.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any

import flax
import jax
from flax import nnx
from flax.core import scope as flax_scope
from jax.extend import core as jax_core

PRNG_FLAGS = (
    "jax_default_prng_impl",
    "jax_threefry_partitionable",
    "jax_enable_x64",
    "jax_numpy_dtype_promotion",
)
"""Settings of JAX that change the initial values of a module."""


@contextmanager
def recorded_streams() -> Iterator[list[str]]:
    """Gives a list to which every rng stream that is drawn from is added.

    Interceptors of Flax do not see ``make_rng`` of a scope, from which parameters
    draw, so the method is replaced for the time of the body. The name recorded is
    the one asked for, not the stream that Flax falls back to.
    """
    streams: list[str] = []
    scope: Any = flax_scope.Scope
    original = scope.make_rng

    def make_rng(self: flax_scope.Scope, name: str = "params") -> Any:
        if name not in streams:
            streams.append(name)
        return original(self, name)

    scope.make_rng = make_rng
    try:
        yield streams
    finally:
        scope.make_rng = original


@contextmanager
def recorded_rngs() -> Iterator[list[str]]:
    """Gives a list to which every stream that ``nnx.Rngs`` hands a key of is added."""
    streams: list[str] = []
    stream: Any = nnx.rnglib.RngStream
    original = stream.__call__

    def call(self: Any) -> Any:
        if self.tag not in streams:
            streams.append(self.tag)
        return original(self)

    stream.__call__ = call
    try:
        yield streams
    finally:
        stream.__call__ = original


@contextmanager
def traced_arrays_are_data() -> Iterator[None]:
    """Makes NNX take a tracer that is an attribute for the array it stands for.

    Flax tells data from static attributes by the class of the value, and that of a
    tracer is not among them, so arrays outside of Variables would be lost.
    """
    graphlib: Any = importlib.import_module(nnx.split.__module__)
    original = graphlib.is_node_leaf
    graphlib.is_node_leaf = lambda x: isinstance(x, jax.Array) or original(x)
    try:
        yield
    finally:
        graphlib.is_node_leaf = original


@contextmanager
def without_eager_sharding() -> Iterator[None]:
    """Lets annotated NNX Variables be made where there is no mesh."""
    switch: Any = getattr(nnx, "use_eager_sharding", None)
    with nullcontext() if switch is None else switch(False):
        yield


def bind(equation: jax_core.JaxprEqn, values: Sequence[Any]) -> list[Any]:
    """Computes one equation on concrete values, as plain Python code would.

    ``get_bind_params`` returned a pair of functions and parameters before JAX 0.9.2
    and returns the parameters alone since.
    """
    primitive: Any = equation.primitive
    parameters = primitive.get_bind_params(equation.params)
    functions: Sequence[Any] = ()
    if isinstance(parameters, tuple):
        functions, parameters = parameters
    with equation.ctx.manager:
        found = primitive.bind(*functions, *values, **parameters)
    return list(found) if primitive.multiple_results else [found]


def prng_flags() -> tuple[tuple[str, str], ...]:
    """Returns the present (setting, value) pairs of `PRNG_FLAGS`."""
    return tuple(
        (name, str(getattr(jax.config, name)))
        for name in PRNG_FLAGS
        if hasattr(jax.config, name)
    )


def backend_errors() -> tuple[str, ...]:
    """Returns what the backends said that could not be started; empty for none."""
    bridge: Any = importlib.import_module("jax._src.xla_bridge")
    errors = getattr(bridge, "_backend_errors", None) or {}
    # A TPU is asked for on every machine, and missing on nearly all.
    return tuple(f"{name}: {text}" for name, text in errors.items() if name != "tpu")


def use_cpu_only() -> None:
    """Makes JAX forget the platforms that were asked for, and start the CPU alone.

    For a process in which the asked backend failed: without it nothing can run.
    """
    bridge: Any = importlib.import_module("jax._src.xla_bridge")
    config: Any = jax.config
    config.update("jax_platforms", "cpu")
    bridge._clear_backends()  # noqa: SLF001 - JAX has no public way to start again


@contextmanager
def recorded_draws(note: Callable[[tuple[str, ...], str, str], None]) -> Iterator[None]:
    """Calls ``note(module path, stream asked for, stream used)`` at every draw.

    See `recorded_streams` for why methods of Flax are replaced. A stream of NNX has
    a tag; which module holds it is said by `named_streams`.
    """
    scope: Any = flax_scope.Scope
    original = scope.make_rng

    def make_rng(self: flax_scope.Scope, name: str = "params") -> Any:
        found = original(self, name)
        note(tuple(self.path), name, name if self.has_rng(name) else "params")
        return found

    stream: Any = nnx.rnglib.RngStream
    draw = stream.__call__

    def call(self: Any) -> Any:
        for paths in _STREAM_PATHS[-1:]:
            if id(self) in paths:
                note(paths[id(self)], self.tag, self.tag)
        return draw(self)

    scope.make_rng, stream.__call__ = make_rng, call
    try:
        yield
    finally:
        scope.make_rng, stream.__call__ = original, draw


def current_trace() -> object:
    """Returns something that is equal within one trace, other in another.

    It moved from ``jax.core`` to ``jax.extend.core``.
    """
    state: Any = getattr(jax_core, "get_opaque_trace_state", None)
    if state is None:
        state = jax.core.get_opaque_trace_state
    return state(convention="flax")


def abstract(value: Any) -> Any:
    """Returns shape, dtype and weak type of an array or a number.

    ``jax.typeof`` came with JAX 0.6; before it there was a private name alone.
    """
    typeof: Any = getattr(jax, "typeof", None)
    if typeof is None:
        typeof = importlib.import_module("jax._src.api_util").shaped_abstractify
    return typeof(value)


def scopes(equation: jax_core.JaxprEqn) -> tuple[tuple[str, str], ...]:
    """Returns the names around an equation in its own program, outermost first.

    Each is (``"scope"``, name) of a ``jax.named_scope`` or (``"transform"``, name)
    of a transformation, e.g. ``"jvp"``, ``"transpose"`` or ``"vmap"``.
    """
    return tuple(
        ("transform" if type(one).__name__ == "Transform" else "scope", one.name)
        for one in equation.source_info.name_stack.stack
    )


def user_frames(equation: jax_core.JaxprEqn) -> tuple[tuple[str, int], ...]:
    """Returns (file, line) of the calls that made an equation, innermost first.

    JAX's own frames are left out; those of Flax are not.
    """
    source_info: Any = importlib.import_module("jax._src.source_info_util")
    frames = source_info.user_frames(equation.source_info.traceback)
    return tuple((frame.file_name, frame.start_line) for frame in frames)


def call_stack(equation: jax_core.JaxprEqn) -> tuple[tuple[object, ...], ...]:
    """Returns (file, line, columns) of the calls that made an equation, as above.

    Operations of one line have other columns; the equations of one operation, its
    derivatives among them, have the same.
    """
    source_info: Any = importlib.import_module("jax._src.source_info_util")
    frames = source_info.user_frames(equation.source_info.traceback)
    return tuple(
        (one.file_name, one.start_line, one.start_column, one.end_column)
        for one in frames
    )


def transformation() -> str:
    """Returns which of JAX's transformations traces the caller; empty when unknown.

    One of ``"scan"``, ``"while_loop"``, ``"cond"`` and ``"vmap"``, the innermost. There
    is no other sign of it than functions of JAX on the stack; Flax traces the body of
    a scan by itself first.
    """
    names = {"vmap_f": "vmap", "scan_fn": "scan"}
    names |= {name: name for name in ("scan", "while_loop", "cond")}
    packages = tuple(str(Path(str(one.__file__)).parent) for one in (jax, flax))
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - inspect.stack reads source files
    while frame is not None:
        code = frame.f_code
        if code.co_name in names and code.co_filename.startswith(packages):
            return names[code.co_name]
        frame = frame.f_back
    return ""


@contextmanager
def without_remat() -> Iterator[None]:
    """Makes ``jax.checkpoint`` do nothing in the body, so nothing is hidden in it.

    It changes what is kept for a backward pass, never a value of the forward pass.
    """
    names = {name: getattr(jax, name) for name in ("checkpoint", "remat")}

    def plain(function: Any = None, *_: Any, **options: Any) -> Any:
        if function is None:
            return lambda other: plain(other, **options)
        return function

    for name in names:
        setattr(jax, name, plain)
    try:
        yield
    finally:
        for name, original in names.items():
            setattr(jax, name, original)


@contextmanager
def named_streams(paths: Mapping[int, tuple[Any, ...]]) -> Iterator[None]:
    """Tells `recorded_draws` which module holds an NNX stream.

    Args:
        paths: Path of the module by the identity of the stream.
    """
    _STREAM_PATHS.append(paths)
    try:
        yield
    finally:
        _STREAM_PATHS.pop()


_STREAM_PATHS: list[Mapping[int, tuple[Any, ...]]] = []
