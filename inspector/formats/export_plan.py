"""What a format can say about a tree, and what becomes of the rest.

Owns the checks that run before a byte is written: leaves without a value, dtypes the
format lacks, structure it has no word for. The writers give their `Abilities`, and
`adapt` answers with a tree that they can write exactly. It reads no numbers; the
reader process calls it, and nothing here touches a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from inspector.errors import LossyExportError, WriteFileError
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import Key, TreePath, quote
from inspector.variables.tree import Branch, Container, Node, empty_leaf, walk
from inspector.variables.value import Initial, Literal, Unset, innermost

NAMED_PATHS = 100
"""Paths that one message names; the rest is counted."""

INTEGER_RANGE = range(-(2**63), 2**64)
"""Python integers that numpy and msgpack hold."""

_WIDER: Mapping[str, str] = {
    "complex128": "complex64",
    "int2": "int8",
    "int4": "int8",
    "uint2": "uint8",
    "uint4": "uint8",
    "float4_e2m1fn": "float8_e4m3fn",
    "float6_e2m3fn": "bfloat16",
    "float6_e3m2fn": "bfloat16",
    "float8_e3m4": "bfloat16",
    "float8_e4m3": "bfloat16",
    "float8_e4m3b11fnuz": "bfloat16",
}
"""A dtype to offer where a format lacks one; it holds every value, but see below.

