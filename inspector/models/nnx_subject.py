"""An NNX module as a `Subject`: its state by path, and the pure function of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flax import nnx

from inspector.engine.messages.module import ModuleSpec
from inspector.models import compat
from inspector.models.class_methods import class_methods, method_named
from inspector.models.importing import Imported
from inspector.models.making import Made
from inspector.models.nnx_tree import leaves_of
from inspector.models.skeleton import nest
from inspector.models.subject import Around, Forward, ResolvedCall, Values
from inspector.models.traced import Traced
from inspector.models.watched_classes import watched_classes
from inspector.variables.path import TreePath


@dataclass(frozen=True, slots=True)
class NnxSubject:
    """An NNX module on the way from its file to its trace; see `Subject`."""

    spec: ModuleSpec
    imported: Imported
    made: Made
    module: nnx.Module
    notes: tuple[str, ...] = ()
    family: str = "nnx"

    @property
    def traced(self) -> Traced:
        """The trace of the constructor."""
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
        """Returns the methods that can be called, ``__call__`` first."""
        return class_methods(type(self.module), nnx.Module)

    def function(self, method: str) -> Callable[..., Any]:
        """Returns a method as a function whose first parameter is the module.

        Raises:
            LoadModuleError: There is no such method.
        """
        return method_named(type(self.module), method, self.methods())

    def collections(self) -> tuple[str, ...]:
        """Returns the Variable types of its leaves."""
        types = (leaf.variable for leaf in self.traced.described.leaves)
        return tuple(dict.fromkeys(name for name in types if name))

    def build(self, values: Values) -> Any:
        """Returns the values that `forward` takes.

        Raises:
            LoadModuleError: A leaf is missing, unknown, or of another shape or
                dtype; ``nnx.update`` itself would take any.
        """
        title = self.imported.target.title
        return self.made.skeleton.fit(values, title, numbers=True)

    def forward(
        self,
        call: ResolvedCall,
        mutable: tuple[str, ...],
        around: Around | None = None,
    ) -> Forward:
        """Returns the pure function of a call; see `Subject.forward`."""
        statics = dict(call.statics)

        def forward(
            variables: Any,
            rngs: Mapping[str, Any],
            args: tuple[Any, ...],
            kwargs: Mapping[str, Any],
        ) -> Any:
            state = self.made.skeleton.rebuild(variables)
            with compat.without_eager_sharding():
                module = nnx.merge(self.made.graphdef, state)
            prepare_module(module, call.mode, rngs)
            before = leaves_of(nnx.state(module))
            named = dict(kwargs)
            if call.rngs_argument:
                named[call.rngs_argument] = nnx.Rngs(**rngs)

            def run(module: Any) -> Any:
                if call.apply is not None:
                    return call.apply(module, *args, **named, **statics)
                function = getattr(module, call.method or "__call__")
                return function(*args, **named, **statics)

            with (
                watched_classes(_modules(module), around),
                compat.named_streams(_streams(module)),
            ):
                outputs, sowed = _called(module, run, watched=around is not None)
            after = leaves_of(nnx.state(module)) | sowed
            return outputs, _changed(before, after, mutable)

        return forward


def prepare_module(module: nnx.Module, mode: str, rngs: Mapping[str, Any]) -> None:
    """Sets the mode of a module and the keys of its streams, in place.

    Args:
        module: The module.
        mode: ``"train"``, ``"eval"``, or empty to leave it.
        rngs: Key by stream, as ``nnx.reseed`` takes them.
    """
    if mode in {"train", "eval"}:
        switch: Any = getattr(module, mode)
        switch()
    if rngs:
        reseed: Any = nnx.reseed
        reseed(module, policy="match_shape", **rngs)


def _called(
    module: nnx.Module, run: Callable[[Any], Any], *, watched: bool
) -> tuple[Any, dict[TreePath, tuple[Any, str]]]:
    """Runs a module; when it is watched, also returns what it sowed.

    Outside of ``nnx.capture``, Flax keeps what is sowed as Variables of the module
    and says that this will end.
    """
    capture: Any = getattr(nnx, "capture", None)
    if not watched or capture is None:
        return run(module), {}
    outputs, sowed = capture(run, nnx.Intermediate)(module)
    return outputs, leaves_of(sowed)


def _modules(module: nnx.Module) -> dict[TreePath, Any]:
    """Returns the modules by path, the whole one first."""
    iterate: Any = nnx.iter_modules
    found = {tuple(path): one for path, one in iterate(module)}
    return dict(sorted(found.items(), key=lambda item: len(item[0])))


def _streams(module: nnx.Module) -> dict[int, TreePath]:
    """Returns the path of the module that holds each stream, by identity."""
    iterate: Any = nnx.iter_graph
    found: dict[int, TreePath] = {}
    for path, node in iterate(module):
        if isinstance(node, nnx.RngStream):
            # A module keeps its streams in an attribute, or in one ``Rngs``.
            found[id(node)] = tuple(path[:-1])
    return found


def _changed(
    before: Mapping[TreePath, tuple[Any, str]],
    after: Mapping[TreePath, tuple[Any, str]],
    mutable: tuple[str, ...],
) -> dict[Any, Any]:
    """Returns the leaves that the call set, of the types that may change.

    Inside of a trace every operation makes another tracer, so a leaf that is the
    same object was left alone.
    """
    changed = {
        path: leaf
        for path, (leaf, variable) in after.items()
        if variable in mutable and (path not in before or before[path][0] is not leaf)
    }
    return nest(changed)
