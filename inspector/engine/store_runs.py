"""Conducts forward passes: variables laid out, the model asked, results kept.

A run is of the target as it stands when it is asked for, whatever is edited
meanwhile. On the store's loop; reader and model do the work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from inspector.engine.messages import inspecting, running
from inspector.engine.messages.calling import Call
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.store_calls import Calls, RunNotImportedError
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_layout import LaidOutTree, Layouts
from inspector.engine.store_model import ModelSupervisor
from inspector.engine.store_run_remarks import discarded
from inspector.engine.store_run_state import Kept
from inspector.engine.store_runs_bounds import (
    CALLS,
    ROOM,
    brief_bad,
    brief_calls,
    brief_remarks,
    brief_report,
)
from inspector.engine.store_state import StoreState
from inspector.engine.store_target import Target
from inspector.errors import RemoteError
from inspector.variables.plain import PlainTree, from_plain
from inspector.variables.tree import Node, get, is_leaf

NOT_HELD = "VariablesNotHeldError"
"""Kind of the error with which the model asks for variables."""

_T = TypeVar("_T")
