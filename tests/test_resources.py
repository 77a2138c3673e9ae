"""The program finds its own files wherever it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector import resources


def test_checkout_has_them_beside_the_package() -> None:
    package = Path(resources.__file__).parent
    assert resources.root() == package.parent / "resources"


def test_wheel_has_them_inside_the_package(tmp_path: Path) -> None:
    package = tmp_path / "inspector"
    (package / "_resources").mkdir(parents=True)
    (tmp_path / "resources").mkdir()
    assert resources.root(package) == package / "_resources"


@pytest.mark.parametrize(
    "name", ["sample/digits", "sample/classifier.py", "icons/app.svg"]
)
def test_path_of_what_ships(name: str) -> None:
    assert resources.path(name).exists()
    assert resources.path(name).as_posix().endswith(f"/resources/{name}")


def test_absent_resource_is_named() -> None:
    with pytest.raises(resources.FindResourceError) as caught:
        resources.path("icons/none.svg")
    assert "'icons/none.svg'" in caught.value.message
    assert caught.value.where.endswith("none.svg")
    assert "Install the program again" in caught.value.hint
