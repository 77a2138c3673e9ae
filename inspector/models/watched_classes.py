"""Lets an `Around` see the calls of modules that have no interceptor of their own.

NNX and pytrees call methods plainly, so the classes met in a module have theirs
replaced while it runs; a call of an object that is none of the module's goes through
untouched. On the thread that runs the person's code, inside of one trace.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from flax import nnx

from inspector.models.class_methods import class_methods
from inspector.models.subject import Around, SiteCall
from inspector.variables.path import TreePath

_MISSING = object()


@contextmanager
def watched_classes(
    modules: Mapping[TreePath, Any], around: Around | None
) -> Iterator[None]:
    """Calls ``around`` in place of every method call of the modules in the body.

    Args:
        modules: The modules by path.
        around: What sees the calls; None to change nothing.
    """
    if around is None:
        yield
        return
    watch = _Watch({id(one): path for path, one in modules.items()}, around)
    replaced: list[tuple[type, str, Any]] = []
    try:
        for kind in dict.fromkeys(type(one) for one in modules.values()):
            for name in _watched_methods(kind):
                original = getattr(kind, name)
                replaced.append((kind, name, vars(kind).get(name, _MISSING)))
                setattr(kind, name, watch.wrapped(original, name))
        yield
    finally:
        for kind, name, before in reversed(replaced):
            if before is _MISSING:
                delattr(kind, name)
            else:
                setattr(kind, name, before)


def _watched_methods(kind: type) -> tuple[str, ...]:
    base = nnx.Module if issubclass(kind, nnx.Module) else object
    return class_methods(kind, base)


class _Watch:
    """Makes the functions that stand in for methods."""

    def __init__(self, paths: Mapping[int, TreePath], around: Around) -> None:
        self._paths, self._around = paths, around
        self._inside: list[tuple[int, str]] = []

    def wrapped(self, original: Callable[..., Any], name: str) -> Callable[..., Any]:
        """Returns what is called in place of a method."""

        @functools.wraps(original)
        def call(this: Any, *args: Any, **kwargs: Any) -> Any:
            key = id(this), name
            # A method that calls that of its base is one call.
            if id(this) not in self._paths or key in self._inside[-1:]:
                return original(this, *args, **kwargs)
            self._inside.append(key)
            try:
                site = SiteCall(
                    self._paths[id(this)],
                    type(this).__name__,
                    name,
                    this,
                    functools.partial(original, this),
                    args,
                    kwargs,
                )
                return self._around(site)
            finally:
                self._inside.pop()

        return call
