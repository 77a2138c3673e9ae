"""Everything of a forward pass but the pass itself: module, values, inputs, keys.

`prepare` brings together what a request names, puts it on the device, and settles
which streams and collections the call needs. What was prepared is kept by what it was
asked with, so the same request again finds everything in its place, and another seed
or input makes only that anew. Model process, on the thread that runs the person's code.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from inspector.engine.messages.calling import Call
from inspector.engine.messages.running import Remark, RngUse, RunModule
from inspector.models import compat, devices, held
from inspector.models.inputs import concrete
from inspector.models.loading import Progress, explained, kept_subject
from inspector.models.resolve import resolve
from inspector.models.settling import (
    Inputs,
    Settled,
    Unsettled,
    is_array,
    settle,
    split,
)
from inspector.models.subject import ResolvedCall, Subject, Values
from inspector.models.user_code import digest_of
from inspector.programs.signature import (
    Signature,
    leaf_types,
    statics_of,
    structure,
    value_text,
)
from inspector.programs.table import ProgramTable
from inspector.variables.path import TreePath, join

KEPT = 8
"""Prepared requests that are kept: a few modes and seeds of two modules."""

_TRACES: ProgramTable[Settled] = ProgramTable(16)
_PREPARED: OrderedDict[Any, Prepared] = OrderedDict()
_BUILT: OrderedDict[Any, tuple[Subject, Values, Any]] = OrderedDict()

_FILES = re.compile(r"[^\s\"'(){}\[\],:=]+\.np[yz]\b")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A forward pass that is ready to run.

    Attributes:
        subject: The module.
        request: The call as it was asked for.
        call: The same, resolved.
        values: The values of the variables by path, on the device.
        variables: What `Subject.build` made of them.
        seeds: Seed by stream, of every stream that is given a key.
        rngs: Those keys, on the device.
        mutable: Collections that may be updated.
        args: Inputs by position, on the device.
        kwargs: Inputs by keyword, on the device.
        device: The device.
        precision: Precision of matrix products as asked for; empty for JAX's own.
        transfer_s: Seconds for variables and inputs to reach the device.
        uses: Who draws from which stream.
        remarks: Sentences for a person.
        inputs: The same as flat arrays.
        signature: What decides the program.
        settled: The trace.
    """

    subject: Subject
    request: Call
    call: ResolvedCall
    values: Values
    variables: Any
    seeds: Mapping[str, int]
    rngs: Mapping[str, jax.Array]
    mutable: tuple[str, ...]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    device: jax.Device
    precision: str
    transfer_s: float
    uses: tuple[RngUse, ...]
    remarks: tuple[Remark, ...]
    inputs: Inputs
    signature: Signature
    settled: Settled

    @contextmanager
    def running(self, doing: str = "Running") -> Iterator[None]:
        """Runs the body on the device, at the precision; explains what it raises.

        Args:
            doing: What is done, for messages.
        """
        title = self.subject.imported.target.title
        with (
            explained(self.subject.imported, f"{doing} {title}"),
            on_device(self.device, self.precision),
        ):
            yield


@contextmanager
def on_device(device: jax.Device, precision: str) -> Iterator[None]:
    """Makes a device and a precision JAX's defaults in the body."""
    with jax.default_device(device):
        if precision:
            with jax.default_matmul_precision(precision):
                yield
        else:
            yield


def precision_in_force(precision: str) -> str:
    """Returns the precision of matrix products that a run has."""
    own = getattr(jax.config, "jax_default_matmul_precision", None)
    return precision or str(own or "default")


def forget() -> None:
    """Forgets everything that was prepared, as when memory is short."""
    _PREPARED.clear()
    _BUILT.clear()
    _TRACES.clear()
    held.release()


def prepare(body: RunModule, progress: Progress) -> Prepared:
    """Brings together what a request names.

    Args:
        body: The request.
        progress: Told what is being done.

    Raises:
        VariablesNotHeldError: The variables have to be sent first.
        LoadModuleError: The module, an input, the device or the trace failed.
        UsageError: A text of the call cannot be parsed.
    """
    if body.variables is not None:
        held.hold(body.stamp, body.variables)
    elif not held.is_held(body.stamp):
        raise held.VariablesNotHeldError(body.stamp)
    subject = kept_subject(body.module, body.digest, progress)
    device = devices.find_device(body.call.device)
    key = (id(subject), body.call, body.stamp, device, body.images, _files(body))
    found = _PREPARED.get(key)
    if found is None or body.variables is not None:
        found = _prepare(subject, body, device, progress)
        # It is told once: the next run finds everything on the device.
        _PREPARED[key] = _resident(found)
    _PREPARED.move_to_end(key)
    while len(_PREPARED) > KEPT:
        _PREPARED.popitem(last=False)
    return found


def _resident(prepared: Prepared) -> Prepared:
    fields = {name: getattr(prepared, name) for name in Prepared.__slots__}
    return Prepared(**{**fields, "transfer_s": 0.0})


