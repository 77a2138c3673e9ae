"""How the module of a test is called, and what a run of it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspector.engine.messages import document, running, viewing
from inspector.engine.messages.calling import (
    AskCallForm,
    AskDevices,
    Call,
    CallForm,
    CallParameter,
    Device,
    Devices,
    Mode,
    Proposals,
    ProposeInputs,
)
from inspector.engine.messages.document import Changes

MODE = Mode(
    "train", "argument", "true", "false", "differs",
    "Train means train=True, Eval means train=False.",
)  # fmt: skip

FORM = CallForm(
    family="linen",
    methods=("__call__", "encode"),
    method="",
    parameters=(
        CallParameter("x", required=True),
        CallParameter("train", "False", static=True, hint="bool"),
        CallParameter("mask", "None"),
        CallParameter("causal", "True", keyword_only=True, static=True, hint="bool"),
        CallParameter(
            "pool", "'mean'", static=True, hint="Literal['mean', 'max']",
            keyword_only=True,
        ),
    ),
    signature="(x, train: bool = False, mask=None, *, causal=True, pool='mean')",
    mode=MODE,
    inputs=("float32[2,5]",),
    streams=("dropout", "noise"),
    doc="Classifies.",
)  # fmt: skip

ENCODE = CallForm(
    "linen",
    FORM.methods,
    "encode",
    (CallParameter("x", required=True),),
    "(x)",
    Mode(text="The module has no train/eval switch."),
    ("float32[2,5]",),
)

DEVICES = Devices((Device("gpu:0", "NVIDIA H200", 1 << 37), Device("cpu:0", "cpu")))

PROGRAM = running.ProgramInfo(0.15, 0.04, 0.43)

USES = (
    running.RngUse(("h0", "attn"), "dropout", "dropout", 2),
    running.RngUse(("h1", "attn"), "dropout", "dropout", 4),
    running.RngUse(("h1",), "noise", "params", 1),
)


def form_of(body: AskCallForm) -> CallForm:
    return ENCODE if body.method == "encode" else FORM


def report_of(call: Call, run: int = 1) -> running.RunReport:
    return running.RunReport(
        run=run,
        call=call,
        device="cpu:0",
        signature="__call__(float32[2,5], train=False)",
        program=PROGRAM,
        run_s=0.00124,
        transfer_s=0.01,
        revision=1,
        variables="9f3a",
        outputs=0,
        updates=0,
        rngs=USES,
        mutable=("batch_stats",),
    )


def call_answers() -> dict[type, Callable[[Any], object]]:
    """Returns what a store answers about calls and runs, by class of the question."""
    return {
        AskCallForm: form_of,
        AskDevices: lambda _body: DEVICES,
        ProposeInputs: lambda _body: Proposals((("float32[1,8,8,1]",),), 12),
        running.Run: lambda body: report_of(body.call),
        running.AskCode: lambda body: running.Code(f"# {body.call}"),
        running.AskRuns: lambda _body: running.Runs(()),
        document.ReloadModule: lambda _body: Changes(base=True),
        viewing.AskListing: lambda _body: viewing.ListingPage((), 0),
    }
