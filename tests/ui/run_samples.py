"""A store inside the test that has runs: real trees of outputs and updates.

For the tests of the results of runs; what a run gives is the same in every test.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from inspector.engine.messages import document, inspecting, reading, running, viewing
from inspector.engine.messages.calling import Call
from inspector.engine.store_view import make_row
from inspector.variables.path import TreePath
from inspector.variables.tree import walk
from tests.ui.content_store import Array, ContentStore

CALL = Call(inputs=("float32[2,5]",), mode="train", seeds=(("dropout", 1),))

PROGRAM = running.ProgramInfo(0.15, 0.04, 0.43, 63.6e9, 1e9, 432013312)

REPORT = running.RunReport(
    run=3,
    call=CALL,
    device="cpu:0",
    signature="__call__(float32[2,5], train=True)",
    program=PROGRAM,
    run_s=0.00124,
    transfer_s=0.01,
    revision=4,
    variables="9f3a",
    outputs=3,
    updates=2,
    rngs=(
        running.RngUse(("h0", "attn"), "dropout", "dropout", 2),
        running.RngUse(("h1", "noise"), "noise", "params", 1),
    ),
    seeds=(("dropout", 1), ("params", 0)),
    mutable=("batch_stats",),
    remarks=(
        running.Remark("mode", "Train mode sets train=True."),
        running.Remark(
            "fallback-stream",
            "h1/noise asks for “noise”, which has no key, and silently draws from"
            " “params”.",
            ("h1", "noise"),
        ),
    ),
)

MEAN = ("batch_stats", "norm", "mean")
VAR = ("batch_stats", "norm", "var")

UPDATES = running.RunDifference(
    (
        running.DifferenceRow(MEAN, 0.25, 0.125, 0.5),
        running.DifferenceRow(VAR, 0.0, 0.0, 0.0),
    ),
    2,
    "1 of 2 variables changed.",
)

CALLS = inspecting.CallsReport(
    run=5,
    calls=(
        inspecting.ModuleCall(0, (), "Net", "__call__", "float32[2,5]", "float32[2,3]"),
        inspecting.ModuleCall(
            1, ("h0",), "Block", "__call__", "float32[2,5]", "(float32[2,4], int32[])"
        ),
        inspecting.ModuleCall(
            2, ("h0", "attn"), "Attention", "__call__", "float32[2,5]", "float32[2,4]"
        ),
    ),
    total=3,
    seconds=0.0032,
)

BAD = inspecting.BadReport(
    kind="equation",
    text="The operation “log” in h0/attn made the first NaN: its input is negative.",
    module=("h0", "attn"),
    primitive="log",
    source="net.py:42",
    line="    y = jnp.log(scores - 1.0)",
    inputs=(inspecting.ValueSummary("", "float32[2,5]", -1.0, 0.5, 0, 0, 10),),
    outputs=(inspecting.ValueSummary("", "float32[2,5]", -0.7, -0.7, 9, 0, 10),),
    bad_modules=(("h0", "attn"), ("h0",), ()),
    seconds=0.031,
)

VERIFIED = inspecting.VerifyReport(
    calls=(
        inspecting.CallDifference((), "__call__", 0.91, 0.6),
        inspecting.CallDifference(("h0",), "__call__", 0.0, 0.0),
        inspecting.CallDifference(("h0", "attn"), "__call__", 0.5, 0.25),
        inspecting.CallDifference(("h1",), "__call__", 3e-7, 2e-7),
        inspecting.CallDifference(
            ("head",), "__call__", float("inf"), float("inf"), "shapes differ"
        ),
    ),
    first=("h0", "attn"),
    worst=float("inf"),
    text="h0/attn is the first module that differs, by 0.25 of the largest value.",
    seconds=0.4,
)


def run_store() -> ContentStore:
    """Makes a store that knows run 3, its outputs, and every look inside it."""
    store = ContentStore()
    logits = np.array([[-1.5, 0.25, 2.0], [0.5, np.nan, 1.0]], np.float32)
    outputs: dict[TreePath, Array] = {
        ("loss",): np.array(0.693, np.float32),
        ("logits",): logits,
        ("aux", "tokens"): np.arange(6, dtype=np.int32),
    }
    for run in (1, 2, 3, 4, 6):
        store.put(running.outputs_of(run), outputs)
    store.put(running.updates_of(3), {MEAN: _ones(4), VAR: _ones(4)})
    store.put(running.calls_of(5), _recorded())
    store.target = document.TargetInfo("module", "net.py:Net", loaded=True)
    store.answers.update(
        {
            viewing.AskListing: lambda body: _listing(store, body),
            running.CompareUpdates: lambda _body: UPDATES,
            running.AskRuns: lambda _body: running.Runs(
                (REPORT, earlier(2), earlier(1))
            ),
            running.CompareRuns: lambda body: running.RunDifference(
                (running.DifferenceRow(("logits",), 3e-7, 1e-7, 2e-7),),
                3,
                f"Runs {body.a} and {body.b} are equal within float32.",
            ),
            running.SaveRun: lambda body: reading.Exported(body.out, "npz", 3, 52),
            inspecting.Record: lambda _body: CALLS,
            inspecting.RunSubmodule: lambda _body: replace(earlier(6), outputs=1),
            inspecting.FindBad: lambda _body: BAD,
            inspecting.Verify: lambda _body: VERIFIED,
        }
    )
    return store


def earlier(run: int) -> running.RunReport:
    """Returns a report of another run, without updates and remarks."""
    return replace(REPORT, run=run, updates=0, remarks=())


def source(name: str, number: int = 1) -> document.SourceInfo:
    return document.SourceInfo(
        f"s{number}", name, f"{name}.msgpack", f"{name}.msgpack", "msgpack", 4, 40, 160
    )


def _ones(size: int) -> Array:
    return np.ones(size, np.float32)


def _recorded() -> dict[TreePath, Array]:
    return {
        (0, "outputs"): np.full((2, 3), 0.5, np.float32),
        (0, "inputs", "x"): _ones(5),
        (1, "outputs", 0): np.array([1.0, 3.0], np.float32),
        (1, "outputs", 1): np.array(7, np.int32),
        (2, "outputs"): np.array([np.nan, 2.0], np.float32),
        ("sowed", "h0", "weights"): _ones(2),
    }


def _listing(store: ContentStore, body: viewing.AskListing) -> viewing.ListingPage:
    leaves = [
        viewing.ListedLeaf(
            path, make_row(path[-1], leaf, store.names, with_origin=False)
        )
        for path, leaf in walk(store.trees[body.tree])
    ]
    page = leaves[body.start : body.start + body.count]
    return viewing.ListingPage(tuple(page), len(leaves))
