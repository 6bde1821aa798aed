"""Pydantic models: their parts, without validation.

Validation ran when the model was made. Running it again would drop private attributes, excluded
fields and the fields of subclasses, and let validators that are not idempotent change values. So a
model is made of its parts, and no code of its class runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import BaseModel, RootModel
from pydantic_core import PydanticUndefined

from langgraph_once.serde.codecs.once1.types.base.attributes import (
    FilledFamily,
    check_factories,
    is_plain_subclass,
    slots_of,
)
from langgraph_once.serde.codecs.once1.types.base.protocol import (
    UnreadableError,
    UnwritableError,
    parts,
)
from langgraph_once.serde.trust.lookup import declared

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

__all__ = ["Blank", "ModelFamily", "becomes", "model_plan"]

_ATOMS: Final = frozenset({type(None), bool, int, float, str, bytes})
_ENUM_COPY: Final = (None, vars(Enum).get("__deepcopy__"))


@dataclass(frozen=True, slots=True)
class _Plan:
    """What instances of a model class may hold.

    Attributes:
        fields: Its fields.
        defaulted: Those with a default, which may be missing in older bytes.
        transient: Cached properties, which are computed anew.
        private: Private attributes.
        extra: Whether there may be extra values.
        root: Whether it is a `RootModel`, which keeps neither extra nor private values.
    """

    fields: dict[str, FieldInfo]
    defaulted: frozenset[str]
    transient: frozenset[str]
    private: frozenset[str]
    extra: bool
    root: bool


class ModelFamily(FilledFamily):
    """Subclasses of `pydantic.BaseModel`: values, fields set, extra values, private attributes.

    The fields set are `None` where those are all the fields that have a value.
    """

    name = "model"

    def matches(self, cls: type) -> bool:
        return (
            BaseModel in cls.__mro__  # `issubclass` would ask the metaclasses of others
            and is_plain_subclass(cls, BaseModel)
            and slots_of(cls).keys() == slots_of(BaseModel).keys()
        )

    def encode(self, obj: BaseModel) -> tuple[Any, ...]:
        plan = model_plan(type(obj))
        try:
            fields_set: Any = obj.__pydantic_fields_set__
            extra, private = obj.__pydantic_extra__, obj.__pydantic_private__
        except AttributeError as error:
            raise UnwritableError("a model that was never initialised") from error
        values = dict(obj.__dict__)
        if values.keys() != plan.fields.keys():
            for name in plan.transient:
                values.pop(name, None)
            if missing := plan.defaulted - values.keys():
                raise UnwritableError(
                    f"the field {min(missing)!r} was deleted; its default would return"
                )
        try:
            _check(plan, values, extra, private)
        except ValueError as error:
            raise UnwritableError(str(error)) from None
        return values, None if fields_set == values.keys() else fields_set, extra, private

    def fill(self, obj: Any, data: Any) -> None:
        plan = model_plan(type(obj))
        values, fields_set, extra, private = parts(data, dict, object, object, object)
        _check(plan, values, extra, private)
        values = dict(values)
        fields_set = set(values) if fields_set is None else fields_set
        if type(fields_set) is not set or not all(type(name) is str for name in fields_set):
            raise ValueError("expected the names of the fields set")
        learned = plan.defaulted - values.keys()
        if self._code_free:
            _check_defaults({name: plan.fields[name] for name in learned})
        for name in learned:
            values[name] = plan.fields[name].get_default(call_default_factory=True)
        object.__setattr__(obj, "__dict__", values)
        object.__setattr__(obj, "__pydantic_fields_set__", fields_set)
        if private is None and plan.private:  # its class has learned them since
            if self._code_free:
                _check_defaults(_declared_dict(type(obj), "__private_attributes__"))
            private = _new_private(type(obj))
        if not plan.root:
            object.__setattr__(obj, "__pydantic_extra__", extra)
            object.__setattr__(obj, "__pydantic_private__", private)

    def fields_of(self, data: Any) -> dict[str, Any]:
        values, _, extra, private = parts(data, dict, object, object, object)
        return {**values, **(extra or {}), **(private or {})}

    def with_fields(self, cls: Any, data: Any, fields: dict[str, Any]) -> Any:
        plan = model_plan(cls)
        values, fields_set, extra, _ = data
        private = {name: fields[name] for name in fields if name in plan.private}
        given = {name: fields[name] for name in fields if name not in private}
        added = given.keys() - values.keys() - (extra or {}).keys()
        was_set = values.keys() if fields_set is None else fields_set
        rest = {name: given[name] for name in given if name not in plan.fields}
        if rest and not plan.extra:
            raise UnreadableError(f"it has no field {min(rest)!r:.80}, which its upgrade returned")
        return (
            {name: given[name] for name in plan.fields if name in given},
            {name for name in given if name in added or name in was_set},
            rest if plan.extra else None,
            {**_new_private(cls), **private} if plan.private else None,
        )


def _check_defaults(fields: Mapping[str, Any]) -> None:
    """Refuse fields and private attributes whose default takes code to make, or to copy.

    Raises:
        UnreadableError: It takes code for one of them.
    """
    check_factories(
        {
            name: field.default_factory or (list if _is_builtin(field.default) else deepcopy)
            for name, field in fields.items()
        }
    )


def _is_builtin(value: Any) -> bool:
    """Whether copying `value` runs no code but Python's own."""
    if type(value) in (list, tuple, set, frozenset):
        return all(map(_is_builtin, value))
    if type(value) is dict:
        return all(map(_is_builtin, [*value, *value.values()]))
    is_member = isinstance(value, Enum) and declared(type(value), "__deepcopy__") in _ENUM_COPY
    return type(value) in _ATOMS or is_member or value is PydanticUndefined


