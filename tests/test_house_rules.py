"""The house rules that no linter knows, each a pattern and a sentence.

A rule is tried on lines that break it, so that a rule which matches nothing any more
is noticed; then it is held against every file of ours.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from tools.import_rooms import in_room

ROOT = Path(__file__).parent.parent
FOLDERS = ("inspector", "tests", "tools", "benchmarks", "packaging", "resources")
TOP_FILES = ("main.py", "Makefile", "pyproject.toml", "*.md", ".ci/*", "docs/**/*.md")
TEXT = {".py", ".toml", ".md", ".sh", ".svg", ".qss", ".json", ".spec", ""}
LEFT_OUT = ("tests/corpus/*", "*/__pycache__/*", "resources/sample/digits/*")
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60


@dataclass(frozen=True)
class Rule:
    """A pattern that no line may match.

    Attributes:
        name: What the rule is called in a failure.
        pattern: Regular expression, searched in each line.
        why: One sentence: what to do instead.
        breaks: Lines that the pattern must match.
        keeps: Lines that look alike and are allowed.
        files: Patterns of the files that the rule is about.
        spared: Patterns of files that are allowed to.
    """

    name: str
    pattern: str
    why: str
    breaks: tuple[str, ...]
    keeps: tuple[str, ...] = ()
    files: tuple[str, ...] = ("*",)
    spared: tuple[str, ...] = ()


RULES = (
    Rule(
        "noqa",
        r"#\s*(ruff: )?noqa\b(?!: [A-Z]+\d+(, [A-Z]+\d+)*( -|  #) \S)",
        "Name the code and the reason: `# noqa: BLE001 - last guard around a reader`.",
        ("x = 1  # noqa", "x = 1  # noqa: E501", "# ruff: noqa"),
        ("x = 1  # noqa: E501 - a table", "x = 1  # noqa: E501, D100  # a table"),
        files=("*.py",),
    ),
    Rule(
        "type-ignore",
        r"#\s*type:\s*ignore(?!\[[a-z-]+(, ?[a-z-]+)*\]\s+#\s*\S)",
        "Name the code and the reason: `# type: ignore[attr-defined]  # no stubs`.",
        ("x = 1  # type: ignore", "x = 1  # type: ignore[misc]"),
        ("x = 1  # type: ignore[misc]  # no stubs",),
        files=("*.py",),
    ),
    Rule(
        "to-do",
        r"\b(TODO(?!\(#\d+\): \S)|FIXME|XXX|HACK)\b",
        "Do it now or name the issue: `TODO(#12): what is missing`.",
        ("# TODO: later", "# FIXME", "TODO(me): x"),
        ("# TODO(#12): read the second file",),
    ),
    Rule(
        "promise",
        r"(?i)\b(coming soon|not yet implemented|work in progress|lorem ipsum)\b",
        "Ship what is there; say nothing about what is not.",
        ("Coming soon", "this is not yet implemented"),
        ("raise NotImplementedError", "tensorstore has not implemented it"),
    ),
    Rule(
        "machine-path",
        r"(?<![\w.$}/<>-])/(work|root|home|tmp|Users)/(?!\.X)\w",
        "A path of one machine means nothing on another; use tmp_path or resources.",
        ('open("/tmp/a.npz")', "see /Users/me", "cd /home/me"),
        ('Path("/tmp/.X11-unix")', "https://example.org/Users/a", "out/tmp/a"),
    ),
    Rule(
        "fixed-wait",
        r"^[^\"']*\b(time\.sleep\((?!0\.0)|QTest\.qWait\(|qtbot\.wait\()",
        "Wait for a signal or a condition; a fixed time is too short or too long.",
        ("time.sleep(1)", "qtbot.wait(100)", "time.sleep(0.5)"),
        ("time.sleep(0.02)", "qtbot.waitUntil(done)", 'hang = "time.sleep(600)"'),
        files=("tests/*",),
        # Modules that stand for those of a person may hang on purpose.
        spared=("tests/modules/*",),
    ),
    Rule(
        "mocked-widget",
        r"\b(MagicMock|mock\.Mock|from unittest)\b",
        "Write a fake class; PySide6 silently never calls a mock put in for a virtual.",
        ("from unittest import mock", "x = MagicMock()"),
        files=("tests/*",),
    ),
    Rule(
        "relative-file",
        r"(?<![\w.\"])__file__\b",
        "Ask inspector.resources, which knows checkout, wheel and bundle.",
        ("Path(__file__).parent",),
        ("module.__file__", 'getattr(module, "__file__", None)'),
        files=("inspector/*",),
        # These start a Python on our code, or tell our frames from a person's.
        spared=(
            *("inspector/resources.py", "inspector/engine/launch*.py"),
            *("inspector/formats/orbax_check.py", "inspector/models/user_code.py"),
        ),
    ),
)


@cache
def our_files() -> dict[str, str]:
    """Returns the text of every file of ours, by its path below the root."""
    below = (p for name in FOLDERS for p in (ROOT / name).rglob("*"))
    top = (p for pattern in TOP_FILES for p in ROOT.glob(pattern))
    names = {
        path.relative_to(ROOT).as_posix(): path
        for path in (*below, *top)
        if path.is_file() and path.suffix in TEXT
    }
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in sorted(names.items())
        if not any(fnmatchcase(name, pattern) for pattern in LEFT_OUT)
    }


def python_files() -> dict[str, str]:
    return {name: text for name, text in our_files().items() if name.endswith(".py")}


def files_of(rule: Rule) -> Iterator[tuple[str, str]]:
    this = Path(__file__).relative_to(ROOT).as_posix()
    for name, text in our_files().items():
        asked = any(fnmatchcase(name, pattern) for pattern in rule.files)
        spared = any(fnmatchcase(name, pattern) for pattern in rule.spared)
        if asked and not spared and name != this:
            yield name, text


def test_files_are_found() -> None:
    assert {"main.py", "Makefile", ".ci/run", "inspector/errors.py"} <= set(our_files())
    assert not [name for name in our_files() if name.startswith("tests/corpus/")]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule_knows_what_breaks_it(rule: Rule) -> None:
    assert [line for line in rule.breaks if not re.search(rule.pattern, line)] == []
    assert [line for line in rule.keeps if re.search(rule.pattern, line)] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule_holds(rule: Rule) -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in files_of(rule)
        for number, line in enumerate(text.splitlines(), start=1)
        if re.search(rule.pattern, line)
    ]
    assert not found, rule.why + "\n" + "\n".join(found)


def test_files_are_short() -> None:
    lengths = {name: text.count("\n") for name, text in python_files().items()}
    long = {name: n for name, n in lengths.items() if n > MAX_FILE_LINES}
    assert not long, f"Split by concept above {MAX_FILE_LINES} lines: {long}"


def test_functions_are_short() -> None:
    long = [
        f"{name}:{node.lineno}: {node.name}, {node.end_lineno - node.lineno + 1} lines"
        for name, text in python_files().items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= MAX_FUNCTION_LINES
    ]
    assert not long, f"Split above {MAX_FUNCTION_LINES} lines:\n" + "\n".join(long)


def test_only_the_command_line_prints() -> None:
    """Standard output belongs to the pipe of an engine and to a verb's answer."""
    printing = [
        f"{name}:{node.lineno}"
        for name, text in python_files().items()
        if name.startswith("inspector/") and not name.startswith("inspector/cli")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert not printing, f"Log, or let the command line write: {printing}"


def test_modules_say_what_they_own() -> None:
    silent = [
        name
        for name, text in python_files().items()
        if name.startswith("inspector/") and not ast.get_docstring(ast.parse(text))
    ]
    assert not silent, f"Begin each module with a docstring: {silent}"


def test_every_module_has_a_room() -> None:
    """A module that no contract names could import whatever it likes."""
    settings = tomllib.loads(our_files()["pyproject.toml"])["tool"]["importlinter"]
    rooms = [name for item in settings["contracts"] for name in item["modules"]]
    # What starts the rooms has none: each function imports one of them.
    roots = {
        *("inspector", "inspector.__main__"),
        *("inspector.engine", "inspector.engine.start"),
    }
    modules = {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in python_files()
        if name.startswith("inspector/")
    }
    homeless = sorted(name for name in modules - roots if not in_room(name, rooms))
    assert not homeless, f"Add to [tool.importlinter] in pyproject.toml: {homeless}"


def test_folders_of_tests_are_packages() -> None:
    """Else two test files of one name cannot be told apart, by mypy neither."""
    folders = {Path(n).parent for n in python_files() if n.startswith("tests/")}
    data = ("tests/modules",)
    lacking = [
        folder.as_posix()
        for folder in sorted(folders)
        if not (ROOT / folder / "__init__.py").exists()
        and not folder.as_posix().startswith(data)
    ]
    assert not lacking, f"Add an __init__.py to: {lacking}"


def test_icon_is_our_own_scalable_drawing() -> None:
    text = our_files()["resources/icons/app.svg"]
    assert "<image" not in text
    assert "viewBox" in text
