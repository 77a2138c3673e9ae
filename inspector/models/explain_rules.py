"""The known mistakes of people who write Flax modules, as a table.

Each rule knows an exception by its class and a pattern in its text, says in our words
what happened, and what to do. Rules that look at more than the text are in
`explain_found`. Data only; nothing here runs foreign code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One known mistake.

    Attributes:
        kind: Name of the exception's class, or of one of its bases.
        pattern: Found in its text; its groups fill ``{0}``, ``{1}``… of the words.
        words: What happened, a clause without a period; empty to keep the text.
        hint: What to do.
    """

    kind: str
    pattern: str
    words: str
    hint: str

    def explained(self, error: BaseException, text: str) -> tuple[str, str] | None:
        """Returns what happened and what to do, when the rule is about an error."""
        if all(base.__name__ != self.kind for base in type(error).__mro__):
            return None
        match = re.search(self.pattern, text, re.DOTALL)
        if match is None:
            return None
        groups = [group or "" for group in match.groups()]
        return self.words.format(*groups), self.hint.format(*groups)


_STATIC = (
    "take it from a shape, a field, or a static argument (--call name=value): "
    "shapes are found without values."
)
_LIFTED = (
    "Use nn.jit, nn.vmap or nn.scan around submodules in place of jax.jit, jax.vmap "
    "or jax.lax.scan."
)
_MEMORY = (
    "Make arrays inside methods, where only their shapes are found; choose smaller "
    "inputs, or another device."
)
_CORRECT = "Correct the line and load the module again."

CONSTRUCTION = (
    Rule("SyntaxError", "", "", _CORRECT),
    Rule(
        "TypeError",
        r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'",
        "{0} takes no argument “{1}”",
        "If {0} assigns {1} without a type annotation, it is no field: write "
        "`{1}: TYPE = …` in the class.",
    ),
    Rule(
        "TypeError",
        r"(\w+)\.__init__\(\) missing \d+ required keyword-only arguments?: 'rngs'",
        "{0} makes random numbers and was constructed without rngs",
        "Pass them on: give your constructor an argument `rngs: nnx.Rngs` and write "
        "{0}(…, rngs=rngs).",
    ),
    Rule(
        "TypeError",
        r"(\w+)\.__init__\(\) missing \d+ required [\w -]*arguments?: '(\w+)'",
        "{0} was constructed without {1}",
        "Give it there: {0}({1}=…).",
    ),
    Rule(
        "ValueError",
        r"mutable default <class '(\w+)'> for field (\w+)",
        "the field {1} has a {0} as its default, which every instance would share "
        "(mutable default)",
        "Use a tuple in place of a list, or field(default_factory=…).",
    ),
    Rule(
        "TypeError",
        r"non-default argument (?:'(\w+)')?",
        "the field {0} has no default and stands behind one that has "
        "(non-default argument)",
        "Put the fields without a default first.",
    ),
    Rule(
        "ReservedModuleAttributeError",
        r"reserved: \{'(\w+)'",
        "a field is called {0}, a name that Flax uses itself",
        "Rename the field: Flax uses this name itself.",
    ),
    Rule(
        "IncorrectPostInitOverrideError",
        "",
        "the class has an __init__ or __post_init__ of its own that leaves out the "
        "one of Flax",
        "Write fields in place of __init__, and call super().__post_init__() in "
        "__post_init__.",
    ),
    Rule(
        "ValueError",
        r"Found data on value of type '<class '(\w+)'>' assigned to static attribute "
        r"'(\w+)' of Pytree type '<class '[\w.]*?(\w+)'>'",
        "{2}.{1} is a plain {0} with modules or arrays in it, which NNX would not see",
        "Write self.{1} = nnx.List(…) for a list, nnx.Dict(…) for a dict, or "
        "nnx.data(…).",
    ),
    Rule(
        "AttributeError",
        r"No RngStream named '(\w+)' found",
        "the module draws from the rng stream “{0}”, which nnx.Rngs was not given",
        "Give the stream a seed (--rng {0}=0), or nnx.Rngs a default one.",
    ),
)

