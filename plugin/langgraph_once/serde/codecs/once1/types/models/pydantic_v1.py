"""Models of `pydantic.v1`, and the error that pydantic raises when it refuses a value.

A model is its parts, without validation. `pydantic.v1` is never imported here: where such a model
exists, it has been.

A `pydantic.ValidationError` is what was wrong, where, and with which input. It is written only
where the error that is made of this says the same. Nodes fail with it often, and LangGraph stores
what a node failed with.
"""

from __future__ import annotations

from typing import Any, Final, get_args

from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError
from pydantic_core.core_schema import ErrorType

from langgraph_once.serde.codecs.once1.types.base.attributes import FilledFamily, slots_of
from langgraph_once.serde.codecs.once1.types.base.protocol import (
    Adapter,
    UnwritableError,
    parts,
    plain,
)
from langgraph_once.serde.codecs.once1.types.python.exceptions import fill_links, take_links
from langgraph_once.serde.trust.lookup import declared, imported

__all__ = ["ADAPTERS", "V1ModelFamily"]

_FIELDS_SET = "__fields_set__"


class V1ModelFamily(FilledFamily):
    """Subclasses of `pydantic.v1.BaseModel`: values, fields set, private attributes."""

    name = "v1model"

    def matches(self, cls: type) -> bool:
        module = imported("pydantic.v1.main")
        return module is not None and module.BaseModel in cls.__mro__

    def encode(self, obj: Any) -> tuple[Any, ...]:
        cls = type(obj)
        values = dict(obj.__dict__)
        fields_set = object.__getattribute__(obj, _FIELDS_SET)
        private = {}
        for name, slot in slots_of(cls).items():
            if name != _FIELDS_SET and hasattr(obj, name):
                private[name] = slot.__get__(obj)
        _check(cls, values, fields_set, private)
        return values, fields_set, private

    def fill(self, obj: Any, data: Any) -> None:
        cls = type(obj)
        values, fields_set, private = parts(data, dict, set, dict)
        _check(cls, values, fields_set, private)
        slots = slots_of(cls)
        object.__setattr__(obj, "__dict__", dict(values))
        slots[_FIELDS_SET].__set__(obj, fields_set)  # past a descriptor of that name
        for name, value in private.items():
            slots[name].__set__(obj, value)

    def fields_of(self, data: Any) -> dict[str, Any]:
        values, _, private = parts(data, dict, set, dict)
        return {**values, **private}

    def with_fields(self, cls: type, data: Any, fields: dict[str, Any]) -> Any:
        values, fields_set, _ = data
        slots = slots_of(cls).keys() - {_FIELDS_SET}
        given = {name: fields[name] for name in fields if name not in slots}
        return (
            given,
            {name for name in given if name in fields_set or name not in values},
            {name: fields[name] for name in fields if name in slots},
        )


def _check(cls: Any, values: dict[Any, Any], fields_set: set[Any], private: Any) -> None:
    if not all(type(name) is str for name in [*values, *fields_set]):
        raise ValueError("expected values by the name of their field")
    extra = values.keys() - declared(cls, "__fields__").keys()
    if extra and declared(declared(cls, "__config__"), "extra") != "allow":
        raise ValueError(f"{min(extra)!r} is not a field; did the class change?")
    if not private.keys() <= slots_of(cls).keys() - {_FIELDS_SET}:
        raise ValueError("expected private attributes by name")


_KNOWN_TYPES: Final = frozenset(get_args(ErrorType))


def _encode(error: ValidationError) -> tuple[Any, ...]:
    found = [
        (line["type"], line["loc"], line["msg"], line["input"], line.get("ctx"))
        for line in error.errors(include_url=False)
    ]
    data = error.title, found, error.args, _notes(error), take_links(error)
    made = _decode(data)
    if str(made) != str(error) or repr(made.errors()) != repr(error.errors()):
        raise UnwritableError("an error that cannot be made again from what it says")
    return data


def _decode(data: Any) -> ValidationError:
    title, found, args, notes, links = parts(data, str, list, tuple, list, tuple)
    made = ValidationError.from_exception_data(title, [_line(line) for line in found])
    made.args = args
    for note in notes:
        made.add_note(plain(note, str))
    fill_links(made, links)
    return made


def _line(line: Any) -> InitErrorDetails:
    kind, place, message, value, context = parts(line, str, tuple, str, object, object)
    if not all(type(step) in (str, int) for step in place):
        raise ValueError("not a place in a value")
    if context is not None:
        plain(context, dict)
    if kind in _KNOWN_TYPES:
        made = InitErrorDetails(type=kind, loc=place, input=value)
        if context is not None:
            made["ctx"] = context
        return made
    return InitErrorDetails(
        type=PydanticCustomError(kind, message, context),
        loc=place,
        input=value,
    )


def _notes(error: ValidationError) -> list[str]:
    return [*getattr(error, "__notes__", ())]


ADAPTERS: Final = (
    Adapter(name="validationerror", types=(ValidationError,), encode=_encode, decode=_decode),
)
