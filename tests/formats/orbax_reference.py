"""Plain Orbax, as training code calls it, in a process of its own.

Run as a program: arguments are an output file and pairs of an interface and a folder.
It pickles what each interface gives, or the text of its error. Orbax keeps threads
and event loops, so no test imports it into the test process.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.formats.export_trees import RandomKey

ROOT = Path(__file__).parents[2]


def restore(*requests: tuple[str, Path]) -> list[Any]:
    """Returns what plain Orbax restores for each (interface, folder)."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "restored.pickle"
        arguments = [text for name, path in requests for text in (name, str(path))]
        done = subprocess.run(
            [sys.executable, "-m", "tests.formats.orbax_reference", out, *arguments],
            cwd=ROOT,
            env={**os.environ, "JAX_PLATFORMS": "cpu"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found = pickle.loads(out.read_bytes())
        assert isinstance(found, list)
        return found


def _interfaces() -> dict[str, Callable[[Path], Any]]:
    import orbax.checkpoint as ocp  # noqa: PLC0415 - in the child only
    from flax.training import checkpoints  # noqa: PLC0415 - in the child only
    from orbax.checkpoint import v1  # noqa: PLC0415 - in the child only

    def manager(path: Path) -> Any:
        with ocp.CheckpointManager(path.parent) as steps:
            step = steps.latest_step()
            assert step is not None
            return {"steps": steps.all_steps(), "tree": steps.restore(step)}

    def save_step(path: Path) -> Any:
        import numpy as np  # noqa: PLC0415 - in the child only

        with ocp.CheckpointManager(path.parent) as steps:
            steps.save(int(path.name), args=ocp.args.StandardSave({"w": np.ones(2)}))
            steps.wait_until_finished()

    return {
        "standard": lambda path: ocp.StandardCheckpointer().restore(path),
        "pytree": lambda path: ocp.PyTreeCheckpointer().restore(path),
        "v1": v1.load_pytree,
        "flax": lambda path: checkpoints.restore_checkpoint(path, None),
        "manager": manager,
        "save step": save_step,
    }


def _plain(value: Any) -> Any:
    """Returns a tree that can be pickled without JAX."""
    import jax  # noqa: PLC0415 - in the child only
    import numpy as np  # noqa: PLC0415 - in the child only

    if isinstance(value, dict):
        return {key: _plain(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_plain(child) for child in value)
    if isinstance(value, jax.Array):
        words = np.asarray(jax.random.key_data(value))
        return RandomKey(str(value.dtype), words)
    return value


def main(out: str, arguments: Sequence[str]) -> None:
    """Restores each (interface, folder) of ``arguments`` and pickles the results."""
    interfaces = _interfaces()
    found = []
    for name, folder in zip(arguments[::2], arguments[1::2], strict=True):
        try:
            found.append(_plain(interfaces[name](Path(folder))))
        except Exception as error:
            found.append(repr(error))
    Path(out).write_bytes(pickle.dumps(found))
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
