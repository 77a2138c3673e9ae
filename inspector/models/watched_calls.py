"""Sees every call of the submodules of a module while it runs, NNX and pytrees.

Linen has interceptors; other frameworks have plain Python classes, so their methods
are replaced for the time of one trace and put back after it. Thread of the model
process that runs the person's code.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from inspector.models.subject import Around, SiteCall
from inspector.variables.path import TreePath

CALL = "__call__"


@contextmanager
def watched(
    objects: Mapping[TreePath, Any],
    methods: Callable[[type], Sequence[str]],
    around: Around,
) -> Iterator[None]:
    """Calls ``around`` in place of the methods of some objects, in the body.

    Args:
        objects: The objects by module path. Objects made in the meantime, as inside
            of ``nnx.scan``, are not seen.
        methods: Gives the methods of a class that count.
        around: Told of every call; what it returns is what the caller gets.
    """
    watch = _Watch({id(one): path for path, one in objects.items()}, around)
    # One path for an object that lies in two places: the first.
    for path, one in reversed(list(objects.items())):
        watch.paths[id(one)] = path
    try:
        for kind in {type(one): None for one in objects.values()}:
            for name in methods(kind):
                watch.replace(kind, name)
        yield
    finally:
        watch.restore()


class _Watch:
    def __init__(self, paths: dict[int, TreePath], around: Around) -> None:
        self.paths = paths
        self._around = around
        self._originals: dict[tuple[type, str], Any] = {}
        self._running: set[tuple[int, str]] = set()

    def replace(self, kind: type, name: str) -> None:
        """Replaces a method in the class that defines it."""
        owner = next((base for base in kind.__mro__ if name in vars(base)), None)
        if owner is None or (owner, name) in self._originals:
            return
        original = inspect.getattr_static(owner, name)
        function = getattr(owner, name)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            # The module may be passed as ``self`` only; kwargs may hold any name.
            return self._call(function, name, args[0], args[1:], kwargs)

        try:
            setattr(owner, name, call)
        except (AttributeError, TypeError):
            return  # a class whose attributes cannot be set is not watched
        self._originals[owner, name] = original

    def restore(self) -> None:
        """Puts every method back."""
        for (owner, name), original in self._originals.items():
            setattr(owner, name, original)
        self._originals.clear()

    def _call(
        self,
        function: Callable[..., Any],
        name: str,
        module: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> Any:
        path = self.paths.get(id(module))
        mark = (id(module), name)
        if path is None or mark in self._running:
            # A call of super() is part of the call that makes it.
            return function(module, *args, **kwargs)

        def inner(*inner_args: Any, **inner_kwargs: Any) -> Any:
            self._running.add(mark)
            try:
                return function(module, *inner_args, **inner_kwargs)
            finally:
                self._running.discard(mark)

        kind = type(module).__name__
        return self._around(SiteCall(path, kind, name, module, inner, args, kwargs))