STRUCTURE = (
    Rule(
        "SetAttributeInModuleSetupError",
        "",
        "setup assigns a field, and fields are fixed once the module is constructed",
        "A field cannot be assigned in setup: give the attribute another name.",
    ),
    Rule(
        "SetAttributeFrozenModuleError",
        r"Can't set (\w+)=.* for Module of type (\w+)",
        "{1} assigns self.{0} outside of setup",
        "Attributes are assigned in setup only; in a compact method use a local name: "
        "{0} = …",
    ),
    Rule(
        "AssignSubModuleError",
        r"Submodule (\w+) must be",
        "a submodule ({0}) is made in a method that is not compact",
        "Create submodules in setup, or mark the method with @nn.compact.",
    ),
    Rule(
        "ValueError",
        r"Parameters must be initialized in",
        "a parameter is made in a method that is not compact",
        "Create it in setup, or mark the method with @nn.compact.",
    ),
    Rule(
        "NameInUseError",
        r"Could not create (\w+) \"(.*?)\" in Module (\w+)",
        "{2} makes two things called “{1}”, this {0} being the second",
        "Give one of the two another name=.",
    ),
    Rule(
        "MultipleMethodsCompactError",
        "",
        "two methods of the class are marked @nn.compact",
        "Mark one method with @nn.compact, move the rest of the submodules to setup.",
    ),
    Rule(
        "CallCompactUnboundModuleError",
        "",
        "a module is called that is bound to no variables",
        "A module can be called only inside init and apply: make it in setup or in a "
        "compact method, or call .apply(variables, …) on it.",
    ),
    Rule(
        "CallSetupUnboundModuleError",
        "",
        "setup of a module is called that is bound to no variables",
        "Attributes of setup exist only inside init and apply.",
    ),
    Rule(
        "AttributeError",
        r'"(\w+)" object has no attribute "__call__"',
        "{0} has no __call__",
        "Name the method to run (--method NAME).",
    ),
    Rule(
        "AttributeError",
        r"\"(\w+)\" object has no attribute \"(\w+)\".*defined in '\.setup\(\)'",
        "{0} has no attribute {1} yet: what setup makes exists only inside init/apply",
        "Attributes of setup exist only inside init and apply: read it in a method of "
        "the module, or use .bind(variables).{1}.",
    ),
    Rule(
        "InvalidInstanceModuleError",
        "",
        "a class is used where an instance is needed",
        "Make an instance first: Name() in place of Name.",
    ),
    Rule(
        "RecursionError",
        "",
        "the module calls itself without end",
        "Look for a method that calls itself without end, or a module that is its own "
        "submodule.",
    ),
)

TRACING = (
    Rule(
        "TracerBoolConversionError",
        r"(?:with shape (\w+\[[\d,]*\])|$)",
        "Python has to decide by a value ({0}) that is not known while shapes are "
        "found",
        "Use jnp.where, jax.lax.cond or jax.lax.while_loop; a flag can be a static "
        "argument (--call name=value).",
    ),
    Rule(
        "TracerIntegerConversionError",
        "",
        "an index or a size is the value of an array, not known while shapes are found",
        "Index with jnp.take or array[index]; for a size, " + _STATIC,
    ),
    Rule(
        "TracerArrayConversionError",
        "",
        "numpy is given an array that has no numbers yet while shapes are found",
        "Use jax.numpy in place of numpy on arrays inside the module.",
    ),
    Rule(
        "ConcretizationTypeError",
        "",
        "a Python number is needed and comes from the value of an array",
        "For that number, " + _STATIC,
    ),
    Rule(
        "UnexpectedTracerError",
        "",
        "an array left the jax transformation in which it was made",
        _LIFTED,
    ),
    Rule(
        "JaxTransformError",
        "",
        "a submodule is used inside a plain jax transformation",
        _LIFTED,
    ),
    Rule(
        "TypeError",
        r"value of type <class '([\w.]+)'>.*not a valid JAX type",
        "the method returns something that is no array ({0})",
        "Return arrays, in tuples, lists or dicts; keep the rest in fields.",
    ),
    Rule(
        "TypeError",
        r"dot_general requires contracting dimensions to have the same shape, got "
        r"\((\d+),?\) and \((\d+),?\)",
        "a matrix product (dot_general) of {0} columns with {1} rows",
        "The two have to be equal; check the inputs (--input) and the constructor "
        "arguments (--kwargs).",
    ),
    Rule(
        "TypeError",
        r"(\w+) got incompatible shapes for broadcasting: (.*?)\.?$",
        "{0} of arrays whose shapes do not go together: {1}",
        "Check the inputs (--input) and the constructor arguments (--kwargs).",
    ),
    Rule("MemoryError", "", "the module allocates more than there is", _MEMORY),
    Rule(
        "Exception",
        r"RESOURCE_EXHAUSTED|Out of memory",
        "the module allocates more than there is",
        _MEMORY,
    ),
)

