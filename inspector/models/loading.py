"""From a spec to a loaded `Subject`: import, construct, trace.

Loads anew each time it is asked to, for files may have changed, and keeps what was
loaded last for those who run it. One set of user code per process, as ``sys.modules``
is. On the thread of the model process that runs the person's code.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from inspector.engine.messages.module import ModuleSpec
from inspector.errors import InspectorError, LoadModuleError
from inspector.models import explain
from inspector.models.call import prepare
from inspector.models.construct import construct
from inspector.models.importing import Imported, import_target
from inspector.models.linen import trace_init
from inspector.models.linen_subject import LinenSubject
from inspector.models.spec import parse_spec
from inspector.models.user_code import UserCode, as_program

Progress = Callable[[str], None]
"""Told what is being done."""

CODE = UserCode()
"""One per process, as ``sys.modules`` and ``sys.path`` are, which it looks after."""

KEPT = 4
"""Subjects that are kept: both sides of a comparison, and those before."""

_SUBJECTS: OrderedDict[ModuleSpec, LinenSubject] = OrderedDict()


class ModuleFileChangedError(LoadModuleError):
    """The file of a module is no longer what was loaded."""

    def __init__(self, file: str) -> None:
        """Names the file."""
        super().__init__(
            "The file has changed since the module was loaded.",
            where=file,
            hint="Load the module again; the edits that still fit are kept.",
        )


def load_subject(spec: ModuleSpec, progress: Progress) -> LinenSubject:
    """Imports, constructs and traces a module; keeps it for `kept_subject`.

    Raises:
        LoadModuleError: The module could not be imported, constructed or traced.
        UsageError: A text of the spec cannot be parsed.
    """
    target = parse_spec(spec.spec, spec.cwd)
    progress(f"Importing {target.title.partition(':')[0]}")
    imported = import_target(target, CODE)
    with explained(imported, f"Loading {target.title}"):
        constructed = construct(imported, spec.kwargs, CODE, target.cwd)
        call = prepare(constructed.module, spec, target.cwd)
        progress(f"Tracing init of {target.title}")
        seeds = dict(spec.seeds)
        traced = trace_init(constructed.module, call, seeds, imported.roots)
    subject = LinenSubject(
        spec,
        imported,
        constructed.module,
        traced,
        constructed.code,
        call,
        constructed.notes,
    )
    _SUBJECTS[spec] = subject
    _SUBJECTS.move_to_end(spec)
    while len(_SUBJECTS) > KEPT:
        _SUBJECTS.popitem(last=False)
    return subject


def kept_subject(spec: ModuleSpec, digest: str, progress: Progress) -> LinenSubject:
    """Returns a module as it was loaded; loads it when this process has not.

    Args:
        spec: The module.
        digest: SHA-256 of its file as it was loaded; empty for any.
        progress: Told what is being done.

    Raises:
        ModuleFileChangedError: It has to be loaded and its file is another one now.
        LoadModuleError: As `load_subject`.
    """
    subject = _SUBJECTS.get(spec)
    if subject is None or (digest and subject.imported.digest != digest):
        subject = load_subject(spec, progress)
        if digest and subject.imported.digest != digest:
            raise ModuleFileChangedError(str(subject.imported.file))
    _SUBJECTS.move_to_end(spec)
    return subject


@contextmanager
def explained(imported: Imported, doing: str) -> Iterator[None]:
    """Runs the person's code; whatever it raises becomes a `LoadModuleError`.

    Args:
        imported: Whose code it is.
        doing: What is being done, for the message, e.g. ``"Running net.py:Net"``.
    """
    target = imported.target
    CODE.resume(imported.root)
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
        CODE.collect()


def forget() -> None:
    """Takes the present project out of ``sys.modules`` and ``sys.path``."""
    _SUBJECTS.clear()
    CODE.leave()
