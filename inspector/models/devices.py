"""Which devices JAX sees, by the names that a call gives, and why one is missing.

Asking starts JAX's backend. On the thread of the model process that runs the person's
code.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterable
from pathlib import Path

import jax

from inspector.engine.messages.calling import Device, Devices
from inspector.errors import LoadModuleError
from inspector.models import compat

_DRIVER_FILE = Path("/proc/driver/nvidia/version")
_DEVICE_FILES = (Path("/dev/nvidiactl"), Path("/dev/nvidia0"), Path("/dev/dxg"))
_PLUGINS = re.compile(r"jax-(cuda|rocm|metal)[\w-]*|jaxlib|jax", re.ASCII)


class NoSuchDeviceError(LoadModuleError):
    """JAX sees no such device."""

    def __init__(self, name: str, known: Iterable[str], problem: str) -> None:
        """Names the devices that there are."""
        super().__init__(
            f"There is no device “{name}”; JAX sees {', '.join(known)}.",
            where=name,
            hint=problem,
        )


def devices() -> Devices:
    """Returns every device, the default one first, a CPU always among them.

    A GPU whose plugin fails is no error: the CPU is used and ``problem`` says why.
    """
    found, failure = _found()
    return Devices(tuple(map(_described, found)), _problem(found, failure))


def find_device(name: str) -> jax.Device:
    """Returns the device that a call names.

    Args:
        name: ``"cpu"``, ``"gpu:0"``, … ; empty for JAX's default device.

    Raises:
        NoSuchDeviceError: There is none of that name; says which there are.
    """
    found, failure = _found()
    if not name:
        return found[0]
    kind, _, number = name.strip().lower().partition(":")
    wanted = {"cuda": "gpu", "rocm": "gpu"}.get(kind, kind)
    alike = [one for one in found if one.platform == wanted]
    if number:
        alike = [one for one in alike if str(one.id) == number]
    if alike:
        return alike[0]
    raise NoSuchDeviceError(name, map(name_of, found), _problem(found, failure))


def name_of(device: jax.Device) -> str:
    """Returns a device's name as a call takes it, e.g. ``"cpu:0"``."""
    return f"{device.platform}:{device.id}"


def peak_bytes(device: jax.Device) -> int:
    """Returns the most bytes that were in use on a device; 0 when it does not tell."""
    return int(_memory(device).get("peak_bytes_in_use", 0))


def _memory(device: jax.Device) -> dict[str, int]:
    try:
        return device.memory_stats() or {}
    except Exception:
        # Backends raise classes of their own.
        return {}


def _described(device: jax.Device) -> Device:
    memory = int(_memory(device).get("bytes_limit", 0))
    return Device(name_of(device), device.device_kind, memory)


def _found() -> tuple[list[jax.Device], str]:
    """Returns all devices, default first, and what a failing backend said."""
    failure = ""
    try:
        found = list(jax.local_devices())
    except Exception as error:
        # JAX_PLATFORMS names a backend that cannot start; JAX asserts, or says why.
        failure = str(error) or _asked_platforms()
        compat.use_cpu_only()
        found = list(jax.local_devices())
    chosen = getattr(jax.config, "jax_default_device", None)
    if chosen in found:
        found.sort(key=lambda one: one != chosen)
    if all(one.platform != "cpu" for one in found):
        try:
            found += jax.local_devices(backend="cpu")
        except RuntimeError as error:
            failure = failure or str(error)
    return found, failure


def _asked_platforms() -> str:
    asked = getattr(jax.config, "jax_platforms", None) or "none"
    return f"no backend of JAX_PLATFORMS={asked} starts"


def _problem(found: list[jax.Device], failure: str) -> str:
    """Returns why there is no accelerator although one is to be expected."""
    if any(one.platform != "cpu" for one in found):
        return ""
    driver = _driver()
    failure = failure or "; ".join(compat.backend_errors())
    if not driver and not failure:
        return ""
    versions = dict(_versions())
    said = [f"JAX runs on the CPU: {_reason(driver, versions, failure)}"]
    if driver:
        said.append(f"Driver: {driver}.")
    installed = ", ".join(f"{name} {version}" for name, version in versions.items())
    said.append(f"Installed: {installed}.")
    return " ".join(said)


def _reason(driver: str, versions: dict[str, str], failure: str) -> str:
    plugin = any("plugin" in name or "pjrt" in name for name in versions)
    if driver and not plugin:
        return (
            "an NVIDIA driver is there, but no CUDA plugin of JAX is installed. "
            'Install it with: pip install -U "jax[cuda13]" (drivers before 580: '
            "cuda12)."
        )
    if failure:
        return f"the accelerator could not be started: {failure.rstrip('.')}."
    return (
        "JAX's plugin is installed but found no device it can use; the driver may be "
        "too old for it, or the device be hidden (CUDA_VISIBLE_DEVICES, JAX_PLATFORMS)."
    )


def _driver() -> str:
    """Returns what the NVIDIA driver calls itself; empty without one.

    A device file without a driver's text is a driver of unknown version (WSL).
    """
    try:
        text = _DRIVER_FILE.read_text(encoding="utf-8", errors="replace")
    except OSError:
        present = [str(file) for file in _DEVICE_FILES if file.exists()]
        return f"version unknown ({present[0]} is there)" if present else ""
    line = text.splitlines()[0] if text.strip() else ""
    found = re.search(r"\b\d+\.\d+(?:\.\d+)?\b", line)
    return f"NVIDIA {found[0]}" if found else line.strip()


def _versions() -> list[tuple[str, str]]:
    """Returns (package, version) of JAX, its library and its plugins."""
    found = {}
    for one in importlib.metadata.distributions():
        name = str(one.metadata["Name"] or "").lower().replace("_", "-")
        if _PLUGINS.fullmatch(name):
            found[name] = one.version
    return sorted(found.items())
