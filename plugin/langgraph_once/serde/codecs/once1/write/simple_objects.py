"""Simple objects and their kinds: what is written as `MODEL`, `MODELS`, `HEAD` and `TREE`.

Simple are pydantic models, dataclasses and attrs instances that hold nothing but the values of
their fields: no extra values, no private attributes, no cached properties, no slots. Besides its
values, such an object has a kind: its class and, for a model, the names of the fields set. A
thread of a thousand messages has a handful of kinds.

`HEAD`, the first item of a thread: the kinds of its messages, and a number for each message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import BaseMessage
from ormsgpack import Ext as Extension
from pydantic import BaseModel

from langgraph_once.serde.codecs.once1.format.layout import (
    ATOMS,
    MARK,
    MAX_KINDS_BYTES,
    Ext,
    array,
    pack,
)
from langgraph_once.serde.codecs.once1.registry.class_names import name_of
from langgraph_once.serde.codecs.once1.types.base.attributes import plain_names
from langgraph_once.serde.codecs.once1.types.models.pydantic_models import ModelFamily, model_plan
from langgraph_once.serde.codecs.once1.types.models.python_objects import RecordFamily

if TYPE_CHECKING:
    from collections.abc import Collection

    from langgraph_once.serde.codecs.once1.registry.registry import Writer

__all__ = [
    "AS_IT_IS",
    "MANY_PARTS",
    "GiveUpError",
    "Heads",
    "Kind",
    "MessageShape",
    "NumberedKinds",
    "Shape",
    "check_repeats",
    "shape_of",
]

_OWN_LEVELS: Final = 16
_MAX_KINDS: Final = 256
"""Bounds the memory of a process that sets ever new combinations of fields."""

_MESSAGES: Final = "langchain_core.messages."
_UNLIKE: Final = ATOMS - {bytes}
"""Of which each value has bytes of its own."""


MANY_PARTS: Final = 4096
"""With fewer parts, it takes no time to write shared ones each time that they are met."""

_MOST_REPEATS: Final = 8


class GiveUpError(Exception):
    """The value is not of the simple kind."""


def check_repeats(ids: list[int]) -> None:
    """Refuse a value whose shared parts hold shared parts: as a tree, 60 levels never end.

    Args:
        ids: Of the parts that were met so far, each as often as it was met.

    Raises:
        GiveUpError: Most are repeated. The general way writes each part once.
    """
    if len(ids) >= MANY_PARTS and len({*ids}) * _MOST_REPEATS < len(ids):
        raise GiveUpError


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """What instances of one class that set the same fields have in common."""

    fields_set: frozenset[str]
    packed: bytes
    """One of the kinds that a `bin` of them holds."""
    alone: bytes
    """The content of that `bin` where it is the only one."""
    parts: tuple[Any, ...]
    """What `packed` is made of."""


class Shape:
    """The kinds of one class."""

    def kind_of(self, obj: Any) -> Kind | None:
        """Return the kind of an instance; None if it is not simple."""
        raise NotImplementedError

    def common_kind(self, objects: list[Any], values: list[dict[str, Any]]) -> Kind | None:
        """Return the kind of all of the instances; None if they are not all of one, and simple.

        Args:
            objects: The instances.
            values: The values of their fields.
        """
        raise NotImplementedError


class RecordShape(Shape):
    """The kind of a dataclass or an attrs class, which has exactly one."""

    def __init__(self, cls: type, names: list[str]) -> None:
        self.names = names
        self.kind = _kind(frozenset(), name_of(cls))

    def kind_of(self, obj: Any) -> Kind | None:
        return self.kind if [*obj.__dict__] == self.names else None

    def common_kind(self, objects: list[Any], values: list[dict[str, Any]]) -> Kind | None:
        return self.kind if [*map(list, values)].count(self.names) == len(objects) else None


class ModelShape(Shape):
    """Those of a pydantic model."""

    def __init__(self, cls: type[BaseModel]) -> None:
        plan = model_plan(cls)
        self.cls = cls
        self.size = len(plan.fields)
        self.extra: dict[str, Any] | None = {} if plan.extra else None
        """What its instances have where they have no extra values."""
        self.by_size: dict[int, Kind] = {}
        """The kind that was met last among those that set so many fields."""
        self.kinds: dict[frozenset[str], Kind | None] = {}

    def kind_of(self, obj: Any) -> Kind | None:
        fields_set = obj.__pydantic_fields_set__
        kind = self.by_size.get(len(fields_set))
        if kind is None or kind.fields_set != fields_set:
            kind = self._find(fields_set)
        if obj.__pydantic_extra__ != self.extra or len(obj.__dict__) != self.size:
            return None
        return kind

    def common_kind(self, objects: list[Any], values: list[dict[str, Any]]) -> Kind | None:
        kind = self.kind_of(objects[0])
        extras = [each.__pydantic_extra__ for each in objects]
        fields_sets = [each.__pydantic_fields_set__ for each in objects]
        all_alike = (
            kind is not None
            and fields_sets.count(kind.fields_set) == len(objects)
            and extras.count(self.extra) == len(objects)
            and {*map(len, values)} == {self.size}
        )
        return kind if all_alike else None

    def _find(self, fields_set: Any) -> Kind | None:
        key = frozenset(fields_set)
        try:
            kind = self.kinds[key]
        except KeyError:
            if len(self.kinds) >= _MAX_KINDS:
                self.kinds.clear()
            kind = self.kinds[key] = self._made(key)
        if kind is not None:
            self.by_size[len(key)] = kind
        return kind

    def _made(self, fields_set: frozenset[str]) -> Kind | None:
        known = model_plan(self.cls).fields.keys()
        if not fields_set <= known:
            return None
        names = None if fields_set == known else [name for name in known if name in fields_set]
        return _kind(fields_set, name_of(self.cls), names, self.extra is not None)


def _kind(fields_set: frozenset[str], *parts: Any) -> Kind:
    packed = pack([*parts])
    return Kind(fields_set, packed, array([packed]), parts)


class MessageShape(ModelShape):
    """Those of a LangChain message, whose parts are its own where they are plain.

    LangChain copies the dictionaries and lists that it makes a message of. So two messages that
    hold the same one, which only `model_copy` and assignment can do, get one each. Fields and
    keys that LangChain declares as text or numbers are taken to be such.
    """

    def __init__(self, cls: type[BaseModel]) -> None:
        super().__init__(cls)
        self.has_calls = "tool_calls" in cls.model_fields
        self.has_artifact = "artifact" in cls.model_fields

    def own_kind_of(self, obj: Any) -> Kind | None:
        """Return the kind of a simple instance; None if it is not, or holds more than plain data.

        `kind_of` and more, in one call: threads are most of what is written.
        """
        fields_set = obj.__pydantic_fields_set__
        kind = self.by_size.get(len(fields_set))
        if kind is None or kind.fields_set != fields_set:
            kind = self._find(fields_set)
        values = obj.__dict__
        if obj.__pydantic_extra__ != self.extra or len(values) != self.size:
            return None
        return kind if self.holds_plain(values) else None

    def holds_plain(self, values: dict[str, Any]) -> bool:
        """Whether these are values of an instance that holds nothing but plain data."""
        content, given = values["content"], values["additional_kwargs"]
        answered = values["response_metadata"]
        if (
            (type(content) is not str and not _is_plain(content, _OWN_LEVELS))
            or (given and not _is_plain(given.values(), _OWN_LEVELS))
            or (answered and not _is_plain(answered.values(), _OWN_LEVELS))
        ):
            return False
        if self.has_calls:
            for call in values["tool_calls"]:
                if not _is_plain(call["args"].values(), _OWN_LEVELS):
                    return False
        return not (self.has_artifact and values["artifact"] is not None)


def _is_plain(values: Collection[Any], levels: int) -> bool:
    """Whether msgpack writes `values` rightly, and they are at most so many levels deep.

    No others may have the same bytes: a `bytearray` is written as `bytes` are, by msgpack.
    """
    if _UNLIKE.issuperset(map(type, values)):
        return True
    for value in values:
        kind = type(value)
        if kind in _UNLIKE:
            continue
        if kind is dict:
            inside: Collection[Any] = value.values()
        elif kind is list:
            inside = value
        else:
            return False
        if not levels or not _is_plain(inside, levels - 1):
            return False
    return True


def shape_of(cls: type, writer: Writer | None) -> Shape | None:
    """Return the shape of a class that is written so; None if its instances are not simple."""
    if writer is None or writer.code is not Ext.FAMILY or writer.reported:
        return None
    if type(writer.family) is RecordFamily:
        names = plain_names(cls)
        return None if names is None else RecordShape(cls, names)
    if type(writer.family) is not ModelFamily:
        return None
    plan = model_plan(cls)
    if plan.root or plan.private or plan.transient:
        return None
    is_message = issubclass(cls, BaseMessage) and cls.__module__.startswith(_MESSAGES)
    return MessageShape(cls) if is_message else ModelShape(cls)


AS_IT_IS: Final = 0
"""In place of the number of a kind: the item is no message, and stands for itself."""

_MOST_NUMBERS: Final = 255
"""Of messages there are a handful."""

_MAX_HEADS: Final = 1024
_MAX_HEAD_MESSAGES: Final = 128
"""What is remembered takes a megabyte at most."""

_HEAD: Final = int(Ext.HEAD)


class NumberedKinds:
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
            if number > _MOST_NUMBERS:
                raise GiveUpError
            self.kinds[number] = kind
            # Last: whoever finds it finds the kind, too.
            return self._numbers.setdefault(kind, number)


class Heads(dict[bytes, Extension]):
    """The `HEAD` of a thread, by the numbers of the kinds of its messages."""

    def __init__(self, kinds: dict[int, Kind]) -> None:
        super().__init__()
        self._kinds = kinds

    def __missing__(self, numbers: bytes) -> Extension:
        kinds = self._kinds
        head = _made(numbers, lambda number: kinds[number].packed)
        if len(numbers) <= _MAX_HEAD_MESSAGES:
            if len(self) >= _MAX_HEADS:
                self.clear()
            self[numbers] = head
        return head

    def with_forms(self, numbers: list[int], forms: dict[int, bytes]) -> Extension:
        """Return one that is not remembered, with these kinds in place of those of a number."""
        kinds = self._kinds
        return _made(bytes(numbers), lambda number: forms.get(number) or kinds[number].packed)


def _made(numbers: bytes, packed_kind: Callable[[int], bytes]) -> Extension:
    order = bytes(number for number in dict.fromkeys(numbers) if number != AS_IT_IS)
    kinds = array([*map(packed_kind, order)])
    if len(kinds) > MAX_KINDS_BYTES:
        raise GiveUpError
    places = bytes.maketrans(order, bytes(range(1, len(order) + 1)))
    return Extension(_HEAD, array([pack(kinds), pack(numbers.translate(places)), pack(MARK)]))
