"""Any pytree as a `Subject`: Equinox-like modules, plain dicts, pairs of Haiku.

The arrays of the tree are its variables; numbers, texts and functions in it are part
of the program, as under ``equinox.filter_jit``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax

from inspector.engine.messages.module import ModuleSpec
from inspector.models.class_methods import class_methods, method_named
from inspector.models.describe import key_of
from inspector.models.families import HAIKU
from inspector.models.importing import Imported
from inspector.models.making import Made
from inspector.models.subject import Around, Forward, ResolvedCall, Values
from inspector.models.traced import Traced
from inspector.models.watched_classes import watched_classes
from inspector.variables.path import TreePath


@dataclass(frozen=True, slots=True)
class PytreeSubject:
    """A pytree on the way from its file to its trace; see `Subject`."""

    spec: ModuleSpec
    imported: Imported
    made: Made
    module: Any
    notes: tuple[str, ...] = ()
    family: str = "pytree"

    @property
    def traced(self) -> Traced:
        """The trace of what makes it."""
        return self.made.traced

    @property
    def code(self) -> str:
        """Python lines that import and construct it as ``module``."""
        return self.made.code

    @property
    def construct_code(self) -> str:
        """Python lines that import and construct it as ``module``."""
        return self.made.code

    def methods(self) -> tuple[str, ...]:
        """Returns the methods that can be called; none for a plain container."""
        if self._is_pair:
            return ("__call__",)
        return class_methods(type(self.module))

    def function(self, method: str) -> Callable[..., Any]:
        """Returns a method as a function whose first parameter is the tree.

        Raises:
            LoadModuleError: There is no such method.
        """
        if self._is_pair:
            return _apply_of(self.made.pair)
        return method_named(type(self.module), method, self.methods())

    def collections(self) -> tuple[str, ...]:
        """Returns nothing: a pytree has no collections."""
        return ()

    def build(self, values: Values) -> Any:
        """Returns the values that `forward` takes.

        Raises:
            LoadModuleError: A leaf is missing, unknown, or of another shape or dtype.
        """
        return self.made.skeleton.fit(values, self.imported.target.title)

    def forward(
        self,
        call: ResolvedCall,
        mutable: tuple[str, ...],
        around: Around | None = None,
    ) -> Forward:
        """Returns the pure function of a call; see `Subject.forward`."""
        del mutable
        statics = dict(call.statics)

        def forward(
            variables: Any,
            rngs: Mapping[str, Any],
            args: tuple[Any, ...],
            kwargs: Mapping[str, Any],
        ) -> Any:
            del rngs
            tree = self.made.skeleton.rebuild(variables)
            with watched_classes(dict(_nodes(tree)), around):
                if call.apply is not None:
                    outputs = call.apply(tree, *args, **kwargs, **statics)
                elif self._is_pair:
                    apply = _apply_of(self.made.pair)
                    outputs = apply(tree, *args, **kwargs, **statics)
                else:
                    function: Any = getattr(tree, call.method or "__call__")
                    outputs = function(*args, **kwargs, **statics)
            return outputs, {}

        return forward

    @property
    def _is_pair(self) -> bool:
        return self.made.family == HAIKU


def _apply_of(pair: Any) -> Callable[..., Any]:
    """Returns the ``apply`` of a pair as a function of what its ``init`` gave."""

    def apply(variables: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(variables, dict) and set(variables) == {"params", "state"}:
            params, state = variables["params"], variables["state"]
            return pair.apply(params, state, *args, **kwargs)
        return pair.apply(variables, *args, **kwargs)

    return apply


def _nodes(tree: Any, path: TreePath = ()) -> Iterator[tuple[TreePath, Any]]:
    """Yields every node of a tree that can be called, with its path."""
    if callable(tree) and not isinstance(tree, type) and _is_node(tree):
        yield path, tree
    if not _is_node(tree):
        return
    flat, _ = jax.tree_util.tree_flatten_with_path(
        tree, is_leaf=lambda other: other is not tree
    )
    for keys, child in flat:
        if child is not tree and keys:
            yield from _nodes(child, (*path, key_of(keys[0])))


def _is_node(value: Any) -> bool:
    return not jax.tree_util.all_leaves([value])
