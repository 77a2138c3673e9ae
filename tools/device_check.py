"""Runs the sample and a ResNet-50 on an accelerator and on the CPU, and compares.

``python -m tools.device_check [DEVICE]``; a minute or two. Drives the store as the
window does. With ``cpu`` it compares the CPU with itself, to try the script out.
Says what was measured and exits 1 when a bound is not kept:

* largest difference over the largest absolute value of the CPU's output: under 1e-2
  with the default precision, under 1e-4 with ``highest``;
* the device's memory is given back after Stop, as far as ``nvidia-smi`` tells.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from inspector.cli.store import StoreSession
from inspector.engine.messages import calling, document, module, running

ROOT = Path(__file__).resolve().parent.parent

BOUNDS = {"default": 1e-2, "highest": 1e-4}
"""Precision -> largest relative difference."""

GIVEN_BACK = 64
"""MiB of device memory that may still be in use after Stop beside what was before."""

MODELS = (
    (ROOT / "resources/sample/classifier.py:Classifier", "float32[8,8,8,1]:normal(0)"),
    (ROOT / "benchmarks/nets.py:ResNet50", "float32[4,224,224,3]:normal(0)"),
)


def main() -> int:
    """Runs the check."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else "gpu:0"
    failed = False
    before = _device_memory()
    with (
        tempfile.TemporaryDirectory(prefix="device-") as state,
        StoreSession(state_dir=state) as store,
    ):
        spec, text = MODELS[0]
        _load(store, spec, text)
        devices = store.ask(calling.AskDevices())
        assert isinstance(devices, calling.Devices)
        names = [device.id for device in devices.devices]
        print("devices:", ", ".join(f"{d.id} ({d.kind})" for d in devices.devices))
        if not any(name == wanted or name.startswith(wanted) for name in names):
            print(f"no {wanted}: {devices.problem or 'JAX sees none'}")
            return 1
        for spec, text in MODELS:
            _load(store, spec, text)
            base = _run(store, text, "cpu", "highest")
            for precision, bound in BOUNDS.items():
                other = _run(store, text, wanted, precision)
                found = store.ask(running.CompareRuns(other.run, base.run))
                assert isinstance(found, running.RunDifference)
                worst = max((row.max_rel or 0.0) for row in found.rows)
                kept = worst < bound
                failed |= not kept
                print(
                    f"{'ok' if kept else 'FAILED'}: {spec.name} on {other.device}, "
                    f"{precision}: {worst:.2e} (bound {bound:g}), run "
                    f"{other.run_s * 1e3:.1f} ms, transfer {other.transfer_s:.2f} s, "
                    f"peak {other.device_peak / 2**20:.0f} MiB"
                )
        during = _device_memory()
        store.ask(document.StopModel())
        after = _settled(before)
        if before is not None and during is not None and after is not None:
            kept = after <= before + GIVEN_BACK
            failed |= not kept
            print(
                f"{'ok' if kept else 'FAILED'}: device memory {before} MiB before, "
                f"{during} MiB during, {after} MiB after Stop"
            )
    return 1 if failed else 0


def _load(store: StoreSession, spec: Path, text: str) -> None:
    inputs = (text.partition(":")[0],)
    statics = (("train", "false"),)
    store.ask(
        document.LoadTarget(
            module.ModuleSpec(str(spec), inputs=inputs, statics=statics)
        )
    )


def _run(
    store: StoreSession, text: str, device: str, precision: str
) -> running.RunReport:
    call = calling.Call(
        inputs=(text,),
        statics=(("train", "false"),),
        device=device,
        precision=precision,
    )
    report = store.ask(running.Run(call))
    assert isinstance(report, running.RunReport)
    return report


def _device_memory() -> int | None:
    """Returns MiB in use on the first device; None where nobody tells."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, check=True)
        return int(done.stdout.split()[0])
    except (OSError, subprocess.CalledProcessError, ValueError, IndexError):
        return None


def _settled(before: int | None) -> int | None:
    """Waits up to ten seconds for the memory to come back."""
    end = time.monotonic() + 10
    found = _device_memory()
    while (
        found is not None
        and before is not None
        and found > before + GIVEN_BACK
        and time.monotonic() < end
    ):
        time.sleep(0.2)
        found = _device_memory()
    return found


if __name__ == "__main__":
    sys.exit(main())
