"""Mistakes that show only in the frames of a traceback, or in two shapes.

Looks at the frames that an exception left behind; runs nothing of them. On the
thread that runs the person's code, while the exception is at hand.
"""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from flax import linen as nn
from flax import nnx

from inspector.models.annotations import unannotated

Explained = tuple[str, str]
"""What happened, and what to do."""

_LIFTS = ("scan", "vmap", "remat", "checkpoint", "jit", "while_loop", "cond", "switch")
_LOOPS = {
    "scan": "nnx.scan",
    "while_loop": "nnx.while_loop",
    "fori_loop": "nnx.fori_loop",
    "cond": "nnx.cond",
    "switch": "nnx.switch",
    "map": "nnx.scan",
    "vmap": "nnx.vmap",
    "grad": "nnx.grad",
    "value_and_grad": "nnx.value_and_grad",
    "checkpoint": "nnx.remat",
    "jit": "nnx.jit",
}
"""Function of JAX -> the form of NNX that carries state through it."""

_SHAPES = re.compile(
    r'parameter "(.*?)" in "/(.*?)", .* generate shape \((.*?)\), but .* '
    r"received has shape \((.*?)\)"
)


def frames_of(error: BaseException) -> list[tuple[FrameType, int]]:
    """Returns (frame, line) of an exception, outermost first.

    JAX and Flax take their own frames out of tracebacks, but each frame still knows
    its caller, so those are followed from the innermost one that was left.
    """
    lines = {}
    step = error.__traceback__
    if step is None:
        return []
    first = step.tb_frame
    frame: FrameType | None = first
    while step is not None:
        frame = step.tb_frame
        lines[frame] = step.tb_lineno
        step = step.tb_next
    found = []
    while frame is not None:
        found.append((frame, lines.get(frame, frame.f_lineno)))
        frame = None if frame is first else frame.f_back
    return found[::-1]


def found_in_frames(
    error: BaseException, is_own: Callable[[str], bool]
) -> Explained | None:
    """Returns what happened and what to do, when one of these mistakes is found.

    Args:
        error: What the person's code raised.
        is_own: Tells whether a file is the person's.
    """
    name = type(error).__name__
    if name == "ScopeParamShapeError":
        return _other_shape(str(error))
    if name == "InvalidRngError":
        return _not_forwarded(error)
    if name == "TraceContextError":
        return _changed_in_a_loop(error, is_own)
    return _function_as_method(error, is_own)


def _other_shape(text: str) -> Explained | None:
    """Explains a kernel that was made for another width (or for other fields)."""
    match = _SHAPES.search(text)
    if match is None:
        return None
    name, scope = match[1], match[2]
    path = f"{scope}/{name}" if scope else name
    wanted, there = _extents(match[3]), _extents(match[4])
    shapes = f"the variables hold {there}, this call makes {wanted}"
    same = len(wanted) == len(there)
    differing = [n for n in range(len(there)) if same and wanted[n] != there[n]]
    axis = len(there) - 2
    if name == "kernel" and differing == [axis]:
        what = "width" if len(there) == len(("in", "out")) else "channels"
        made = f"inputs of width {there[axis]}"
        if what == "channels":
            made = f"inputs of {there[axis]} channels"
        return (
            f"{path} was made for {made}; this input has {wanted[axis]} ({shapes})",
            f"Give an input whose last axis is {there[axis]} where {scope or 'it'} "
            "reads it (--input), or the constructor arguments that the variables were "
            "made with (--kwargs).",
        )
    return (
        f"{path} has another shape than the module needs ({shapes})",
        "The variables were made with other constructor arguments (--kwargs) or for "
        "another input (--input).",
    )


def _extents(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip())


def _not_forwarded(error: BaseException) -> Explained | None:
    """Explains a stream that stops at a lifted transformation."""
    match = re.search(r'(\S+) needs PRNG for "(.*?)"', str(error))
    lift = next(
        (
            name
            for frame, _ in reversed(frames_of(error))
            if frame.f_code.co_filename.endswith("lift.py")
            and (name := frame.f_code.co_qualname.partition(".")[0]) in _LIFTS
        ),
        "",
    )
    if match is None or lift not in {"scan", "vmap"}:
        return None
    module, stream = match[1], match[2]
    return (
        f"{module} draws from the rng stream “{stream}”, and the nn.{lift} around it "
        "does not forward that stream",
        f'Name it in split_rngs of nn.{lift}: split_rngs={{"{stream}": True, …}} gives '
        "every step a key of its own; with False all steps draw the same numbers.",
    )


