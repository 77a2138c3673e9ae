"""From a spec to a loaded `Subject`: import, construct, trace.

Loads anew each time it is asked to, for files may have changed, and keeps what was
loaded last for those who run it. One set of user code per process, as ``sys.modules``
is. On the thread of the model process that runs the person's code.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flax import nnx

from inspector.engine.messages.module import ModuleSpec
from inspector.errors import InspectorError, LoadModuleError
from inspector.models import compat, explain
from inspector.models.bound_notes import bound_notes
from inspector.models.call import prepare
from inspector.models.construct import Choice, choose, construct_linen
from inspector.models.families import HAIKU, LINEN, NNX
from inspector.models.importing import Imported, import_target
from inspector.models.inputs import Input, parse_input
from inspector.models.linen import trace_init
from inspector.models.linen_subject import LinenSubject
from inspector.models.making import make_abstractly
from inspector.models.nnx_subject import NnxSubject
from inspector.models.pytree_subject import PytreeSubject
from inspector.models.spec import parse_spec
from inspector.models.subject import Subject
from inspector.models.user_code import UserCode, as_program

Progress = Callable[[str], None]
"""Told what is being done."""

CODE = UserCode()
"""One per process, as ``sys.modules`` and ``sys.path`` are, which it looks after."""

KEPT = 4
"""Subjects that are kept: both sides of a comparison, and those before."""

_SUBJECTS: OrderedDict[ModuleSpec, Subject] = OrderedDict()


class ModuleFileChangedError(LoadModuleError):
    """The file of a module is no longer what was loaded."""

    def __init__(self, file: str) -> None:
        """Names the file."""
        super().__init__(
            "The file has changed since the module was loaded.",
            where=file,
            hint="Load the module again; the edits that still fit are kept.",
        )


def load_subject(spec: ModuleSpec, progress: Progress) -> Subject:
    """Imports, constructs and traces a module; keeps it for `kept_subject`.

    Raises:
        LoadModuleError: The module could not be imported, constructed or traced.
        UsageError: A text of the spec cannot be parsed.
    """
    target = parse_spec(spec.spec, spec.cwd)
    progress(f"Importing {target.title.partition(':')[0]}")
    imported = import_target(target, CODE)
    with explained(imported, f"Loading {target.title}"):
        choice = choose(imported, spec.kwargs, CODE, target.cwd)
        subject = _made(choice, spec, progress) or _linen(choice, spec, progress)
    _SUBJECTS[spec] = subject
    _SUBJECTS.move_to_end(spec)
    while len(_SUBJECTS) > KEPT:
        _SUBJECTS.popitem(last=False)
    return subject


def _linen(choice: Choice, spec: ModuleSpec, progress: Progress) -> LinenSubject:
    imported = choice.imported
    constructed = construct_linen(choice)
    call = prepare(constructed.module, spec, imported.target.cwd)
    progress(f"Tracing init of {imported.target.title}")
    traced = trace_init(constructed.module, call, dict(spec.seeds), imported.roots)
    return LinenSubject(
        spec,
        imported,
        constructed.module,
        traced,
        constructed.code,
        call,
        (*constructed.notes, *bound_notes(constructed.module, traced)),
    )


def _made(choice: Choice, spec: ModuleSpec, progress: Progress) -> Subject | None:
    """Constructs an NNX module or a pytree; None when it is a Linen module."""
    if choice.family == LINEN:
        return None
    progress(f"Constructing {choice.imported.target.title}")
    inputs: tuple[Input, ...] = ()
    if choice.family == HAIKU:
        cwd = choice.imported.target.cwd
        inputs = tuple(parse_input(text, cwd) for text in spec.inputs)
    made = make_abstractly(choice, dict(spec.seeds), inputs)
    if made is None:
        return None
    with compat.without_eager_sharding():
        module = made.skeleton.template()
        if made.family == NNX:
            return NnxSubject(
                spec, choice.imported, made, nnx.merge(made.graphdef, module)
            )
    return PytreeSubject(spec, choice.imported, made, module)


def kept_subject(spec: ModuleSpec, digest: str, progress: Progress) -> Subject:
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
