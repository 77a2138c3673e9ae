"""One module of the zoo through the store: list, load, run, statistics.

Asks what the window asks, in the same order, so what holds here holds there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from inspector.cli.store import StoreSession
from inspector.engine.messages import document, module, reading, running, viewing
from inspector.engine.messages.calling import Call
from inspector.variables.path import join
from tools.zoo.entries import Entry


@dataclass(frozen=True, slots=True)
class Found:
    """What the program found of a module.

    Attributes:
        version: Where it came from.
        leaves: Leaves of its variables.
        parameters: Elements of all arrays.
        offers: Whether the file's listing offers it.
        outputs: (path, shape, dtype, sum, standard deviation) of every output array.
    """

    version: str
    leaves: int
    parameters: int
    offers: bool
    outputs: tuple[tuple[str, tuple[int, ...], str, float, float], ...]


def visit(entry: Entry, root: Path, store: StoreSession) -> Found:
    """Visits one module.

    Args:
        entry: Which.
        root: Folder that its import path starts from.
        store: A store session; its target is replaced.

    Raises:
        RemoteError: It cannot be listed, loaded or run.
    """
    package, _, name = entry.spec.partition(":")
    offers = store.ask(module.ListModules(package, str(root)))
    assert isinstance(offers, module.ModuleOffers)
    spec = module.ModuleSpec(
        entry.spec,
        json.dumps(entry.kwargs),
        entry.inputs,
        entry.method,
        entry.statics,
        entry.seeds,
        str(root),
    )
    store.ask(document.LoadTarget(spec))
    info = store.ask(document.AskDocument())
    assert isinstance(info, document.DocumentInfo)
    return Found(
        entry.source.version,
        info.target.leaves,
        info.target.parameters,
        any(offer.name == name for offer in offers.offers),
        _outputs(entry, root, store) if entry.runs else (),
    )


def _outputs(
    entry: Entry, root: Path, store: StoreSession
) -> tuple[tuple[str, tuple[int, ...], str, float, float], ...]:
    call = Call(
        entry.method, entry.inputs, entry.statics, seeds=entry.seeds, cwd=str(root)
    )
    report = store.ask(running.Run(call))
    assert isinstance(report, running.RunReport)
    tree = running.outputs_of(report.run)
    rows = []
    for leaf in store.leaves(tree):
        if leaf.row.kind != "array":
            continue
        numbers = store.ask(viewing.ReadStatistics(tree, leaf.path, 0))
        assert isinstance(numbers, reading.StatisticsReply)
        total = numbers.total[0] if isinstance(numbers.total, tuple) else numbers.total
        rows.append(
            (
                join(leaf.path),
                leaf.row.shape,
                leaf.row.dtype,
                float(total),
                float(numbers.std or 0.0),
            )
        )
    return tuple(rows)
