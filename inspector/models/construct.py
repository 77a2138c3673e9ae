"""From the object that a spec names to a module or tree, or to words on what it is.

Runs the person's constructor on the thread that runs their code; traces nothing
itself. Linen modules are constructed plainly, for they hold no arrays; everything
else is constructed inside of a trace, see `making`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flax import linen as nn

from inspector.errors import InspectorError, LoadModuleError
from inspector.models import explain
from inspector.models.annotations import unannotated
from inspector.models.arguments import Fill, Maker, parse_object
from inspector.models.families import (
    WANTED,
    family_of,
    foreign_words,
    is_instance,
    returned_class,
    unwrapped,
    words_for,
)
from inspector.models.filled import KeysNeededError
from inspector.models.importing import Imported, find, import_target
from inspector.models.names import Argument
from inspector.models.offers import names_of
from inspector.models.spec import parse_spec
from inspector.models.user_code import UserCode


@dataclass(frozen=True, slots=True)
class Constructed:
    """A constructed Linen module.

    Attributes:
        module: The instance.
        code: Python lines that import and construct it as ``module``.
        notes: Sentences for a person, e.g. attributes that are no fields.
    """

    module: nn.Module
    code: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a spec names, before it is constructed.

    Attributes:
        target: The object, with the lines that import it.
        given: Constructor arguments as parsed JSON.
        imported: The imported file.
        place: ``file:line`` of the class or function, else the file.
        family: As `families.family_of` tells it; empty when only a call can.
        load: Imports what a nested spec names.
    """

    target: Argument
    given: dict[str, object]
    imported: Imported
    place: str
    family: str
    load: Callable[[str], Argument]

    @property
    def name(self) -> str:
        """Name in the file, may be dotted."""
        return self.target.code

    @property
    def is_instance(self) -> bool:
        """Whether it is a module or tree already."""
        return is_instance(self.target.value)

    def make(self, fill: Fill | None = None) -> Argument:
        """Constructs it; an instance is returned as it is.

        Args:
            fill: Gives rngs and keys; None where constructors take none.

        Raises:
            LoadModuleError: The constructor raised, or an argument is wrong.
        """
        if self.is_instance:
            return self.target
        maker = Maker(self.imported.module, self.load, fill)
        try:
            return maker.call(self.target, self.given)
        except (InspectorError, KeysNeededError):
            raise
        except BaseException as error:
            # A constructor is foreign code and may raise anything, SystemExit too.
            raise explain.failure(
                error,
                self.imported.roots,
                doing=f"Constructing {self.name}",
                where=self.place,
                hint="Check the constructor arguments (--kwargs on the command line).",
            ) from error

    def refused(self, made: object) -> LoadModuleError:
        """Returns what to raise when the object made is no module and no tree."""
        verb = "is" if self.is_instance else "returned"
        return LoadModuleError(
            message=f"{self.name} {verb} {words_for(made)}.",
            where=self.place,
            hint=WANTED,
        )


def choose(imported: Imported, kwargs: str, code: UserCode, folder: Path) -> Choice:
    """Finds what a spec names and refuses what cannot be a module or make one.

    Args:
        imported: The imported file.
        kwargs: JSON object of constructor arguments.
        code: The projects of this process, for nested modules.
        folder: Folder for relative paths in nested modules.

    Raises:
        LoadModuleError: There is no such name, or it is no module of any family.
        UsageError: The arguments are not a JSON object.
    """
    given = parse_object(kwargs)
    found = find(imported, names_of(imported.module))
    name = imported.target.name
    lines = imported.import_lines(name.partition(".")[0])
    place = _definition(found, imported)
    family = family_of(found)
    if not family and (made := returned_class(unwrapped(found))):
        family = family_of(made)
    choice = Choice(
        Argument(found, name, lines), given, imported, place, family,
        _loader(code, folder),
    )  # fmt: skip
    if choice.is_instance:
        _refuse_arguments(given, name, place)
    elif foreign_words(found) or not callable(found):
        raise LoadModuleError(
            message=f"{name} is {words_for(found)}.", where=place, hint=WANTED
        )
    return choice


def construct(
    imported: Imported, kwargs: str, code: UserCode, folder: Path
) -> Constructed:
    """Constructs the Linen module that a spec names.

    Args:
        imported: The imported file.
        kwargs: JSON object of constructor arguments.
        code: The projects of this process, for nested modules.
        folder: Folder for relative paths in nested modules.

    Raises:
        LoadModuleError: It is no Linen module, or the constructor raised.
        UsageError: The arguments are not a JSON object.
    """
    return construct_linen(choose(imported, kwargs, code, folder))


def construct_linen(choice: Choice) -> Constructed:
    """Constructs a Linen module.

    Raises:
        LoadModuleError: It is none, it is bound, or the constructor raised.
    """
    made = choice.make()
    if not isinstance(made.value, nn.Module):
        raise choice.refused(made.value)
    _refuse_bound(made.value, choice.name, choice.place)
    imports = "\n".join(dict.fromkeys(made.imports))
    code = f"{imports}\n\nmodule = {made.code}\n"
    return Constructed(made.value, code, _annotation_notes(type(made.value)))


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


def _definition(found: object, imported: Imported) -> str:
    """Returns ``file:line`` of a class or function, else the file."""
    found = unwrapped(found)
    subject = found if inspect.isclass(found) or inspect.isfunction(found) else None
    try:
        if subject is not None:
            line = inspect.getsourcelines(subject)[1]
            return f"{inspect.getsourcefile(subject)}:{line}"
    except (OSError, TypeError):
        pass
    return imported.target.place


def _refuse_arguments(given: dict[str, object], name: str, place: str) -> None:
    if given:
        raise LoadModuleError(
            message=f"{name} is an instance already and takes no constructor "
            f"arguments; given: {', '.join(given)}.",
            where=place,
            hint="Leave them out, or name the class.",
        )


def _refuse_bound(module: nn.Module, name: str, place: str) -> None:
    if module.scope is not None:
        raise LoadModuleError(
            message=f"{name} is bound to variables already (Module.bind), so it has "
            "no init of its own.",
            where=place,
            hint="Name the module before it is bound.",
        )
