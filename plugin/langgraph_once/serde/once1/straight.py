"""Codec `once1`, writing the most common values at once: threads, and dictionaries of them.

A thread is a list of LangChain messages that hold nothing but plain data. It takes neither a
walk nor a hook to write one, and says what a `Packer` would. All else is left to the `Packer`:
any other object, what occurs twice, keys that are not text, and kinds that were not met before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ormsgpack import Ext as Extension
from ormsgpack import packb

from langgraph_once.serde.once1.kinds import MessageShape
from langgraph_once.serde.once1.plans import GiveUpError
from langgraph_once.serde.once1.wire import ATOMS, MARK, OPTIONS, Ext

if TYPE_CHECKING:
    from langgraph_once.serde.once1.kinds import Kind, Shape
    from langgraph_once.serde.once1.packer import Known

__all__ = ["Straight"]

_MODELS: Final = int(Ext.MODELS)
_HELD: Final = ATOMS | {list}
_NONE: Final = "additional_kwargs"
"""Looked at in any case."""


class Straight:
    """Writes threads. Thread-safe."""

    __slots__ = ("_classes", "_kinds")

    def __init__(self, known: Known) -> None:
        self._classes = _Classes(known.shapes)
        self._kinds = known.kinds

    def encode(self, value: list[Any] | dict[Any, Any]) -> bytes:
        """Return the bytes of `value`.

        Raises:
            Exception: Of any kind, where it takes a `Packer` to write it.
        """
        if isinstance(value, list):
            return packb(self._thread(value), None, OPTIONS)
        if not _HELD.issuperset(map(type, value.values())):
            raise GiveUpError  # before a thread beside it is written in vain
        written: dict[str, Any] = {}
        messages: list[Any] = []
        for key, item in value.items():
            if type(item) is list:
                written[key] = self._thread(item)
                messages += item
            else:
                written[key] = item
        if len(value) > 1:
            _check_differ(messages)
        return packb(written, None, OPTIONS)

    def _thread(self, items: list[Any]) -> Extension:
        """Return the `MODELS` for a thread."""
        classes = self._classes
        extra: dict[str, Any] = {}
        places: dict[Kind, int] = {}
        indices: list[int] = []
        contents: list[dict[str, Any]] = []
        for item in items:
            shape, by_size, size, own = classes[type(item)]
            fields_set = item.__pydantic_fields_set__
            kind = by_size[len(fields_set)]
            values = item.__dict__
            if kind.fields_set != fields_set or (
                (
                    len(values) != size
                    or item.__pydantic_extra__ != extra
                    or type(values["content"]) is not str
                    or values["additional_kwargs"]
                    or values["response_metadata"]
                    or (values[own] and not (shape.has_calls and _are_flat(values[own])))
                )
                and shape.own_kind_of(item) is None
            ):
                raise GiveUpError
            contents.append(values)
            if kind not in places:
                places[kind] = len(places) + 1
            indices.append(places[kind])
        if len(items) != 1:
            _check_differ(items)
        kinds = kind.alone if len(places) == 1 else self._kinds[(*places,)]
        packed = packb([kinds, bytes(indices), contents, MARK], None, OPTIONS)
        return Extension(_MODELS, packed)


class _Classes(dict[type, tuple[MessageShape, dict[int, Any], int, str]]):
    """Of each class of messages: its shape, parts of it, and the field that may hold objects."""

    def __init__(self, shapes: dict[type, Shape | None]) -> None:
        super().__init__()
        self._shapes = shapes

    def __missing__(self, cls: type) -> tuple[MessageShape, dict[int, Any], int, str]:
        shape = self._shapes[cls]
        if type(shape) is not MessageShape or shape.extra != {}:
            raise GiveUpError
        own = "tool_calls" if shape.has_calls else "artifact" if shape.has_artifact else _NONE
        return self.setdefault(cls, (shape, shape.by_size, shape.size, own))


def _are_flat(calls: list[Any]) -> bool:
    """Whether no argument of these calls holds any other value."""
    for call in calls:
        for argument in call["args"].values():
            if type(argument) not in ATOMS:
                return False
    return True


def _check_differ(messages: list[Any]) -> None:
    """Refuse what holds one of them twice, or none."""
    if not messages or len({*map(id, messages)}) != len(messages):
        raise GiveUpError
