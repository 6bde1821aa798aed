"""What every class of settings is: a frozen dataclass that says in one line what is wrong."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Final, TypeVar, cast, dataclass_transform

import pydantic.dataclasses
from pydantic import ConfigDict, TypeAdapter, ValidationError

from langgraph_once.errors import ConfigError
from langgraph_once.redaction import shown

T = TypeVar("T")

REMOVED: Final[Mapping[str, str]] = {
    "dedup.history": "read the state of the thread for messages that a node returns unchanged",
    "dedup.tool_results": "each tool result with an id of its own is sent",
    "dedup.copies": "a copy may differ from the streamed text in white space",
    "dedup.discarded": "hide the model that says it, or drop what a MessageDiscardedEvent names",
    "dedup.malformed": "give dedup the chunks of one stream, and pass your own on beside it",
    "dedup.max_messages": "a Ledger knows 20,000 messages, or Ledger(max_messages=...) of dedup",
    "dedup.max_bytes": "a Ledger keeps 64 MB of text, or Ledger(max_bytes=...) of dedup",
    "checkpoint.statement_timeout_s": "set it for the role: ALTER ROLE ... SET statement_timeout",
    "serde.require_encryption": "ONCE_SERDE__ENCRYPTION=required refuses plaintext",
    "serde.bind_rows": "all is bound; ONCE_SERDE__ENCRYPTION=bound reads nothing else",
    "serde.max_decoded_objects": "2**28, or ONCE_SERDE__MAX_DECODED_BYTES if that is more",
    "serde.compression_level": "it is 1; ONCE_SERDE__COMPRESSION=none turns compression off",
    "serde.min_compress_bytes": "values of 256 bytes and more are compressed",
    "serde.codec": "ONCE_SERDE__COMPATIBLE=true writes what LangGraph's savers read",
    "checkpoint.compatible": "it is ONCE_SERDE__COMPATIBLE now",
}
"""Settings of earlier releases, as "section.key", each with what to do instead. Whoever sets one is
told so: what is passed over in silence might be what somebody relies on."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def config(cls: type[T]) -> type[T]:
    """Make `cls` a frozen, keyword-only dataclass that raises `ConfigError` on a wrong value."""
    decorate = pydantic.dataclasses.dataclass(
        frozen=True,
        kw_only=True,
        slots=True,
        config=ConfigDict(extra="forbid", hide_input_in_errors=True),
    )
    made = cast("type[T]", decorate(cls))
    setattr(made, "__init__", _raising_config_error(made.__init__))  # noqa: B010  # mypy's wish
    return made


def _raising_config_error(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def checked(self: Any, **values: Any) -> None:
        try:
            return init(self, **values)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
        # Out here, so that what is raised does not refer to what was given, which may be secret.
        if isinstance(inner := first.get("ctx", {}).get("error"), ConfigError):
            raise ConfigError(inner.key, inner.problem)
        field = ".".join(shown(str(part)) for part in first["loc"])
        name = type(self).__name__
        gone = removed(name.removesuffix("Config").lower(), field)
        raise ConfigError(f"{name}.{field}", gone or first["msg"].removeprefix("Value error, "))

    return checked


def removed(section: str, field: str) -> str | None:
    """Return the problem of a setting of an earlier release; None if there was no such setting."""
    advice = REMOVED.get(f"{section}.{field}")
    return advice and f"was removed: {advice}"


class SchemaOf:
    """Says in an annotation that the JSON schema is that of a class of settings.

    Args:
        kind: The class.
        or_null: Whether `null` may stand there, too.
    """

    def __init__(self, kind: type, *, or_null: bool = False) -> None:
        self._kind = kind
        self._or_null = or_null

    def __get_pydantic_json_schema__(self, *_: object) -> dict[str, Any]:
        schema = schema_of(self._kind)
        return {"anyOf": [schema, {"type": "null"}]} if self._or_null else schema


def schema_of(kind: type) -> dict[str, Any]:
    """The JSON schema of a class of settings, in which each field says what its docstring says.

    Those are read when they are asked for. Pydantic's `use_attribute_docstrings` reads the source
    as it makes a class, which took a third of the time of `import langgraph_once`.
    """
    schema = TypeAdapter(kind).json_schema()
    declared: Any = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    for field, said in pairwise(declared.body):
        if isinstance(field, ast.AnnAssign) and isinstance(said, ast.Expr):
            meaning = inspect.cleandoc(ast.literal_eval(said.value))
            schema["properties"][ast.unparse(field.target)]["description"] = meaning
    return schema
