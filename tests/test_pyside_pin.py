"""PySide6 stays below 6.12 for as long as Python 3.11 is supported.

`PySide6-Essentials 6.12.0` loses one reference to None for each Qt call that returns
nothing. From Python 3.12 on None is immortal and nothing happens; on 3.11 the count
reaches zero after minutes of use and the interpreter aborts.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import PySide6
import pytest
from packaging.requirements import Requirement
from PySide6.QtCore import QObject

ROOT = Path(__file__).parent.parent
CALLS = 200
NOISE = 20


def test_requirement_excludes_the_broken_release() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = [
        Requirement(text)
        for text in project["dependencies"]
        if text.startswith("PySide6")
    ]
    assert [item.name for item in required] == ["PySide6-Essentials"]
    assert "6.11.3" in required[0].specifier
    assert "6.12.0" not in required[0].specifier


def test_installed_release_is_below_6_12() -> None:
    assert tuple(map(int, PySide6.__version__.split(".")[:2])) < (6, 12)


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="None is immortal from Python 3.12 on"
)
def test_void_calls_keep_the_reference_count_of_none() -> None:
    thing = QObject()
    thing.setObjectName("warm-up")
    before = sys.getrefcount(None)
    for _ in range(CALLS):
        thing.setObjectName("name")
    assert abs(sys.getrefcount(None) - before) < NOISE
