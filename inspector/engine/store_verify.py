"""Verify: the same inputs through two sets of variables.

A side is the target or an open source; the variables of a source are looked for
inside a train state. On the store's loop; the model runs both.
"""

from __future__ import annotations

from inspector.engine.messages import document, inspecting, running
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.store_calls import Calls, collections_of, variables_in
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_layout import LaidOutTree, Layouts
from inspector.engine.store_runs import Runs
from inspector.engine.store_runs_bounds import brief_verify
from inspector.engine.store_state import StoreState
from inspector.variables.tree import Node

Side = tuple[running.RunModule, LaidOutTree]


class Verifier:
    """Answers `inspecting.Verify`."""

    def __init__(
        self, state: StoreState, runs: Runs, layouts: Layouts, calls: Calls
    ) -> None:
        """Takes its collaborators."""
        self._state = state
        self._runs = runs
        self._layouts = layouts
        self._calls = calls

    async def verify(
        self, body: inspecting.Verify, progress: OnProgress
    ) -> inspecting.VerifyReport:
        """Runs the same inputs through both sides; `VerifyReport` answers.

        Raises:
            EditError: A side's module or source is not there.
            ModuleNotImportedError: See `inspecting.Verify.fresh`.
            RemoteError: A side cannot be read or run.
        """
        return await self._runs.conducted(self._verify(body, progress))

    async def _verify(
        self, body: inspecting.Verify, progress: OnProgress
    ) -> inspecting.VerifyReport:
        if body.module_a is None:
            await self._runs.imported(progress, fresh=body.fresh)
        first = await self._side(body, body.a, body.module_a, progress)
        module_b = body.module_b or body.module_a
        second = await self._side(body, body.b, module_b, progress)

        def wrap(a: running.RunModule, b: running.RunModule) -> object:
            return inspecting.VerifyModules(a, b, body.tolerance)

        found = await self._runs.ask(wrap, progress, first, second)
        assert isinstance(found, inspecting.VerifyReport)
        return brief_verify(found)

    async def _side(
        self,
        body: inspecting.Verify,
        name: str,
        module: ModuleSpec | None,
        progress: OnProgress,
    ) -> Side:
        base = self._state.document.base
        wanted = collections_of(base) if module is None else ()
        spec, digest = module, ""
        if spec is None:
            spec = self._calls.module()
            digest = self._state.module_digest
        tree: Node = self._state.tree(name)
        if name != document.TARGET:
            tree = variables_in(tree, wanted)
        variables = await self._layouts.lay_out(tree, progress)
        images = await self._calls.images(body.call, progress)
        request = running.RunModule(
            spec, digest, body.call, variables.stamp, images=images
        )
        return request, variables
