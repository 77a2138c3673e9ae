"""The module's real initial values: a cache of the base, made on demand.

Made by the model in one jitted call, only for the leaves somebody needs, and kept as
raw bytes in the session's scratch folder. Thrown away when the base or a seed
changes; the recipe never holds them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from inspector.engine.messages.module import InitialMade, MakeInitial
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_model import ModelSupervisor
from inspector.engine.store_state import StoreState
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
            RemoteError: The module could not be initialised.
        """
        stamp = self._state.base_stamp()
        if stamp != self._stamp:
            self.forget()
            self._stamp = stamp
        needed = sorted({path for path in paths if path not in self.table}, key=repr)
        if not needed:
            return
        spec = self._state.module_spec()
        if not self._state.module_loaded:
            raise ModuleNotImportedError(self._state.module_file(), len(needed))
        self._made += 1
        file = self._scratch / f"initial-{self._made}.bin"
        # A request for every leaf is sent as "all": the message stays small.
        wanted = () if len(needed) == self._state.base_leaves() else tuple(needed)
        made = await self._model.ask(MakeInitial(spec, wanted, str(file)), progress)
        if not isinstance(made, InitialMade):
            raise TypeError(type(made).__name__)
        if self._state.base_stamp() != stamp:
            Path(made.file).unlink(missing_ok=True)
            return
        for path, offset, shape, dtype in made.table:
            self.table[path] = Raw(made.file, offset, shape, dtype)
