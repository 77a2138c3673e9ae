"""From the object that a spec names to a Linen module instance, or to what it is.

Runs the person's constructor on the thread that runs their code; traces nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from flax import linen as nn

from inspector.errors import InspectorError, LoadModuleError
from inspector.models import explain
from inspector.models.annotations import unannotated
from inspector.models.arguments import Maker, parse_object
from inspector.models.importing import Imported, find, import_target
from inspector.models.names import Argument
from inspector.models.offers import names_of
from inspector.models.spec import parse_spec
from inspector.models.user_code import UserCode

_LINEN = "Name a class derived from flax.linen.Module, an instance, or a function "
_LINEN += "that returns one."


@dataclass(frozen=True, slots=True)
class Constructed:
    """A constructed module.

    Attributes:
        module: The instance.
        code: Python lines that import and construct it as ``module``.
        notes: Sentences for a person, e.g. attributes that are no fields.
    """

    module: nn.Module
    code: str
    notes: tuple[str, ...]


def construct(
    imported: Imported, kwargs: str, code: UserCode, folder: Path
) -> Constructed:
    """Constructs what a spec names.

    Args:
        imported: The imported file.
        kwargs: JSON object of constructor arguments.
        code: The projects of this process, for nested modules.
        folder: Folder for relative paths in nested modules.

    Raises:
        LoadModuleError: It is no Linen module, or the constructor raised.
        UsageError: The arguments are not a JSON object.
    """
    given = parse_object(kwargs)
    found = find(imported, names_of(imported.module))
    name = imported.target.name
    lines = imported.import_lines(name.partition(".")[0])
    made = Argument(found, name, lines)
    place = _definition(found, imported)
    if isinstance(found, nn.Module):
        _refuse_arguments(given, name, place)
    else:
        _refuse_foreign(found, name, place)
        maker = Maker(imported.module, _loader(code, folder))
        made = _call(maker, made, given, imported, place)
    if not isinstance(made.value, nn.Module):
        raise LoadModuleError(
            message=f"{name} returned {words_for(made.value)}.",
            where=place,
            hint=_LINEN,
        )
    _refuse_bound(made.value, name, place)
    notes = _annotation_notes(type(made.value))
    imports = "\n".join(dict.fromkeys(made.imports))
    return Constructed(made.value, f"{imports}\n\nmodule = {made.code}\n", notes)


def _annotation_notes(kind: type[nn.Module]) -> tuple[str, ...]:
    """Returns a sentence about each attribute that looks like a field and is none."""
    notes = []
    for name in unannotated(kind):
        note = f"{name} has no type annotation in {kind.__name__}, so it cannot be set"
        if inspect.isfunction(vars(kind).get(name)):
            note += "; the function becomes a method and is given the module first"
        notes.append(f"{note}.")
    return tuple(notes)


def _loader(code: UserCode, folder: Path) -> Callable[[str], Argument]:
    def load(spec: str) -> Argument:
        target = parse_spec(spec, str(folder))
        nested = import_target(target, code, beside=True)
        value = find(nested, names_of(nested.module))
        first = target.name.partition(".")[0]
        return Argument(value, target.name, nested.import_lines(first))

    return load


def _call(
    maker: Maker,
    target: Argument,
    given: Mapping[str, object],
    imported: Imported,
    place: str,
) -> Argument:
    try:
        return maker.call(target, given)
    except InspectorError:
        raise
    except BaseException as error:
        # A constructor is foreign code and may raise anything, SystemExit included.
        raise explain.failure(
            error,
            imported.roots,
            doing=f"Constructing {target.code}",
            where=place,
            hint="Check the constructor arguments (--kwargs on the command line).",
        ) from error


def _definition(found: object, imported: Imported) -> str:
    """Returns ``file:line`` of a class or function, else the file."""
    while (inner := getattr(found, "func", None)) is not None:
        found = inner
    subject = found if inspect.isclass(found) or inspect.isfunction(found) else None
    try:
        if subject is not None:
            line = inspect.getsourcelines(subject)[1]
            return f"{inspect.getsourcefile(subject)}:{line}"
    except (OSError, TypeError):
        pass
    return imported.target.place


def _refuse_arguments(given: Mapping[str, object], name: str, place: str) -> None:
    if given:
        raise LoadModuleError(
            message=f"{name} is an instance already and takes no constructor "
            f"arguments; given: {', '.join(given)}.",
            where=place,
            hint="Leave them out, or name the class.",
        )


def _refuse_foreign(found: object, name: str, place: str) -> None:
    """Refuses what is known to be no Linen module before it is called."""
    foreign = isinstance(found, type) and not issubclass(found, nn.Module)
    if foreign or not callable(found):
        raise LoadModuleError(
            message=f"{name} is {words_for(found)}.", where=place, hint=_LINEN
        )


def _refuse_bound(module: nn.Module, name: str, place: str) -> None:
    if module.scope is not None:
        raise LoadModuleError(
            message=f"{name} is bound to variables already (Module.bind), so it has "
            "no init of its own.",
            where=place,
            hint="Name the module before it is bound.",
        )


def words_for(value: object) -> str:
    """Returns what a value is, in words: an NNX module, a function, a dict."""
    is_class = isinstance(value, type)
    kind = value if isinstance(value, type) else type(value)
    for base in kind.__mro__:
        for prefix, name, words in _FRAMEWORKS:
            if base.__module__.startswith(prefix) and base.__name__ == name:
                return f"the class of {words}" if is_class else words
    if is_class:
        return f"the class {kind.__name__}, which is not derived from flax.linen.Module"
    if inspect.ismodule(value) or inspect.isroutine(value) or value is None:
        plain = {True: "a Python module", False: "a function"}
        return "None" if value is None else plain[inspect.ismodule(value)]
    article = "an" if kind.__name__[0].lower() in "aeiou" else "a"
    pytree = " (a pytree)" if isinstance(value, dict | list | tuple) else ""
    return f"{article} {kind.__name__}{pytree}, not a module"


_FRAMEWORKS = (
    ("flax.nnx", "Module", "an NNX module (flax.nnx.Module), not a Linen one"),
    ("equinox", "Module", "an Equinox module, not a Linen one"),
    ("haiku", "Module", "a Haiku module, not a Linen one"),
    ("torch.nn", "Module", "a PyTorch module, not a Linen one"),
    ("keras", "Layer", "a Keras layer, not a Linen module"),
)
"""(start of the Python module, class, words) of the bases that are told apart."""