complex128 has no wider one: there the offer loses digits, and the message says so.
"""

_LITERAL_TYPES: Mapping[Kind, type | tuple[type, ...]] = {
    Kind.BOOL: bool,
    Kind.INT: int,
    Kind.FLOAT: (float, int),
    Kind.COMPLEX: (complex, float, int),
    Kind.STR: str,
    Kind.BYTES: bytes,
}
_NUMBER_TYPES: Mapping[Kind, type[int | float | complex]] = {
    Kind.BOOL: bool,
    Kind.INT: int,
    Kind.FLOAT: float,
    Kind.COMPLEX: complex,
}


@dataclass(frozen=True, slots=True)
class Abilities:
    """What one format can hold.

    Attributes:
        name: The format's name in messages.
        dtypes: Names of the array dtypes it has.
        tuples: Whether tuples come back as tuples.
        empty_tuples: Whether a tuple without elements does.
        integer_keys: Whether the keys of mappings can be integers.
        random_keys: Whether typed random keys come back as such.
        zero_size: Whether an array may have no elements.
        complex_scalars: Whether it holds a Python ``complex``.
        bytes_objects: Whether it holds Python ``bytes``.
        any_integer: Whether Python integers may leave `INTEGER_RANGE`.
        any_text: Whether keys may hold bytes that are no UTF-8.
        nul_in_keys: Whether keys may hold the character NUL.
    """

    name: str
    dtypes: frozenset[str]
    tuples: bool = True
    empty_tuples: bool = True
    integer_keys: bool = True
    random_keys: bool = True
    zero_size: bool = True
    complex_scalars: bool = True
    bytes_objects: bool = True
    any_integer: bool = True
    any_text: bool = False
    nul_in_keys: bool = True


@dataclass(frozen=True, slots=True)
class Adapted:
    """A tree that the format can hold exactly.

    Attributes:
        tree: What is to be written.
        warnings: One sentence for each thing that was changed to get there.
    """

    tree: Node
    warnings: list[str]


@dataclass(slots=True)
class _Losses:
    """Paths that cannot be written as they are, by what becomes of them."""

    paths: dict[str, list[TreePath]] = field(default_factory=dict)

    def add(self, fate: str, path: TreePath) -> None:
        self.paths.setdefault(fate, []).append(path)


def adapt(tree: Node, abilities: Abilities, *, lossy: bool) -> Adapted:
    """Returns the tree as the format can hold it.

    Args:
        tree: The tree to write.
        abilities: What the format can hold.
        lossy: Whether the person has confirmed that something is lost.

    Raises:
        WriteFileError: A leaf has an error or no value, the format has no such dtype
            or object, or two keys would become one. No confirmation helps.
        LossyExportError: Something would be lost and ``lossy`` is False; the message
            names every path.
    """
    _refuse_leaves(tree, abilities)
    losses = _Losses()
    adapted = _adapt(tree, (), abilities, losses)
    if losses.paths and not lossy:
        raise LossyExportError(
            message=f"{abilities.name} cannot say everything that this tree holds: "
            + "; ".join(
                f"{fate}: {name_paths(paths)}" for fate, paths in losses.paths.items()
            )
            + ".",
            hint="Confirm the loss (--lossy), or export to safetensors or npz, "
            "which keep it.",
        )
    warnings = [
        f"{abilities.name}: {fate}: {name_paths(paths)}."
        for fate, paths in losses.paths.items()
    ]
    return Adapted(adapted, warnings)


def name_paths(paths: Iterable[TreePath]) -> str:
    """Returns the paths as text, at most `NAMED_PATHS` of them."""
    names = [quote(path) or "(the root)" for path in paths]
    rest = len(names) - NAMED_PATHS
    return ", ".join(names[:NAMED_PATHS]) + (f" and {rest:,} more" if rest > 0 else "")


def _refuse_leaves(tree: Node, abilities: Abilities) -> None:
    """Raises for the first group of leaves that nothing can write."""
    groups: dict[tuple[str, str], list[TreePath]] = {}
    for path, leaf in walk(tree):
        found = _problem_of(leaf, abilities) or _problem_of_keys(path, abilities)
        if found:
            groups.setdefault(found, []).append(path)
    for (problem, hint), paths in groups.items():
        raise WriteFileError(message=f"{problem}: {name_paths(paths)}.", hint=hint)


def _problem_of(leaf: Leaf, abilities: Abilities) -> tuple[str, str] | None:
    """Returns (problem, hint) of a leaf that cannot be written, None if it can."""
    return _problem_of_value(leaf) or _problem_of_kind(leaf, abilities)


def _problem_of_value(leaf: Leaf) -> tuple[str, str] | None:
    if leaf.error:
        return (
            f"These leaves cannot be read ({leaf.error})",
            "Delete them from the target, or fill them from another source.",
        )
    if isinstance(innermost(leaf.value), Unset) and leaf.nbytes:
        return (
            "These leaves have no value",
            "Fill them by a transfer or a number, or let the module initialise them.",
        )
    if isinstance(innermost(leaf.value), Initial):
        return (
            "The initial values of these leaves have not been made",
            "Let the module make its initial values, or fill the leaves.",
        )
    return None


def _problem_of_kind(leaf: Leaf, abilities: Abilities) -> tuple[str, str] | None:
    if leaf.kind is Kind.OPAQUE:
        return (
            f"{abilities.name} has no place for a leaf of the kind {leaf.kind.value!r}",
            "Delete these leaves from the target, or choose another format.",
        )
    if leaf.kind is Kind.KEY and leaf.dtype not in dtypes.KEY_IMPLEMENTATIONS:
        return (
            f"Random keys of the kind {leaf.dtype} are not known to this program",
            "Delete these leaves from the target.",
        )
    if leaf.kind is Kind.ARRAY and leaf.dtype not in abilities.dtypes:
        return _problem_of_dtype(leaf.dtype, abilities)
    return _problem_of_scalar(leaf, abilities)


def _problem_of_dtype(dtype: str, abilities: Abilities) -> tuple[str, str]:
    offer = _WIDER.get(dtype, "float32")
    if offer not in abilities.dtypes:
        offer = "float32"
    loss = " (which has fewer digits)" if dtype == "complex128" else ""
    return (
        f"{abilities.name} has no dtype {dtype}",
        f"Cast these leaves to {offer}{loss}, or choose another format.",
    )


def _problem_of_scalar(leaf: Leaf, abilities: Abilities) -> tuple[str, str] | None:
    expected = _LITERAL_TYPES.get(leaf.kind)
    if expected is None:
        return None
    value = leaf.value.value if isinstance(leaf.value, Literal) else None
    if not isinstance(value, expected):
        return (
            f"These leaves say they are of the kind {leaf.kind.value!r} but hold no "
            "such object",
            "Open the source again, or delete them from the target.",
        )
    limited = isinstance(value, int) and not abilities.any_integer
    if limited and value not in INTEGER_RANGE:
        return (
            f"{abilities.name} holds no integer of more than 64 bits",
            "Delete these leaves from the target, or choose another format.",
        )
    return None


def _problem_of_keys(path: TreePath, abilities: Abilities) -> tuple[str, str] | None:
    hint = "Rename the key in the target, or choose another format."
    for key in path:
        if isinstance(key, int):
            continue
        if not abilities.nul_in_keys and "\0" in key:
            return f"{abilities.name} has no names with the character NUL", hint
        if not abilities.any_text and not _is_unicode(key):
            return f"{abilities.name} has no names that are no Unicode text", hint
    return None


def _is_unicode(text: str) -> bool:
    """Returns whether a key holds no stand-in for a byte that was no UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _adapt(node: Node, path: TreePath, abilities: Abilities, losses: _Losses) -> Node:
    if isinstance(node, Leaf):
        return _adapt_leaf(node, path, abilities, losses)
    container = node.container
    if container is Container.TUPLE and not abilities.tuples:
        losses.add("a tuple becomes a list", path)
        container = Container.LIST
    children: dict[Key, Node] = {}
    for key, child in node.children.items():
        name = key
        if (
            isinstance(key, int)
            and container is Container.DICT
            and not abilities.integer_keys
        ):
            losses.add("an integer key becomes text", (*path, key))
            name = str(key)
        if name in children:
            raise WriteFileError(
                message=f"{abilities.name} has text keys only, so the keys {key!r} and "
                f"{str(key)!r} would be one.",
                where=quote(path),
                hint="Rename one of them in the target.",
            )
        children[name] = _adapt(child, (*path, key), abilities, losses)
    if not children and path:
        return _adapt_leaf(empty_leaf(container), path, abilities, losses)
    return Branch(children, container)


