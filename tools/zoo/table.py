"""The stored table of the zoo: what every module gave when it was last looked at.

Sums are compared with a tolerance, because CPUs differ in their last bits.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

from tools.zoo.visit import Found

TABLE = Path(__file__).with_name("table.json")

TOLERANCE = 1e-3
"""Of an output's root of squares: what its sum may differ by."""


def read_table() -> dict[str, Found]:
    """Returns the stored table."""
    if not TABLE.is_file():
        return {}
    stored = json.loads(TABLE.read_text(encoding="utf-8"))
    return {
        name: Found(
            row["version"],
            row["leaves"],
            row["parameters"],
            row["offers"],
            tuple(
                (path, tuple(shape), dtype, total, std)
                for path, shape, dtype, total, std in row["outputs"]
            ),
        )
        for name, row in stored.items()
    }


def write_table(table: Mapping[str, Found]) -> None:
    """Writes the table, one module a line."""
    lines = [
        f"  {json.dumps(name)}: "
        + json.dumps(
            {
                "version": one.version,
                "leaves": one.leaves,
                "parameters": one.parameters,
                "offers": one.offers,
                "outputs": [
                    [
                        path,
                        list(shape),
                        dtype,
                        float(f"{total:.7g}"),
                        float(f"{std:.6g}"),
                    ]
                    for path, shape, dtype, total, std in one.outputs
                ],
            }
        )
        for name, one in sorted(table.items())
    ]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _rounded(row: tuple[str, tuple[int, ...], str, float, float]) -> list[object]:
    path, shape, dtype, total, std = row
    return [path, list(shape), dtype, float(f"{total:.7g}"), float(f"{std:.6g}")]


def differences(stored: Found | None, found: Found) -> list[str]:
    """Returns how a module differs from what is stored of it; nothing when equal."""
    if stored is None:
        return ["it is not in the table; --update puts it there"]
    wrong = [
        f"{name}: {getattr(stored, name)} stored, {getattr(found, name)} found"
        for name in ("version", "leaves", "parameters", "offers")
        if getattr(stored, name) != getattr(found, name)
    ]
    if [row[:3] for row in stored.outputs] != [row[:3] for row in found.outputs]:
        return [*wrong, "other outputs"]
    for old, new in zip(stored.outputs, found.outputs, strict=True):
        count = math.prod(old[1]) or 1
        scale = old[4] * math.sqrt(count) + abs(old[3]) / math.sqrt(count) + 1e-6
        for name, before, after, allowed in (
            ("sum", old[3], new[3], TOLERANCE * scale * 10),
            ("std", old[4], new[4], TOLERANCE * (old[4] + 1e-6)),
        ):
            both_nan = math.isnan(before) and math.isnan(after)
            if not both_nan and not abs(before - after) <= allowed:
                wrong.append(f"{name} of {old[0]}: {before} stored, {after} found")
    return wrong
