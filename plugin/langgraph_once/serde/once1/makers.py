"""Codec `once1`, reading `MODEL` and `MODELS`: objects made of kinds and values.

No code of their classes runs. Where a class is no longer what it was, this leaves it to the
families.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import BaseModel

from langgraph_once.serde.once1.adapters.models import ModelFamily, model_plan
from langgraph_once.serde.once1.adapters.records import RecordFamily
from langgraph_once.serde.once1.adapters.state import plain_names
from langgraph_once.serde.once1.wire import MARK, MAX_KINDS_BYTES, Ext, unpack

if TYPE_CHECKING:
    from langgraph_once.serde.once1.loader import Loader

__all__ = ["MODEL_CODES", "KindParts", "kind_parts", "makers_of", "rebuild_models"]

MODEL_CODES: Final = frozenset({int(Ext.MODEL), int(Ext.MODELS)})
"""Ordinary integers: members of `Ext` take their time to look up and to compare."""

# `BaseModel` keeps its state in slots; their descriptors skip the checks of its `__setattr__`.
_new: Final = object.__new__
_set_values: Final = vars(BaseModel)["__dict__"].__set__
_set_fields_set: Final = vars(BaseModel)["__pydantic_fields_set__"].__set__
_set_extra: Final = vars(BaseModel)["__pydantic_extra__"].__set__
_set_private: Final = vars(BaseModel)["__pydantic_private__"].__set__


class KindParts(NamedTuple):
    """A kind as it was stored."""

    class_name: str
    is_model: bool
    fields_set: list[str] | None = None
    has_extra: bool = False


def kind_parts(kinds: Any) -> list[KindParts]:
    """Return what each of the kinds says that were stored.

    Raises:
        ValueError: That is not what was stored.
    """
    if type(kinds) is not bytes or len(kinds) > MAX_KINDS_BYTES:
        raise ValueError("no kinds where some belong")
    parts = []
    for kind in unpack(kinds, 1)[0]:
        match kind:
            case [str(name)]:
                parts.append(KindParts(name, is_model=False))
            case [str(name), (None | list()) as names, bool(extra)]:
                if names is not None and not all(type(field) is str for field in names):
                    raise ValueError("a field that has no name")
                parts.append(KindParts(name, True, names, extra))
            case _:
                raise ValueError("no kind where one belongs")
    return parts


class NotSimpleError(Exception):
    """It takes the family to make these objects."""


class Maker:
    """Makes objects of one kind, without running any code of their class."""

    __slots__ = ("cls", "keys", "names")

    def __init__(self, cls: type, names: Iterable[str]) -> None:
        self.cls = cls
        self.names = [*names]
        self.keys = dict.fromkeys(self.names).keys()

    def check(self, values: Any) -> None:
        """Refuse values that are not of the very fields that the class has today."""
        if type(values) is not dict or ([*values] != self.names and values.keys() != self.keys):
            raise NotSimpleError

    def make(self, values: Any) -> Any:
        """Return the object around `values`, which it keeps.

        Raises:
            NotSimpleError: They do not fit the class.
        """
        self.check(values)
        made: Any = _new(self.cls)
        object.__setattr__(made, "__dict__", values)
        return made


class ModelMaker(Maker):
    """Makes models. Validation ran when they were made first."""

    __slots__ = ("fields_set", "has_extra")

    def __init__(self, cls: type[BaseModel], fields_set: set[str], has_extra: bool) -> None:
        super().__init__(cls, model_plan(cls).fields)
        self.fields_set = fields_set
        self.has_extra = has_extra

    def make(self, values: Any) -> Any:
        if type(values) is not dict or ([*values] != self.names and values.keys() != self.keys):
            raise NotSimpleError
        made: Any = _new(self.cls)
        _set_values(made, values)
        _set_fields_set(made, self.fields_set.copy())
        _set_extra(made, {} if self.has_extra else None)
        _set_private(made, None)
        return made


def makers_of(kinds: Any, loader: Loader, *, tag: str) -> tuple[list[Any], bool]:
    """Return what makes items of some kinds, zero included, and whether all are on the allowlist.

    Raises:
        NotSimpleError: A class has changed since.
        TypeNotAllowedError: A class may not be loaded.
        PayloadError: A class is gone, or is no model.
        ValueError: These are not kinds.
    """
    makers: list[Any] = [_same]
    listed = True
    for parts in kind_parts(kinds):
        family_name = ModelFamily.name if parts.is_model else RecordFamily.name
        family, cls, version = loader.family(family_name, parts.class_name, tag=tag)
        if version:
            raise NotSimpleError
        makers.append(_maker(family, cls, parts).make)
        listed = listed and loader.is_known(family_name, parts.class_name)
    return makers, listed


def _maker(family: Any, cls: type, parts: KindParts) -> Maker:
    if type(family) is RecordFamily and (names := plain_names(cls)):
        return Maker(cls, names)
    if type(family) is not ModelFamily:
        raise NotSimpleError
    plan = model_plan(cls)
    if plan.root or plan.private or (parts.has_extra and not plan.extra):
        raise NotSimpleError
    fields_set = set(plan.fields if parts.fields_set is None else parts.fields_set)
    return ModelMaker(cls, fields_set, parts.has_extra)


def rebuild_models(array: Any, loader: Loader, *, linked: bool, tag: str) -> Any:
    """Return what `MODEL` or `MODELS` stands for.

    Args:
        array: The content.
        loader: What it may name.
        linked: Whether something else may hold the maps in it, so that they must be copied.
        tag: The tag of the blob, for errors.

    Raises:
        ValueError: The content is damaged; else as `makers_of`.
    """
    if array[-1] != MARK:
        raise ValueError("models without a mark at the end")
    make = loader.makers(array[0], tag=tag)
    if len(array) == 3:
        return make[1](_own(array[1]) if linked else array[1])
    _, indices, items, _ = array
    if type(indices) is not bytes or type(items) is not list:
        raise ValueError("models without indices or items")
    if linked:
        items = [_own(item) if index else item for index, item in zip(indices, items, strict=True)]
    return [make[index](item) for index, item in zip(indices, items, strict=True)]


def _own(values: Any) -> Any:
    return values.copy() if type(values) is dict else values


def _same(value: Any) -> Any:
    return value
