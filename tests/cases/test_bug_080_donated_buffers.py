"""Bug 80: a function of the person's that donates leaves the variables readable."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.models.loading import MODULES
from tests.models.running import arrays, initial_tree, run, spec_in

FILE = MODULES / "callables.py"


def test_donated_variables_stay(tmp_path: Path) -> None:
    spec = spec_in(FILE, "make_dict")
    tree = initial_tree(spec, tmp_path)
    found = [
        arrays(
            run(spec, tree, tmp_path, "float32[2]", apply=f"{FILE}:donating").outputs
        )["output",]
        for _ in range(2)
    ]
    weights = arrays(tree)["w",]
    assert np.array_equal(found[0], (weights + 1) * np.float32(2))
    assert np.array_equal(found[0], found[1])
