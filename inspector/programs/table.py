"""The programs of this process by signature; the least recently used go first.

Knows no module and no message; model process, on the thread that runs the person's
code.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from inspector.programs.signature import Signature

Entry = TypeVar("Entry")


class ProgramTable(Generic[Entry]):
    """A bounded table from signatures to what was made for them."""

    def __init__(self, most: int) -> None:
        """Makes an empty table.

        Args:
            most: Entries that are kept.
        """
        self._most = most
        self._entries: OrderedDict[Signature, Entry] = OrderedDict()

    def __len__(self) -> int:
        """Returns the number of entries."""
        return len(self._entries)

    def find(self, signature: Signature) -> Entry | None:
        """Returns the entry of a signature, which then is the last to go."""
        found = self._entries.get(signature)
        if found is not None:
            self._entries.move_to_end(signature)
        return found

    def put(self, signature: Signature, entry: Entry) -> None:
        """Adds an entry; the oldest goes when there are too many."""
        self._entries[signature] = entry
        self._entries.move_to_end(signature)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forgets every entry."""
        self._entries.clear()
