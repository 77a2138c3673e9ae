"""Loads, lists and runs public modules: ``python -m tools.zoo [NAME …]``.

Run by ``make zoo``. Fetches what it needs into a cache, skips by name what cannot be
had, drives the store as a verb does, and compares with the stored table. With
``--update`` what was found becomes the table.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback

from inspector.cli.store import StoreSession
from inspector.errors import InspectorError
from tools.zoo.entries import ENTRIES, Entry
from tools.zoo.sources import UnavailableError, cache_folder
from tools.zoo.table import differences, read_table, write_table
from tools.zoo.visit import Found, visit


def main() -> int:
    """Runs the command; 1 when a module differs or fails."""
    arguments = _parse()
    chosen = [
        one
        for one in ENTRIES
        if not arguments.names or any(name in one.name for name in arguments.names)
    ]
    table = read_table()
    failed: list[str] = []
    skipped: list[str] = []
    found: dict[str, Found] = {}
    with (
        tempfile.TemporaryDirectory(prefix="zoo-") as state,
        StoreSession(state_dir=state) as store,
    ):
        for entry in chosen:
            line = _visit(entry, store, found, skipped, debug=arguments.debug)
            if line or (entry.name not in found and entry.name not in skipped):
                failed.append(entry.name)
                print(f"FAILED  {entry.name}: {line}", flush=True)
                continue
            if entry.name in skipped:
                continue
            wrong = differences(table.get(entry.name), found[entry.name])
            if wrong and not arguments.update:
                failed.append(entry.name)
                print(f"DIFFERS {entry.name}: {'; '.join(wrong)}", flush=True)
    if arguments.update:
        write_table(table | found)
    print(f"{len(found)} visited, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.zoo", description=__doc__)
    parser.add_argument("names", nargs="*", help="only modules whose name holds this")
    parser.add_argument("--update", action="store_true", help="write the table")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    return parser.parse_args()


def _visit(
    entry: Entry,
    store: StoreSession,
    found: dict[str, Found],
    skipped: list[str],
    *,
    debug: bool,
) -> str:
    """Visits one module; returns what went wrong, empty when nothing did."""
    try:
        root = entry.source.fetch(cache_folder())
    except UnavailableError as error:
        skipped.append(entry.name)
        print(f"SKIPPED {error}", flush=True)
        return ""
    start = time.perf_counter()
    try:
        found[entry.name] = visit(entry, root, store)
    except InspectorError as error:
        if debug:
            traceback.print_exc()
            print(error.info().traceback, file=sys.stderr)
        return error.info().text()
    seconds = time.perf_counter() - start
    one = found[entry.name]
    print(
        f"ok      {entry.name}: {one.leaves} leaves, {one.parameters:,} parameters, "
        f"{len(one.outputs)} outputs, {seconds:.1f} s",
        flush=True,
    )
    return ""


if __name__ == "__main__":
    sys.exit(main())