def _new_private(cls: type[BaseModel]) -> dict[str, Any]:
    """Return what the private attributes of a new instance are."""
    found = {}
    for name, attribute in _declared_dict(cls, "__private_attributes__").items():
        factory = attribute.default_factory
        if factory is None:
            found[name] = attribute.get_default()
        elif not getattr(attribute, "default_factory_takes_validated_data", False):
            found[name] = cast("Callable[[], Any]", factory)()
    return {name: value for name, value in found.items() if value is not PydanticUndefined}


def _declared_dict(cls: type, name: str) -> dict[str, Any]:
    found = declared(cls, name)
    if type(found) is not dict:
        raise UnreadableError(f"its class has a {name} of its own making")
    return cast("dict[str, Any]", found)


def _find_plan(cls: type[BaseModel]) -> _Plan:
    fields = _declared_dict(cls, "__pydantic_fields__")
    # A factory that takes the other values cannot be called with what the bytes say.
    return _Plan(
        fields=fields,
        defaulted=frozenset(
            name
            for name, field in fields.items()
            if not field.is_required() and not field.default_factory_takes_validated_data
        ),
        transient=frozenset(
            name
            for part in cls.__mro__
            for name, value in vars(part).items()
            if isinstance(value, functools.cached_property)
        ),
        private=frozenset(_declared_dict(cls, "__private_attributes__")),
        extra=declared(cls, "model_config", {}).get("extra") == "allow",
        root=RootModel in cls.__mro__,
    )


def _check(plan: _Plan, values: dict[Any, Any], extra: Any, private: Any) -> None:
    if not values.keys() <= plan.fields.keys():
        raise ValueError("a value for something that is not a field; did the class change?")
    if plan.root and (extra is not None or private is not None):
        raise ValueError("a RootModel with more than its root")
    if extra is not None:
        if type(extra) is not dict or not all(type(name) is str for name in extra):
            raise ValueError("expected extra values by name")
        if not plan.extra or not plan.fields.keys().isdisjoint(extra):
            raise ValueError("extra values for a class without any")
    if private is not None and (type(private) is not dict or not private.keys() <= plan.private):
        raise ValueError("expected private attributes by name")


model_plan: Final[Callable[[type[BaseModel]], _Plan]] = functools.lru_cache(2048)(_find_plan)


class Blank(BaseModel):
    """What becomes a model of another class once its parts are set.

    `BaseModel` keeps its state in slots, and checks what is assigned. Here nothing is checked,
    so that assigning takes a tenth of the time, and less than the descriptors of the slots take.
    """

    __setattr__ = object.__setattr__
    # Python looks for both of them where it looks for one.
    __delattr__ = object.__delattr__


def becomes(cls: type[BaseModel]) -> bool:
    """Whether a `Blank` can become a `cls`: their instances have one layout in memory."""
    made: Any = object.__new__(Blank)
    try:
        made.__class__ = cls
    except TypeError:
        return False
    return True
