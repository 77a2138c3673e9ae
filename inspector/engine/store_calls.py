"""Questions about how the target's module is called, passed on to the model.

Also which pictures are among the inputs of a call, for the reader decodes them. On
the store's loop.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from inspector.document.base import ModuleBase
from inspector.engine.messages import calling, reading, running
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_export import absolute
from inspector.engine.store_model import ModelSupervisor
from inspector.engine.store_reader import ReaderSupervisor
from inspector.engine.store_state import StoreState
from inspector.errors import ErrorInfo, InspectorError, ModuleNotImportedError
from inspector.variables import dtypes
from inspector.variables.homes import KNOWN, PARAMS, find_homes
from inspector.variables.plain import PlainTree, to_plain
from inspector.variables.tree import Branch, Node, get
from inspector.variables.value import UNSET

_PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp")
_SHAPED = re.compile(r"(\w+)\[([\d,\s]*)\]\s*:\s*(\S.*)", re.DOTALL)
_NAMED = re.compile(r"[A-Za-z_]\w*=(.*)", re.DOTALL)
_PART = re.compile(
    r'(?:\w+\[[\d,\s]*\]\s*:\s*)?(?:"(?:[^"\\]|\\.)*"|[^\[\](){},:="\s][^\[\](){},:="]*)'
)
_SHORT = {"f": "float", "bf": "bfloat", "i": "int", "u": "uint"}

EXPORTED = "target.msgpack"
"""File that the program of an edited target reads its variables from."""


class RunNotImportedError(ModuleNotImportedError):
    """A call needs a recorded module that nobody has run yet."""

    def __init__(self, file: str) -> None:
        """Names the file that would run."""
        InspectorError.__init__(
            self,
            "The module of this recipe has not been imported in this session, and "
            "calling it runs its file",
            where=file,
            hint="Confirm that the file may run.",
        )

    def info(self, traceback: str = "") -> ErrorInfo:
        """Returns the error under the kind by which the window knows to ask."""
        return replace(super().info(traceback), kind=ModuleNotImportedError.__name__)


class Picture(NamedTuple):
    """A picture among the inputs of a call.

    Attributes:
        text: Text of the input, or of the part of it, that names the picture.
        path: The picture as the person gave it.
        shape: Wanted shape; empty for its own size.
        dtype: Wanted dtype.
    """

    text: str
    path: str
    shape: tuple[int, ...] = ()
    dtype: str = "float32"


def pictures(inputs: Collection[str]) -> tuple[Picture, ...]:
    """Returns the pictures that the texts of inputs name, nested ones too."""
    found = (one for text in inputs for one in _pictures(text.strip()))
    return tuple(dict.fromkeys(found))


def _pictures(text: str) -> Iterator[Picture]:
    if named := _NAMED.fullmatch(text):
        text = named[1].strip()
    if not text.startswith(("{", "[", "(")):
        if picture := _picture(text):
            yield picture
        return
    for part in _PART.finditer(text):
        if picture := _picture(part[0].strip()):
            yield picture


def _picture(text: str) -> Picture | None:
    shaped = _SHAPED.fullmatch(text)
    path = shaped[3].strip() if shaped else text
    if path.startswith('"'):
        try:
            path = str(json.loads(path))
        except json.JSONDecodeError:
            return None
    if not path.lower().endswith(_PICTURES):
        return None
    if not shaped:
        return Picture(path, path)
    shape = tuple(int(one) for one in shaped[2].split(",") if one.strip())
    return Picture(text, path, shape, _dtype(shaped[1]))


def _dtype(name: str) -> str:
    """Returns the full name of a dtype: ``f32`` is ``float32``."""
    match = re.fullmatch(r"(bf|f|i|u)(\d+)", name)
    full = f"{_SHORT[match[1]]}{match[2]}" if match else name
    return full if full in dtypes.NAMES else name


def variables_in(tree: Node, wanted: Collection[str] = ()) -> Node:
    """Returns the variables that a checkpoint holds, without what is around them.

    Args:
        tree: A source's tree; variables may lie inside a train state.
        wanted: Collections of the module, where they are known.
    """
    if isinstance(tree, Branch) and wanted and set(wanted) <= set(tree.children):
        return Branch(
            {key: tree.children[key] for key in tree.children if key in wanted}
        )
    homes = find_homes(tree)
    if not homes:
        return tree
    chosen: dict[str | int, Node] = {}
    for name, place in homes[0].collections:
        node = get(tree, place)
        if node is not None and (name in wanted if wanted else name in KNOWN):
            chosen[name] = node
    return Branch(chosen) if chosen else tree


class Calls:
    """Answers what can be asked of a module without running it."""

    def __init__(
        self,
        state: StoreState,
        model: ModelSupervisor,
        reader: ReaderSupervisor,
        scratch: Path,
    ) -> None:
        """Takes its collaborators; the scratch folder exists."""
        self._state = state
        self._model = model
        self._reader = reader
        self._scratch = scratch
        self._decoded: dict[tuple[object, ...], str] = {}

    def module(self) -> ModuleSpec:
        """Returns the spec of the target's module.

        Raises:
            EditError: The target is no module's.
            RunNotImportedError: It belongs to an opened recipe and was not run yet.
        """
        spec = self._state.module_spec()
        if not self._state.module_loaded:
            raise RunNotImportedError(self._state.module_file())
        return spec

    async def form(self, body: calling.AskCallForm, progress: OnProgress) -> object:
        """Answers how the target's module can be called."""
        question = calling.ReadCallForm(self.module(), body.method, body.apply)
        return await self._model.ask(question, progress)

    async def devices(self, body: calling.AskDevices, progress: OnProgress) -> object:
        """Answers which devices there are."""
        return await self._model.ask(body, progress)

    async def code(self, body: running.AskCode, progress: OnProgress) -> object:
        """Answers a call as a Python program.

        Initial values can be made again by the program; a target with edits is read
        from a file that the person exports.
        """
        is_edited = self._state.document.history.state().position > 0
        file = body.variables or (EXPORTED if is_edited else "")
        question = running.WriteCode(self.module(), body.call, file)
        code = await self._model.ask(question, progress)
        assert isinstance(code, running.Code)
        if file == body.variables:
            return code
        first = f"# The target has edits: export it to {EXPORTED} before this runs.\n"
        return running.Code(first + code.text)

    async def propose(
        self, body: calling.ProposeInputs, progress: OnProgress
    ) -> calling.Proposals:
        """Answers inputs under which a module takes the variables of a source."""
        tree = variables_in(self._state.tree(body.source))
        found = await self._try(body, tree, progress)
        if not found.inputs and not find_homes(tree) and isinstance(tree, Branch):
            # Bare params, as many files hold them, are a collection of a module.
            wrapped = await self._try(body, Branch({PARAMS: tree}), progress)
            return calling.Proposals(wrapped.inputs, found.tried + wrapped.tried)
        return found

    async def _try(
        self, body: calling.ProposeInputs, tree: Node, progress: OnProgress
    ) -> calling.Proposals:
        module = body.module if body.module.spec else self.module()
        question = calling.TryInputs(module, _abstract(tree), body.method)
        reply = await self._model.ask(question, progress)
        assert isinstance(reply, calling.Proposals)
        return reply

    async def images(
        self, call: calling.Call, progress: OnProgress
    ) -> tuple[tuple[str, str], ...]:
        """Lets the reader decode the pictures among the inputs of a call.

        Returns:
            (text of the input, ``.npy`` file) of each.

        Raises:
            RemoteError: A picture cannot be read.
        """
        found = pictures(call.inputs)
        if not found:
            return ()
        paths = [str(absolute(one.path, call.cwd)) for one in found]
        reply = await self._reader.ask(reading.StampFiles(tuple(paths)))
        assert isinstance(reply, reading.Stamps)
        made = []
        for one, path, stamp in zip(found, paths, reply.stamps, strict=True):
            key = (path, stamp.size, stamp.mtime_ns, one.shape, one.dtype)
            if key not in self._decoded:
                out = str(self._scratch / f"image-{len(self._decoded) + 1}.npy")
                await self._reader.ask(
                    reading.DecodeImage(path, one.shape, one.dtype, out), progress
                )
                self._decoded[key] = out
            made.append((one.text, self._decoded[key]))
        return tuple(made)


def _abstract(tree: Node) -> PlainTree:
    plain = to_plain(tree)
    leaves = ((path, replace(leaf, value=UNSET)) for path, leaf in plain.leaves)
    return PlainTree(tuple(leaves), plain.containers)


def collections_of(base: object) -> frozenset[str]:
    """Returns the first keys of a module's recorded tree; empty for other bases."""
    if not isinstance(base, ModuleBase):
        return frozenset()
    return frozenset(str(path[0]) for path, _ in base.tree.leaves if path)
