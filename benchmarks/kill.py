"""How soon no process is left after ``kill -9`` of the owner, during a compile.

The model compiles a long unrolled program, which nothing but the end of its process
stops. Owners are the window and a bare client, as the command line is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.processes import child, seconds_until_gone
from benchmarks.workplace import Workplace

GONE_S = 1.0
"""Most seconds until nothing is left."""

_LIMIT_S = 60.0

# Compiling it takes XLA most of a minute. The file says when that has begun, by
# what JAX logs once the program is lowered and goes to the compiler.
_MODULE = '''\
"""A module whose only variable takes XLA most of a minute to compile."""

import logging
import pathlib

import jax
import jax.numpy as jnp
from flax import linen as nn

MARK = pathlib.Path({mark!r})
UNROLLED = 5000


class Mark(logging.Handler):
    def emit(self, record):
        text = record.getMessage()
        if text.startswith("Finished jaxpr to MLIR") and "steep" in text:
            MARK.touch()


jax.config.update("jax_log_compiles", True)
logging.getLogger("jax").addHandler(Mark())


@jax.jit
def steep(key):
    x = jax.random.normal(key, (8, 8))
    for _ in range(UNROLLED):
        x = jnp.sin(x @ x) + jnp.cumsum(x, axis=0)
    return x


class Steep(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x @ self.param("w", steep)
'''


def run(place: Workplace) -> Iterator[Figure]:
    """Kills each kind of owner while the model compiles."""
    runs = place.size(5, 1)
    for owner in ("client", "window"):
        found = []
        for number in range(runs):
            place.say(f"{owner}, compile {number + 1} of {runs}")
            found.append(_kill(place, owner, number))
        counts = sorted({count for _, count in found})
        yield Figure(
            f"{owner} killed, last process gone",
            tuple(seconds for seconds, _ in found),
            target=GONE_S,
            by_worst=True,
            note=f"{' or '.join(map(str, counts))} processes, guards included",
        )


def _kill(place: Workplace, owner: str, number: int) -> tuple[float, int]:
    """Returns the seconds until all are gone, and how many there were."""
    folder = place.empty(f"{owner}-{number}")
    mark = folder / "compiling"
    module = folder / "steep.py"
    module.write_text(_MODULE.format(mark=str(mark)), encoding="utf-8")
    wanted = {
        "owner": owner,
        "spec": f"{module}:Steep",
        "state": str(folder / "state"),
        "mark": str(mark),
    }
    environment = {"QT_QPA_PLATFORM": "offscreen", "JAX_PLATFORMS": "cpu"}
    with child("owner", wanted, environment) as process:
        process.hear()
        _require(mark)
        every = process.processes()
        process.kill()
        return seconds_until_gone(every, _LIMIT_S), len(every)


def _require(mark: Path) -> None:
    if not mark.exists():
        message = "the model does not compile"
        raise RuntimeError(message)
