"""Reading `MODEL` and `MODELS`: a maker for each kind turns the values of an object into it.

No code of the classes runs. Where a class has changed since, the family of the class does it.

A thread is an array whose first item is a `HEAD`. Its messages are native maps, so a whole thread
is unpacked in one call. The maps become messages when the whole value has been read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from pydantic import BaseModel

from langgraph_once.serde.codecs.once1.format.layout import MARK
from langgraph_once.serde.codecs.once1.format.object_forms import KindParts
from langgraph_once.serde.codecs.once1.read.class_loader import Loader
from langgraph_once.serde.codecs.once1.types.base.attributes import plain_names
from langgraph_once.serde.codecs.once1.types.models.pydantic_models import (
    Blank,
    ModelFamily,
    becomes,
    model_plan,
)
from langgraph_once.serde.codecs.once1.types.models.python_objects import RecordFamily

__all__ = [
    "Head",
    "Maker",
    "NotSimpleError",
    "as_it_is",
    "maker_of",
    "placed",
    "rebuild_linked",
    "rebuild_models",
    "units_of_a_map",
]

Maker = Callable[[Any], Any]
"""Returns the object around the values of its fields, which it keeps; of one kind each.

It raises `NotSimpleError` where they do not fit the class as it is today.
"""

_new: Final = object.__new__


class NotSimpleError(Exception):
    """It takes the family to make these objects."""


def _object_maker(cls: type, names: Iterable[str]) -> Maker:
    """Return what makes objects of `cls`, without running any code of it."""
    keys = dict.fromkeys(names).keys()
    set_attribute = object.__setattr__

    def make(values: Any) -> Any:
        if type(values) is not dict or values.keys() != keys:
            raise NotSimpleError
        made: Any = _new(cls)
        set_attribute(made, "__dict__", values)
        return made

    return make


def _model_maker(cls: type[BaseModel], fields_set: set[str], has_extra: bool) -> Maker:
    """Return what makes models. Validation ran when they were made first."""
    keys = dict.fromkeys(model_plan(cls).fields).keys()
    copy_fields_set = fields_set.copy

    def make(values: Any) -> Any:
        if type(values) is not dict or values.keys() != keys:
            raise NotSimpleError
        made: Any = _new(Blank)
        made.__dict__ = values
        made.__pydantic_fields_set__ = copy_fields_set()
        made.__pydantic_extra__ = {} if has_extra else None
        made.__pydantic_private__ = None
        made.__class__ = cls
        return made

    return make


def maker_of(parts: KindParts, loader: Loader, *, tag: str) -> tuple[Maker, bool]:
    """Return what makes objects of one kind, and whether the allowlist lists its class.

    Raises:
        NotSimpleError: The class has changed since.
        TypeNotAllowedError: The class may not be loaded.
        PayloadError: The class is gone, or is no model.
    """
    family_name = ModelFamily.name if parts.is_model else RecordFamily.name
    family, cls, version = loader.family(family_name, parts.class_name, tag=tag)
    if version:
        raise NotSimpleError
    return _maker(family, cls, parts), loader.is_known(family_name, parts.class_name)


def _maker(family: Any, cls: type, parts: KindParts) -> Maker:
    if type(family) is RecordFamily and (names := plain_names(cls)):
        return _object_maker(cls, names)
    if type(family) is not ModelFamily:
        raise NotSimpleError
    plan = model_plan(cls)
    if plan.root or plan.private or (parts.has_extra and not plan.extra) or not becomes(cls):
        raise NotSimpleError
    fields_set = set(plan.fields if parts.fields_set is None else parts.fields_set)
    return _model_maker(cls, fields_set, parts.has_extra)


def rebuild_models(array: Any, make: list[Maker]) -> Any:
    """Return what `MODEL` or `MODELS` stands for.

    Args:
        array: The content.
        make: The makers of its kinds.

    Raises:
        NotSimpleError: It takes the family to make these objects.
        ValueError: The content is damaged.
    """
    if array[-1] != MARK:
        raise ValueError("models without a mark at the end")
    if len(array) == 3:
        return make[1](array[1])
    _, indices, items, _ = array
    if type(indices) is not bytes or type(items) is not list:
        raise ValueError("models without indices or items")
    if len(indices) != len(items):
        raise ValueError("another number of items than of indices")
    # To ask `zip` for that takes as long as to make two messages.
    return [make[index](item) for index, item in zip(indices, items)]  # noqa: B905  # see above


def rebuild_linked(array: Any, make: list[Maker], take: Callable[[int], None]) -> Any:
    """Do what `rebuild_models` does where something else may hold the maps, which are copied.

    What a copy takes, `take` is told.
    """
    return rebuild_models(array, [make[0], *(_copying(own, take) for own in make[1:])])


def _copying(make: Maker, take: Callable[[int], None]) -> Maker:
    def copy(values: Any) -> Any:
        if type(values) is dict:
            take(units_of_a_map(values))
            values = values.copy()
        return make(values)

    return copy


def units_of_a_map(values: dict[str, Any]) -> int:
    """Return how many units of a `Budget` a copy takes."""
    return 8 + 4 * len(values)


def as_it_is(value: Any) -> Any:
    """Return an item that has no kind."""
    return value


class Head:
    """Constructors for the messages after a `HEAD`."""

    __slots__ = ("_makers",)

    def __init__(self, makers: list[Maker], indices: bytes) -> None:
        self._makers = [*map(makers.__getitem__, indices)]

    def rebuilt(self, items: list[Any]) -> list[Any]:
        """Return what was made of the items.

        Raises:
            NotSimpleError: It takes the family to make these objects.
            ValueError: There are more items, or less.
        """
        if len(items) != len(self._makers):
            raise ValueError("another number of items than of indices")
        # To ask `zip` for that takes as long as to make two messages.
        return [make(values) for make, values in zip(self._makers, items)]  # noqa: B905  # see above


def placed(value: Any, count: int) -> Any:
    """Return a value with its threads rebuilt, of which there are so many.

    Raises:
        ValueError: One stands where none is written; or as from `Head.rebuilt`.
    """
    if type(value) is list and type(value[0]) is Head:
        value, count = value[0].rebuilt(value[1:]), count - 1
    maps = [value] if type(value) is dict else []
    seen = {id(value)}  # maps of a table may stand in each other many times
    for holder in maps:
        for key, item in holder.items():
            if type(item) is list and item and type(item[0]) is Head:
                holder[key] = item[0].rebuilt(item[1:])
                count -= 1
            elif type(item) is dict and id(item) not in seen:
                seen.add(id(item))
                maps.append(item)
    if count:
        raise ValueError("a head where none is written")
    return value
