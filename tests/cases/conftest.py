"""Every case of the bug log leaves ``sys.modules`` and ``sys.path`` as they were."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.models import service
from tests.models.loading import Write


@pytest.fixture(autouse=True)
def _no_project() -> Iterator[None]:
    yield
    service.forget()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Gives a function that writes a Python file below the test's folder."""

    def writing(name: str, source: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(source), encoding="utf-8")
        return file

    return writing