def _adapt_leaf(
    leaf: Leaf, path: TreePath, abilities: Abilities, losses: _Losses
) -> Leaf:
    if leaf.kind is Kind.EMPTY_TUPLE and not abilities.empty_tuples:
        losses.add("an empty tuple becomes an empty list", path)
        return empty_leaf(Container.LIST)
    if leaf.kind is Kind.KEY and not abilities.random_keys:
        implementation, words = dtypes.KEY_IMPLEMENTATIONS.get(
            leaf.dtype, (leaf.dtype, 2)
        )
        losses.add(
            "a random key becomes its uint32 words "
            f"(jax.random.wrap_key_data(words, impl={implementation!r}) makes the key)",
            path,
        )
        return replace(
            leaf, kind=Kind.ARRAY, shape=(*leaf.shape, words), dtype="uint32"
        )
    empty = leaf.kind in {Kind.ARRAY, Kind.KEY} and 0 in leaf.shape
    if empty and not abilities.zero_size:
        losses.add("an array without elements becomes None", path)
        return Leaf(Kind.NONE, value=Literal(None))
    if leaf.kind is Kind.COMPLEX and not abilities.complex_scalars:
        losses.add("a Python complex becomes an array of no axes", path)
    if leaf.kind is Kind.BYTES and not abilities.bytes_objects:
        if leaf.value == Literal(b""):
            losses.add("bytes without elements become None", path)
            return Leaf(Kind.NONE, value=Literal(None))
        losses.add("bytes become an array of uint8", path)
    return _exact(leaf)


def _exact(leaf: Leaf) -> Leaf:
    """Returns a Python number as its kind says, e.g. 3 as 3.0 for a float."""
    exact = _NUMBER_TYPES.get(leaf.kind)
    if exact is None or not isinstance(leaf.value, Literal):
        return leaf
    value = leaf.value.value
    if not isinstance(value, bool | int | float | complex) or type(value) is exact:
        return leaf
    return replace(leaf, value=Literal(exact(value)))  # type: ignore[arg-type]  # a float's kind was checked to hold no complex
