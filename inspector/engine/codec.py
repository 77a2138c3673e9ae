"""The bytes of a message: msgpack, in which a dataclass names itself by a number.

Both ends of every pipe call `encode` and `decode`, from any thread. An object is
written as an array whose first element is an extension type with the number of its
class; text or bytes out of a hostile file are never an extension type, so nothing in
a file can pass for a message. Pipes and their framing do not belong here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import struct
import threading
import typing
from collections.abc import Callable, Iterator
from enum import StrEnum
from operator import attrgetter
from typing import Any

import msgpack

from inspector.errors import EngineError
from inspector.variables.value import Cast, Patched, Value

_GROUPS: tuple[tuple[str, str], ...] = (
    # Envelopes first: their numbers stay when a later version adds messages, so
    # that even a pipe to another version can read its Hello.
    ("inspector.engine.messages.envelope", "CLASSES"),
    ("inspector.variables.value", "FORMS"),
    ("inspector.variables.leaf", "Leaf"),
    ("inspector.variables.plain", "PlainTree"),
    ("inspector.engine.messages.reading", "CLASSES"),
    ("inspector.engine.messages.module", "CLASSES"),
    ("inspector.engine.messages.document", "CLASSES"),
    ("inspector.engine.messages.viewing", "CLASSES"),
    ("inspector.engine.messages.calling", "CLASSES"),
    ("inspector.engine.messages.running", "CLASSES"),
    ("inspector.engine.messages.inspecting", "CLASSES"),
)
"""Module and name of every class that may cross a pipe, or of a tuple of them.

