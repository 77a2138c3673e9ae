"""Traces ``module.init`` of a Linen module: its variable tree, without allocating it.

One trace gives everything: the shapes, the rng streams that are drawn from, what
was declared and never used, and the equations from which `initial` makes values.
Called on the thread of the model process that runs the person's code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
from flax import errors as flax_errors
from flax import linen as nn
from jax.extend import core as jax_core

from inspector.models import compat, explain
from inspector.models.call import InitCall
from inspector.models.describe import Described, describe
from inspector.models.inputs import abstract_leaves, with_leaves
from inspector.models.traced import Traced
from inspector.variables.leaf import Kind
from inspector.variables.path import TreePath, join

PARAMS = "params"
"""The stream that always gets a key: Flax falls back to it."""

_MOST_STREAMS = 16


def trace_init(
    module: nn.Module,
    call: InitCall,
    seeds: Mapping[str, int],
    roots: Sequence[Path],
) -> Traced:
    """Traces ``module.init(rngs, *inputs, **statics)``.

    Traces again as long as streams turn up that had no key: the numbers are those
    of ``init`` with a key for every stream it draws from.

    Args:
        module: The constructed module.
        call: The call.
        seeds: Seeds by stream; streams not named get 0.
        roots: Folders whose files count as the person's in messages.

    Raises:
        LoadModuleError: The module raised; its line is named.
    """
    given = {PARAMS: 0, **seeds}
    drawn: list[str] = []
    while True:
        with compat.recorded_streams() as streams:
            missing, traced = _try(module, call, given, roots)
        drawn += [name for name in streams if name not in drawn]
        new = [name for name in (*drawn, *missing) if name not in given]
        if traced is not None and not new:
            names = (PARAMS, *(name for name in drawn if name != PARAMS))
            return traced(names)
        given.update(dict.fromkeys(new, 0))


_Finish = Callable[[tuple[str, ...]], Traced]


def _try(
    module: nn.Module, call: InitCall, given: dict[str, int], roots: Sequence[Path]
) -> tuple[list[str], _Finish | None]:
    """Traces once; gives the streams that were missed, or how to finish."""
    watch = _Watch()
    found: list[Described] = []
    try:
        jaxpr = _make_jaxpr(module, call, given, watch, found)
    except flax_errors.InvalidRngError as error:
        name = missed_stream(error)
        if name and name not in given and len(given) < _MOST_STREAMS:
            return [name], None
        raise _failed(module, call, error, roots) from error
    except BaseException as error:
        # The person's code may raise anything, SystemExit included.
        raise _failed(module, call, error, roots) from error

    def finish(streams: tuple[str, ...]) -> Traced:
        traced = _finished(jaxpr, found[-1], streams, given, watch.unused())
        return replace(traced, inputs=_abstract(call))

    return [], finish


def _make_jaxpr(
    module: nn.Module,
    call: InitCall,
    given: Mapping[str, int],
    watch: _Watch,
    found: list[Described],
) -> jax_core.ClosedJaxpr:
    key = jax.eval_shape(lambda: jax.random.key(0))

    def init(keys: list[Any], inputs: list[Any]) -> list[Any]:
        rngs = dict(zip(given, keys, strict=True))
        # Arrays of files go in as NumPy arrays, exactly as in the code we show.
        values = with_leaves([one.value for one in call.inputs], inputs)
        count = len(call.positional)
        names = [one.keyword for one in call.named]
        named = dict(zip(names, values[count:], strict=True))
        options = {"method": call.method} if call.method else {}
        with nn.intercept_methods(watch):
            run: Any = module.init
            variables = run(rngs, *values[:count], **named, **call.statics, **options)
        found.append(describe(variables))
        return [leaf.value for leaf in found[-1].leaves if leaf.kind is Kind.ARRAY]

    return jax.make_jaxpr(init)([key] * len(given), list(_abstract(call)))


def _abstract(call: InitCall) -> tuple[jax.ShapeDtypeStruct, ...]:
    """Returns the inputs that are shapes; arrays with numbers are constants."""
    return abstract_leaves([one.value for one in call.inputs])


def _finished(
    jaxpr: jax_core.ClosedJaxpr,
    described: Described,
    streams: tuple[str, ...],
    seeds: dict[str, int],
    unused: tuple[TreePath, ...],
) -> Traced:
    avals = iter(jaxpr.out_avals)
    leaves = tuple(
        replace(leaf, value=next(avals)) if leaf.kind is Kind.ARRAY else leaf
        for leaf in described.leaves
    )
    # A tracer that outlived its transformation enters the outer trace as a constant.
    tracers = {
        variable
        for variable, value in zip(jaxpr.jaxpr.constvars, jaxpr.consts, strict=True)
        if isinstance(value, jax.core.Tracer)
    }
    arrays = [leaf.path for leaf in leaves if leaf.kind is Kind.ARRAY]
    outputs = zip(arrays, jaxpr.jaxpr.outvars, strict=True)
    lost = frozenset(
        path
        for path, variable in outputs
        if not isinstance(variable, jax_core.Literal) and variable in tracers
    )
    whole = Described(leaves, described.containers)
    return Traced(whole, jaxpr, streams, dict(seeds), lost, unused)


def missed_stream(error: flax_errors.InvalidRngError) -> str:
    """Returns the stream that the error says is needed."""
    _, _, rest = str(error).partition('needs PRNG for "')
    return rest.partition('"')[0]


def _failed(
    module: nn.Module, call: InitCall, error: BaseException, roots: Sequence[Path]
) -> Exception:
    name = type(module).__name__
    return explain.failure(
        error,
        roots,
        doing=f"Tracing init of {name} with inputs {call.given}",
        where=name,
        hint="Check the inputs (--input), the flags (--call) and the constructor "
        "arguments (--kwargs).",
    )


class _Watch:
    """Interceptor that notes which submodules are declared and which are used."""

    def __init__(self) -> None:
        self._declared: dict[TreePath, None] = {}
        self._used: set[TreePath] = set()

    def __call__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        context: nn.module.InterceptorContext,
    ) -> Any:
        result = function(*args, **kwargs)
        if context.method_name == "setup":
            for child in _submodules(context.module):
                self._declared.setdefault(child.path)
        elif context.module.scope is not None:
            self._used.add(context.module.path)
        return result

    def unused(self) -> tuple[TreePath, ...]:
        """Returns the declared submodules of which nothing ran."""
        used = {path[:n] for path in self._used for n in range(1, len(path) + 1)}
        return tuple(path for path in self._declared if path not in used)


def _submodules(module: nn.Module) -> list[nn.Module]:
    own = {
        name: value
        for name, value in vars(module).items()
        if name[0] != "_" and name != "parent"
    }
    leaves = jax.tree_util.tree_leaves(
        own, is_leaf=lambda value: isinstance(value, nn.Module)
    )
    return [
        leaf
        for leaf in leaves
        if isinstance(leaf, nn.Module) and leaf.scope is not None
    ]


def unused_note(path: TreePath, method: str) -> str:
    """Returns the sentence about a declared submodule without variables."""
    return (
        f"{join(path)} is declared in setup and {method or '__call__'} never calls it, "
        "so it has no variables here; another method (--method) may."
    )
