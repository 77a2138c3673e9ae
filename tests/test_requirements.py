"""The lock, its exports and ``pyproject.toml`` say the same, for every machine."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tools import lock


def test_lock_fits_pyproject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path))
    lock.check()


@pytest.mark.parametrize("name", lock.EXPORTS)
def test_export_is_what_the_lock_gives(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path))
    text = (lock.ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert text == lock.export(name)


@pytest.mark.parametrize("name", lock.EXPORTS)
def test_every_requirement_is_pinned_with_hashes(name: str) -> None:
    text = (lock.ROOT / "requirements" / name).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z0-9])", text.removeprefix(lock.HEADER))
    assert len(entries) > 20
    for entry in entries:
        assert re.match(r"[a-z0-9-]+==[0-9a-z.]+ ", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_lock_names_the_public_index_only() -> None:
    text = (lock.ROOT / "uv.lock").read_text(encoding="utf-8")
    registries = set(re.findall(r'registry = "([^"]+)"', text))
    hosts = {urlsplit(url).netloc for url in re.findall(r'url = "([^"]+)"', text)}
    assert registries == {lock.INDEX}
    assert hosts == {"files.pythonhosted.org"}


def test_run_requirements_are_part_of_the_test_requirements() -> None:
    run, test = (
        set(re.findall(r"^([a-z0-9-]+==\S+)", path.read_text("utf-8"), re.MULTILINE))
        for path in (lock.ROOT / "requirements" / name for name in lock.EXPORTS)
    )
    assert run < test
    assert not {line for line in run if line.startswith(("pytest", "mypy", "ruff"))}
