"""The desktop of the end-to-end tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.desktop import Desktop, desktop


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test of this folder."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    """A desktop that all tests share; a test ends the programs that it starts."""
    with desktop(tmp_path_factory.mktemp("desktop")) as one:
        yield one
