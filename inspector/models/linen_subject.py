"""A Linen module as a `Subject`: its methods, and the pure function of a call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flax import linen as nn

from inspector.engine.messages.module import ModuleSpec
from inspector.models.call import InitCall
from inspector.models.importing import Imported
from inspector.models.linen import unused_note
from inspector.models.methods import function_of, methods_of
from inspector.models.subject import Around, Forward, ResolvedCall, SiteCall, Values
from inspector.models.traced import Traced
from inspector.variables.leaf import Kind
from inspector.variables.path import TreePath


@dataclass(frozen=True, slots=True)
class LinenSubject:
    """A Linen module on the way from its file to its trace; see `Subject`."""

    spec: ModuleSpec
    imported: Imported
    module: nn.Module
    traced: Traced
    construct_code: str
    init: InitCall
    construct_notes: tuple[str, ...]
    family: str = "linen"

    @property
    def code(self) -> str:
        """Python lines that construct ``module`` and make ``variables``."""
        head = "\n".join(self.init.imports)
        init = self.init.code(self.traced.seeds)
        return f"{head}\n{self.construct_code}{init}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for a person."""
        unused = (unused_note(p, self.init.method) for p in self.traced.unused)
        return (*self.init.notes, *self.construct_notes, *unused)

    def methods(self) -> tuple[str, ...]:
        """Returns the methods that can be called, ``__call__`` first."""
        return methods_of(type(self.module))

    def function(self, method: str) -> Callable[..., Any]:
        """Returns a method as a function whose first parameter is the module.

        Raises:
            LoadModuleError: There is no such method.
        """
        return function_of(self.module, method)

    def collections(self) -> tuple[str, ...]:
        """Returns the collections of its variables."""
        names = (str(leaf.path[0]) for leaf in self.traced.described.leaves)
        return tuple(dict.fromkeys(names))

    def build(self, values: Values) -> Any:
        """Returns the variables as nested dicts; boxes are left out.

        Linen takes unboxed values for boxed variables and computes the same.
        """
        return nested(values)

    def forward(
        self,
        call: ResolvedCall,
        mutable: tuple[str, ...],
        around: Around | None = None,
    ) -> Forward:
        """Returns the pure function of a call; see `Subject.forward`."""
        module: Any = self.module
        if call.fields:
            module = module.clone(**call.fields)
        options: dict[str, Any] = {"method": call.method} if call.method else {}
        statics = dict(call.statics)

        def forward(
            variables: Any,
            rngs: Mapping[str, Any],
            args: tuple[Any, ...],
            kwargs: Mapping[str, Any],
        ) -> Any:
            if call.apply is not None:
                return call.apply(variables, *args, **kwargs, **statics), {}
            found = module.apply(
                variables,
                *args,
                rngs=dict(rngs),
                mutable=list(mutable) if mutable else False,
                **kwargs,
                **statics,
                **options,
            )
            return found if mutable else (found, {})

        if around is None:
            return forward
        interceptor = _interceptor(around)

        @functools.wraps(forward)
        def watched(*everything: Any) -> Any:
            with nn.intercept_methods(interceptor):
                return forward(*everything)

        return watched


def _interceptor(around: Around) -> Callable[..., Any]:
    def intercept(
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        context: nn.module.InterceptorContext,
    ) -> Any:
        if context.method_name == "setup" or context.module.scope is None:
            return function(*args, **kwargs)
        site = SiteCall(
            context.module.path,
            type(context.module).__name__,
            context.method_name,
            context.module,
            function,
            args,
            kwargs,
        )
        return around(site)

    return intercept


def nested(values: Values) -> Any:
    """Returns values by path as nested dicts, lists and tuples."""
    root: dict[Any, Any] = {}
    empty: dict[Kind, Any] = {
        Kind.EMPTY_LIST: [],
        Kind.EMPTY_TUPLE: (),
        Kind.NONE: None,
    }
    flat: dict[TreePath, Any] = dict(values.arrays) | dict(values.scalars)
    for path, kind in values.empties.items():
        flat[path] = empty.get(kind, {})
    for path, value in flat.items():
        if not path:
            return value
        node = root
        for key in path[:-1]:
            node = node.setdefault(key, {})
        node[path[-1]] = value
    for path, container in sorted(
        values.containers.items(), key=lambda item: -len(item[0])
    ):
        root = _as_sequence(root, path, container)
    return root


def _as_sequence(root: Any, path: TreePath, container: str) -> Any:
    """Makes the dict at a path the list or tuple that it stands for."""
    make = tuple if container == "tuple" else list
    if not path:
        return make(root[key] for key in sorted(root))
    node = root
    for key in path[:-1]:
        node = node[key]
    inner = node.get(path[-1])
    if isinstance(inner, dict):
        node[path[-1]] = make(inner[key] for key in sorted(inner))
    return root
