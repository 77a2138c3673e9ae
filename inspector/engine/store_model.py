"""The model as the store uses it: one job at a time, with a spare behind it.

Stop ends the process with its whole group; nothing of value lives in it. On the
store's event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from inspector.engine.launch_python import probe_python
from inspector.engine.messages import calling, inspecting, module, running
from inspector.engine.messages.document import EngineStatus, Notice
from inspector.engine.store_ends import EndedModelError, EngineEndedError
from inspector.engine.store_engines import AsyncEngine, Notify, OnProgress, StartEngine
from inspector.errors import CancelledError, ErrorInfo


def _spec(body: object) -> str:
    """Returns the spec of the module that a request to the model is about."""
    match body:
        case (
            module.LoadModule(module=spec)
            | module.MakeInitial(module=spec)
            | calling.ReadCallForm(module=spec)
            | calling.TryInputs(module=spec)
            | running.RunModule(module=spec)
            | running.WriteCode(module=spec)
        ):
            return spec.spec
        case (
            inspecting.RecordModule(run=run)
            | inspecting.RunCallModule(run=run)
            | inspecting.FindBadModule(run=run)
            | inspecting.VerifyModules(a=run)
        ):
            return run.module.spec
        case module.ListModules():
            return body.spec
        case _:
            return ""


_IMPORTING = (module.LoadModule, module.ListModules, calling.TryInputs)
"""Requests that import the person's file anew."""


class ModelSupervisor:
    """The model and its spare; one job at a time, Stop ends the process.

    Attributes:
        python: Interpreter of the model; empty is our own.
        on_cancelled: Called after a cancelled request has ended the process.
    """

    def __init__(
        self, start: Callable[[str], StartEngine], notify: Notify, python: str = ""
    ) -> None:
        """Keeps how to start one; nothing runs until the first module is asked for."""
        self._start = start
        self._notify = notify
        self.python = python
        self.on_cancelled: Callable[[], None] = lambda: None
        self._probed = ""
        self._engine: AsyncEngine | None = None
        self._spare: AsyncEngine | None = None
        self._busy = asyncio.Lock()
        self._imports = False
        self._hung = False
        self._served: set[str] = set()

    async def use_python(self, python: str) -> None:
        """Chooses the interpreter; a model on another one is ended."""
        if python == self.python:
            return
        if python:
            await asyncio.to_thread(probe_python, python)
        self.python = python
        engines = [engine for engine in (self._engine, self._spare) if engine]
        self._engine = self._spare = None
        for engine in engines:
            engine.kill()

    async def ask(self, body: object, progress: OnProgress | None = None) -> object:
        """Asks the model; cancelling the task ends the process, the spare takes over.

        Raises:
            ChoosePythonError: The chosen interpreter cannot run it.
            EndedModelError: The process ended before it answered.
            CancelledError: The person stopped the model.
            RemoteError: The request failed there.
        """
        async with self._busy:
            await self._probe()
            engine = self._live()
            self._notify(EngineStatus("model", "busy"))
            spec, self._hung = _spec(body), False
            self._imports = bool(spec) and (
                isinstance(body, _IMPORTING) or spec not in self._served
            )
            try:
                reply = await engine.ask(body, progress)
            except asyncio.CancelledError:
                self.stop()
                self.on_cancelled()
                raise
            except EngineEndedError as error:
                if engine is not self._engine:
                    # It was stopped or replaced on purpose, which is no error.
                    raise CancelledError from None
                self._notify(EngineStatus("model", "ended", str(error)))
                raise EndedModelError(_spec(body), error.error) from None
            else:
                self._notify(EngineStatus("model", "ready"))
                self._served.add(spec)
                return reply
            finally:
                self._imports = False
                self._warm()

    async def _probe(self) -> None:
        """Asks a chosen interpreter once whether it can run the model."""
        if self.python in {"", self._probed}:
            return
        info = await asyncio.to_thread(probe_python, self.python)
        self._probed = self.python
        for text in info.warnings:
            self._notify(Notice("warning", ErrorInfo("PythonWarning", text, info.path)))

    def may_hang(self) -> bool:
        """Returns whether what is being done may be an import that never ends.

        The same of what was ended last, until something else is asked. Loading always
        imports anew; anything else does when this process has answered nothing about
        the module yet.
        """
        return self._imports or self._hung

    def stop(self) -> None:
        """Ends the model with its whole process group."""
        if self._engine is not None:
            # A cancelled request is over before a Stop that follows it is asked.
            self._hung = self._imports
            self._engine.kill()
            self._engine = None
            self._notify(EngineStatus("model", "ended", "The model was stopped."))

    def _live(self) -> AsyncEngine:
        if self._engine is None or self._engine.ended is not None:
            self._served.clear()
        if self._engine is not None and self._engine.ended is not None:
            text = "The model ended and a new one took over."
            self._notify(EngineStatus("model", "starting", text))
        for engine in (self._engine, self._spare):
            if engine is not None and engine.ended is None:
                if engine is self._spare:
                    self._spare = None
                self._engine = engine
                return engine
        self._notify(EngineStatus("model", "starting"))
        self._engine = self._new(self._notify)
        return self._engine

    def _new(self, on_event: Notify) -> AsyncEngine:
        """Starts a model; its end while nothing is asked of it is told."""

        def ended(error: ErrorInfo) -> None:
            if engine is self._engine:
                text = f"{error.message} Another one takes over when it is needed."
                self._notify(EngineStatus("model", "ended", text))

        engine = AsyncEngine(self._start(self.python), on_event, ended)
        return engine

    def _warm(self) -> None:
        """Starts a spare: jax and flax imported, no backend, nothing loaded.

        After a stop the one there is takes over first; two starts at once would
        only be in each other's way.
        """
        taken = self._engine is None
        if taken and self._spare is not None and self._spare.ended is None:
            return
        if self._spare is None or self._spare.ended is not None:
            self._spare = self._new(lambda _: None)

    async def close(self) -> None:
        """Ends the model and its spare."""
        for engine in (self._engine, self._spare):
            if engine is not None:
                engine.kill()
                await engine.close()
