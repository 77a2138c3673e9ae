from __future__ import annotations

from typing import Any

import pytest
from grimp import ImportGraph
from importlinter import ContractCheck

from tools.import_rooms import RoomContract, in_room, reachable

EDGES = {
    "app.window": ["app.client", "PySide6"],
    "app.client": ["app.store.state"],
    "app.store.state": ["numpy", "json"],
    "app.store": ["app.heavy"],
    "app.heavy": ["jax"],
}


def build_graph() -> ImportGraph:
    graph = ImportGraph()
    graph.add_module("app")
    for importer, names in EDGES.items():
        graph.add_module(importer)
        for name in names:
            if name not in graph.modules:
                graph.add_module(name, is_squashed=not name.startswith("app"))
            graph.add_import(importer=importer, imported=name)
    return graph


def check(**options: Any) -> ContractCheck:
    contract = RoomContract("a room", {"root_packages": ["app"]}, options)
    return contract.check(build_graph(), verbose=False)


@pytest.mark.parametrize(
    ("module", "pattern", "expected"),
    [
        ("app.store", "app.store", True),
        ("app.store.state", "app.store", True),
        ("app.store_plans", "app.store", False),
        ("app.store_plans", "app.store*", True),
        ("app.store_plans.deep", "app.store*", True),
        ("app.stores", "app.store", False),
    ],
)
def test_pattern(module: str, pattern: str, expected: bool) -> None:
    assert in_room(module, [pattern]) is expected


def test_reachable_goes_through_the_packages_of_what_is_imported() -> None:
    chains = reachable("app.client", lambda name: EDGES.get(name, []))
    assert chains["app.heavy"] == [
        *("app.client", "app.store.state", "app.store", "app.heavy")
    ]
    assert chains["jax"][-2:] == ["app.heavy", "jax"]


def test_room_is_kept() -> None:
    done = check(modules=["app.window"], packages=["PySide6", "numpy", "jax"])
    assert done.kept
    assert done.warnings == []


def test_package_that_is_reached_through_others_is_reported_with_its_chain() -> None:
    done = check(modules=["app.window"], packages=["PySide6", "numpy"])
    assert done.metadata["problems"] == [
        "app.window -> app.client -> app.store.state -> app.store -> app.heavy -> jax"
    ]
    assert not done.kept


def test_room_that_must_not_be_reached_is_reported() -> None:
    done = check(modules=["app.client"], packages=["numpy", "jax"], never=["app.heavy"])
    assert done.metadata["problems"] == [
        "app.client -> app.store.state -> app.store -> app.heavy"
    ]


def test_excepted_module_is_no_start() -> None:
    options = {"modules": ["app"], "packages": ["PySide6", "numpy"]}
    heavy = [name for name in EDGES if name != "app.store.state"]
    assert not check(**options, except_modules=["app.store.state"]).kept
    assert check(**options, except_modules=["app.store.state", *heavy]).kept


def test_pattern_without_module_is_a_warning() -> None:
    done = check(modules=["app.gone*"], packages=[])
    assert done.kept
    assert done.warnings == ["app.gone* matches no module."]
