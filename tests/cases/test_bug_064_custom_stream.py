"""Bug 64: streams of any name are found, and each seed changes what depends on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from inspector.engine.messages.running import RunDone
from tests.models.loading import Write
from tests.models.running import arrays, initial_tree, kinds, run, spec_in, text_of

NOISY = """
    from flax import linen as nn

    class Noisy(nn.Module):
        @nn.compact
        def __call__(self, x):
            noisy = nn.Dropout(0.5, rng_collection="noise", deterministic=False)(x)
            return noisy, nn.Dropout(0.5, deterministic=False)(x), nn.Dense(2)(x)
"""


def test_streams_are_found_and_act_alone(write: Write, tmp_path: Path) -> None:
    spec = spec_in(write("noisy.py", NOISY), "Noisy", "float32[4,8]")
    tree = initial_tree(spec, tmp_path)

    def ran(**seeds: int) -> RunDone:
        pairs = tuple(seeds.items())
        return run(spec, tree, tmp_path, "float32[4,8]", seeds=pairs)

    found = ran(noise=1, dropout=2)
    assert [(use.path, use.stream, use.draws) for use in found.rngs] == [
        (("Dropout_0",), "noise", 1),
        (("Dropout_1",), "dropout", 1),
    ]
    assert dict(ran().seeds) == {"noise": 0, "dropout": 0}
    first, again = arrays(found.outputs), arrays(ran(noise=1, dropout=2).outputs)
    other = arrays(ran(noise=9, dropout=2).outputs)
    assert all(np.array_equal(first[path], again[path]) for path in first)
    same = [np.array_equal(first[path], other[path]) for path in first]
    # The first output depends on the stream “noise”, the others do not.
    assert same == [False, True, True]


def test_a_stream_that_nothing_uses_is_said(write: Write, tmp_path: Path) -> None:
    spec = spec_in(write("noisy.py", NOISY), "Noisy", "float32[4,8]")
    tree = initial_tree(spec, tmp_path)
    seeds = (("noise", 1), ("dropout", 2), ("dropuot", 3))
    done = run(spec, tree, tmp_path, "float32[4,8]", seeds=seeds)
    assert kinds(done) == ["unused-stream"]
    assert text_of(done, "unused-stream") == (
        "Nothing draws from the rng stream “dropuot”, so its seed changes nothing. "
        "Drawn from: dropout, noise."
    )


def test_the_silent_fallback_is_said(write: Write, tmp_path: Path) -> None:
    spec = spec_in(write("noisy.py", NOISY), "Noisy", "float32[4,8]")
    tree = initial_tree(spec, tmp_path)
    done = run(spec, tree, tmp_path, "float32[4,8]", seeds=(("params", 1),))
    assert kinds(done) == ["fallback-stream", "fallback-stream"]
    assert [(use.stream, use.used) for use in done.rngs] == [
        ("noise", "params"),
        ("dropout", "params"),
    ]
