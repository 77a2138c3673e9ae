"""Sees every module call of a trace: what went in, what came out, in which order.

`CallWatch` is the `Around` of everything that looks inside a forward pass. It keeps
tracers, so what it saw is only good inside the traced function, but for their shapes.
Thread of the model process that runs the person's code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jax

from inspector.models import compat
from inspector.models.settling import is_array
from inspector.models.subject import SiteCall
from inspector.programs.source_lines import Marks
from inspector.variables.path import TreePath

_INSIDE = {
    "scan": "step of a scan",
    "while_loop": "turn of a while loop",
    "cond": "branch of a cond",
    "vmap": "inside vmap",
}
_OTHER = "inside another transformation"

Position = tuple[TreePath, str, int]
"""Module path, method, and which of the calls of that method: the first is 0."""


@dataclass
class SeenCall:
    """One call of one module.

    Attributes:
        index: Number in call order.
        path: Module path.
        kind: Class of the module.
        method: Method.
        nth: Which call of that method of that module, the first is 0.
        args: Inputs by position.
        kwargs: Inputs by keyword.
        outputs: What it returned; None while it runs.
        is_inner: Whether it ran inside another trace, as the body of a scan, whose
            values do not exist outside of it.
        finished: Number in order of the ends of calls; -1 when it raised.
        inside: What an inner call runs in, e.g. ``"step of a scan"``.
    """

    index: int
    path: TreePath
    kind: str
    method: str
    nth: int
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: Any = None
    is_inner: bool = False
    finished: int = -1
    inside: str = ""

    @property
    def position(self) -> Position:
        """What it is found by in another trace of the same call."""
        return self.path, self.method, self.nth


@dataclass
class CallWatch:
    """Notes every module call of one trace.

    Attributes:
        marks: Marks the equations of each module; None to leave the trace as it is.
        calls: What was seen, in call order.
    """

    marks: Marks | None = None
    calls: list[SeenCall] = field(default_factory=list)
    _outermost: object = None
    _counts: dict[tuple[TreePath, str, int], int] = field(default_factory=dict)
    _inner: set[Position] = field(default_factory=set)
    _traces: list[object] = field(default_factory=list)
    _ended: int = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Begins anew; for the body of the traced function, which may run twice."""
        self.calls.clear()
        self._counts.clear()
        self._inner.clear()
        self._ended = 0
        self._outermost = compat.current_trace()
        self._traces = [self._outermost]
        with compat.without_remat():
            yield

    def __call__(self, site: SiteCall) -> Any:
        """Calls the module and notes it."""
        call = self._begin(site)
        if self.marks is None:
            outputs = site.function(*site.args, **site.kwargs)
        else:
            with self.marks.mark(site.path):
                outputs = site.function(*site.args, **site.kwargs)
        if call is not None:
            call.outputs = outputs
            call.finished = self._ended
            self._ended += 1
        return outputs

    def _begin(self, site: SiteCall) -> SeenCall | None:
        """Notes a call; None for one of a body that JAX traces a second time.

        Flax runs helpers of its own as methods too, e.g. a lambda in every scan.
        """
        if not site.method.isidentifier():
            return None
        trace = self._trace()
        key = (site.path, site.method, trace)
        nth = self._counts.get(key, 0)
        self._counts[key] = nth + 1
        position = (site.path, site.method, nth)
        if trace:
            if position in self._inner:
                return None
            self._inner.add(position)
        call = SeenCall(
            len(self.calls),
            site.path,
            site.kind,
            site.method,
            nth,
            tuple(site.args),
            dict(site.kwargs),
            is_inner=bool(trace),
            inside=_INSIDE.get(compat.transformation(), _OTHER) if trace else "",
        )
        self.calls.append(call)
        return call

    def _trace(self) -> int:
        """Returns the number of the trace that runs; 0 is the outermost."""
        trace = compat.current_trace()
        for number, known in enumerate(self._traces):
            if known == trace:
                return number
        self._traces.append(trace)
        return len(self._traces) - 1


def arrays_in(value: Any) -> list[Any]:
    """Returns the arrays and tracers of a pytree, in order."""
    leaves: list[Any] = jax.tree_util.tree_leaves(value)
    return [leaf for leaf in leaves if is_array(leaf)]
