"""Runs verbs, in this process where that is enough and as a program where not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]

LIMIT_S = 120.0


@dataclass(frozen=True)
class Result:
    """What a verb left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        assert self.status == 0, self.err
        document, end = json.JSONDecoder().raw_decode(self.out)
        assert self.out[end:] == "\n", "more than one document on stdout"
        return document

    def refused(self, *parts: str, status: int = 1) -> None:
        """Checks that nothing but a message came, with these parts in it."""
        assert self.status == status, self.out + self.err
        assert self.out == ""
        assert "Traceback" not in self.err
        for part in parts:
            assert part in self.err


Verb = Callable[..., Result]
"""Runs a verb in the folder of the test."""


def program(
    *words: str | os.PathLike[str],
    cwd: Path,
    env: dict[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Starts the program as a person does; the caller waits for it."""
    own = {"FLAX_INSPECTOR_STATE": str(cwd / "state")}
    return subprocess.Popen(
        [sys.executable, ROOT / "main.py", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=os.environ | own | (env or {}),
    )


def finished(process: subprocess.Popen[bytes]) -> Result:
    """Waits for a program that `program` started."""
    out, err = process.communicate(timeout=LIMIT_S)
    return Result(process.returncode, out.decode(), err.decode())


def layers(*numbers: int, seed: int = 0) -> dict[str, Any]:
    """Makes ``params/layer_N/kernel`` of other numbers in every layer."""
    random = np.random.default_rng(seed)
    kernels = {
        f"layer_{number}": {"kernel": random.normal(size=(3, 3)).astype(np.float32)}
        for number in numbers
    }
    return {"params": kernels}
