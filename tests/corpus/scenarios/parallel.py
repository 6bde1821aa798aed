"""L5: parallel tasks use equal ids for messages of their own."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Send
from typing_extensions import TypedDict

from tests.corpus.graphs import Steps, chain, fan_out, node, says
from tests.corpus.models import answers
from tests.corpus.scenario import Graph, row
from tests.corpus.units import said
from tests.corpus.variants import Variant

THREE = ("From the first.", "From the second.", "From the third.")


class Added(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    answers: Annotated[list[AnyMessage], operator.add]


def added(text: str = "") -> Graph:
    """Three workers return messages with one id to a list that keeps all of them."""
    texts = [text] * 3 if text else THREE

    def worker(sent: Any) -> Any:
        return {"answers": [AIMessage(sent["text"], id="same")]}

    return fan_out(worker, [{"text": each} for each in texts], state=Added)


def graphs_apart(*, streamed: bool) -> Graph:
    """Three graphs in parallel, each with a message of the same id in a list of its own."""
    builder = StateGraph(MessagesState)
    for at, text in enumerate(THREE):
        own = AIMessage(text, id="same")
        inner = says(own) if streamed else (lambda _, own=own: {"messages": [own.model_copy()]})
        child = chain(inner)

        def steps(state: Any, child: Any = child) -> Steps:
            yield child, {"messages": []}
            return {"messages": []}

        builder.add_node(f"worker{at}", node(steps))
        builder.add_edge(START, f"worker{at}")
    return builder.compile()


def workers_stream() -> Graph:
    """Three workers stream with one id, to a list that keeps all of them."""
    models = [answers(AIMessage(text, id="same")) for text in THREE]

    def steps(sent: Any) -> Steps:
        return {"answers": [(yield models[sent["at"]], "?")]}

    builder = StateGraph(Added)
    builder.add_node("worker", node(steps))
    sends = [Send("worker", {"at": at}) for at in range(3)]
    builder.add_conditional_edges(START, lambda _: sends, ["worker"])
    return builder.compile()


def only_messages(variant: Variant) -> bool:
    """An update does not say which task it is of: under one id the last would win."""
    return variant.modes == ("messages",)


INSIDE = tuple(said(text, inner=True) for text in THREE)

SCENARIOS = (
    row(
        "L5",
        "equal-ids-returned",
        "Three workers return different messages with one id.",
        added,
        *map(said, THREE),
        ordered=False,
        only=only_messages,
    ),
    row(
        "L5",
        "equal-ids-and-texts",
        "Three workers return equal messages with one id.",
        lambda: added("The same text."),
        said("The same text.", 3),
        ordered=False,
        only=only_messages,
    ),
    row(
        "L5",
        "equal-ids-streamed",
        "Three workers stream with one id.",
        workers_stream,
        *map(said, THREE),
        ordered=False,
        only=only_messages,
    ),
    row(
        "L5",
        "equal-ids-in-graphs",
        "Three graphs in parallel, each with its own message of one id.",
        lambda: graphs_apart(streamed=False),
        *INSIDE,
        ordered=False,
    ),
    row(
        "L5",
        "equal-ids-streamed-in-graphs",
        "The same, and the messages are streamed.",
        lambda: graphs_apart(streamed=True),
        *INSIDE,
        ordered=False,
    ),
)
