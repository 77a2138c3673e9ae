"""The wheel alone, without the checkout, opens the sample.

It is installed in a virtual environment that sees the dependencies of this one but
not the checkout, and is started from another folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHIPPED = (
    "inspector/_resources/icons/app.svg",
    "inspector/_resources/sample/classifier.py",
    "inspector/_resources/sample/digits.py",
    "inspector/_resources/sample/digits/manifest.ocdbt",
    "inspector/_resources/sample/digits_test.npz",
)
PNG = b"\x89PNG\r\n\x1a\n"


def uv(*arguments: str | Path) -> None:
    """Runs uv without the network; a failure carries what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "uv", *arguments, "--offline", "--no-python-downloads"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # The build backend is a locked test dependency; isolation would download it.
    uv(
        *("build", "--wheel", "--no-build-isolation", "--python", sys.executable),
        *("--out-dir", folder, ROOT),
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of programs of an environment that has the wheel."""
    venv = tmp_path_factory.mktemp("installed") / "venv"
    uv("venv", "--python", sys.executable, venv)
    uv("pip", "install", "--no-deps", "--python", venv / "bin" / "python", wheel)
    (packages,) = venv.glob("lib/python3*/site-packages")
    paths = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}
    (packages / "dependencies.pth").write_text("\n".join(sorted(paths)))
    return venv / "bin"


def run(
    command: list[str | Path], folder: Path, status: int = 0
) -> subprocess.CompletedProcess[str]:
    """Runs an installed program from another folder, as a person would."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=env | {"QT_QPA_PLATFORM": "offscreen"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stderr
    return done


def test_wheel_holds_the_package_and_the_resources_only(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        entry = next(n for n in names if n.endswith("entry_points.txt"))
        scripts = archive.read(entry).decode()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"inspector", f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"}
    assert set(SHIPPED) <= set(names)
    assert not [name for name in names if "__pycache__" in name]
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "flax-inspector = inspector.__main__:main" in scripts


def test_installed_package_is_not_the_checkout(installed: Path, tmp_path: Path) -> None:
    code = "from inspector import resources; print(resources.path('sample/digits'))"
    place = Path(run([installed / "python", "-c", code], tmp_path).stdout.strip())
    assert place.is_relative_to(installed.parent)
    assert place.parts[-3:] == ("_resources", "sample", "digits")


def sample(installed: Path) -> Path:
    (found,) = installed.parent.glob("lib/python3*/site-packages/inspector/_resources")
    return found / "sample"


def test_installed_program_lists_the_sample(installed: Path, tmp_path: Path) -> None:
    folder = sample(installed) / "digits"
    done = run([installed / "flax-inspector", "ls", folder, "--json"], tmp_path)
    listing = json.loads(done.stdout)
    leaves = {leaf["path"]: leaf for leaf in listing["leaves"]}
    assert listing["path"] == str(folder)
    assert leaves["params/encoder/conv1/kernel"]["shape"] == [3, 3, 1, 16]
    assert leaves["params/encoder/conv1/kernel"]["dtype"] == "float32"
    assert leaves["batch_stats/encoder/norm3/var"]["nbytes"] == 256
    assert len([path for path in leaves if path.startswith("params/")]) == 11


def test_installed_program_shows_the_sample(installed: Path, tmp_path: Path) -> None:
    picture = tmp_path / "window.png"
    program: list[str | Path] = [installed / "flax-inspector"]
    module = f"{sample(installed) / 'classifier.py'}:Classifier"
    program += [sample(installed) / "digits", "--model", module]
    program += ["--input", "float32[1,8,8,1]", "--screenshot", picture]
    run(program, tmp_path)
    data = picture.read_bytes()
    assert data.startswith(PNG)
    assert len(data) > 10_000
