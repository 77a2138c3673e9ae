"""What a forward pass costs beside the same jitted call, and what Stop costs.

The model's own part is measured in a process like it: from the request's arrival to
results ready, program and leaves resident. The rest is asked of the store as the
window does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from benchmarks.asking import Store, store
from benchmarks.display import platforms
from benchmarks.figures import TIMES, Figure, Reference
from benchmarks.processes import child
from benchmarks.workplace import ROOT, Workplace
from inspector.engine.messages import calling, document, module, running
from inspector.errors import CancelledError, InspectorError

NETS = ROOT / "benchmarks" / "nets.py"

RUN_RATIO = 1.05
"""Most that a ResNet-50 may take, of the same jitted call."""

SMALL_S = 0.002
"""Most that a small MLP may take more than the same jitted call."""

BAD_RATIO = 3.0
"""Most that the first bad value may take, of the jitted run, once warm."""

CLICK_S = 0.1
"""Most from the click to the numbers on the screen, beside the run itself."""

BACK_S = 1.0
"""Most from Stop until the module is loaded again."""


def run(place: Workplace) -> Iterator[Figure]:
    """Measures the model, the window and Stop."""
    yield from _model(place)
    yield from _click(place)
    yield _stop(place)


def _model(place: Workplace) -> Iterator[Figure]:
    runs = place.size(50, 5)
    image = place.size(224, 64)
    for name, text, bad in (
        ("ResNet50", f"float32[1,{image},{image},3]", True),
        ("Mlp", "float32[8,32]", False),
    ):
        wanted = {
            "spec": f"{NETS}:{name}",
            "input": text,
            "folder": str(place.empty(f"model-{name}")),
            "runs": runs,
            "bad": bad,
        }
        with child("forward", wanted, {"JAX_PLATFORMS": "cpu"}) as process:
            facts = process.hear()
        reference = Reference("the same jitted call", tuple(facts["jitted"]))
        ratio = tuple(
            a / b for a, b in zip(facts["ours"], facts["jitted"], strict=True)
        )
        more = tuple(a - b for a, b in zip(facts["ours"], facts["jitted"], strict=True))
        if name == "Mlp":
            yield Figure(
                f"run of {name} {text}, more than jitted",
                more,
                target=SMALL_S,
                reference=reference,
            )
            continue
        yield Figure(
            f"run of {name} {text}, of jitted",
            ratio,
            TIMES,
            target=RUN_RATIO,
            reference=reference,
        )
        yield Figure(
            f"first bad value of {name}, warm, of jitted",
            tuple(one / reference.median for one in facts["bad"]),
            TIMES,
            target=BAD_RATIO,
            reference=reference,
        )


def _click(place: Workplace) -> Iterator[Figure]:
    """From a click on Run to the numbers of the output on the screen."""
    runs = place.size(10, 2)
    with platforms() as found:
        for name, env in found.items():
            argv = ["--model", f"{NETS}:Mlp", "--input", "float32[8,32]"]
            argv += ["--state-dir", str(place.empty(f"click-{name}"))]
            with child("click_run", {"argv": argv, "runs": runs}, env) as process:
                facts = process.hear()
            yield Figure(
                f"click on Run to numbers shown, beside the run, {name}",
                tuple(facts["beside"]),
                target=CLICK_S,
            )


def _stop(place: Workplace) -> Figure:
    seconds = []
    with store(place.empty("stop")) as asked:
        spec = module.ModuleSpec(
            f"{NETS}:Endless", inputs=("float32[4,8]",), statics=(("train", "false"),)
        )
        asked.ask(document.LoadTarget(spec), document.Changes)
        for _ in range(place.size(5, 2)):
            seconds.append(_stop_once(asked))
    return Figure("back after Stop, module loaded", tuple(seconds), target=BACK_S)


def _stop_once(asked: Store) -> float:
    call = calling.Call(inputs=("float32[4,8]",), statics=(("train", "true"),))
    ended = threading.Event()

    def run_on() -> None:
        try:
            asked.ask(running.Run(call), running.RunReport)
        except (CancelledError, InspectorError):
            ended.set()

    thread = threading.Thread(target=run_on)
    thread.start()
    # Well inside the loop that never ends.
    time.sleep(4.0)
    start = time.perf_counter()
    asked.client.call(document.StopModel(), timeout=60.0)
    asked.ask(calling.AskCallForm(), calling.CallForm)
    seconds = time.perf_counter() - start
    thread.join()
    assert ended.is_set()
    return seconds
