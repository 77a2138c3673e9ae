from __future__ import annotations

import subprocess
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import numpy as np
import pytest

from inspector.engine.client import EngineClient
from inspector.engine.launch import clean_environment, engine_command
from inspector.engine.launch_python import probe_python
from inspector.engine.messages.document import EngineStatus
from inspector.engine.messages.envelope import Hello, Progress
from inspector.engine.messages.module import (
    InitialMade,
    ListModules,
    LoadModule,
    MakeInitial,
    ModuleLoaded,
    ModuleOffers,
    ModuleSpec,
)
from inspector.errors import RemoteError
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.value import Initial
from tests.engine.readers import leaves_of
from tests.engine.waiting import ROOT, wait_until

NOT_OF_FLAX = (
    *("PySide6", "shiboken6", "pyqtgraph", "h5py", "safetensors", "msgspec"),
    *("zstandard", "google_crc32c", "psutil", "pytest", "_pytest", "_virtualenv"),
)
"""Beginnings of names in our site-packages that no other environment needs."""


class Model:
    """A model process and what it said."""

    def __init__(self, python: str | None = None) -> None:
        self.events: list[object] = []
        self.log: list[str] = []
        self.client = EngineClient(
            engine_command("model", python),
            name="model",
            env=clean_environment(),
            on_event=self.events.append,
            on_log=self.log.append,
        )

    def wait_ready(self) -> str:
        wait_until(lambda: len(self.events) == 2)
        status = self.events[1]
        assert isinstance(status, EngineStatus)
        assert status.state == "ready", status.text
        return status.text


StartModel = Callable[..., Model]


@pytest.fixture
def start_model() -> Iterator[StartModel]:
    models: list[Model] = []

    def start(python: str | None = None) -> Model:
        models.append(Model(python))
        return models[-1]

    yield start
    for model in models:
        model.client.close()


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    model = Model()
    yield model
    model.client.close()


def write_module(folder: Path, head: str = "", call: str = "") -> str:
    """Writes a small net; ``head`` runs at its import, ``call`` in its call."""
    file = folder / "net.py"
    text = f"""\
        import flax.linen as nn
        {head}

        class Net(nn.Module):
            features: int = 3

            @nn.compact
            def __call__(self, x):
                {call or "pass"}
                return nn.Dense(self.features)(x)
        """
    file.write_text(textwrap.dedent(text))
    return f"{file}:Net"


def load(model: Model, spec: str) -> ModuleLoaded:
    told: list[Progress] = []
    body = LoadModule(ModuleSpec(spec, inputs=("float32[2,4]",)))
    reply = model.client.call(body, progress=told.append, timeout=120)
    assert isinstance(reply, ModuleLoaded)
    assert told
    return reply


def test_hello_comes_at_once_and_ready_later(model: Model) -> None:
    text = model.wait_ready()
    hello = model.events[0]
    assert isinstance(hello, Hello)
    assert hello.engine == "model"
    assert hello.pid == model.client.pid
    assert dict(hello.versions)["jax"] == jax.__version__
    assert f"jax {jax.__version__}" in text


def test_a_module_is_listed_loaded_and_initialised(
    model: Model, tmp_path: Path
) -> None:
    spec = write_module(tmp_path)
    offers = model.client.call(ListModules(spec), timeout=120)
    assert isinstance(offers, ModuleOffers)
    assert [offer.name for offer in offers.offers] == ["Net"]
    loaded = load(model, spec)
    leaves = leaves_of(loaded.tree.leaves)
    path = ("params", "Dense_0", "kernel")
    assert leaves[path] == Leaf(Kind.ARRAY, (4, 3), "float32", Initial(path))
    out = tmp_path / "initial.raw"
    body = MakeInitial(ModuleSpec(spec, inputs=("float32[2,4]",)), (path,), str(out))
    made = model.client.call(body, timeout=120)
    assert isinstance(made, InitialMade)
    ((made_path, offset, shape, dtype),) = made.table
    assert (made_path, shape, dtype) == (path, (4, 3), "float32")
    numbers = np.fromfile(out, np.float32, 12, offset=offset)
    assert np.isfinite(numbers).all()
    assert numbers.std() > 0


def test_a_module_that_fails_is_an_error_and_ends_nothing(
    model: Model, tmp_path: Path
) -> None:
    spec = write_module(tmp_path, head="raise SystemExit('no')")
    with pytest.raises(RemoteError) as caught:
        load(model, spec)
    assert caught.value.error.kind == "LoadModuleError"
    assert model.client.closed is None


