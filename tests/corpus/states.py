"""The states of the scenarios that do not get by with a list of messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

__all__ = [
    "Answered",
    "DataclassState",
    "Folder",
    "InDataclass",
    "InDict",
    "InModel",
    "InTypedDict",
    "Inbox",
    "ModelState",
    "Notes",
    "merged",
]


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
