"""A call as a Python program: the plain ``jax.jit`` whose numbers a run repeats.

Needs nothing of this program: it imports the person's file, makes or loads the
variables, and calls the method with the same static arguments, collections and keys.
What is found by tracing (streams, collections) is written out, so that the text can be
read and changed. On the thread of the model process that runs the person's code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inspector.engine.messages.running import WriteCode
from inspector.models.abstract_call import abstract_values, trace_abstractly
from inspector.models.loading import Progress, explained, kept_subject
from inspector.models.resolve import resolve
from inspector.models.script_files import loading_lines
from inspector.models.script_forward import FORWARDS, Written
from inspector.models.subject import ResolvedCall, Subject


def write_script(request: WriteCode, progress: Progress) -> str:
    """Returns a call as a Python program; runs nothing of it.

    Args:
        request: The call, and the file that its variables are read from.
        progress: Told what is being done.

    Returns:
        A program that leaves ``outputs`` and ``updates``.

    Raises:
        LoadModuleError: The module, an input or the trace failed.
        UsageError: A text of the call cannot be parsed.
    """
    subject = kept_subject(request.module, "", progress)
    title = subject.imported.target.title
    progress(f"Tracing {title}")
    with explained(subject.imported, f"Writing the call of {title}"):
        call = resolve(subject, request.call)
        written = _written(subject, call, request)
    lines = [
        "import jax",
        *_settings(request),
        "",
        *_module(subject, request),
        *call.imports,
        *call.apply_code,
        *_variables(subject, request),
        "",
        *_inputs(call),
        "",
        *FORWARDS[subject.family](written),
        "",
        "print(jax.tree.map(jax.numpy.shape, outputs))",
    ]
    return _tidy(lines)


def _written(subject: Subject, call: ResolvedCall, request: WriteCode) -> Written:
    """Traces the call on shapes, for the streams and collections that it needs."""
    variables = subject.build(abstract_values(subject.traced.tree()))
    settled = trace_abstractly(subject, call, variables, request.call).settled
    return Written(subject, call, settled.seeds, settled.mutable)


def _settings(request: WriteCode) -> list[str]:
    """Returns the lines that choose device and precision."""
    lines = []
    platform, _, number = request.call.device.partition(":")
    if platform:
        device = f'jax.devices("{platform}")[{int(number or 0)}]'
        lines.append(f'jax.config.update("jax_default_device", {device})')
    if request.call.precision:
        name = "jax_default_matmul_precision"
        lines.append(f'jax.config.update("{name}", "{request.call.precision}")')
    return lines


def _module(subject: Subject, request: WriteCode) -> list[str]:
    code = subject.construct_code if request.variables else subject.code
    return [line for line in code.splitlines() if line != "import jax"]


def _variables(subject: Subject, request: WriteCode) -> list[str]:
    if not request.variables:
        return []
    return ["", *loading_lines(subject.family, request.variables)]


def _inputs(call: ResolvedCall) -> list[str]:
    positional = [call.codes[index] for index in range(len(call.args))]
    lines = ["inputs = (", *(f"    {code}," for code in positional), ")"]
    if not positional:
        lines = ["inputs = ()"]
    named: Mapping[str, str] = {name: call.codes[name] for name in call.kwargs}
    if named:
        items = (f"    {name!r}: {code}," for name, code in named.items())
        return [*lines, "named = {", *items, "}"]
    return [*lines, "named = {}"]


def _tidy(lines: Sequence[str]) -> str:
    """Returns the program with one empty line at most between its parts."""
    kept: list[str] = []
    seen: set[str] = set()
    for line in lines:
        if line.startswith(("import ", "from ")):
            if line in seen:
                continue
            seen.add(line)
        if line or (kept and kept[-1]):
            kept.append(line)
    text = "\n".join(kept).strip() + "\n"
    return text.replace("\n\ndef ", "\n\n\ndef ").replace("    )\n\n", "    )\n\n\n")
