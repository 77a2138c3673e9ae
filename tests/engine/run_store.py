"""A real store with a small net, and what tests ask of its runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from inspector.engine.messages import document, reading, running, viewing
from inspector.engine.messages.calling import Call
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.start import launch_store
from inspector.variables.path import TreePath

NET = '''\
import time
from pathlib import Path

from flax import linen as nn


class Net(nn.Module):
    """Dense, BatchNorm and Dropout."""

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.Dense(4)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dropout(0.5, deterministic=not train)(x)

    def forever(self, x):
        Path(__file__).with_name("begun").touch()
        while True:
            time.sleep(0.01)
'''

ONES = "float32[2,5]"
NORMAL = "float32[2,5]:normal(0)"
MEAN: TreePath = ("batch_stats", "BatchNorm_0", "mean")


class RunStore:
    """A store whose target is the net.

    Attributes:
        folder: Holds ``net.py``.
        events: Every event that came.
    """

    def __init__(self, folder: Path, source: str = NET) -> None:
        """Starts it; loads nothing."""
        self.folder = folder
        self.file = folder / "net.py"
        self.file.write_text(source)
        self.events: list[object] = []
        self.client = launch_store(on_event=self.events.append)
        self.ask(document.Begin(str(folder / "state")))

    def ask(self, body: object) -> object:
        """Asks and waits."""
        return self.client.call(body, timeout=60)

    def load(self) -> document.Changes:
        """Makes the net the target."""
        spec = ModuleSpec(f"{self.file}:Net", inputs=(ONES,))
        changes = self.ask(document.LoadTarget(spec))
        assert isinstance(changes, document.Changes)
        return changes

    def run(self, mode: str = "", text: str = NORMAL) -> running.RunReport:
        """Runs the net once."""
        report = self.ask(running.Run(Call(inputs=(text,), mode=mode)))
        assert isinstance(report, running.RunReport)
        return report

    def numbers(self, tree: str, path: TreePath) -> np.ndarray:
        """Reads an array whole."""
        details = self.ask(viewing.Describe(tree, path))
        assert isinstance(details, viewing.Details)
        region = tuple((0, extent) for extent in details.row.shape)
        reply = self.ask(viewing.ReadNumbers(tree, path, region))
        assert isinstance(reply, reading.Numbers)
        return np.frombuffer(reply.data, reply.dtype).reshape(reply.shape)

    def output(self, run: int) -> np.ndarray:
        """Reads the output of a run."""
        return self.numbers(running.outputs_of(run), ("output",))

    def kinds(self, report: running.RunReport) -> list[str]:
        """Returns the kinds of a run's remarks."""
        return [one.kind for one in report.remarks]
