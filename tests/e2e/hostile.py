"""Files and modules that are wrong, each for a reason of its own."""

from __future__ import annotations

import pickle
from pathlib import Path

import flax.serialization
import numpy as np


class Bomb:
    """Something whose pickle makes a file when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self._mark,)


LFS_POINTER = """\
version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
"""

HTML_PAGE = "<!DOCTYPE html>\n<html><body>Please log in.</body></html>\n"


def write_files(folder: Path) -> dict[str, Path]:
    """Writes checkpoints that are none; the pickle would make ``executed``."""
    tree = {"params": {"kernel": np.ones((64, 64), np.float32)}}
    whole = flax.serialization.msgpack_serialize(tree)
    contents = {
        "pointer.msgpack": LFS_POINTER.encode(),
        "pickle.msgpack": pickle.dumps(Bomb(folder / "executed")),
        "short.msgpack": whole[: len(whole) // 2],
        "page.npz": HTML_PAGE.encode(),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / "empty").mkdir()
    return {name: folder / name for name in (*contents, "empty")}


_HEAD = "from flax import linen as nn\nimport jax.numpy as jnp\n"

_DENSE = """\
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)
"""

MODULES = {
    "syntax.py": "def broken(:\n    pass\n",
    "leaves.py": "import sys\nsys.exit(3)\n",
    "raises.py": _HEAD
    + """\
class Net(nn.Module):
    size: int = 0
    def __post_init__(self):
        super().__post_init__()
        raise ValueError("no net has this size")
    def __call__(self, x):
        return x
""",
    "fits.py": _HEAD + _DENSE,
    "noisy.py": """\
import os, subprocess, sys
answer = ""
try:
    answer = input("What? ")
except EOFError:
    answer = "nobody"
os.write(1, b"\\x00\\x00\\xff\\xff written past Python\\n" * 50)
print("printed at import")
child = "import sys; sys.stdout.write(repr(sys.stdin.read()))"
done = subprocess.run([sys.executable, "-c", child], stdout=None, check=True)
"""
    + _HEAD
    + _DENSE,
    "hangs.py": """\
import ctypes, pathlib
pathlib.Path(__file__).with_name("reached").touch()
# Called through PyDLL, pause keeps Python's lock: no thread of ours runs any more.
ctypes.PyDLL(None).pause()
""",
    "compiles.py": _HEAD
    + """\
import jax

@jax.jit
def slow(key):
    x = jax.random.normal(key, (64, 64))
    for i in range(3000):
        x = jnp.sin(x) @ jnp.cos(x) / (i + 2.0)
    return x

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x @ self.param("kernel", slow)
""",
}
"""Name of a file to the module in it."""


def write_modules(folder: Path, *names: str) -> None:
    """Writes some of `MODULES`."""
    for name in names:
        (folder / name).write_text(MODULES[name], encoding="utf-8")
