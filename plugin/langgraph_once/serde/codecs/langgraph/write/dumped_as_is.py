"""Which pydantic classes dump their fields as they are, told from their core schema.

For such a class, `model_dump()` holds the very values that the instance holds. Only nested models
of such classes become dictionaries. What this file does not know is taken to be different.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PlainFields", "own_bases", "plain_fields"]


class PlainFields(NamedTuple):
    """The fields of a class that dumps them as they are."""

    size: int
    """What lies in the dictionary of an instance: the fields, and nothing else."""
    text_keyed: bool
    """Whether pydantic refuses some keys that are not text: those of typed dictionaries."""


_LEAVES: Final = frozenset(
    [
        "any",
        "none",
        "bool",
        "int",
        "float",
        "str",
        "bytes",
        "literal",
        "enum",
        "date",
        "time",
        "datetime",
        "timedelta",
        "decimal",
        "uuid",
    ]
)
_WRAPPERS: Final = frozenset(
    ["nullable", "default", "function-before", "function-after", "function-wrap", "definitions"]
)
_HOLDERS: Final = frozenset({"list", "tuple", "dict", "union"})
_FIELD_KEYS: Final = frozenset({"type", "schema", "metadata", "required", "frozen"})
"""What a field may say. Aliases and exclusions, for one, change its dump."""


class _NotPlainError(Exception):
    """The dump may differ from what the instance holds."""


def plain_fields(cls: type[BaseModel]) -> PlainFields | None:
    """Return the fields of `cls`, or None where it may change them in its dump."""
    schema: Any = cls.__pydantic_core_schema__
    if not isinstance(schema, dict) or _caches_properties(cls):  # not yet built, or adds its own
        return None
    walk = _Walk()
    try:
        while schema["type"] != "model":
            schema = walk.enter(schema)
        return PlainFields(len(walk.fields(schema)), walk.text_keyed)
    except (_NotPlainError, KeyError):
        return None


class _Walk:
    """One walk through a core schema. It raises `_NotPlainError` where the dump may differ."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self.seen: set[str] = set()
        self.text_keyed = False

    def enter(self, schema: Any) -> Any:
        """Return what a schema refers to or wraps."""
        if "serialization" in schema:
            raise _NotPlainError
        if schema["type"] == "definition-ref":
            return self.definitions[schema["schema_ref"]]
        if schema["type"] not in _WRAPPERS:
            raise _NotPlainError
        for definition in schema.get("definitions", ()):
            self.definitions[definition["ref"]] = definition
        return schema["schema"]

    def fields(self, model: Any) -> list[str]:
        """Walk into a model; return the names of its fields."""
        if model.get("root_model") or "serialization" in model or model["cls"] is BaseModel:
            raise _NotPlainError
        schema = model["schema"]
        while schema["type"] != "model-fields":
            schema = self.enter(schema)
        self.members(schema)
        return [*schema["fields"]]

    def members(self, schema: Any) -> None:
        """Walk into the fields of a model or of a typed dictionary."""
        if schema.get("computed_fields") or "serialization" in schema:
            raise _NotPlainError
        for field in schema["fields"].values():
            if not field.keys() <= _FIELD_KEYS:
                raise _NotPlainError
            self.value(field["schema"])

    def value(self, schema: Any) -> None:
        """Walk into the schema of a value."""
        kind = schema["type"]
        if "serialization" in schema:
            raise _NotPlainError
        if kind == "typed-dict":
            self.typed_dict(schema)
        elif kind == "model":
            self.nested(schema)
        elif kind in _HOLDERS:
            for part in _parts(schema):
                self.value(part)
        elif kind == "definition-ref" and schema["schema_ref"] not in self.seen:
            self.seen.add(schema["schema_ref"])
            self.value(self.enter(schema))
        elif kind not in _LEAVES and kind != "definition-ref":
            self.value(self.enter(schema))

    def typed_dict(self, schema: Any) -> None:
        # Without extra keys allowed, the dump drops the keys that it does not know.
        if schema.get("extra_behavior") != "allow":
            raise _NotPlainError
        self.text_keyed = True
        self.members(schema)

    def nested(self, schema: Any) -> None:
        # A field that is typed as a base class dumps the fields of the base class alone, so a
        # nested model must be of a class that is no other model's subclass.
        if own_bases(schema["cls"]) > 1:
            raise _NotPlainError
        self.fields(schema)
        if self.text_keyed:
            raise _NotPlainError


def _parts(schema: Any) -> Iterator[Any]:
    """Return the schemas of what a container holds, or of the alternatives of a union."""
    for choice in schema.get("choices", ()):
        yield choice[0] if isinstance(choice, tuple) else choice
    items = schema.get("items_schema", ())
    yield from items if isinstance(items, list) else (items,) if items else ()
    yield from (schema[key] for key in ("keys_schema", "values_schema") if key in schema)


def own_bases(cls: type) -> int:
    """Return how many classes below `BaseModel` make up `cls`, itself included."""
    return sum(issubclass(base, BaseModel) for base in cls.__mro__) - 1


def _caches_properties(cls: type) -> bool:
    return any(isinstance(v, cached_property) for base in cls.__mro__ for v in vars(base).values())