def _files(body: RunModule) -> tuple[object, ...]:
    """Returns what tells that a file which the call names has changed."""
    call = body.call
    names = [name for text in call.inputs for name in _FILES.findall(text)]
    names += [file for _, file in body.images]
    stamps: list[object] = []
    for name in names:
        try:
            status = (Path(call.cwd) / Path(name).expanduser()).stat()
            stamps.append((name, status.st_size, status.st_mtime_ns))
        except OSError:
            stamps.append((name, -1, 0))
    if call.apply:
        file = Path(call.cwd) / Path(call.apply.rpartition(":")[0])
        stamps.append(digest_of(file))
    return tuple(stamps)


def _prepare(
    subject: Subject, body: RunModule, device: jax.Device, progress: Progress
) -> Prepared:
    call, imported = body.call, subject.imported
    progress(f"Bringing the variables to {devices.name_of(device)}")
    there = held.held(body.stamp, device)
    title = imported.target.title
    with (
        explained(imported, f"Running {title}"),
        on_device(device, call.precision),
    ):
        resolved = resolve(subject, call, dict(body.images))
        variables = _built(subject, there.values, body.stamp, device)
        start = time.perf_counter()
        args, kwargs = _placed((resolved.args, dict(resolved.kwargs)), device)
        transfer_s = there.transfer_s + time.perf_counter() - start
        what = Unsettled(subject, call, resolved, variables, args, kwargs)
        settled = _settled(what, device, progress)
        seeds = {**settled.seeds, **dict(call.seeds)}
        rngs = {stream: _key(seed, device) for stream, seed in seeds.items()}
    inputs = split(subject.family, variables, rngs, args, kwargs)
    return Prepared(
        subject=subject,
        request=call,
        call=resolved,
        values=there.values,
        variables=variables,
        seeds=seeds,
        rngs=rngs,
        mutable=settled.mutable,
        args=args,
        kwargs=kwargs,
        device=device,
        precision=call.precision,
        transfer_s=transfer_s,
        uses=settled.uses,
        remarks=(*resolved.remarks, *settled.remarks, *_narrowed(there.narrowed)),
        inputs=inputs,
        signature=signature_of(what, inputs, device),
        settled=settled,
    )


def _built(subject: Subject, values: Values, stamp: str, device: jax.Device) -> Any:
    """Returns the variables as the framework takes them; made once for a stamp."""
    key = (id(subject), stamp, device)
    found = _BUILT.get(key)
    if found is None or found[1] is not values:
        found = (subject, values, subject.build(values))
        _BUILT[key] = found
    _BUILT.move_to_end(key)
    while len(_BUILT) > held.KEPT:
        _BUILT.popitem(last=False)
    return found[2]


def _placed(inputs: Any, device: jax.Device) -> Any:
    """Puts inputs on the device; abstract ones become the array they stand for."""

    def place(leaf: Any) -> Any:
        if isinstance(leaf, jax.ShapeDtypeStruct):
            leaf = concrete(leaf)
        return jax.device_put(leaf, device) if is_array(leaf) else leaf

    placed = jax.tree_util.tree_map(place, inputs)
    ready: Any = jax.block_until_ready
    return ready(placed)


def _key(seed: int, device: jax.Device) -> jax.Array:
    key: jax.Array = jax.device_put(jax.random.key(seed), device)
    return key


def _settled(what: Unsettled, device: jax.Device, progress: Progress) -> Settled:
    """Returns the trace of a call; another seed alone does not make a new one."""
    seeds = {stream: _key(seed, device) for stream, seed in what.request.seeds}
    inputs = split(what.subject.family, what.variables, seeds, what.args, what.kwargs)
    signature = signature_of(what, inputs, device)
    found = _TRACES.find(signature)
    if found is None:
        found = settle(what, lambda seed: _key(seed, device), progress)
        _TRACES.put(signature, found)
    return found


def signature_of(what: Unsettled, inputs: Inputs, device: jax.Device) -> Signature:
    """Returns what decides the trace of a call, and with all its streams, its program.

    Args:
        what: The call.
        inputs: What the program takes.
        device: Where it runs.
    """
    call = what.call
    closed = {
        **{f"argument {name}": value for name, value in call.statics.items()},
        **{f"field {name}": value for name, value in call.fields.items()},
        **{f"leaf {index}": value for index, value in inputs.constants.items()},
        "mode": call.mode,
    }
    return Signature(
        module=id(what.subject),
        method=call.method if call.apply is None else value_text(call.apply),
        statics=statics_of(closed),
        leaves=leaf_types(inputs.arrays),
        tree=structure(inputs.tree),
        mutable=what.request.mutable,
        streams=tuple(stream for stream, _ in what.request.seeds),
        device=devices.name_of(device),
        precision=precision_in_force(what.request.precision),
        settings=compat.prng_flags(),
    )


def _narrowed(paths: tuple[TreePath, ...]) -> tuple[Remark, ...]:
    if not paths:
        return ()
    return (
        Remark(
            "narrowed",
            f"{len(paths)} leaves of 64 bits, {join(paths[0])} first, are computed "
            "with in 32 bits: JAX has 64 bits switched off (jax_enable_x64).",
            paths[0],
        ),
    )
