"""The call of ``init``: which inputs, which flags, and the same call as Python code.

Looks at the signature of the method before anything is traced; see `methods`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from flax import linen as nn

from inspector.engine.messages.module import ModuleSpec
from inspector.models.inputs import Input, parse_input, texts_of
from inspector.models.methods import Given, fit, function_of, method_of, refuse_twice
from inspector.models.statics import static_arguments


@dataclass(frozen=True, slots=True)
class InitCall:
    """A call of ``init``, without its rngs.

    Attributes:
        method: Method that ``init`` runs; empty for ``__call__``.
        positional: Inputs by position.
        named: Inputs by keyword.
        statics: Static arguments by name.
        chosen: Names in ``statics`` that nobody gave and whose inference value
            was taken.
        codes: Expressions of the static arguments.
        static_imports: Lines that those need.
    """

    method: str
    positional: tuple[Input, ...]
    named: tuple[Input, ...]
    statics: dict[str, object]
    chosen: tuple[str, ...] = ()
    codes: dict[str, str] = field(default_factory=dict)
    static_imports: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[Input, ...]:
        """All inputs, positional ones first."""
        return self.positional + self.named

    @property
    def imports(self) -> tuple[str, ...]:
        """Lines that the inputs need; those of the static arguments are in `code`."""
        lines = [line for one in self.inputs for line in one.imports]
        return tuple(dict.fromkeys(("import jax", *lines)))

    def code(self, seeds: dict[str, int]) -> str:
        """Returns the call as Python code that makes ``variables``."""
        keys = ", ".join(f"{name!r}: jax.random.key({s})" for name, s in seeds.items())
        parts = [one.code for one in self.positional]
        parts += [f"{one.keyword}={one.code}" for one in self.named]
        parts += [
            f"{name}={self.codes.get(name, repr(value))}"
            for name, value in self.statics.items()
        ]
        parts += [f"method={self.method!r}"] if self.method else []
        # They may name the person's file, which the lines above made importable.
        lines = list(dict.fromkeys(self.static_imports))
        lines.append(f"rngs = {{{keys}}}")
        lines += [f"# {note}" for note in self.notes]
        arguments = "".join(f"    {part},\n" for part in ["rngs", *parts])
        return "\n".join(lines) + f"\nvariables = module.init(\n{arguments})\n"

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what was decided for the person."""
        return tuple(chosen_note(name, self.statics[name]) for name in self.chosen)

    @property
    def given(self) -> str:
        """The inputs as the person gave them, for messages."""
        return texts_of(self.inputs)


def chosen_note(name: str, value: object) -> str:
    """Returns the sentence about a required flag that was chosen for the person."""
    return (
        f"{name}={value!r}: it is needed and was not given; this is the value for "
        "inference."
    )


def prepare(module: nn.Module, spec: ModuleSpec, cwd: Path) -> InitCall:
    """Reads the inputs and flags of a spec and fits them to the method.

    Args:
        module: The constructed module.
        spec: What the person asked for.
        cwd: Folder for relative paths of inputs.

    Raises:
        LoadModuleError: The method is absent, or the inputs do not fit it.
        UsageError: A text cannot be parsed.
    """
    parsed = [parse_input(text, cwd) for text in spec.inputs]
    positional = tuple(one for one in parsed if not one.keyword)
    named = tuple(one for one in parsed if one.keyword)
    name = "" if spec.method == "__call__" else spec.method
    function = function_of(module, name)
    method = method_of(function, type(module).__name__, name or "__call__")
    statics = static_arguments(spec.statics, function)
    names = [*(one.keyword for one in named), *statics]
    refuse_twice(names)
    given = Given(len(positional), frozenset(names), texts_of((*positional, *named)))
    chosen = fit(method, given)
    values = {name: one.value for name, one in statics.items()} | chosen
    codes = {name: one.code for name, one in statics.items()}
    imports = tuple(line for one in statics.values() for line in one.imports)
    return InitCall(name, positional, named, values, tuple(chosen), codes, imports)
