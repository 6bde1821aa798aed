"""Writing the most common values: threads of LangChain messages, and plain data around them.

A thread is a list of messages that hold nothing but plain data. Its messages are written as the
maps of their values, behind a `HEAD`, in one call of ormsgpack: no walk, no hook. Anything else
is left to `one_pass`: other objects and containers, and parts that occur twice.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from ormsgpack import Ext as Extension
from ormsgpack import packb

from langgraph_once.serde.codecs.once1.format.layout import (
    ATOMS,
    MARK,
    MAX_KINDS_BYTES,
    OPTIONS,
    Ext,
    array,
    pack,
)
from langgraph_once.serde.codecs.once1.write.simple_objects import (
    MANY_PARTS,
    GiveUpError,
    MessageShape,
    check_repeats,
)

if TYPE_CHECKING:
    from langgraph_once.serde.codecs.once1.write.simple_objects import Kind, Shape

__all__ = ["ThreadWriter"]

_HELD: Final = ATOMS | {list, dict}
_MAX_LEVELS: Final = 16
_NONE: Final = "additional_kwargs"
"""Looked at in any case."""

_MAX_KINDS: Final = 255
"""Of messages there are a handful."""

_MAX_HEADS: Final = 1024
_MAX_HEAD_MESSAGES: Final = 128
"""What is remembered takes a megabyte at most."""

_MODEL: Final = int(Ext.MODEL)
_HEAD: Final = int(Ext.HEAD)
_NEVER_MET: Final = (None, 0)


class ThreadWriter:
    """Writes threads. Thread-safe."""

    __slots__ = ("_classes", "_heads", "_numbered", "by_type")

    def __init__(self, shapes: dict[type, Shape | None]) -> None:
        self._classes = _Classes(shapes)
        self._numbered = _Numbered()
        self._heads = _Heads(self._numbered.kinds)
        self.by_type = _ByType(self, shapes)
        """What writes values of a type. It raises an exception of any kind where it does not."""

    def encode_list(self, items: list[Any]) -> bytes:
        """Return the bytes of a thread, or a list of scalars.

        Raises:
            Exception: Of any kind, where it takes a `OnePassWriter` to write it.
        """
        return packb(self._list(items), None, OPTIONS)

    def encode_dict(self, value: dict[Any, Any]) -> bytes:
        """Return the bytes of a dictionary of threads, scalars, lists of these, and such.

        Raises:
            Exception: Of any kind, where it takes a `OnePassWriter` to write it.
        """
        held: list[Any] = []
        written = self._map(value, held)
        if len(held) > 1:
            _check_differ(held)
        return packb(written, None, OPTIONS)

    def encode_message(self, message: Any) -> bytes:
        """Return the bytes of a message.

        Raises:
            Exception: Of any kind, where it takes a `OnePassWriter` to write it.
        """
        *_, shape = self._classes[type(message)]
        kind = shape.own_kind_of(message)
        if kind is None:
            raise GiveUpError
        packed = packb([kind.alone, message.__dict__, MARK], None, OPTIONS)
        return packb(Extension(_MODEL, packed), None, OPTIONS)

    def _map(self, value: dict[Any, Any], held: list[Any], level: int = 0) -> dict[Any, Any]:
        """Return what msgpack writes in the place of a dictionary; note what is in it."""
        if len(value) > 1 and not _HELD.issuperset(map(type, value.values())):
            raise GiveUpError  # before a thread beside it is looked at in vain
        written = value
        for key, item in value.items():
            kind = type(item)
            if kind in ATOMS:
                continue
            held.append(item)
            if (count := len(held)) >= MANY_PARTS and not count & (count - 1):
                check_repeats([*map(id, held)])
            if kind is list:
                made: Any = self._list(item)
            elif kind is dict and level < _MAX_LEVELS:
                made = self._map(item, held, level + 1)
            else:
                raise GiveUpError
            if made is not item:
                if written is value:
                    written = value.copy()
                written[key] = made
        return written

    def _list(self, items: list[Any]) -> list[Any]:
        """Return what msgpack writes in the place of a list."""
        if items and type(items[0]) not in ATOMS:
            return self._thread(items)
        if not ATOMS.issuperset(map(type, items)):
            raise GiveUpError
        return items

    def _thread(self, items: list[Any]) -> list[Any]:  # noqa: C901  (each call takes its time)
        """Return what msgpack writes in the place of a thread."""
        classes = self._classes
        numbers: list[int] = []
        written: list[Any] = [None]
        for item in items:
            sizes, size, own, shape = classes[type(item)]
            values = item.__dict__
            extra = item.__pydantic_extra__
            fields_set = item.__pydantic_fields_set__
            fields, number = sizes[len(fields_set)]
            if fields != fields_set or extra or extra is None or len(values) != size:
                number = self._number_of(item, shape, sizes)
            elif (
                type(values["content"]) is not str
                or values["additional_kwargs"]
                or values["response_metadata"]
            ):
                if not shape.holds_plain(values):
                    raise GiveUpError
            elif calls := values[own]:
                if not shape.has_calls:
                    raise GiveUpError
                for call in calls:
                    for argument in call["args"].values():
                        if type(argument) not in ATOMS and not shape.holds_plain(values):
                            raise GiveUpError
            numbers.append(number)
            written.append(values)
        if len({*map(id, items)}) != len(items):
            raise GiveUpError
        written[0] = self._heads[bytes(numbers)]
        return written

    def _number_of(self, item: Any, shape: MessageShape, sizes: list[Any]) -> int:
        """Look at a message that is not as the last one was; return the number of its kind."""
        kind = shape.own_kind_of(item)
        if kind is None:
            raise GiveUpError
        number = self._numbered.number(kind)
        sizes[len(kind.fields_set)] = kind.fields_set, number
        return number


class _ByType(dict[type, Callable[[Any], bytes]]):
    def __init__(self, threads: ThreadWriter, shapes: dict[type, Shape | None]) -> None:
        super().__init__()
        self._encode_message = threads.encode_message
        self._shapes = shapes
        self[dict] = threads.encode_dict
        self[list] = threads.encode_list
        self |= dict.fromkeys((str, bool, int, float), pack)

    def __missing__(self, cls: type) -> Callable[[Any], bytes]:
        if type(self._shapes[cls]) is not MessageShape:
            raise GiveUpError
        return self.setdefault(cls, self._encode_message)


class _Classes(dict[type, tuple[Any, int, str, MessageShape]]):
    """Of each class of messages: what was met, parts of its shape, the shape.

    What was met last among those that set so many fields: which, and the number of the kind. Of
    the parts, the one that may hold objects.
    """

    def __init__(self, shapes: dict[type, Shape | None]) -> None:
        super().__init__()
        self._shapes = shapes

    def __missing__(self, cls: type) -> tuple[Any, int, str, MessageShape]:
        shape = self._shapes[cls]
        if type(shape) is not MessageShape or shape.extra != {}:
            raise GiveUpError
        own = "tool_calls" if shape.has_calls else "artifact" if shape.has_artifact else _NONE
        return self.setdefault(cls, ([_NEVER_MET] * (shape.size + 1), shape.size, own, shape))


class _Numbered:
    """The kinds that were met, each under a number, so that bytes can list them."""

    def __init__(self) -> None:
        self.kinds: dict[int, Kind] = {}
        self._numbers: dict[Kind, int] = {}
        self._lock = Lock()

    def number(self, kind: Kind) -> int:
        """Return the number of a kind."""
        found = self._numbers.get(kind)
        return self._new_number(kind) if found is None else found

    def _new_number(self, kind: Kind) -> int:
        with self._lock:
            number = len(self.kinds) + 1
            if number > _MAX_KINDS:
                raise GiveUpError
            self.kinds[number] = kind
            # Last: whoever finds it finds the kind, too.
            return self._numbers.setdefault(kind, number)


class _Heads(dict[bytes, Extension]):
    """The `HEAD` of a thread, by the numbers of the kinds of its messages."""

    def __init__(self, kinds: dict[int, Kind]) -> None:
        super().__init__()
        self._kinds = kinds

    def __missing__(self, numbers: bytes) -> Extension:
        order = bytes(dict.fromkeys(numbers))
        kinds = array([self._kinds[number].packed for number in order])
        if len(kinds) > MAX_KINDS_BYTES:
            raise GiveUpError
        places = bytes.maketrans(order, bytes(range(1, len(order) + 1)))
        head = _head(kinds, numbers.translate(places))
        if len(numbers) <= _MAX_HEAD_MESSAGES:
            if len(self) >= _MAX_HEADS:
                self.clear()
            self[numbers] = head
        return head


def _head(kinds: bytes, indices: bytes) -> Extension:
    return Extension(_HEAD, array([pack(kinds), pack(indices), pack(MARK)]))


def _check_differ(held: list[Any]) -> None:
    """Refuse lists and dictionaries of which one, or a message in one, occurs twice."""
    ids = [*map(id, held)]
    threads = [item for item in held if type(item) is list and item and type(item[0]) not in ATOMS]
    if len(threads) > 1:
        ids += [id(message) for thread in threads for message in thread]
    if len({*ids}) != len(ids):
        raise GiveUpError
