"""Writing the most common values: threads of LangChain messages, and plain data around them.

A thread is a list of messages. Its messages are written as the maps of their values, behind a
`HEAD`, in one call of ormsgpack: no walk, no hook. A part of a message or of the data around it
that is not plain (a document, a tuple, a date) is written by a `OnePassWriter`, in its place: it
costs what it weighs. If a part occurs twice, the value is written once more, and only that part
becomes an entry of a table.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress
from typing import TYPE_CHECKING, Any, Final

from ormsgpack import Ext as Extension
from ormsgpack import Fragment, packb

from langgraph_once.serde.codecs.once1.format.layout import (
    ATOMS,
    MARK,
    OPTIONS,
    Ext,
    pack,
)
from langgraph_once.serde.codecs.once1.write.nested_objects import NestedForm
from langgraph_once.serde.codecs.once1.write.odd_parts import NotPlain, OddParts
from langgraph_once.serde.codecs.once1.write.one_pass import VALUES, Known, repeated
from langgraph_once.serde.codecs.once1.write.plain_data import plain_bytes
from langgraph_once.serde.codecs.once1.write.simple_objects import (
    AS_IT_IS,
    GiveUpError,
    Heads,
    MessageShape,
    NumberedKinds,
)
from langgraph_once.serde.codecs.once1.write.written_threads import LEAST, WrittenThreads

if TYPE_CHECKING:
    from langgraph_once.serde.codecs.once1.write.simple_objects import Kind, Shape

__all__ = ["QuickEncode", "ThreadWriter"]


QuickEncode = Callable[[Any], bytes | NotPlain]
"""Returns the bytes of a value; raises an exception of any kind where it does not write it."""

_TEXT: Final = frozenset({str})
_MAX_LEVELS: Final = 16
_NONE: Final = "additional_kwargs"
"""Looked at in any case."""

_MIN_ODD: Final = 2
"""To find forms takes longer than to write what one message holds in its place."""

_Thread = tuple[list[Any], list[int], list[int]]
"""The messages of a thread: the maps of their values, behind a place for the `HEAD`, and what is no
message as it is; the numbers of the kinds; where among those maps something may not be plain."""

_MODEL: Final = int(Ext.MODEL)
_NEVER_MET: Final = (None, 0)


class ThreadWriter:
    """Writes threads. Thread-safe."""

    __slots__ = (
        "_classes",
        "_heads",
        "_heads_of_one",
        "_known",
        "_numbered",
        "_written",
        "by_type",
    )

    def __init__(self, known: Known) -> None:
        self._known = known
        self._classes = _Classes(known.shapes)
        self._numbered = NumberedKinds()
        self._heads = Heads(self._numbered.kinds)
        self._heads_of_one: dict[Kind, Extension] = {}
        self._written = WrittenThreads(self._numbered.kinds)
        self.by_type: dict[type, QuickEncode] = {
            **dict.fromkeys((str, bool, int, float), _packed_scalar),
            dict: self.encode_dict,
            list: self.encode_list,
        }
        """What writes values of a type. Those of messages come when one is met first."""

    def encode_list(self, items: list[Any]) -> bytes | NotPlain:
        """Return the bytes of a list, as `QuickEncode`."""
        if not items or self._classes[type(items[0])] is None:
            return plain_bytes(items) or self._packed(lambda parts: self._list(items, parts, 0))
        if len(items) == 1 and (written := self._alone(items[0])) is not None:
            return packb(written, None, OPTIONS)
        if len(items) >= LEAST and (grown := self._encode_grown(items)) is not None:
            return grown
        thread = written, numbers, odd = self._maps(items)
        if odd or len({*map(id, items)}) != len(items):
            return self._packed(lambda parts: self._thread(items, thread, parts, 0))
        written[0] = self._heads[bytes(numbers)]
        data = packb(written, None, OPTIONS)
        if len(items) >= LEAST:
            self._written.keep(None, items, numbers, data)
        return data

    def _encode_grown(self, items: list[Any]) -> bytes | None:
        """Return the bytes of a thread that goes on from one before; None if it does not."""
        before = self._written.take(items)
        if before is None:
            return None
        count = len(before.ids)
        written, numbers, odd = self._maps(items[count:])
        if odd:
            return None
        head = self._heads[before.numbers + bytes(numbers)]
        try:
            data = packb([head, *map(VALUES, items[:count]), *written[1:]], None, OPTIONS)
        except TypeError:  # a part is not plain any more
            return None
        if not before.begins(data):
            return None
        self._written.keep(before, items, numbers, data)
        return data

    def encode_dict(self, value: dict[Any, Any]) -> bytes | NotPlain:
        """Return the bytes of a dictionary, as `QuickEncode`."""
        inside = None
        for item in value.values():
            if type(item) in ATOMS:
                continue
            if inside is not None:
                return plain_bytes(value) or self._packed(lambda parts: self._map(value, parts, 0))
            inside = item
        # The metadata of a checkpoint have one empty dictionary, an update of messages has a list.
        kind = type(inside)
        if inside is None or ((kind is dict or kind is list) and not inside):
            return packb(value, None, OPTIONS)
        if kind is list and self._classes[type(inside[0])] is not None:
            return self._encode_with_thread(value, inside)
        return plain_bytes(value) or self._packed(lambda parts: self._map(value, parts, 0))

    def _encode_with_thread(self, value: dict[Any, Any], items: list[Any]) -> bytes | NotPlain:
        """Return the bytes of a dictionary in which a thread is all that holds something."""
        if len(items) == 1 and (alone := self._alone(items[0])) is not None:
            return packb(_with(value, items, alone), None, OPTIONS)
        thread = written, numbers, odd = self._maps(items)
        if odd or len({*map(id, items)}) != len(items):
            return self._packed(
                lambda parts: _with(value, items, self._thread(items, thread, parts, 1))
            )
        written[0] = self._heads[bytes(numbers)]
        return packb(_with(value, items, written), None, OPTIONS)

    def _packed(self, write: Callable[[OddParts], Any]) -> bytes | NotPlain:
        """Return the bytes of a value, as `QuickEncode`.

        Args:
            write: Returns what msgpack writes in the place of the value.
        """
        parts = OddParts(self._known)
        data = parts.packed(write(parts))
        if data is None:
            # The first stay alive: what was made on the way keeps the ids that were counted.
            again = OddParts(self._known, repeated(parts.ids))
            again.threads = parts.threads
            data = again.packed(write(again))
        if data is None:
            raise GiveUpError
        return data

    def _alone(self, message: Any) -> list[Any] | None:
        """Return what msgpack writes in the place of a thread of one plain message."""
        found = self._classes[type(message)]
        if found is None or (kind := found[-1].own_kind_of(message)) is None:
            return None
        try:
            head = self._heads_of_one[kind]
        except KeyError:
            head = self._heads[bytes([self._numbered.number(kind)])]
            self._heads_of_one[kind] = head
        return [head, message.__dict__]

    def take(self, cls: type) -> None:
        """Note a class, in `by_type`, if it is one of messages."""
        if type(self._known.shapes[cls]) is MessageShape:
            self.by_type[cls] = self.encode_message

    def encode_message(self, message: Any) -> bytes | NotPlain:
        """Return the bytes of a message, as `QuickEncode`."""
        shape = self._known.shapes[type(message)]
        if type(shape) is not MessageShape or (kind := shape.own_kind_of(message)) is None:
            raise GiveUpError
        packed = packb([kind.alone, message.__dict__, MARK], None, OPTIONS)
        return packb(Extension(_MODEL, packed), None, OPTIONS)

    def _map(self, value: dict[Any, Any], parts: OddParts, level: int) -> dict[Any, Any]:
        """Return what msgpack writes in the place of a dictionary, whose keys are text."""
        ids, counts, written = parts.ids, parts.counts, value
        ids.append(id(value))
        parts.look()
        for key, item in value.items():
            kind = type(item)
            if kind in ATOMS:
                continue
            if counts and id(item) in counts:
                made: Any = parts.made(item, level + 1)
            elif kind is list:
                made = self._list(item, parts, level + 1)
            elif kind is dict and level < _MAX_LEVELS and _TEXT.issuperset(map(type, item)):
                if ATOMS.issuperset(map(type, item.values())):
                    ids.append(id(item))
                    continue
                made = self._plain(item) or self._map(item, parts, level + 1)
            else:
                made = parts.made(item, level + 1)
            if made is not item:
                if written is value:
                    written = value.copy()
                written[key] = made
        return written

    def _list(self, items: list[Any], parts: OddParts, level: int) -> Any:
        """Return what msgpack writes in the place of a list."""
        parts.ids.append(id(items))
        if items and self._classes[type(items[0])] is not None:
            thread = parts.threads.get(id(items)) if parts.counts else None
            if thread is None:
                thread = parts.threads[id(items)] = self._maps(items)
            return self._thread(items, thread, parts, level)
        if ATOMS.issuperset(map(type, items)):
            return items
        parts.ids.pop()
        return self._plain(items) or parts.made(items, level)

    def _plain(self, value: Any) -> Fragment | None:
        """Return what msgpack writes in the place of plain data; None if it is not plain."""
        data = plain_bytes(value)
        return None if data is None else Fragment(data)

    def _maps(self, items: list[Any]) -> _Thread:
        """Look at the messages of a thread."""
        classes = self._classes
        numbers: list[int] = []
        written: list[Any] = [None]
        odd: list[int] = []
        for item in items:
            number = AS_IT_IS
            if (found := classes[type(item)]) is not None:
                sizes, size, own, shape = found
                values = item.__dict__
                extra = item.__pydantic_extra__
                fields_set = item.__pydantic_fields_set__
                fields, number = sizes[len(fields_set)]
                if fields != fields_set or extra or extra is None or len(values) != size:
                    number = self._number_of(item, shape, sizes)
            numbers.append(number)
            if not number:
                written.append(item)
                odd.append(len(numbers))
                continue
            written.append(values)
            if (
                type(values["content"]) is str
                and not values["additional_kwargs"]
                and not values["response_metadata"]
                and not values[own]
            ):
                continue
            if not shape.holds_plain(values):
                odd.append(len(numbers))
        return written, numbers, odd

    def _thread(self, items: list[Any], thread: _Thread, parts: OddParts, level: int) -> list[Any]:
        """Return what msgpack writes in the place of a thread."""
        written, numbers, odd = [*thread[0]], [*thread[1]], thread[2]
        # What stands as it is is noted where it is written.
        messages = items if all(numbers) else compress(items, numbers)
        parts.ids += map(id, messages)
        if parts.counts:
            found = [at for at, each in enumerate(map(id, items), 1) if each in parts.counts]
            for at in found:
                numbers[at - 1], written[at] = AS_IT_IS, items[at - 1]
            odd = sorted({*odd, *found})
        forms = self._forms((written, numbers, odd), parts, level)
        for at in odd:
            if not numbers[at - 1]:
                written[at] = parts.made(written[at], level + 1)
            elif forms is None:
                written[at] = parts.made_fields(written[at], level + 2)
        heads = self._heads
        written[0] = heads.with_forms(numbers, forms) if forms else heads[bytes(numbers)]
        return written

    def _forms(self, thread: _Thread, parts: OddParts, level: int) -> dict[int, bytes] | None:
        """Return the kinds with forms, where all objects in messages can be written as maps.

        None where each is an extension in its place.
        """
        written, numbers, odd = thread
        if len(odd) < _MIN_ODD:
            return None
        kinds = dict.fromkeys(number for at in odd if (number := numbers[at - 1]))
        nested, forms = NestedForm(self._known.shapes), {}
        try:
            for number in kinds:
                of_it = [each for at, each in enumerate(written[1:]) if numbers[at] == number]
                form = nested.of_kind(self._numbered.kinds[number], of_it, level + 2)
                if form[-1]:
                    forms[number] = pack(form)
        except GiveUpError:
            return None
        if not kinds or nested.indices or not parts.counts.keys().isdisjoint(nested.ids):
            return None
        parts.nested.append(nested)
        return forms

    def _number_of(self, item: Any, shape: MessageShape, sizes: list[Any]) -> int:
        """Look at a message that is not as the last one was; return the number of its kind."""
        kind = shape.kind_of(item)
        if kind is None:
            return AS_IT_IS
        number = self._numbered.number(kind)
        sizes[len(kind.fields_set)] = kind.fields_set, number
        return number


def _with(value: dict[Any, Any], items: list[Any], written: list[Any]) -> dict[Any, Any]:
    """Return a dictionary with what msgpack writes in the place of a list in it."""
    return {key: written if item is items else item for key, item in value.items()}


def _packed_scalar(value: Any) -> bytes:
    return packb(value, None, OPTIONS)


class _Classes(dict[type, "tuple[Any, int, str, MessageShape] | None"]):
    """Of each class of messages: what was met, parts of its shape, the shape. None for others.

    What was met last among those that set so many fields: which, and the number of the kind. Of
    the parts, the one that may hold objects.
    """

    def __init__(self, shapes: dict[type, Shape | None]) -> None:
        super().__init__()
        self._shapes = shapes

    def __missing__(self, cls: type) -> tuple[Any, int, str, MessageShape] | None:
        shape = self._shapes[cls]
        if type(shape) is not MessageShape or shape.extra != {}:
            return None
        own = "tool_calls" if shape.has_calls else "artifact" if shape.has_artifact else _NONE
        return self.setdefault(cls, ([_NEVER_MET] * (shape.size + 1), shape.size, own, shape))
