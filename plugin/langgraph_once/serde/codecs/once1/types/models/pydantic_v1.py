"""Models of `pydantic.v1`: their parts, without validation. `pydantic.v1` is never imported here:
where such a model exists, it has been."""

from __future__ import annotations

from typing import Any

from langgraph_once.serde.codecs.once1.types.base.attributes import FilledFamily, slots_of
from langgraph_once.serde.codecs.once1.types.base.checks import parts
from langgraph_once.serde.trust.lookup import declared, imported

__all__ = ["V1ModelFamily"]

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
