"""What the model process answers: the offers of a file, a loaded tree, values.

Each request says everything it needs, since the process may be ended and replaced
at any moment; what stays between requests is a cache of imported files. Called by
the model process, one request at a time, on the thread that runs the person's code.
Knows no format, no recipe and no pipe.
"""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import flax
import jax
import numpy as np

from inspector.engine.messages.module import (
    InitialMade,
    ListModules,
    LoadModule,
    MakeInitial,
    ModuleLoaded,
    ModuleOffers,
    ModuleSpec,
)
from inspector.errors import InspectorError
from inspector.models import compat, explain, initial
from inspector.models.call import InitCall, prepare
from inspector.models.construct import Constructed, construct
from inspector.models.importing import Imported, import_target
from inspector.models.linen import Traced, trace_init, unused_note
from inspector.models.offers import offers_of
from inspector.models.spec import parse_spec
from inspector.models.user_code import UserCode, as_program

Progress = Callable[[str], None]

_CODE = UserCode()
"""One per process, as ``sys.modules`` and ``sys.path`` are, which it looks after."""


def list_modules(request: ListModules) -> ModuleOffers:
    """Imports a file or package and lists what it offers.

    Raises:
        LoadModuleError: The file is absent, or its code failed.
        UsageError: The spec cannot be parsed.
    """
    target = parse_spec(request.spec, request.cwd)
    imported = import_target(target, _CODE)
    with _explained(imported, f"Listing {target.title.partition(':')[0]}"):
        return ModuleOffers(target.place, offers_of(imported.module))


def load_module(request: LoadModule, progress: Progress) -> ModuleLoaded:
    """Constructs a module and traces its ``init``; allocates none of its variables.

    Args:
        request: What to load.
        progress: Told what is being done.

    Raises:
        LoadModuleError: The module could not be imported, constructed or traced.
        UsageError: A text of the request cannot be parsed.
    """
    loaded = _load(request.module, progress)
    return ModuleLoaded(
        spec=loaded.imported.target.spec,
        name=loaded.imported.target.title,
        tree=loaded.traced.tree(),
        file=str(loaded.imported.file or ""),
        digest=loaded.imported.digest,
        streams=loaded.traced.streams,
        versions=versions(),
        flags=compat.prng_flags(),
        call=loaded.code,
        notes=loaded.notes,
    )


def make_initial(request: MakeInitial, progress: Progress) -> InitialMade:
    """Writes the initial values of some leaves to a file.

    The numbers are those of a plain ``module.init`` with the same seeds, bit for
    bit, on the same device.

    Args:
        request: The module, the leaves and the file.
        progress: Told what is being done.

    Raises:
        LoadModuleError: As `load_module`; also when a path is none of its
            variables, or memory or disk do not suffice.
        UsageError: A text of the request cannot be parsed.
    """
    loaded = _load(request.module, progress)
    paths = initial.select(loaded.traced, request.paths)
    file = Path(request.file)
    doing = f"Making the initial values of {loaded.imported.target.title}"
    with _explained(loaded.imported, doing):
        places = initial.write_initial(
            loaded.traced, loaded.call, paths, file, progress
        )
    table = tuple((p.path, p.offset, p.shape, p.dtype) for p in places)
    return InitialMade(str(file), table)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A module on the way from its file to its trace."""

    imported: Imported
    constructed: Constructed
    call: InitCall
    traced: Traced

    @property
    def code(self) -> str:
        """The call of ``init`` as a Python program."""
        imports = ["import jax"]
        imports += [line for one in self.call.inputs for line in one.imports]
        head = "\n".join(dict.fromkeys(imports))
        init = self.call.code(self.traced.seeds)
        return f"{head}\n{self.constructed.code}{init}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for a person."""
        unused = (unused_note(p, self.call.method) for p in self.traced.unused)
        return (*self.call.notes, *self.constructed.notes, *unused)


def _load(spec: ModuleSpec, progress: Progress) -> _Loaded:
    target = parse_spec(spec.spec, spec.cwd)
    progress(f"Importing {target.title.partition(':')[0]}")
    imported = import_target(target, _CODE)
    with _explained(imported, f"Loading {target.title}"):
        constructed = construct(imported, spec.kwargs, _CODE, target.cwd)
        call = prepare(constructed.module, spec, target.cwd)
        progress(f"Tracing init of {target.title}")
        seeds = dict(spec.seeds)
        traced = trace_init(constructed.module, call, seeds, imported.roots)
    return _Loaded(imported, constructed, call, traced)


@contextmanager
def _explained(imported: Imported, doing: str) -> Iterator[None]:
    """Runs the person's code; whatever it raises becomes a `LoadModuleError`."""
    target = imported.target
    try:
        with as_program(target.place):
            yield
    except InspectorError:
        raise
    except BaseException as error:
        # XLA, and callbacks, reprs and hooks of the person's code: anything at all.
        raise explain.failure(
            error, imported.roots, doing=doing, where=target.spec
        ) from error
    finally:
        # Modules that a constructor or a method imported belong to the project too.
        _CODE.collect()


def versions() -> tuple[tuple[str, str], ...]:
    """Returns (package, version) of what decides the initial values."""
    return (
        ("python", platform.python_version()),
        ("jax", jax.__version__),
        ("jaxlib", importlib.metadata.version("jaxlib")),
        ("flax", flax.__version__),
        ("numpy", np.__version__),
    )


def forget() -> None:
    """Takes the present project out of ``sys.modules`` and ``sys.path``."""
    _CODE.leave()
