"""The zoo: its table, and the modules of PyPI that are among the test requirements.

The whole zoo fetches from GitHub and is a command of its own, ``make zoo``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from inspector.cli.store import StoreSession
from tools.zoo.entries import ENTRIES
from tools.zoo.sources import Package, Repository
from tools.zoo.table import differences, read_table
from tools.zoo.visit import Found, visit

INSTALLED = [
    one
    for one in ENTRIES
    if isinstance(one.source, Package) and one.source.installed and one.runs
]


def test_modules_of_pypi_give_what_the_table_says(tmp_path: Path) -> None:
    stored, wrong = read_table(), {}
    with StoreSession(state_dir=str(tmp_path / "state")) as store:
        for entry in INSTALLED:
            found = visit(entry, tmp_path, store)
            wrong[entry.name] = differences(stored[entry.name], found)
    assert wrong == {entry.name: [] for entry in INSTALLED}


def test_table_knows_every_entry_and_no_other() -> None:
    assert sorted(read_table()) == sorted(one.name for one in ENTRIES)


def test_names_are_unique_and_commits_whole() -> None:
    names = [one.name for one in ENTRIES]
    assert len(names) == len(set(names))
    commits = [
        one.source.commit for one in ENTRIES if isinstance(one.source, Repository)
    ]
    assert {len(commit) for commit in commits} == {40}


FOUND = Found("a==1", 2, 10, offers=True, outputs=(("output", (4,), "float32", 2, 1),))


def test_differences_name_what_differs() -> None:
    assert differences(FOUND, FOUND) == []
    assert differences(FOUND, replace(FOUND, leaves=3)) == ["leaves: 2 stored, 3 found"]
    other = replace(FOUND, outputs=(("output", (4,), "float32", 2.5, 1),))
    assert differences(FOUND, other) == ["sum of output: 2 stored, 2.5 found"]
    shape = replace(FOUND, outputs=(("output", (5,), "float32", 2, 1),))
    assert differences(FOUND, shape) == ["other outputs"]
    assert differences(None, FOUND) == [
        "it is not in the table; --update puts it there"
    ]


def test_a_nan_is_no_small_difference() -> None:
    bad = replace(FOUND, outputs=(("output", (4,), "float32", float("nan"), 1),))
    assert differences(FOUND, bad) == ["sum of output: 2 stored, nan found"]
    assert differences(bad, bad) == []
