"""The module's real initial values: a cache of the base, made on demand.

Made by the model, which computes only what the leaves that somebody needs depend on,
and kept as raw bytes in the session's scratch folder. Thrown away when the base or a
seed changes; the recipe never holds them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from inspector.engine.messages.module import InitialMade, MakeInitial
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_model import ModelSupervisor
from inspector.engine.store_state import StoreState, TargetReplacedError
from inspector.errors import ModuleNotImportedError
from inspector.variables.path import TreePath
from inspector.variables.value import Raw


class InitialValues:
    """Initial values of the present base.

    Attributes:
        table: Path in the base's own tree -> where its value lies.
    """

    def __init__(
        self, state: StoreState, model: ModelSupervisor, scratch: Path
    ) -> None:
        """Takes its collaborators; the scratch folder exists."""
        self._state = state
        self._model = model
        self._scratch = scratch
        self._stamp: object = None
        self._made = 0
        self._turn = asyncio.Lock()
        self.table: dict[TreePath, Raw] = {}

    def forget(self) -> None:
        """Drops every value, because the base or a seed changed."""
        for raw in {raw.file for raw in self.table.values()}:
            Path(raw).unlink(missing_ok=True)
        self.table.clear()

    async def ensure(
        self, paths: Iterable[TreePath], progress: OnProgress | None = None
    ) -> None:
        """Makes the values of these leaves that have not been made yet.

        Args:
            paths: Paths in the base's own tree.
            progress: Told what is being done.

        Raises:
            ModuleNotImportedError: The module belongs to an opened recipe and nobody
                has agreed yet that its file may run.
            TargetReplacedError: The base or a seed changed while they were made.
            RemoteError: The module could not be initialised.
        """
        # Two who need the same leaves make them once.
        async with self._turn:
            await self._ensure(paths, progress)

    async def _ensure(
        self, paths: Iterable[TreePath], progress: OnProgress | None
    ) -> None:
        stamp = self._state.base_stamp()
        if stamp is not self._stamp:
            self.forget()
            self._stamp = stamp
        needed = [path for path in dict.fromkeys(paths) if path not in self.table]
        if not needed:
            return
        spec = self._state.module_spec()
        if not self._state.module_loaded:
            raise ModuleNotImportedError(self._state.module_file(), len(needed))
        self._made += 1
        file = self._scratch / f"initial-{self._made}.bin"
        # A request for every leaf is sent as "all": the message stays small.
        wanted = () if len(needed) == self._state.base_leaves() else tuple(needed)
        try:
            made = await self._model.ask(MakeInitial(spec, wanted, str(file)), progress)
        except BaseException:
            # A model that was ended could not clear away what it had begun.
            file.unlink(missing_ok=True)
            raise
        assert isinstance(made, InitialMade)
        if self._state.base_stamp() is not stamp:
            file.unlink(missing_ok=True)
            raise TargetReplacedError
        for path, offset, shape, dtype in made.table:
            self.table[path] = Raw(made.file, offset, shape, dtype)
