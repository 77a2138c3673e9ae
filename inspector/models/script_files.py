"""Python lines that read exported variables with the plain libraries.

For the programs that `script` writes. Names of flat formats are split at ``/``, as
this program joins them; keys that hold a slash, lists and tuples need the tree that
the file's own description gives and are left to the person.
"""

from __future__ import annotations

from collections.abc import Callable

_Lines = Callable[[str], list[str]]


def loading_lines(family: str, file: str) -> list[str]:
    """Returns lines that read variables.

    Args:
        family: Family of the module: a Linen module takes ``variables``, others are
            given the values in place.
        file: The file; its suffix says the format, a folder is Orbax.
    """
    for suffix, lines in _FORMATS.items():
        if file.endswith(suffix):
            read = lines(file)
            break
    else:
        read = _orbax(file)
    return [*read, *_INTO[family]]


def _msgpack(file: str) -> list[str]:
    return [
        "from pathlib import Path",
        "from flax import serialization",
        f"data = Path({file!r}).read_bytes()",
        "variables = serialization.msgpack_restore(data)",
    ]


def _safetensors(file: str) -> list[str]:
    return [
        "from flax.traverse_util import unflatten_dict",
        "from safetensors.flax import load_file",
        f'variables = unflatten_dict(load_file({file!r}), sep="/")',
    ]


def _npz(file: str) -> list[str]:
    return [
        "import numpy as np",
        "from flax.traverse_util import unflatten_dict",
        f"with np.load({file!r}) as file:",
        '    arrays = {n: file[n] for n in file.files if n != "inspector.tree"}',
        "# NumPy has no bfloat16 and keeps its bytes.",
        "arrays = {",
        '    n: a.view(jax.numpy.bfloat16) if a.dtype.str == "|V2" else a',
        "    for n, a in arrays.items()",
        "}",
        'variables = unflatten_dict(arrays, sep="/")',
    ]


def _orbax(file: str) -> list[str]:
    return [
        "import orbax.checkpoint as ocp",
        "with ocp.StandardCheckpointer() as checkpointer:",
        f"    variables = checkpointer.restore({file!r})",
    ]


_FORMATS: dict[str, _Lines] = {
    ".msgpack": _msgpack,
    ".safetensors": _safetensors,
    ".npz": _npz,
}

_BY_PATH = [
    "loaded = {",
    '    jax.tree_util.keystr(path, simple=True, separator="/"): leaf',
    "    for path, leaf in jax.tree_util.tree_leaves_with_path(variables)",
    "}",
]

_INTO = {
    "linen": ["variables = jax.tree.map(jax.numpy.asarray, variables)"],
    "nnx": [
        *_BY_PATH,
        "state = nnx.state(module)",
        "for path, variable in nnx.to_flat_state(state):",
        '    value = jax.numpy.asarray(loaded["/".join(map(str, path))])',
        "    old = variable.get_value()",
        "    if jax.dtypes.issubdtype(old.dtype, jax.dtypes.prng_key):",
        "        if not jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):",
        "            implementation = jax.random.key_impl(old)",
        "            value = jax.random.wrap_key_data(value, impl=implementation)",
        "    variable.set_value(value)",
        "nnx.update(module, state)",
    ],
    "pytree": [
        *_BY_PATH,
        "found, structure = jax.tree_util.tree_flatten_with_path(module)",
        "values = []",
        "for path, leaf in found:",
        '    name = jax.tree_util.keystr(path, simple=True, separator="/")',
        "    is_array = hasattr(leaf, 'dtype')",
        "    values.append(jax.numpy.asarray(loaded[name]) if is_array else leaf)",
        "module = jax.tree_util.tree_unflatten(structure, values)",
    ],
}
