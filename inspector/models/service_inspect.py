"""What the model process answers about the inside of a forward pass.

Called one request at a time on the thread that runs the person's code.
"""

from __future__ import annotations

from inspector.models.bad_values import find_bad
from inspector.models.recording import record
from inspector.models.submodule import run_call
from inspector.models.verifying import verify

__all__ = ["find_bad", "record", "run_call", "verify"]