def _changed_in_a_loop(
    error: BaseException, is_own: Callable[[str], bool]
) -> Explained:
    """Explains NNX state that is written inside a loop of JAX."""
    frames = frames_of(error)
    variable = _variable_of(frames)
    root = _root_of(frames)
    kind = re.search(r"mutate (\w+)", str(error))
    what = type(variable).__name__ if variable is not None else ""
    what = what or (kind[1] if kind else "state")
    path = _path_of(variable, root)
    loop, line = _loop_of(frames, is_own)
    form = _LOOPS.get(loop, "nnx.scan")
    inside = f"jax.lax.{loop}" if loop in _LAX else f"jax.{loop}" if loop else ""
    inside = inside or "a transformation of JAX"
    named = f"{path} ({what})" if path else f"a variable ({what})"
    place = f" at {line}" if line else ""
    return (
        f"{named} is written inside {inside}{place}, and what is written there would "
        "be lost",
        f"Use {form} in place of {inside}: it carries the module's state through. The "
        "module here is unchanged.",
    )


_LAX = frozenset({"scan", "while_loop", "fori_loop", "cond", "switch", "map"})


def _variable_of(frames: Sequence[tuple[FrameType, int]]) -> Any:
    for frame, _ in reversed(frames):
        for value in frame.f_locals.values():
            if isinstance(value, nnx.Variable):
                return value
    return None


def _root_of(frames: Sequence[tuple[FrameType, int]]) -> Any:
    for frame, _ in frames:
        for value in frame.f_locals.values():
            if isinstance(value, nnx.Module):
                return value
    return None


def _path_of(variable: Any, root: Any) -> str:
    """Returns where a variable lies in a module; empty when it is not found."""
    if variable is None or root is None:
        return ""
    for path, node in nnx.iter_graph(root):
        if node is variable:
            return "/".join(str(key) for key in path)
    return ""


def _loop_of(
    frames: Sequence[tuple[FrameType, int]], is_own: Callable[[str], bool]
) -> tuple[str, str]:
    """Returns the function of JAX that the person called, and ``file:line``."""
    place = ""
    found: tuple[str, str] = ("", "")
    for frame, line in frames:
        file = frame.f_code.co_filename
        if is_own(file):
            place = f"{Path(file).name}:{line}"
        elif frame.f_globals.get("__name__", "").startswith("jax."):
            name = frame.f_code.co_qualname.partition(".")[0]
            if place and name in _LOOPS and _line_names(frame, name):
                found = (name, place)
    return found


def _line_names(frame: FrameType, name: str) -> bool:
    """Whether the nearest caller outside of JAX names the function on its line."""
    caller = frame.f_back
    while caller is not None and caller.f_globals.get("__name__", "").startswith("jax"):
        caller = caller.f_back
    if caller is None:
        return False
    return name in linecache.getline(caller.f_code.co_filename, caller.f_lineno)


def _function_as_method(
    error: BaseException, is_own: Callable[[str], bool]
) -> Explained | None:
    """Explains a function that is a class attribute without annotation.

    Python makes a method of it, which is given the module as its first argument.
    """
    if not isinstance(error, TypeError | AttributeError | ValueError):
        return None
    for frame, line in reversed(frames_of(error)):
        if not is_own(frame.f_code.co_filename):
            continue
        module = frame.f_locals.get("self")
        text = linecache.getline(frame.f_code.co_filename, line)
        for name in _function_attributes(module):
            if f"self.{name}" in text:
                kind = type(module).__name__
                return (
                    f"{name} has no type annotation in {kind}, so Python takes it for "
                    "a method and gives it the module first",
                    f"Write `{name}: Callable = …` in the class {kind}; then it is a "
                    "field, and can be set.",
                )
        return None
    return None


def _function_attributes(module: Any) -> Iterator[str]:
    """Gives functions that the class of a Linen module assigns without annotation."""
    if not isinstance(module, nn.Module):
        return
    for name in unannotated(type(module)):
        value = inspect.getattr_static(type(module), name, None)
        if callable(value) and hasattr(value, "__get__"):
            yield name
