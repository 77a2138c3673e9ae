"""The guards in ``conftest.py`` catch what they are there for.

Each case is a small suite of its own, run by another pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

CASES = {
    "warning": (
        "import logging\n"
        "def test_it(): logging.getLogger('inspector.x').warning('lost %d', 3)\n",
        "unexpected log records:\nWARNING inspector.x: lost 3",
    ),
    "missing warning": (
        "def test_it(expect_log):\n    with expect_log('lost'): pass\n",
        "nothing logged that matches 'lost'",
    ),
    "process": (
        "import subprocess, sys\n"
        "from tests import conftest\n"
        "conftest.GRACE_S = 0.0\n"
        "def test_it(): subprocess.Popen([sys.executable, '-c', 'input()'],\n"
        "    stdin=subprocess.PIPE)\n",
        "-c input()",
    ),
    "thread": (
        "import threading\n"
        "from tests import conftest\n"
        "conftest.GRACE_S = 0.0\n"
        "event = threading.Event()\n"
        "def test_it(): threading.Thread(target=event.wait, name='mine',\n"
        "    daemon=True).start()\n",
        "left behind: thread mine",
    ),
}


def run_suite(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_inner.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-q"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("case", CASES)
def test_guard_fails_the_test(case: str, tmp_path: Path) -> None:
    text, message = CASES[case]
    done = run_suite(tmp_path, text)
    assert done.returncode == 1, done.stdout
    assert message in done.stdout


def test_what_ends_in_time_and_what_is_expected_passes(tmp_path: Path) -> None:
    text = (
        "import logging, os, threading\n"
        "def test_it(expect_log):\n"
        "    threading.Timer(0.1, print).start()\n"
        "    assert os.environ['QT_QPA_PLATFORM'] == 'offscreen'\n"
        "    assert 'state' in os.environ['FLAX_INSPECTOR_STATE']\n"
        "    with expect_log('lost'): logging.getLogger('inspector').error('lost 3')\n"
        "    logging.getLogger('absl').warning('advice of Orbax')\n"
    )
    done = run_suite(tmp_path, text)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_test_without_qapp_is_not_marked(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("gui") is None


def test_test_with_qapp_is_marked(request: pytest.FixtureRequest, qapp: object) -> None:
    assert qapp is not None
    assert request.node.get_closest_marker("gui") is not None
