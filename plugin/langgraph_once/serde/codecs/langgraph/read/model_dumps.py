"""The dump of a pydantic model, taken back to what was dumped, by the schema of each field.

No validator runs, and no other code of the class. A dump is of a valid model: a value of the very
type that its field declares is that value. A model inside was dumped as a dictionary, an enum
member as its value; the schema says which. Where the schema leaves a choice, or says more than
this file knows, nothing is guessed.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from pydantic import BaseModel, RootModel

from langgraph_once.serde.codecs.once1.types.models.pydantic_models import ModelFamily
from langgraph_once.serde.codecs.once1.types.models.python_objects import RecordFamily
from langgraph_once.serde.trust.class_code import hash_hook, hook_of
from langgraph_once.serde.trust.lookup import declared

__all__ = ["Called", "DumpTypeError", "Dumps", "is_builtin"]

Schema = dict[str, Any]
Called = Callable[[type], Callable[[Any], Any] | None]

_EXACT: Final[dict[str, type]] = {
    "none": type(None),
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "bytes": bytes,
    "date": datetime.date,
    "time": datetime.time,
    "datetime": datetime.datetime,
    "timedelta": datetime.timedelta,
    "decimal": Decimal,
    "uuid": uuid.UUID,
}
_WRAPPERS: Final = frozenset({"default", "function-before", "function-after", "function-wrap"})
_SERIALIZERS: Final = frozenset({"function-plain", "function-wrap", "format", "to-string"})
_FOR_JSON: Final = frozenset({"json", "json-unless-none"})
_ATOMS: Final = frozenset({type(None), bool, int, float, str, bytes})
_MODELS: Final = ModelFamily(code_free=True)
_RECORDS: Final = RecordFamily(code_free=True)
_MAX_LEVELS: Final = 200
_OWN_INITS: Final = (vars(BaseModel)["__init__"], vars(RootModel)["__init__"])
_OWN_POST_INIT: Final = vars(BaseModel)["model_post_init"]
_OF_PYDANTIC: Final = "pydantic._internal._model_construction"


class DumpTypeError(Exception):
    """Rebuilding the dump would run code of a class that is not allowed; the message names it."""


class Dumps:
    """The dumps of one class."""

    def __init__(self, schema: Any, called: Called) -> None:
        """Take the class's core schema.

        Args:
            schema: The schema.
            called: Returns what calls a class that is nested in it, as upstream does, if its code
                may run.

        Raises:
            DumpTypeError: The schema is not built yet.
        """
        if type(schema) is not dict:
            raise DumpTypeError("a schema that is not built yet")
        self._schema: Schema = schema
        self._called = called
        self._definitions: dict[str, Schema] = {}

    def value(self, dump: Any) -> Any:
        """Return what was dumped.

        Raises:
            DumpTypeError: That takes code of a class.
        """
        return self._value(self._schema, dump, 0)

    def _value(self, schema: Schema, dump: Any, level: int) -> Any:
        kind = schema["type"]
        if level > _MAX_LEVELS:
            raise DumpTypeError("a dump that is nested too deeply")
        _check_dump(schema)
        if kind == "any":
            return dump
        if kind in _EXACT:
            if type(dump) is not _EXACT[kind]:
                raise DumpTypeError(f"validation of a field of type {kind}")
            return dump
        convert = _KINDS.get(kind)
        if convert is None:
            raise DumpTypeError(f"validation of a field of type {kind}")
        return getattr(self, convert)(schema, dump, level + 1)

    def _inner(self, schema: Schema, dump: Any, level: int) -> Any:
        return self._value(schema["schema"], dump, level)

    def _defined(self, schema: Schema, dump: Any, level: int) -> Any:
        self._definitions.update({each["ref"]: each for each in schema["definitions"]})
        return self._value(schema["schema"], dump, level)

    def _reference(self, schema: Schema, dump: Any, level: int) -> Any:
        return self._value(self._definitions[schema["schema_ref"]], dump, level)

    def _nullable(self, schema: Schema, dump: Any, level: int) -> Any:
        return None if dump is None else self._value(schema["schema"], dump, level)

    def _literal(self, schema: Schema, dump: Any, _level: int) -> Any:
        for expected in schema["expected"]:
            value = expected._value_ if isinstance(expected, Enum) else expected
            if _is_same(dump, expected) or _is_same(dump, value):
                return expected
        raise DumpTypeError("validation of a literal")

    def _member(self, schema: Schema, dump: Any, _level: int) -> Any:
        for member in schema["members"]:
            if _is_same(dump, member) or _is_same(dump, member._value_):
                return member
        raise DumpTypeError("validation of an enum")

    def _list(self, schema: Schema, dump: Any, level: int) -> Any:
        return self._items(schema, _exactly(dump, list), level)

    def _set(self, schema: Schema, dump: Any, level: int) -> Any:
        kind: Any = set if schema["type"] == "set" else frozenset
        items = [*_exactly(dump, kind)]
        if not all(type(item) in _ATOMS for item in items):
            raise DumpTypeError("the hash of what is in a set")
        return kind(map(_hashed, self._items(schema, items, level)))

    def _tuple(self, schema: Schema, dump: Any, level: int) -> Any:
        items, schemas = _exactly(dump, list), schema["items_schema"]
        if len(schemas) == 1 and schema.get("variadic_item_index") == 0:
            schemas = schemas * len(items)
        if len(schemas) != len(items):
            raise DumpTypeError("validation of a tuple")
        return tuple(
            self._value(each, item, level) for each, item in zip(schemas, items, strict=True)
        )

    def _items(self, schema: Schema, items: Iterable[Any], level: int) -> list[Any]:
        inner = schema.get("items_schema")
        return [*items] if inner is None else [self._value(inner, item, level) for item in items]

    def _dict(self, schema: Schema, dump: Any, level: int) -> Any:
        keys, values = schema.get("keys_schema"), schema.get("values_schema")
        made = {}
        for key, value in _exactly(dump, dict).items():
            if type(key) not in _ATOMS:
                raise DumpTypeError("the hash of a key")
            own = key if keys is None else _hashed(self._value(keys, key, level))
            made[own] = value if values is None else self._value(values, value, level)
        return made

    def _union(self, schema: Schema, dump: Any, level: int) -> Any:
        """Return what the only choice makes of it, or one that leaves it as it is."""
        found = []
        for choice in schema["choices"]:
            try:
                made = self._value(choice[0] if isinstance(choice, tuple) else choice, dump, level)
            except DumpTypeError:
                continue
            if made is dump:
                return made
            found.append(made)
        if len(found) != 1:
            raise DumpTypeError("validation of a union")
        return found[0]

    def _tagged(self, schema: Schema, dump: Any, level: int) -> Any:
        discriminator = schema["discriminator"]
        tag = dump.get(discriminator) if type(dump) is dict and type(discriminator) is str else None
        choice = schema["choices"].get(tag) if type(tag) in (str, int) else None
        if type(choice) is not dict:
            raise DumpTypeError("validation of a union")
        return self._value(choice, dump, level)

    def _typed_dict(self, schema: Schema, dump: Any, level: int) -> Any:
        fields = schema["fields"]
        if not _exactly(dump, dict).keys() <= fields.keys():
            raise DumpTypeError("validation of a typed dictionary")
        return {name: self._value(fields[name]["schema"], dump[name], level) for name in dump}

    def _object(self, schema: Schema, dump: Any, level: int) -> Any:
        cls = schema["cls"]
        if type(dump) is cls:
            return dump
        by_code = self._called(cls)
        if by_code is not None:
            return by_code(dump)
        _check_making(cls, schema)
        if schema["type"] == "dataclass":
            fields = {field["name"]: field for field in schema["schema"]["fields"]}
            return _RECORDS.decode(cls, self._members(fields, dump, level))
        if schema["root_model"]:
            root = self._value(schema["schema"], dump, level)
            return _MODELS.decode(cls, ({"root": root}, None, None, None))
        fields = self._fields(schema["schema"])
        values = self._members(fields, dump, level)
        extra = None
        if schema.get("config", {}).get("extra_fields_behavior") == "allow":
            extra = {name: value for name, value in dump.items() if name not in fields}
        return _MODELS.decode(cls, (values, {*values, *(extra or ())}, extra, None))

    def _fields(self, schema: Schema) -> dict[str, Schema]:
        """Return the schemas of a model's fields, which validators of the model stand around."""
        while schema["type"] != "model-fields":
            if schema["type"] not in _WRAPPERS:
                raise DumpTypeError(f"validation by {schema['type']}")
            _check_dump(schema)
            schema = schema["schema"]
        found: dict[str, Schema] = schema["fields"]
        return found

    def _members(self, fields: dict[str, Schema], dump: Any, level: int) -> dict[str, Any]:
        # What is no field is computed from those, or ignored: upstream drops it too.
        return {
            name: self._value(field["schema"], dump[name], level)
            for name, field in fields.items()
            if name in _exactly(dump, dict)
        }


