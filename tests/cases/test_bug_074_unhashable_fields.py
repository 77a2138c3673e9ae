"""Bug 74: a module with list or dict fields runs, and its program is found again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.models import running
from tests.models.loading import Write, quiet
from tests.models.running import initial_tree, request, spec_in

FILE = """
    import dataclasses
    from typing import Any

    from flax import linen as nn

    class ML(nn.Module):
        sizes: Any = dataclasses.field(default_factory=lambda: [4, 2])

        @nn.compact
        def __call__(self, x):
            sizes = self.sizes
            # Flax makes a FrozenDict of a dict.
            for size in sizes.values() if hasattr(sizes, "values") else sizes:
                x = nn.Dense(size)(x)
            return x
"""


@pytest.mark.parametrize(("kwargs", "width"), [({}, 2), ({"sizes": {"a": 1}}, 1)])
def test_it_runs_and_the_second_run_compiles_nothing(
    write: Write, tmp_path: Path, kwargs: dict[str, object], width: int
) -> None:
    file = write("ml.py", FILE)
    spec = spec_in(file, "ML", "float32[2,3]", kwargs=json.dumps(kwargs))
    body = request(spec, initial_tree(spec, tmp_path), tmp_path, "float32[2,3]")
    first, second = running.run(body, quiet), running.run(body, quiet)
    assert [first.program.made, second.program.made] == [True, False]
    (leaf,) = (leaf for _, leaf in second.outputs.leaves)
    assert leaf.shape == (2, width)
