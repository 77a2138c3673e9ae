from __future__ import annotations

from pathlib import Path

import pytest

from inspector.errors import ReadFileError
from inspector.formats.locator import Locator, parse_locator


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run mit Umlaut ä"
    folder.mkdir()
    return folder


def test_path_alone(run: Path) -> None:
    assert parse_locator(str(run)) == Locator(run)


def test_step_and_inner_path(run: Path) -> None:
    found = parse_locator(f"{run}@12::params/a\\/b")
    assert found == Locator(run, "12", ("params", "a/b"))
    assert found.text == f"{run}@12::params/a\\/b"
    assert parse_locator(found.text) == found


def test_inner_path_may_hold_both_marks(run: Path) -> None:
    assert parse_locator(f"{run}::a::b@c") == Locator(run, None, ("a::b@c",))
    assert parse_locator(f"{run}@ckpt_5::x@y/z") == Locator(run, "ckpt_5", ("x@y", "z"))


def test_an_existing_name_wins_over_the_marks(run: Path) -> None:
    odd = run / "a@3::b"
    odd.mkdir()
    assert parse_locator(str(odd)) == Locator(odd)
    assert parse_locator(f"{odd}@7::k") == Locator(odd, "7", ("k",))


def test_relative_home_and_dots(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (run / "3").mkdir()
    assert parse_locator("./3/", cwd=run).path == run / "3"
    assert parse_locator("3/../3", cwd=run).path == run / "3"
    monkeypatch.setenv("HOME", str(run))
    assert parse_locator("~/3").path == run / "3"


def test_links_are_kept_because_their_neighbours_matter(run: Path) -> None:
    (run / "blob").write_bytes(b"x")
    (run / "model.safetensors").symlink_to(run / "blob")
    assert parse_locator(f"{run}/model.safetensors").path.name == "model.safetensors"


def test_missing_path_names_parent_and_look_alikes(run: Path) -> None:
    (run / "checkpoint_5").mkdir()
    with pytest.raises(ReadFileError) as caught:
        parse_locator(f"{run}/checkpoint_50/params::a")
    assert caught.value.where == f"{run}/checkpoint_50/params"
    assert str(run) in caught.value.hint
    assert "Did you mean checkpoint_5?" in caught.value.hint


@pytest.mark.parametrize("url", ["gs://bucket/ckpt", "s3://b/c", "https://x/y.npz"])
def test_urls_are_refused_at_once(url: str) -> None:
    with pytest.raises(ReadFileError, match="locations are not supported"):
        parse_locator(url)


@pytest.mark.parametrize("text", ["", "   ", "a\0b"])
def test_no_path_at_all(text: str) -> None:
    with pytest.raises(ReadFileError):
        parse_locator(text)
