"""What the model process answers about forward passes: devices, runs, their code.

Called by the model process, one request at a time, on the thread that runs the
person's code. Each request says everything it needs, but for variables that it names
by a stamp, see `held`.
"""

from __future__ import annotations

from inspector.engine.messages.calling import AskDevices, Devices
from inspector.engine.messages.running import Code, RunDone, RunModule, WriteCode
from inspector.models import devices, running, script
from inspector.models.loading import Progress

__all__ = ["ask_devices", "run_module", "write_code"]


def ask_devices(request: AskDevices) -> Devices:
    """Returns the devices that JAX sees; starts its backend."""
    del request
    return devices.devices()


def run_module(request: RunModule, progress: Progress) -> RunDone:
    """Runs a module once.

    Args:
        request: What to run, on what.
        progress: Told what is being done.

    Raises:
        VariablesNotHeldError: The variables have to be sent first.
        LoadModuleError: The module, an input or the run failed.
        UsageError: A text of the call cannot be parsed.
    """
    return running.run(request, progress)


def write_code(request: WriteCode, progress: Progress) -> Code:
    """Returns a call as a Python program; runs nothing of it.

    Args:
        request: The call, and where its variables lie.
        progress: Told what is being done.

    Raises:
        LoadModuleError: The module or an input failed.
        UsageError: A text of the call cannot be parsed.
    """
    return Code(script.write_script(request, progress))
