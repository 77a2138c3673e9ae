"""What the model process answers: the offers of a file, a loaded tree, values.

Each request says everything it needs, since the process may be ended and replaced
at any moment; what stays between requests is a cache of imported files. Called by
the model process, one request at a time, on the thread that runs the person's code.
Knows no format, no recipe and no pipe.
"""

from __future__ import annotations

import importlib.metadata
import platform
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
)
from inspector.models import compat, initial
from inspector.models.importing import import_target
from inspector.models.loading import (
    CODE,
    Progress,
    explained,
    forget,
    kept_subject,
    load_subject,
)
from inspector.models.offers import offers_of
from inspector.models.spec import parse_spec

__all__ = ["forget", "list_modules", "load_module", "make_initial", "versions"]


def list_modules(request: ListModules) -> ModuleOffers:
    """Imports a file or package and lists what it offers.

    Raises:
        LoadModuleError: The file is absent, or its code failed.
        UsageError: The spec cannot be parsed.
    """
    target = parse_spec(request.spec, request.cwd)
    imported = import_target(target, CODE)
    with explained(imported, f"Listing {target.title.partition(':')[0]}"):
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
    subject = load_subject(request.module, progress)
    return ModuleLoaded(
        spec=subject.imported.target.spec,
        name=subject.imported.target.title,
        tree=subject.traced.tree(),
        file=str(subject.imported.file or ""),
        digest=subject.imported.digest,
        streams=subject.traced.streams,
        versions=versions(),
        flags=compat.prng_flags(),
        call=subject.code,
        notes=subject.notes,
        files=CODE.files(),
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
    subject = kept_subject(request.module, "", progress)
    paths = initial.select(subject.traced, request.paths)
    file = Path(request.file)
    doing = f"Making the initial values of {subject.imported.target.title}"
    with explained(subject.imported, doing):
        places = initial.write_initial(subject.traced, paths, file, progress)
    table = tuple((p.path, p.offset, p.shape, p.dtype) for p in places)
    return InitialMade(str(file), table)


def versions() -> tuple[tuple[str, str], ...]:
    """Returns (package, version) of what decides the initial values."""
    return (
        ("python", platform.python_version()),
        ("jax", jax.__version__),
        ("jaxlib", importlib.metadata.version("jaxlib")),
        ("flax", flax.__version__),
        ("numpy", np.__version__),
    )
