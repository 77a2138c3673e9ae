"""Files, packages, siblings, clashes and reloads."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from inspector.engine.messages.module import ListModules
from inspector.errors import LoadModuleError, UsageError
from inspector.models import service
from inspector.models.spec import parse_spec
from tests.models.loading import Write, fails, load, run_code, shapes_of

NET = """
    from flax import linen as nn

    class Net(nn.Module):
        width: int = {width}

        @nn.compact
        def __call__(self, x):
            return nn.Dense(self.width)(x)
"""


def width_of(spec: str | Path, **rest: str) -> str:
    return shapes_of(load(f"{spec}:Net", "f32[1,2]", **rest))["params/Dense_0/kernel"]


def test_spec_is_split_at_its_last_colon(tmp_path: Path) -> None:
    folder = tmp_path / "a:b"
    folder.mkdir()
    (folder / "net.py").write_text("")
    target = parse_spec("a:b/net.py:Net", str(tmp_path))
    assert (target.file, target.name) == (folder / "net.py", "Net")
    assert target.spec == f"{folder / 'net.py'}:Net"
    assert target.title == "net.py:Net"
    assert parse_spec("a:b/net.py", str(tmp_path)).name == ""
    package = parse_spec("flax.linen:Dense")
    assert (package.package, package.name, package.file) == (
        "flax.linen",
        "Dense",
        None,
    )


def test_spec_of_windows_has_no_name(tmp_path: Path) -> None:
    with pytest.raises(LoadModuleError, match="no such file"):
        parse_spec(r"C:\nets\net.py", str(tmp_path))


@pytest.mark.parametrize("text", ["", ":Net", "not a module"])
def test_spec_that_names_nothing(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_spec(text)
    assert "file.py:Name" in caught.value.hint


def test_missing_file_names_its_neighbours(write: Write) -> None:
    file = write("network.py", "")
    error = fails(f"{file.parent}/netwrok.py:Net")
    assert error.where == str(file.parent / "netwrok.py")
    assert error.hint == "Did you mean network.py?"


def test_package_file_is_imported_under_its_full_name(write: Write) -> None:
    init = write("package/__init__.py", "WIDTH = 6\n")
    write("package/layers.py", "from . import WIDTH\n" + dedent(NET).format(width=6))
    write("package/sub/__init__.py", "")
    file = write(
        "package/sub/net.py",
        """
        from flax import linen as nn

        from ..layers import WIDTH, Net as Layer

        class Net(nn.Module):
            @nn.compact
            def __call__(self, x):
                return Layer(WIDTH, name="layer")(x)
        """,
    )
    loaded = load(f"{file}:Net", "f32[1,2]")
    assert shapes_of(loaded)["params/layer/Dense_0/kernel"] == "float32[2,6]"
    assert "from package.sub.net import Net" in loaded.call
    assert "package.sub.net" in sys.modules
    assert loaded.name == "net.py:Net"
    assert run_code(loaded.call)["params", "layer", "Dense_0", "bias"].shape == (6,)
    dotted = load("package.sub.net:Net", "f32[1,2]", cwd=str(init.parents[1]))
    assert dotted.file == loaded.file
    assert dotted.spec == "package.sub.net:Net"
    assert dotted.digest == loaded.digest


def test_siblings_of_one_name_in_two_folders(write: Write) -> None:
    user = """
        from digits import Net as Sibling
        from flax import linen as nn

        class Net(Sibling):
            pass
    """
    for folder, width in (("one", 3), ("two", 4)):
        write(f"{folder}/digits.py", NET.format(width=width))
        write(f"{folder}/user.py", user)
    root = write("x.py", "").parent
    for folder, width in (("one", 3), ("two", 4), ("one", 3)):
        assert width_of(root / folder / "user.py") == f"float32[2,{width}]"
        assert width_of(root / folder / "digits.py") == f"float32[2,{width}]"


@pytest.mark.parametrize("name", ["jax.py", "json.py", "my-net.py", "code.py"])
def test_file_whose_name_is_taken(write: Write, name: str) -> None:
    before = {key: sys.modules.get(key) for key in ("jax", "json", "code")}
    file = write(name, NET.format(width=5))
    loaded = load(f"{file}:Net", "f32[1,2]")
    assert shapes_of(loaded)["params/Dense_0/bias"] == "float32[5]"
    assert {key: sys.modules.get(key) for key in before} == before
    if name == "my-net.py":
        assert run_code(loaded.call)["params", "Dense_0", "bias"].shape == (5,)


def test_package_whose_name_is_taken(write: Write) -> None:
    write("inspector/__init__.py", "")
    write("inspector/base.py", NET.format(width=7))
    file = write("inspector/net.py", "from .base import Net")
    loaded = load(f"{file}:Net", "f32[1,2]")
    assert shapes_of(loaded)["params/Dense_0/bias"] == "float32[7]"
    assert run_code(loaded.call)["params", "Dense_0", "bias"].shape == (7,)


def test_changed_files_are_loaded_again(write: Write) -> None:
    # Same length and same second: what time stamps cannot tell apart.
    base = write("base.py", NET.format(width=3))
    user = write("user.py", "from base import Net")
    assert width_of(user) == "float32[2,3]"
    first = sys.modules["base"]
    assert width_of(user) == "float32[2,3]"
    assert sys.modules["base"] is first
    base.write_text(base.read_text().replace("= 3", "= 4"))
    assert width_of(user) == "float32[2,4]"
    assert list(base.parent.glob("__pycache__/base*")) == []


def test_failed_import_can_be_corrected(write: Write) -> None:
    file = write("net.py", "from flax import linen as nn\nx = 1 +\n")
    error = fails(f"{file}:Net")
    assert error.where == f"{file}:2"
    assert (
        error.message
        == "Importing net.py failed: SyntaxError: invalid syntax in “x = 1 +”"
    )
    write("net.py", NET.format(width=2))
    assert width_of(file) == "float32[2,2]"


def test_nothing_is_left_behind(write: Write) -> None:
    path = list(sys.path)
    load(f"{write('net.py', NET.format(width=2))}:Net", "f32[1,2]")
    assert "net" in sys.modules
    service.forget()
    assert "net" not in sys.modules
    assert sys.path == path


def test_command_line_at_import_is_empty(write: Write) -> None:
    file = write(
        "net.py",
        "import argparse\nargparse.ArgumentParser().parse_args()\n"
        "from flax.linen import Dense as Net\n",
    )
    offers = service.list_modules(ListModules(str(file))).offers
    assert offers == ()


def test_nested_module_of_another_folder(write: Write) -> None:
    other = write("other/net.py", NET.format(width=9))
    outer = write(
        "outer/net.py",
        """
        from flax import linen as nn

        class Net(nn.Module):
            inner: nn.Module

            def __call__(self, x):
                return self.inner(x)
        """,
    )
    kwargs = {"inner": {"module": f"{other}:Net", "kwargs": {"width": 8}}}
    loaded = load(f"{outer}:Net", "f32[1,2]", kwargs=kwargs)
    assert shapes_of(loaded)["params/inner/Dense_0/bias"] == "float32[8]"