def _check_dump(schema: Schema) -> None:
    """Refuse what a serializer wrote: it may be anything, and only a validator takes it back."""
    how = schema.get("serialization", {})
    if how.get("type") in _SERIALIZERS and how.get("when_used") not in _FOR_JSON:
        raise DumpTypeError("a serializer")


def _check_making(cls: type, schema: Schema) -> None:
    hook = hook_of(cls)
    if hook is None and schema.get("custom_init"):
        hook = "__init__"
    post_init = declared(cls, "model_post_init")
    if hook is None and BaseModel in cls.__mro__:
        init = declared(cls, "__init__")
        if all(init is not own for own in _OWN_INITS):  # not `in`: that may call its `__eq__`
            hook = "__init__"
        elif post_init is not _OWN_POST_INIT and post_init.__module__ != _OF_PYDANTIC:
            hook = "model_post_init"
    if hook is not None:
        raise DumpTypeError(hook)


def _hashed(value: Any) -> Any:
    if hash_hook(type(value)):
        raise DumpTypeError("__hash__")
    return value


def is_builtin(value: Any) -> bool:
    """Whether a value is made of Python's own types alone, so that comparing it runs nothing."""
    if type(value) in (list, tuple, set, frozenset):
        return all(map(is_builtin, value))
    if type(value) is dict:
        return all(map(is_builtin, [*value, *value.values()]))
    return type(value) in _ATOMS


def _is_same(value: Any, expected: Any) -> bool:
    """Whether these are one object, or equal ones of one of Python's own types."""
    if value is expected:
        return True
    return type(value) is type(expected) and type(value) in _ATOMS and bool(value == expected)


def _exactly(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise DumpTypeError(f"validation of a {kind.__name__}")
    return value


_KINDS: Final[dict[str, str]] = {
    **dict.fromkeys(_WRAPPERS, "_inner"),
    "definitions": "_defined",
    "definition-ref": "_reference",
    "nullable": "_nullable",
    "literal": "_literal",
    "enum": "_member",
    "list": "_list",
    "set": "_set",
    "frozenset": "_set",
    "tuple": "_tuple",
    "dict": "_dict",
    "union": "_union",
    "tagged-union": "_tagged",
    "typed-dict": "_typed_dict",
    "model": "_object",
    "dataclass": "_object",
}
"""What converts values of each kind of schema: the names of methods."""
