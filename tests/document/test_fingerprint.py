from __future__ import annotations

import pytest

from inspector.document.fingerprint import (
    Fingerprint,
    changes,
    fingerprint,
    fingerprint_from_json,
    fingerprint_to_json,
)
from inspector.variables.strict import JsonObject

OLD = fingerprint([("b", 2000, 1), ("a", 1, 1)], "x")


def test_files_are_sorted() -> None:
    assert [mark.path for mark in OLD.files] == ["a", "b"]
    assert fingerprint_from_json(JsonObject(fingerprint_to_json(OLD), "f")) == OLD


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (OLD, ()),
        (fingerprint([("a", 1, 9), ("b", 2000, 9)], "x"), ()),
        (fingerprint([("a", 1, 9), ("b", 2000, 1)], ""), ("a was written again",)),
        (
            fingerprint([("a", 1, 9), ("b", 2000, 1)], "y"),
            ("its contents changed",),
        ),
        (fingerprint([("a", 1, 1), ("b", 3, 1)]), ("b has 3 bytes, it had 2,000",)),
        (fingerprint([("a", 1, 1), ("c", 3, 1)], "y"), ("b is gone", "c is new")),
        (Fingerprint(), ("a is gone", "b is gone")),
    ],
)
def test_changes(new: Fingerprint, said: tuple[str, ...]) -> None:
    assert changes(OLD, new) == said