The place of a module and that of a class in it are the number of the class. Modules
are imported with the first of their messages: to make all of these classes takes
longer than a window needs to its first picture.
"""

_CLASS = 1
_BIG_INTEGER = 2
_COMPLEX = 3
_CHAIN = 4

_LARGE = 1 << 20

_NUMBER = struct.Struct("BB")
_PAIR = struct.Struct("<dd")

# Keys of files need not be valid UTF-8 (they arrive with surrogates), and JSON can
# hold lone surrogates. This is the only handler under which each of them survives.
_TEXT_ERRORS = "surrogatepass"


class _Builder:
    """Makes one class out of the fields that were read, and takes it apart."""

    __slots__ = ("cls", "enums", "fields", "mark", "names", "number", "size")

    def __init__(self, cls: type, number: tuple[int, int]) -> None:
        self.cls = cls
        self.number = number
        self.names = [field.name for field in dataclasses.fields(cls)]
        self.size = len(self.names) + 1
        self.mark = msgpack.ExtType(_CLASS, _NUMBER.pack(*number))
        self.fields = _getter(self.names)
        # Reading the hints of a hundred classes takes longer than most processes
        # need before their first message, so it is done for those that arrive.
        self.enums: list[tuple[int, type[StrEnum]]] | None = None

    def build(self, fields: tuple[object, ...]) -> object:
        """Makes the object; ``fields`` still begins with this builder."""
        if len(fields) != self.size:
            raise EngineError(
                message=f"A message {self.cls.__name__} has {len(fields) - 1} fields,"
                f" expected {self.size - 1}."
            )
        if self.enums is None:
            self.enums = self._find_enums()
        if not self.enums:
            return self.cls(*fields[1:])
        arguments: list[Any] = list(fields[1:])
        for index, enum in self.enums:
            arguments[index] = enum(arguments[index])
        return self.cls(*arguments)

    def _find_enums(self) -> list[tuple[int, type[StrEnum]]]:
        hints = typing.get_type_hints(self.cls)
        return [
            (index, enum)
            for index, name in enumerate(self.names)
            if (enum := _enum_of(hints[name])) is not None
        ]


def _getter(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    if not names:
        return lambda _: ()
    if len(names) == 1:
        get = attrgetter(names[0])
        return lambda item: (get(item),)
    return attrgetter(*names)


def _enum_of(hint: object) -> type[StrEnum] | None:
    """Returns the enum of a field; one deeper inside a type comes back as text."""
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint
    return None


_BUILDERS: dict[tuple[int, int], _Builder] = {}
_BY_CLASS: dict[type, _Builder] = {}
_LOADED: set[int] = set()
_LOADING = threading.Lock()
_GROUP_OF = {module: group for group, (module, _) in enumerate(_GROUPS)}


def _load(group: int) -> None:
    """Imports a module of messages and makes the builders of its classes."""
    with _LOADING:
        if group in _LOADED:
            return
        module, name = _GROUPS[group]
        found = getattr(importlib.import_module(module), name)
        classes: tuple[type, ...] = found if isinstance(found, tuple) else (found,)
        for place, cls in enumerate(classes):
            builder = _Builder(cls, (group, place))
            _BUILDERS[group, place] = builder
            _BY_CLASS[cls] = builder
        _LOADED.add(group)


def _builder_of(cls: type) -> _Builder | None:
    """Returns the builder of a class; None when it is no message."""
    builder = _BY_CLASS.get(cls)
    if builder is None and (group := _GROUP_OF.get(cls.__module__)) is not None:
        _load(group)
        builder = _BY_CLASS.get(cls)
    return builder


def _builder_numbered(group: int, place: int) -> _Builder:
    """Returns a builder whose module may not have been imported yet.

    Raises:
        EngineError: This version knows no such class.
    """
    if group < len(_GROUPS):
        _load(group)
    builder = _BUILDERS.get((group, place))
    if builder is None:
        raise EngineError(
            message=f"A message is of the unknown class {group}.{place};"
            f" this version knows {len(_GROUPS)} groups of them.",
            hint="Use the same version of the program on both machines.",
        )
    return builder


def message_classes() -> tuple[type, ...]:
    """Returns every class that may cross a pipe; imports all of them."""
    for group in range(len(_GROUPS)):
        _load(group)
    return tuple(_BY_CLASS)


_CHAIN_MARK = msgpack.ExtType(_CHAIN, b"")


class _Chain:
    """Stands at the head of a value that casts and patches another."""


_CHAIN_HEAD = _Chain()


def encode(message: object) -> bytes:
    """Returns the bytes of a message.

    Args:
        message: A dataclass of `message_classes`, or plain data: None, bool, int of
            any size, float, complex, str, bytes, and tuples of these. An enum's
            member is written as its text.

    Raises:
        EngineError: It holds something else, or more than msgpack can say.
    """
    try:
        data: bytes = msgpack.packb(
            message, default=_reduce, unicode_errors=_TEXT_ERRORS
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise EngineError(message=f"A message cannot be written: {error}.") from error
    return data


def _reduce(item: object) -> object:
    """Takes apart what msgpack does not know by itself."""
    cls = type(item)
    builder = _builder_of(cls)
    if builder is not None:
        if isinstance(item, Cast | Patched):
            return _chain(item)
        return (builder.mark, *builder.fields(item))
    if isinstance(item, int):
        length = item.bit_length() // 8 + 1
        return msgpack.ExtType(
            _BIG_INTEGER, item.to_bytes(length, "little", signed=True)
        )
    if isinstance(item, complex):
        return msgpack.ExtType(_COMPLEX, _PAIR.pack(item.real, item.imag))
    raise EngineError(
        message=f"{cls.__module__}.{cls.__qualname__} is no message and no plain data."
    )


def _chain(item: Cast | Patched) -> tuple[object, ...]:
    """Writes casts and patches of one value flat, the innermost first.

    A person may type a thousand numbers into one array. Nested as deep as that, it
    would be more than readers of msgpack accept.
    """
    layers: list[object] = []
    inner: Value = item
    while isinstance(inner, Cast | Patched):
        builder = _builder_of(type(inner))
        assert builder is not None  # both are among the forms of a value
        layers += (builder.fields(inner)[1:], builder.number)
        inner = inner.of
    layers.reverse()
    return (_CHAIN_MARK, inner, *layers)


def decode(data: bytes | bytearray | memoryview) -> object:
    """Returns the message of these bytes; every sequence comes back as a tuple.

    Raises:
        EngineError: The bytes are cut short or no message of this version.
    """
    try:
        with _collector_paused(len(data)):
            return msgpack.unpackb(
                data,
                use_list=False,
                ext_hook=_extension,
                list_hook=_build,
                object_hook=_refuse_map,
                unicode_errors=_TEXT_ERRORS,
            )
    except EngineError:
        raise
    except Exception as error:
        # msgpack's own errors have no common base below Exception, and a class of
        # another version may refuse its fields in any way.
        raise EngineError(message=f"A message cannot be read: {error!r}.") from error


@contextlib.contextmanager
def _collector_paused(size: int) -> Iterator[None]:
    """Keeps the cyclic collector away while a large message is built.

    A tree of 100,000 leaves is a million objects and no cycle; looking for cycles
    among them again and again takes a third of the time.
    """
    pause = size > _LARGE and gc.isenabled()
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()


def _extension(code: int, data: bytes) -> object:
    if code == _CLASS:
        number = _NUMBER.unpack(data)
        builder = _BUILDERS.get(number)
        return _builder_numbered(*number) if builder is None else builder
    if code == _BIG_INTEGER:
        return int.from_bytes(data, "little", signed=True)
    if code == _COMPLEX:
        return complex(*_PAIR.unpack(data))
    if code == _CHAIN:
        return _CHAIN_HEAD
    raise EngineError(message=f"A message holds the unknown extension type {code}.")


def _build(items: tuple[Any, ...]) -> object:
    """Turns an array that begins with the mark of a class into its object."""
    if items:
        head = type(items[0])
        if head is _Builder:
            return items[0].build(items)
        if head is _Chain:
            return _link(items)
    return items


def _link(items: tuple[Any, ...]) -> object:
    """Rebuilds what `_chain` wrote."""
    result = items[1]
    for number, rest in zip(items[2::2], items[3::2], strict=True):
        result = _BUILDERS[number].build((None, result, *rest))
    return result


def _refuse_map(items: object) -> object:
    raise EngineError(message=f"A message holds a map, not tuples: {items!r:.100}.")
