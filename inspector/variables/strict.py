"""Strict reading of JSON objects, with the place of each fault in words.

Used by the JSON forms of values, edits and recipes, in the store process. It
knows nothing of what it reads: meaning belongs to the forms themselves. Every
key is asked for once, wrong types and unknown keys are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.errors import RecipeError
from inspector.variables.path import Key, TreePath

DAMAGED_HINT = "The file was damaged or written by hand; open an older copy of it."
"""What a person can do about JSON that is not what this program writes."""


def fault(where: str, expected: str, found: object) -> RecipeError:
    """Returns the error for a value that is not what stands there.

    Args:
        where: Place in the file, e.g. ``"edits[3].pairs[0].rule"``.
        expected: What should stand there, e.g. ``"a list of keys"``.
        found: What stands there; shown shortened.
    """
    shown = repr(found)
    if len(shown) > 60:  # noqa: PLR2004 - one line of an error message
        shown = shown[:57] + "…"
    return RecipeError(
        f"expected {expected}, found {shown}", where=where, hint=DAMAGED_HINT
    )


class JsonObject:
    """One JSON object that is read key by key.

    Attributes:
        where: Place of the object in the file, for messages.
    """

    __slots__ = ("_data", "_left", "where")

    def __init__(self, data: object, where: str) -> None:
        """Takes parsed JSON.

        Raises:
            RecipeError: ``data`` is no object.
        """
        if not isinstance(data, dict):
            raise fault(where, "an object", data)
        self.where = where
        self._data: dict[str, object] = data
        self._left = set(data)

    def has(self, key: str) -> bool:
        """Returns whether the key is there and not null."""
        return self._data.get(key) is not None

    def raw(self, key: str) -> object:
        """Returns what stands under a key, of any type.

        Raises:
            RecipeError: The key is absent.
        """
        if key not in self._data:
            message = f"“{key}” is missing"
            raise RecipeError(message, where=self.where, hint=DAMAGED_HINT)
        self._left.discard(key)
        return self._data[key]

    def at(self, key: str) -> str:
        """Returns the place of a key in the file."""
        return f"{self.where}.{key}" if self.where else key

    def text(self, key: str) -> str:
        """Returns the string under a key."""
        value = self.raw(key)
        if not isinstance(value, str):
            raise fault(self.at(key), "a text", value)
        return value

    def integer(self, key: str) -> int:
        """Returns the integer under a key; true and false are none."""
        return as_integer(self.raw(key), self.at(key))

    def items(self, key: str) -> Iterator[tuple[object, str]]:
        """Yields (item, place) of the list under a key."""
        value = self.raw(key)
        if not isinstance(value, list):
            raise fault(self.at(key), "a list", value)
        place = self.at(key)
        for index, item in enumerate(value):
            yield item, f"{place}[{index}]"

    def objects(self, key: str) -> Iterator[JsonObject]:
        """Yields the objects of the list under a key."""
        for item, place in self.items(key):
            yield JsonObject(item, place)

    def object(self, key: str) -> JsonObject:
        """Returns the object under a key."""
        return JsonObject(self.raw(key), self.at(key))

    def path(self, key: str) -> TreePath:
        """Returns the key path under a key; strings and integers told apart."""
        return as_path(self.raw(key), self.at(key))

    def extents(self, key: str) -> tuple[int, ...]:
        """Returns the list of integers from 0 under a key, e.g. a shape."""
        numbers = tuple(as_integer(item, at) for item, at in self.items(key))
        if any(number < 0 for number in numbers):
            raise fault(self.at(key), "integers from 0", list(numbers))
        return numbers

    def texts(self, key: str) -> tuple[str, ...]:
        """Returns the list of strings under a key."""
        found: list[str] = []
        for item, place in self.items(key):
            if not isinstance(item, str):
                raise fault(place, "a text", item)
            found.append(item)
        return tuple(found)

    def done(self) -> None:
        """Ends the reading.

        Raises:
            RecipeError: There are keys that nobody asked for.
        """
        if self._left:
            names = ", ".join(sorted(f"“{key}”" for key in self._left))
            message = f"unknown {names}"
            raise RecipeError(
                message,
                where=self.where,
                hint="It was written by another program or a newer version of this "
                "one; opening it without that part would change what it makes.",
            )


def as_integer(value: object, where: str) -> int:
    """Returns an integer, refusing booleans and everything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise fault(where, "an integer", value)
    return value


def as_path(value: object, where: str) -> TreePath:
    """Returns a key path from a list of strings and integers."""
    if not isinstance(value, list):
        raise fault(where, "a list of keys", value)
    keys: list[Key] = []
    for key in value:
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise fault(where, "keys that are texts or integers", key)
        keys.append(key)
    return tuple(keys)
