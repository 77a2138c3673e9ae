"""A random key that is consumed twice is said with both places; correct use is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.engine.messages.running import Remark
from tests.models.loading import MODULES
from tests.models.running import initial_tree, run, spec_in

FILE = MODULES / "key_reuse.py"


def remarks(name: str, folder: Path, **kwargs: object) -> list[Remark]:
    spec = spec_in(FILE, name, "float32[8,8]", kwargs=json.dumps(kwargs))
    tree = initial_tree(spec, folder)
    seeds = (("noise", 1), ("dropout", 2))
    done = run(spec, tree, folder, "float32[8,8]", seeds=seeds)
    return [one for one in done.remarks if one.kind != "unused-stream"]


def line(text: str, nth: int = 0) -> str:
    """Returns ``file.py:12`` of the nth line that holds a text."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    numbers = [number for number, one in enumerate(lines, 1) if text in one]
    return f"{FILE.name}:{numbers[nth]}"


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("Twice", "a = jax.random", "b = jax.random"),
        ("Slices", "x + jax.random.normal(keys[0]", "x + jax.random.uniform(keys[0]"),
    ],
)
def test_both_places_are_said(
    name: str, first: str, second: str, tmp_path: Path
) -> None:
    (found,) = remarks(name, tmp_path)
    assert found.kind == "key-reused"
    assert found.text == (
        f"The same random key is consumed 2 times, at {line(first)} and {line(second)}"
        ", so the same numbers are drawn again. Split it first."
    )


@pytest.mark.parametrize(
    ("name", "kwargs", "text"),
    [
        ("Loop", {}, "return c + jax.random.normal"),
        ("Scan", {"split": False}, "return nn.Dropout"),
    ],
)
def test_a_key_that_every_step_consumes_is_said(
    name: str, kwargs: dict[str, object], text: str, tmp_path: Path
) -> None:
    (found,) = remarks(name, tmp_path, **kwargs)
    assert found.kind == "same-mask"
    assert line(text) in found.text
    assert "all steps draw the same numbers" in found.text


@pytest.mark.parametrize("name", ["Fine", "Scan"])
def test_correct_use_is_not_talked_about(name: str, tmp_path: Path) -> None:
    assert remarks(name, tmp_path) == []
