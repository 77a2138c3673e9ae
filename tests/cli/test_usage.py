from __future__ import annotations

from pathlib import Path

import flax.serialization
import pytest

from inspector.__main__ import main
from inspector.cli.arguments import RESERVED, VERBS, is_verb
from tests.cli.verbs import Verb, layers


@pytest.mark.parametrize("verb_name", RESERVED)
def test_verbs_of_other_versions_are_named(verb: Verb, verb_name: str) -> None:
    verb(verb_name, "a", "--json").refused(f"{verb_name} is not in this", status=2)


def test_a_word_that_is_neither_verb_nor_file_opens_no_window(
    verb: Verb, tmp_path: Path
) -> None:
    verb("lss", "w.npz").refused("no verb 'lss'", "Did you mean ls?", status=2)
    verb("frobnicate").refused("The verbs are ls, transfer", status=2)
    assert main(["frobnicate"]) == 2
    (tmp_path / "frobnicate").mkdir()
    assert not is_verb(["frobnicate"])


def test_what_may_be_a_path_is_left_to_the_window() -> None:
    for word in ("w.npz", "a/b", "./ls", "a@3", "a::b", "~x", "--model"):
        assert not is_verb([word])
    assert not is_verb([])
    for word in (*VERBS, *RESERVED, "--help", "--version"):
        assert is_verb([word])


@pytest.mark.parametrize(
    "words",
    [
        ("ls",),
        ("ls", "--frob", "x"),
        ("transfer", "x"),
        ("transfer", "x", "--model", "m.py:N", "--shape", "bend"),
        ("replay", "r.json"),
        ("convert", "x"),
        ("convert", "x", "y", "--format", "txt"),
    ],
)
def test_malformed_requests_exit_with_2(verb: Verb, words: tuple[str, ...]) -> None:
    verb(*words).refused("usage: ", "error: ", status=2)


def test_help_and_version_are_no_errors(verb: Verb) -> None:
    assert "VERB" in verb("--help").out
    assert verb("--version").out.startswith("flax-inspector ")


def test_malformed_arguments_of_a_module_exit_with_2(verb: Verb) -> None:
    head = ("transfer", "w.msgpack", "--model", "absent.py:Net")
    refusals = {
        ("--shape", "crop"): "--shape crop is not in this version",
        ("--rules", "r.json"): "--rules is not in this version",
        ("--rng", "params"): "--rng takes NAME=VALUE, not 'params'",
        ("--rng", "params=x"): "For example --rng params=0.",
        ("--init-rng", f"params={1 << 63}"): "--init-rng takes a seed of at most 64",
        ("--call", "train"): "--call takes NAME=VALUE",
        ("--call", "=1"): "For example --call train=false.",
    }
    for words, part in refusals.items():
        verb(*head, *words).refused(part, status=2)


def test_a_state_folder_that_cannot_be_made_is_named(
    verb: Verb, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    verb("ls", "x", "--state-dir", "file/state").refused(
        f"{tmp_path / 'file/state'}: The state folder cannot be used", "--state-dir"
    )


def test_a_home_of_nobody_is_a_name_like_any_other(
    verb: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = "~nobody-has-this-name"
    verb("ls", f"{unknown}/w.npz").refused(str(tmp_path / unknown), "nothing at this")
    (tmp_path / "w.msgpack").write_bytes(
        flax.serialization.msgpack_serialize(layers(0))
    )
    monkeypatch.setenv("FLAX_INSPECTOR_STATE", f"{unknown}/state")
    document = verb("convert", "w.msgpack", f"{unknown}/w.npz", "--json").json
    assert document["out"] == str(tmp_path / unknown / "w.npz")
    verb("replay", f"{unknown}/r.json", "--out", "x").refused(str(tmp_path / unknown))
    model = f"{unknown}/net.py:Net"
    verb("transfer", "w.msgpack", "--model", model).refused(
        str(tmp_path / unknown / "net.py"), "There is no such file"
    )
