"""A node that streams a model's tokens, and returns a copy without an id, which the state names.

So does the quickstart of gemini-fullstack. LangGraph sends the text twice, under both ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, BaseMessageChunk, RemoveMessage
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel

from graphs.models import ScriptedChatModel
from langgraph_once import DedupConfig, dedup
from tests.exact import exactly

TEXT = "one two three"
ASKED: Any = {"messages": [("user", "Go.")]}
MODES = ["messages", "values"]


def copies() -> Any:
    model = ScriptedChatModel(script=lambda _: AIMessage(TEXT))

    def node(_: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(model.invoke("Go.").content)]}

    builder: Any = StateGraph(MessagesState)
    return builder.add_node(node).add_edge(START, "node").compile()


def merged(chunks: Iterable[Any], *, replaces: bool) -> Counter[str]:
    """What a reader has that merges by id, and takes a state in place of its list or adds it."""
    has: dict[str, BaseMessage] = {}
    for mode, data in chunks:
        if mode == "values":
            if replaces:
                has.clear()
            has |= {message.id: message for message in data["messages"]}
            continue
        message = data[0]
        if isinstance(message, RemoveMessage):
            has.pop(str(message.id))
        elif isinstance(message, BaseMessageChunk) and message.id in has:
            has[message.id] += message  # type: ignore[assignment]  # chunks of one kind
        else:
            has[message.id] = message
    return Counter(str(message.text) for message in has.values() if message.type != "human")


def test_a_reader_that_replaces_its_list_by_each_state_has_a_copy_once() -> None:
    chunks = dedup(copies().stream(ASKED, stream_mode=MODES), stream_mode=MODES)
    assert merged(chunks, replaces=True) == {TEXT: 1}


def test_a_reader_that_adds_each_state_has_a_copy_no_oftener_than_without_us() -> None:
    plain = merged(copies().stream(ASKED, stream_mode=MODES), replaces=False)
    ours = merged(
        dedup(copies().stream(ASKED, stream_mode=MODES), stream_mode=MODES), replaces=False
    )
    assert ours <= plain
    assert plain[TEXT] == 2


def test_what_waits_for_its_id_is_not_in_the_update_besides() -> None:
    said = {"role": "ai", "content": TEXT}
    builder: Any = StateGraph(MessagesState)
    builder.add_node("node", lambda _: {"messages": [said]}).add_edge(START, "node")
    graph = exactly(builder.compile(), DedupConfig(state="auto"))
    chunks = list(graph.stream(ASKED, stream_mode=["messages", "updates"]))
    assert [data[0].text for mode, data in chunks if mode == "messages"] == [TEXT]
    assert [data for mode, data in chunks if mode == "updates"] == [{"node": {"messages": []}}]


@pytest.mark.parametrize("modes", [MODES, ["messages", "updates", "values"]])
def test_a_reader_that_says_it_adds_up_all_modes_has_a_copy_once(modes: list[str]) -> None:
    config = DedupConfig(state="auto")
    chunks = dedup(copies().stream(ASKED, stream_mode=modes), stream_mode=modes, config=config)
    told = (chunk for chunk in chunks if chunk[0] != "updates" or chunk[1]["node"]["messages"])
    assert merged(told, replaces=False) == {TEXT: 1}


SAID = AIMessage("Hi", id="named")


@pytest.mark.parametrize(
    "told",
    [
        ("updates", {"n": {"messages": ("ai", "Hi")}}),
        ("updates", {"n": {"messages": AIMessage("Hi")}}),
        ("updates", {"n": {"messages": {"role": "ai", "content": "Hi", "id": "named"}}}),
        ("values", {"messages": [AIMessage("Hi")]}),
    ],
)
def test_a_state_says_once_what_had_no_id_or_was_no_message_yet(told: Any) -> None:
    chunks: list[Any] = [
        told,
        ("values", {"messages": [SAID]}),
        ("updates", {"n": {"messages": [SAID]}}),
    ]
    cut = DedupConfig(state="new_messages")
    first, *later = dedup(chunks, stream_mode=["updates", "values"], config=cut)
    assert first == told
    assert later == [("values", {"messages": []}), ("updates", {"n": {"messages": []}})]


def test_what_the_reducer_will_refuse_is_left_to_it() -> None:
    update = ("updates", {"n": {"messages": [{"role": "nobody", "content": "Hi"}, SAID]}})
    alone = ("updates", {"n": {"messages": {"role": "nobody", "content": "Hi"}}})
    cut = DedupConfig(state="new_messages")
    assert list(dedup([alone, update], stream_mode=["updates"], config=cut)) == [alone, update]


class Typed(BaseModel):
    messages: list[Any]
    note: str = ""


def test_a_state_that_is_a_model_is_cut_as_one() -> None:
    meta = {"langgraph_node": "n", "langgraph_checkpoint_ns": "n:1"}
    chunks: list[Any] = [
        ("messages", (SAID, meta)),
        ("values", Typed(messages=[SAID], note="kept")),
    ]
    cut = DedupConfig(state="new_messages")
    *_, (_, state) = dedup(chunks, stream_mode=["messages", "values"], config=cut)
    assert state == Typed(messages=[], note="kept")
    assert chunks[-1] == ("values", Typed(messages=[SAID], note="kept"))  # as it was given
