"""A loaded module, in one shape for every framework, and how it is called.

`linen_subject`, `nnx_subject` and `pytree_subject` implement `Subject`; everything
that runs, records or compares models works on it and knows no framework. Lives on
the thread of the model process that runs the person's code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from inspector.engine.messages.module import ModuleSpec
from inspector.engine.messages.running import Remark
from inspector.models.importing import Imported
from inspector.models.traced import Traced
from inspector.variables.leaf import Kind
from inspector.variables.path import TreePath
from inspector.variables.value import Scalar

Forward = Callable[[Any, Mapping[str, Any], tuple[Any, ...], Mapping[str, Any]], Any]
"""``forward(variables, rngs, args, kwargs) -> (outputs, updates)``, pure, to be jitted.

``variables`` is what `Subject.build` gave, ``rngs`` keys by stream, ``args`` and
``kwargs`` the inputs by position and by keyword. ``updates`` is a pytree whose paths,
as `describe` gives them, are paths of the variables.
"""


@dataclass(frozen=True, slots=True)
class SiteCall:
    """One call of a submodule, seen from outside while the module runs.

    Attributes:
        path: Its module path.
        kind: Name of its class.
        method: Name of the method.
        module: The bound module that is called.
        function: Calls it: ``function(*args, **kwargs)``.
        args: Its positional arguments, without the module.
        kwargs: Its keyword arguments.
    """

    path: TreePath
    kind: str
    method: str
    module: Any
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


Around = Callable[[SiteCall], Any]
"""Called in place of every module call; returns what the caller gets."""


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a whole tree, by path.

    Attributes:
        arrays: Arrays and typed random keys (concrete, traced or abstract).
        scalars: Python objects: numbers, texts, None.
        empties: Kinds of nodes without children.
        containers: ``"list"`` or ``"tuple"`` for branches that are no dict.
    """

    arrays: Mapping[TreePath, Any]
    scalars: Mapping[TreePath, Scalar] = field(default_factory=dict)
    empties: Mapping[TreePath, Kind] = field(default_factory=dict)
    containers: Mapping[TreePath, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResolvedCall:
    """A call that is ready to be traced; `resolve` makes it of a `Call`.

    Attributes:
        method: Method; empty for ``__call__``.
        args: Inputs by position: pytrees whose leaves are arrays or
            ``jax.ShapeDtypeStruct`` (both in one call are possible).
        kwargs: Inputs by keyword, likewise.
        statics: Static arguments, by name.
        codes: Python expression of each input: by position (``0``) or keyword.
        imports: Lines that those expressions need.
        mode: ``"train"``, ``"eval"`` or empty: for NNX, whose mode is no argument.
        fields: Fields of the module that the mode sets, e.g.
            ``{"deterministic": True}`` (Linen: by ``clone``).
        apply: Function called in place of a method; None for a method.
        apply_code: Lines that import it as ``apply``.
        rngs_argument: Parameter that takes ``nnx.Rngs`` of the streams' keys; empty
            when the method asks for none.
        remarks: What was decided for the person.
        texts: Each input as the person gave it, for messages and the signature.
    """

    method: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    statics: Mapping[str, object]
    codes: Mapping[int | str, str]
    imports: tuple[str, ...] = ()
    mode: str = ""
    fields: Mapping[str, object] = field(default_factory=dict)
    apply: Callable[..., Any] | None = None
    apply_code: tuple[str, ...] = ()
    rngs_argument: str = ""
    remarks: tuple[Remark, ...] = ()
    texts: tuple[str, ...] = ()


class Subject(Protocol):
    """A constructed module and the trace of its variables.

    Attributes:
        family: ``"linen"``, ``"nnx"`` or ``"pytree"``.
        spec: What it was loaded from.
        imported: The file.
        module: The Linen module, the abstract NNX module, or the pytree.
        traced: The trace that made its variables.
        code: Python lines that import and construct it as ``module`` and, for Linen,
            make ``variables``.
        notes: Sentences for a person.
    """

    @property
    def family(self) -> str:
        """Name of the framework."""

    @property
    def spec(self) -> ModuleSpec:
        """What it was loaded from."""

    @property
    def imported(self) -> Imported:
        """The file."""

    @property
    def module(self) -> Any:
        """The module itself."""

    @property
    def traced(self) -> Traced:
        """The trace that made its variables."""

    @property
    def code(self) -> str:
        """Python lines that make it."""

    @property
    def construct_code(self) -> str:
        """Python lines that import and construct it as ``module``, no more."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for a person."""

    def methods(self) -> tuple[str, ...]:
        """Returns the methods that can be called, ``__call__`` first; may be none."""

    def function(self, method: str) -> Callable[..., Any]:
        """Returns a method as a function whose first parameter is the module.

        Raises:
            LoadModuleError: There is no such method; says which there are.
        """

    def collections(self) -> tuple[str, ...]:
        """Returns the collections (NNX: Variable types) of its variables."""

    def build(self, values: Values) -> Any:
        """Returns the variables that `forward` takes, of the values of a tree.

        Raises:
            LoadModuleError: The tree does not fit, where the framework itself would
                not say so (NNX and pytrees); Linen finds out by itself.
        """

    def forward(
        self,
        call: ResolvedCall,
        mutable: tuple[str, ...],
        around: Around | None = None,
    ) -> Forward:
        """Returns the pure function of a call.

        Args:
            call: The call.
            mutable: Collections that may be updated; for NNX every changed Variable
                of these types is an update, other changes are lost.
            around: Sees every module call; None for a plain run, whose program has
                nothing of it.
        """