CALLING = (
    Rule(
        "ValueError",
        r"Parameter \"(\w+)\" must be passed to the constructor or at call time",
        "the flag {0} must be passed to the constructor or at call time, and is given "
        "nowhere",
        "Give the flag as a static argument of the call, e.g. {0}=true (--call), or "
        "as a constructor argument.",
    ),
    Rule(
        "ValueError",
        r"Parameter \"(\w+)\" was passed to the constructor and at call time",
        "the flag {0} is given both in the constructor and in the call",
        "Flax takes it from one of the two alone: leave it out of the constructor "
        "(--kwargs), or out of the call (--call). The train/eval switch sets it either "
        "way.",
    ),
    Rule(
        "ValueError",
        r"`deterministic` is False, but no `rngs` argument was provided to (\w+)",
        "{0} is in training mode and has no rngs to draw from",
        "Construct it with rngs=rngs, or run in eval mode (--mode eval).",
    ),
    Rule(
        "ValueError",
        r"No `(\w+)` argument was provided to (\w+)",
        "{1} was not told whether it trains: {0} is given nowhere",
        "Choose train or eval (--mode), which calls .train() or .eval(), or give {0} "
        "to it.",
    ),
    Rule(
        "ScopeCollectionNotFound",
        r'access "(?:mean|var)" from collection "batch_stats" in "/(.*?)"',
        "batch_stats is missing for {0} (mean, var)",
        "The variables hold no running statistics there: take batch_stats from a "
        "checkpoint that has them, or from init (mean 0, variance 1).",
    ),
    Rule(
        "ScopeCollectionNotFound",
        r'access "(.*?)" from collection "(.*?)" in "/(.*?)"',
        "{1} is missing for {2} ({0})",
        "The variables hold no such collection: take {1} from a checkpoint, or from "
        "the module's initial values.",
    ),
    Rule(
        "ScopeParamNotFoundError",
        r'parameter named "(.*?)" in scope "/(.*?)"',
        "params has no {1}/{0}",
        "The variables are those of another module or of other constructor arguments "
        "(--kwargs): compare the names in the two trees.",
    ),
    Rule(
        "ApplyScopeInvalidVariablesStructureError",
        "",
        "the variables have params twice, as params/params",
        "Give what lies below the outer params.",
    ),
    Rule(
        "ApplyScopeInvalidVariablesTypeError",
        "",
        "the variables are no dict of collections",
        "Give a dict of dicts: a collection first (params), then names.",
    ),
    Rule(
        "InvalidRngError",
        r'(\S+) needs PRNG for "(.*?)"',
        "{0} draws from the rng stream “{1}”, which has no key",
        "Give the stream a seed, e.g. 0 (--rng {1}=0).",
    ),
    Rule(
        "ModifyScopeVariableError",
        r'variable "(.*?)" in "/(.*?)" because collection "(.*?)" is immutable',
        "the method updates {0} of {1}, and {2} must not change in this call",
        "Allow it to change (--mutable {2}), or run in eval mode (--mode eval).",
    ),
)

RULES: tuple[Rule, ...] = (*CONSTRUCTION, *STRUCTURE, *TRACING, *CALLING)
"""Every rule; the first that is about an error explains it."""
