from __future__ import annotations

import json
import math
from typing import Any

import pytest

from inspector.cli.run import run
from tests.corpus_truth import CORPUS, ITEMS, open_at_truth, truth_of


def ls(locator: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["ls", locator, "--stats", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    document = json.loads(captured.out)
    assert isinstance(document, dict)
    return document


def number(value: object) -> object:
    if isinstance(value, list):
        return [number(part) for part in value]
    return float(value) if isinstance(value, str | int | float) else value


def close(found: object, expected: object) -> bool:
    if isinstance(found, list) and isinstance(expected, list):
        return all(map(close, found, expected))
    assert isinstance(found, float)
    assert isinstance(expected, float)
    if math.isnan(expected):
        return math.isnan(found)
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)


def check(leaf: dict[str, Any], truth: dict[str, Any]) -> None:
    if "python" in truth:
        if isinstance(truth["value"], str) and truth["python"] == "bytes":
            assert leaf["value"].startswith(truth["value"])
        else:
            assert leaf["value"] == truth["value"]
        assert leaf["kind"] == truth["python"]
        return
    if leaf.get("kind") == "complex":
        # The truth has msgpack's native complex number as numpy converts it.
        assert close(number(leaf["value"]), number(truth["sum"]))
        return
    assert leaf["shape"] == truth["shape"]
    assert leaf["dtype"] == truth["dtype"]
    if truth.get("sum") is not None and not leaf.get("error"):
        assert close(number(leaf["stats"]["sum"]), number(truth["sum"]))


@pytest.mark.parametrize("item", ITEMS)
def test_ls_agrees_with_the_truth(
    item: str, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = open_at_truth(item)
    checkpoint.close()
    document = ls(checkpoint.locator, capsys)
    leaves = {leaf["path"]: leaf for leaf in document["leaves"]}
    for truth in truth_of(item):
        check(leaves[truth["path"]], truth)


def test_each_bad_leaf_of_an_incomplete_checkpoint_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = ls(str(CORPUS / "orbax-bonsai-unet-incomplete" / "data"), capsys)
    errors = [leaf["error"] for leaf in document["leaves"] if "error" in leaf]
    assert len(errors) == 30
    assert "stats" not in next(leaf for leaf in document["leaves"] if "error" in leaf)
