"""A document to test with: a module's base, a source, and what they give."""

from __future__ import annotations

from inspector.document.base import ModuleBase
from inspector.document.document import Document
from inspector.document.fingerprint import fingerprint
from inspector.document.recipe import SourceEntry
from inspector.variables.plain import to_plain
from inspector.variables.tree import Branch
from tests.variables.edits import SOURCE, START

ENTRY = SourceEntry(
    "s1",
    "/data/digits",
    "@100",
    "orbax",
    "digits",
    fingerprint([("b", 3, 4), ("a", 1, 2)], "abc"),
)


def module_base(target: Branch = START) -> ModuleBase:
    return ModuleBase(
        spec="/data/classifier.py:Classifier",
        file="/data/classifier.py",
        file_digest="00ff",
        kwargs_json='{"width": 3}',
        inputs=("float32[1,8,8,1]", "mask=bool[8]"),
        method="encode",
        statics=(("train", "false"),),
        rngs=(("params", 0), ("dropout", 1)),
        python="3.11.7",
        versions=(("jax", "0.10.2"), ("flax", "0.12.8")),
        prng=(("jax_threefry_partitionable", "True"),),
        name="classifier.py:Classifier",
        cwd="/data",
        tree=to_plain(target),
    )


def make_document() -> Document:
    document = Document()
    document.add_source(ENTRY, SOURCE)
    document.set_base(module_base())
    return document
