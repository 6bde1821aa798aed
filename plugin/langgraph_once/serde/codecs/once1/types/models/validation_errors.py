"""`pydantic.ValidationError`: what was wrong, where, and with which input.

Written only where the error that is made of this says the same. Nodes fail with it often, and
LangGraph stores what a node failed with.
"""

from __future__ import annotations

from typing import Any, Final, get_args

from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError
from pydantic_core.core_schema import ErrorType

from langgraph_once.serde.codecs.once1.types.base.checks import parts, plain
from langgraph_once.serde.codecs.once1.types.base.protocol import Adapter, UnwritableError
from langgraph_once.serde.codecs.once1.types.python.exceptions import fill_links, take_links

__all__ = ["ADAPTERS"]

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
