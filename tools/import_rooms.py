"""Who may import whom: the contract type behind ``[tool.importlinter]``.

Run by ``lint-imports``. A *room* is a set of modules that share a process or a
promise. Import-linter's own types cannot say "nothing but these packages", nor take
modules by pattern, so that a new file of an engine is in its room from the start.
Which rooms there are is said in ``pyproject.toml``, not here.

Reachable means: imported directly, through other modules of ours, inside functions
too, or because importing a module runs the ``__init__`` of its packages. What is
behind ``if TYPE_CHECKING`` is left out, as it loads nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import cast

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

Imports = Callable[[str], Iterable[str]]
"""Gives the modules that one module imports directly."""


def in_room(module: str, patterns: Iterable[str]) -> bool:
    """Returns whether a module is one of a room.

    Args:
        module: Dotted name.
        patterns: Dotted names with ``*``; each stands for the modules it matches
            and for everything below them.
    """
    return any(
        fnmatchcase(module, pattern) or fnmatchcase(module, f"{pattern}.*")
        for pattern in patterns
    )


def reachable(start: str, imports: Imports) -> dict[str, list[str]]:
    """Returns what importing one module loads, with the shortest way to each.

    Args:
        start: Dotted name of a module.
        imports: Gives the direct imports of a module of ours, nothing for others.

    Returns:
        For each loaded module the chain from ``start`` to it, both ends included.
    """
    chains = {start: [start]}
    queue = [start]
    for module in queue:
        package = module.rpartition(".")[0]
        for name in sorted({*imports(module), *([package] if package else [])}):
            if name not in chains:
                chains[name] = [*chains[module], name]
                queue.append(name)
    return chains


class RoomContract(Contract):
    """Modules that reach only the named packages and never the named rooms.

    The standard library is always allowed. A pattern of ``modules`` that matches
    nothing is a warning; that no module is without a room is a house rule
    (``tests/test_house_rules.py``), so a renamed file cannot leave its own unnoticed.

    Attributes:
        modules: Patterns of the modules in the room, as `in_room` takes them.
        except_modules: Patterns of modules that are matched but have a room of their
            own; left out as starting points only.
        packages: Top-level names of the third-party packages that may be reached.
        never: Patterns of modules of ours that must not be reached.
    """

    modules = fields.ListField(subfield=fields.StringField())
    except_modules = fields.ListField(
        subfield=fields.StringField(), required=False, default=[]
    )
    packages = fields.ListField(subfield=fields.StringField())
    never = fields.ListField(subfield=fields.StringField(), required=False, default=[])

    def _names(self, field: str) -> list[str]:
        """Returns a field's value; import-linter types it as the field itself."""
        return cast("list[str]", getattr(self, field))

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Follows the imports of every module of the room.

        Args:
            graph: Imports of our package, third-party packages squashed to a name.
            verbose: Not used; a broken contract says all there is to say.
        """
        del verbose
        roots = set(self.session_options["root_packages"])
        ours = {name for name in graph.modules if name.partition(".")[0] in roots}

        def imports(module: str) -> Iterable[str]:
            return (
                graph.find_modules_directly_imported_by(module)
                if module in ours
                else ()
            )

        room, others = self._names("modules"), self._names("except_modules")
        problems = [
            " -> ".join(chain)
            for start in sorted(ours)
            if in_room(start, room) and not in_room(start, others)
            for name, chain in reachable(start, imports).items()
            if self._is_forbidden(name, ours=name in ours)
        ]
        unmatched = [
            f"{pattern} matches no module."
            for pattern in room
            if not any(in_room(name, [pattern]) for name in ours)
        ]
        return ContractCheck(
            kept=not problems, warnings=unmatched, metadata={"problems": problems}
        )

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Prints each chain that leaves the room.

        Args:
            check: What `check` returned.
        """
        for problem in check.metadata["problems"]:
            output.print_error(f"- {problem}", bold=False)
        output.new_line()

    def _is_forbidden(self, name: str, *, ours: bool) -> bool:
        """Returns whether a reached module may not be reached."""
        if ours:
            return in_room(name, self._names("never"))
        package = name.partition(".")[0]
        return package not in {*self._names("packages"), *sys.stdlib_module_names}
