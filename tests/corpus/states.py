"""The states of the scenarios that need more than a list of messages, and the messages in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any

from langchain_core.messages import AnyMessage, BaseMessage, convert_to_messages
from langgraph.graph.message import add_messages
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

ROLES = frozenset({"ai", "assistant", "human", "user", "tool", "system"})


@dataclass(frozen=True)
class Listed:
    """A message, and where it is."""

    message: BaseMessage
    path: str
    """The keys that lead to its list or, where it stands alone, to itself."""

    alone: bool = False


def listed(data: Any, path: str = "") -> Iterator[Listed]:
    """Every message in `data`, in order, also those that a reducer has yet to coerce."""
    if (message := _message(data)) is not None:
        yield Listed(message, path, alone=True)
    elif isinstance(data, dict):
        for key, value in data.items():
            if not _is_platform_key(key):
                yield from listed(value, f"{path}.{key}")
    elif isinstance(data, BaseModel):
        yield from listed({name: getattr(data, name) for name in type(data).model_fields}, path)
    elif is_dataclass(data) and not isinstance(data, type):
        yield from listed({f.name: getattr(data, f.name) for f in fields(data)}, path)
    elif isinstance(data, list | tuple):
        for item in data:
            if (message := _message(item)) is not None:
                yield Listed(message, path)
            else:
                yield from listed(item, path)


def _message(value: Any) -> BaseMessage | None:
    if isinstance(value, BaseMessage):
        return value
    if isinstance(value, str) and " " in value:  # texts have spaces; ids, keys and roles do not
        return convert_to_messages([value])[0]
    is_pair = isinstance(value, tuple) and len(value) == 2 and value[0] in ROLES
    is_dict = (
        isinstance(value, dict) and "content" in value and ("role" in value or "type" in value)
    )
    return convert_to_messages([value])[0] if is_pair or is_dict else None


OURS = frozenset({"__root__", "__overwrite__"})
"""Where something of the graph's stands."""


def _is_platform_key(key: Any) -> bool:
    is_own = isinstance(key, str) and key.startswith("__")
    return is_own and key not in OURS and not key.startswith("__error_handler__")


def merged(left: Any, right: Any) -> Any:
    """Values by key, lists joined: how people keep messages by topic."""
    joined = dict(left or {})
    for key, value in (right or {}).items():
        joined[key] = [*joined.get(key, []), *value] if isinstance(value, list) else value
    return joined


class InDict(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    topics: Annotated[dict[str, Any], merged]


class Inbox(TypedDict):
    unread: list[AnyMessage]


class InTypedDict(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    inbox: Inbox


class Notes(BaseModel):
    """Messages in a model that is the value of a key."""

    notes: list[AnyMessage] = Field(default_factory=list)


class InModel(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    kept: Notes


@dataclass
class Folder:
    """Messages in a dataclass that is the value of a key."""

    papers: list[Any] = field(default_factory=list)


class InDataclass(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    folder: Folder


class ModelState(BaseModel):
    """A state that is a pydantic model."""

    messages: Annotated[list[AnyMessage], add_messages] = Field(default_factory=list)


@dataclass
class DataclassState:
    """A state that is a dataclass."""

    messages: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)


class Answered(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    answer: AnyMessage
