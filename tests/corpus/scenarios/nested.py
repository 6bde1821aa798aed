"""L4: messages in nested states that upstream's handler does not walk."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import MessagesState
from langgraph.graph.message import _messages_delta_reducer
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from tests.corpus.graphs import Steps, chain, node, returns, text_of
from tests.corpus.models import answers
from tests.corpus.scenario import Graph, Scenario, row
from tests.corpus.states import (
    Answered,
    DataclassState,
    Folder,
    InDataclass,
    InDict,
    InModel,
    InTypedDict,
    ModelState,
    Notes,
)
from tests.corpus.units import QUESTION, Unit, gone, said

HELLO = "Hello from a strange place."


def hello(**how: Any) -> AIMessage:
    return AIMessage(HELLO, **how)


def update(value: Any, state: Any = MessagesState) -> Graph:
    """A graph of one node that returns `value()` and streams nothing."""
    return chain(lambda _: value(), state=state)


def delta() -> Graph:
    """A list of messages in a channel that keeps differences."""

    class Delta(TypedDict):
        messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]

    return chain(returns({"role": "assistant", "content": HELLO}), state=Delta)


def returned_value(made: Any, *, save: Any = None) -> Graph:
    """An entrypoint that returns `made`, or keeps `save` for the next run."""

    @entrypoint(checkpointer=InMemorySaver())
    def flow(asked: Any) -> Any:
        return entrypoint.final(value=made(), save=save) if save else made()

    return flow


def streamed_to_dict() -> Graph:
    """A node that streams an answer and keeps a copy of it in a nested state."""
    model = answers(HELLO)

    def steps(state: Any) -> Steps:
        answer = yield model, "?"
        return {"topics": {"weather": [AIMessage(text_of(answer), id="copy")]}}

    return chain(node(steps), state=InDict)


def listing(name: str, what: str, value: Any, *units: Unit, state: Any = MessagesState) -> Scenario:
    return row("L4", name, what, lambda: update(value, state), *(units or (said(HELLO),)))


SCENARIOS = (
    listing(
        "in-dict",
        "Messages in lists by topic, in a dict.",
        lambda: {"topics": {"weather": [hello(id="m")]}},
        state=InDict,
    ),
    listing(
        "in-dict-in-list",
        "Messages in a list of dicts.",
        lambda: {"topics": {"days": [{"monday": [hello(id="m")]}]}},
        state=InDict,
    ),
    listing(
        "in-typed-dict",
        "Messages in a typed dict that is the value of a key.",
        lambda: {"inbox": {"unread": [hello(id="m")]}},
        state=InTypedDict,
    ),
    listing(
        "in-model",
        "Messages in a pydantic model that is the value of a key.",
        lambda: {"kept": Notes(notes=[hello(id="m")])},
        state=InModel,
    ),
    listing(
        "in-dataclass",
        "Messages in a dataclass that is the value of a key.",
        lambda: {"folder": Folder(papers=[hello(id="m")])},
        state=InDataclass,
    ),
    row(
        "L4",
        "streamed-and-kept-in-dict",
        "A streamed answer is kept as a copy in a nested dict.",
        streamed_to_dict,
        said(HELLO),
    ),
    listing(
        "model-state",
        "The state and the update are a pydantic model.",
        lambda: ModelState(messages=[hello()]),
        state=ModelState,
    ),
    listing(
        "dataclass-state",
        "The state and the update are a dataclass.",
        lambda: DataclassState(messages=[hello()]),
        state=DataclassState,
    ),
    row(
        "L4",
        "alone",
        "A message is the value of a key.",
        lambda: update(lambda: {"answer": hello(id="m")}, Answered),
        said(HELLO),
    ),
    row(
        "L4",
        "overwritten",
        "The whole list is overwritten.",
        lambda: update(lambda: {"messages": Overwrite([hello(id="m")])}),
        said(HELLO),
        asked=gone(QUESTION.piece.says),
    ),
    row(
        "L4",
        "overwritten-as-dict",
        "The whole list is overwritten, as JSON says it.",
        lambda: update(lambda: {"messages": {"__overwrite__": [hello(id="m")]}}),
        said(HELLO),
        asked=gone(QUESTION.piece.says),
    ),
    row(
        "L4",
        "delta-channel",
        "A list of messages in a delta channel, written as a dict.",
        delta,
        said(HELLO),
    ),
    row(
        "L4",
        "returned-message",
        "An entrypoint returns a message.",
        lambda: returned_value(hello),
        said(HELLO),
        asked=None,
    ),
    row(
        "L4",
        "returned-nested",
        "An entrypoint returns messages in a dict of dicts.",
        lambda: returned_value(lambda: {"a": {"b": [hello(id="m")]}}),
        said(HELLO),
        asked=None,
    ),
    row(
        "L4",
        "returned-final",
        "An entrypoint returns a message and saves another value.",
        lambda: returned_value(hello, save={"seen": 1}),
        said(HELLO),
        asked=None,
    ),
    row(
        "L4",
        "returned-final-dict",
        "An entrypoint returns messages in a dict and saves another value.",
        lambda: returned_value(lambda: {"messages": [hello(id="m")]}, save={"seen": 1}),
        said(HELLO),
        asked=None,
    ),
)