def test_noise_of_a_module_changes_nothing(model: Model, tmp_path: Path) -> None:
    head = (
        "import ctypes, os, subprocess, sys; print('at import', flush=True);"
        " ctypes.CDLL(None).puts(b'from C'); ctypes.CDLL(None).fflush(None);"
        " subprocess.run([sys.executable, '-c',"
        " 'import sys; print(len(sys.stdin.read()))'], check=True)"
    )
    call = "os.write(1, b'in the call\\n')"
    spec = write_module(tmp_path, head, call)
    assert load(model, spec).name == "net.py:Net"
    wait_until(lambda: "in the call" in model.log)
    assert {"at import", "from C", "0"} <= set(model.log)
    asking = write_module(tmp_path, head="name = input('a name? ')")
    with pytest.raises(RemoteError, match="EOF"):
        load(model, asking)
    assert load(model, write_module(tmp_path)).name == "net.py:Net"


def test_a_spare_takes_over_after_stop(start_model: StartModel, tmp_path: Path) -> None:
    first, spare = start_model(), start_model()
    spec = write_module(tmp_path, call="import time; time.sleep(600)")
    told: list[Progress] = []
    failures: list[str] = []
    first.client.request(
        LoadModule(ModuleSpec(spec, inputs=("float32[2,4]",))),
        on_reply=lambda _: None,
        on_failure=lambda error: failures.append(error.kind),
        on_progress=told.append,
    )
    wait_until(lambda: bool(told))
    first.client.kill()
    wait_until(lambda: bool(failures))
    assert failures == ["EngineClosedError"]
    assert load(spare, write_module(tmp_path)).name == "net.py:Net"


@pytest.fixture(scope="module")
def their_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An environment as a person has it: flax, their own package, no PySide6."""
    folder = tmp_path_factory.mktemp("theirs")
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True
    )
    site = next((folder / "venv" / "lib").glob("python3*/site-packages"))
    ours = Path(sysconfig.get_path("purelib"))
    linked = folder / "packages"
    linked.mkdir()
    for entry in ours.iterdir():
        if not entry.name.startswith((*NOT_OF_FLAX, "__")) and entry.suffix != ".pth":
            (linked / entry.name).symlink_to(entry)
    (site / "packages.pth").write_text(f"{linked}\n")
    (site / "their_package.py").write_text("WIDTH = 5\n")
    # Another package of our name, and noise at every start, are theirs to have.
    (site / "inspector.py").write_text("raise SystemExit('the wrong inspector')\n")
    # Not a sitecustomize: Debian's Python has one of its own, which comes first.
    (site / "loud.pth").write_text("import sys; print('hello from a .pth file')\n")
    return str(folder / "venv" / "bin" / "python")


def test_a_module_whose_dependency_is_only_in_their_environment(
    start_model: StartModel, model: Model, their_python: str, tmp_path: Path
) -> None:
    head = "import their_package, sys; print('PySide6' in sys.modules)"
    call = "assert their_package.WIDTH == 5"
    spec = write_module(tmp_path, head, call)
    with pytest.raises(RemoteError, match="their_package"):
        load(model, spec)
    info = probe_python(their_python)
    assert dict(info.packages)["jax"] == jax.__version__
    theirs = start_model(their_python)
    theirs.wait_ready()
    assert load(theirs, spec).name == "net.py:Net"
    assert "hello from a .pth file" in theirs.log


def test_their_environment_really_has_no_qt(their_python: str) -> None:
    done = subprocess.run(
        [their_python, "-P", "-c", "import PySide6"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ModuleNotFoundError" in done.stderr


def test_without_flax_every_request_says_so(
    start_model: StartModel, tmp_path: Path
) -> None:
    """An interpreter that has msgpack, numpy and ml_dtypes and nothing else."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True
    )
    site = next((tmp_path / "venv" / "lib").glob("python3*/site-packages"))
    ours = Path(sysconfig.get_path("purelib"))
    for name in ("numpy", "numpy.libs", "ml_dtypes", "msgpack"):
        if (ours / name).exists():
            (site / name).symlink_to(ours / name)
    python = str(tmp_path / "venv" / "bin" / "python")
    bare = start_model(python)
    with pytest.raises(RemoteError) as caught:
        load(bare, write_module(tmp_path))
    assert caught.value.error.kind == "ImportFlaxError"
    assert "No module named" in caught.value.message
    assert f"{python} -m pip install jax flax" in caught.value.hint
    status = bare.events[1]
    assert isinstance(status, EngineStatus)
    assert status.state == "ended"


def test_the_model_imports_nothing_of_the_other_rooms(their_python: str) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "import inspector.engine.model, inspector.models.service\n"
        "names = ('PySide6', 'inspector.formats', 'inspector.document',"
        " 'inspector.ui', 'orbax')\n"
        "print([name for name in names if name in sys.modules])\n"
    )
    done = subprocess.run(
        [their_python, "-P", "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
