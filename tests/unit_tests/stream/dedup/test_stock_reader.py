"""Who is a stock reader, and what differs for one besides what the corpus shows."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
)
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Command, RetryPolicy, interrupt

from graphs.models import ScriptedChatModel
from langgraph_once import DedupConfig, Deduplicator, adedup, dedup, once
from langgraph_once.config import READER_KEY
from langgraph_once.stream import Part
from langgraph_once.stream.forms import Because, ExactForm, Form, Kind, Operation, StockForm
from langgraph_once.stream.readers import PLAIN_READER, TASK_ID_KEY, V3_KEY, form_of
from langgraph_once.stream.v3 import ExactEvents, ProtocolForm

ASKED: Any = {"messages": [("user", "Go on.")]}
SERVED: Any = {"metadata": {"langgraph_api_version": "0.16.7"}}
MODES: Any = ["messages", "values"]
ANNOUNCING: Any = {READER_KEY: "1"}
V3: Any = {V3_KEY: True}
EXACT, STOCK = DedupConfig(form="exact"), DedupConfig(form="stock")


def model(text: str) -> ScriptedChatModel:
    return ScriptedChatModel(script=lambda _: AIMessage(text))


class BreakingOff(ScriptedChatModel):
    """A model whose connection breaks, perhaps, where its text ends."""

    breaks: bool

    def _stream(self, *args: Any, **kwargs: Any) -> Any:
        for chunk in super()._stream(*args, **kwargs):
            if self.breaks and getattr(chunk.message, "chunk_position", None) == "last":
                raise ValueError
            yield chunk


def graph_of(*nodes: Any, saver: Any = None) -> Any:
    builder = StateGraph(MessagesState).add_sequence([*nodes])
    return builder.add_edge(START, nodes[0].__name__).compile(checkpointer=saver)


def streamed_ids(chunks: list[Any]) -> list[str]:
    messages = [data[0] for mode, data in chunks if mode == "messages"]
    return list(dict.fromkeys(m.id for m in messages if not isinstance(m, RemoveMessage)))


def said_in(chunks: list[Any]) -> list[str]:
    return [data[0].text for mode, data in chunks if mode == "messages"]


def last_state(chunks: list[Any]) -> list[AnyMessage]:
    messages: list[AnyMessage] = [data for mode, data in chunks if mode == "values"][-1]["messages"]
    return messages


@pytest.mark.parametrize(
    ("form", "config", "expected"),
    [
        ("auto", {}, StockForm),
        ("auto", SERVED, StockForm),
        ("auto", {"configurable": ANNOUNCING}, ExactForm),
        ("auto", {"configurable": {**ANNOUNCING, TASK_ID_KEY: "in a node"}}, StockForm),
        ("auto", {**SERVED, "configurable": ANNOUNCING}, ExactForm),
        ("auto", {**SERVED, "configurable": {READER_KEY: PLAIN_READER}}, StockForm),
        ("stock", {}, StockForm),
        ("stock", {**SERVED, "configurable": ANNOUNCING}, StockForm),
        ("exact", SERVED, ExactForm),
        ("auto", {"configurable": V3}, ExactEvents),
        ("auto", {**SERVED, "configurable": V3}, ProtocolForm),
        ("auto", {**SERVED, "configurable": {**V3, **ANNOUNCING}}, ExactEvents),
        ("stock", {"configurable": V3}, ExactEvents),
    ],
)
def test_who_gets_which_form(form: Any, config: Any, expected: type[Form]) -> None:
    assert type(form_of(DedupConfig(form=form), config, "v2")) is expected


def test_a_graph_that_is_read_in_v1_streams_no_events() -> None:
    assert type(form_of(DedupConfig(), {"configurable": V3}, "v1")) is StockForm


def test_a_reader_in_a_node_is_not_the_one_that_announced_itself_outside() -> None:
    seen: list[Any] = []

    def outer(state: MessagesState, config: RunnableConfig) -> Any:
        seen.extend(once(graph_of(edits)).stream(dict(state), config, stream_mode="messages"))
        return {"messages": []}

    announcing: Any = {"configurable": {READER_KEY: "1"}}
    list(once(graph_of(outer)).stream(ASKED, announcing, stream_mode="messages"))
    assert seen
    assert not any("once" in metadata for _, metadata in seen)


def edits(state: MessagesState) -> Any:
    """Says something, and puts another text under its id into the state."""
    return {"messages": [AIMessage("Other.", id=model("Said.").invoke(state["messages"]).id)]}


class TestAnnounced:
    """`dedup` announces itself to the stream that it reads, and to no other."""

    def test_dedup_gets_the_exact_form(self) -> None:
        chunks = once(graph_of(edits)).stream(ASKED, stream_mode="messages")
        told = [message for message, _ in dedup(chunks, stream_mode="messages")]
        assert [type(message) for message in told[-2:]] == [RemoveMessage, AIMessage]

    async def test_adedup_gets_the_exact_form(self) -> None:
        chunks = once(graph_of(edits)).astream(ASKED, stream_mode="messages")
        told = [message async for message, _ in adedup(chunks, stream_mode="messages")]
        assert [type(message) for message in told[-2:]] == [RemoveMessage, AIMessage]

    def test_a_stream_that_a_node_of_the_graph_reads_gets_the_stock_form(self) -> None:
        seen: list[Any] = []

        def reads(state: MessagesState) -> Any:
            seen.extend(once(graph_of(edits)).stream(dict(state), stream_mode="messages"))
            return edits(state)

        chunks = once(graph_of(reads)).stream(ASKED, stream_mode="messages")
        told = [message for message, _ in dedup(chunks, stream_mode="messages")]
        assert any(isinstance(message, RemoveMessage) for message in told)
        assert "".join(message.text for message, _ in seen) == "Said."

    def test_a_stream_begun_between_its_chunks_gets_the_stock_form(self) -> None:
        chunks = dedup(
            graph_of(edits).stream(ASKED, stream_mode="messages"), stream_mode="messages"
        )
        next(chunks)
        other = list(once(graph_of(edits)).stream(ASKED, stream_mode="messages"))
        assert "".join(message.text for message, _ in other) == "Said."


class TestCopies:
    @pytest.mark.parametrize("config", [EXACT, STOCK], ids=["exact", "stock"])
    def test_a_copy_without_an_id_has_that_of_what_was_streamed(self, config: Any) -> None:
        def twice(state: MessagesState) -> Any:
            texts = [model("the same").invoke(state["messages"]).text for _ in range(2)]
            return {"messages": [AIMessage(text) for text in texts]}

        wrapped = once(graph_of(twice), config)
        chunks = list(wrapped.stream(ASKED, stream_mode=["messages", "values"]))
        ids = streamed_ids(chunks)
        assert len(ids) == 2
        assert [message.id for message in last_state(chunks)[1:]] == ids

    def test_what_is_returned_itself_keeps_its_id_from_a_copy(self) -> None:
        def both(state: MessagesState) -> Any:
            said = model("the same").invoke(state["messages"])
            return {"messages": [AIMessage(said.text), said]}

        chunks = list(once(graph_of(both)).stream(ASKED, stream_mode=["messages", "values"]))
        first, second = last_state(chunks)[1:]
        assert second.id == streamed_ids(chunks)[0] != first.id

    def test_what_failed_or_says_something_else_or_is_a_person_s_is_no_original(self) -> None:
        def other(state: MessagesState) -> Any:
            said = model("the same").invoke(state["messages"]).text
            return {"messages": [HumanMessage(said), AIMessage(said + "!")]}

        chunks = list(once(graph_of(other)).stream(ASKED, stream_mode=["messages", "values"]))
        streamed, *_ = streamed_ids(chunks)
        assert streamed not in [message.id for message in last_state(chunks)]


class TestAttempts:
    def test_a_third_one_goes_on_under_the_id_of_the_first(self) -> None:
        stream = once(self.graph("one", "one two"), STOCK).stream(ASKED, stream_mode=["messages"])
        chunks = list(stream)
        assert len(streamed_ids(chunks)) == 1
        assert "".join(said_in(chunks)) == "one two three four"

    def test_an_attempt_that_died_while_it_repeated_the_first_is_known(self) -> None:
        stream = once(self.graph("one two", "one"), STOCK).stream(ASKED, stream_mode=["messages"])
        chunks = list(stream)
        assert len(streamed_ids(chunks)) == 1
        assert "".join(said_in(chunks)) == "one two three four"

    @pytest.mark.parametrize("mode", ["values", "updates"])
    def test_beside_a_state_a_longer_one_comes_whole_under_the_id_that_the_state_has(
        self, mode: str
    ) -> None:
        """A client that merges both by id has no more than it has of plain LangGraph."""
        graph = once(self.graph("one", "one two"), STOCK)
        chunks = list(graph.stream(ASKED, stream_mode=["messages", mode]))
        assert "".join(said_in(chunks)) == "one" + "one two" + "one two three four"
        [update] = [data for kind, data in chunks if kind == mode][-1:]
        listed = update["messages"] if mode == "values" else update["says"]["messages"]
        assert listed[-1].id == streamed_ids(chunks)[-1]

    @pytest.mark.parametrize("broken", ["one two", "one two three four"])
    def test_an_attempt_that_follows_a_state_begins_anew(self, broken: str) -> None:
        """The state has no text of a task that is under way; only its rest would be shown."""
        asked = threading.Event()

        def asks(state: MessagesState) -> Any:
            asked.wait(5)
            interrupt("well?")

        builder = self.builder(broken, beside=asked)
        builder.add_node("asks", asks).add_edge(START, "asks")
        saver: Any = InMemorySaver()
        wrapped = once(builder.compile(checkpointer=saver), STOCK)
        thread: Any = {"configurable": {"thread_id": "1"}}
        chunks = list(wrapped.stream(ASKED, thread, stream_mode=MODES))
        modes = [mode for mode, _ in chunks]
        after = modes.index("values", modes.index("messages"))
        assert "".join(said_in(chunks[after:])) == "one two three four"

    @pytest.mark.parametrize(
        ("between", "texts"),
        [
            (Part((), "updates", {"n": {"a": 1}}), ["one", "two"]),
            (Part(("inside:1",), "values", {"a": 1}), ["one", "two"]),
            (Part((), "values", {"a": 1}), ["one", "one", "two"]),
        ],
        ids=["update", "state inside", "state"],
    )
    @pytest.mark.parametrize("after", [2, 3], ids=["before the next attempt", "amid it"])
    def test_only_a_state_of_the_whole_takes_the_place_of_what_was_said(
        self, between: Part, texts: list[str], after: int
    ) -> None:
        def part(message: Any, attempt: int, source: str = "model") -> Part:
            note = {"v": 1, "source": source, "attempt": attempt, "run": message.id, "at": "n:1"}
            return Part((), "messages", message, {"langgraph_checkpoint_ns": "n:1", "once": note})

        dedup = Deduplicator(form=StockForm())
        parts = [
            part(AIMessageChunk(content="one", id="first"), 1),
            part(RemoveMessage(id="first"), 2, "retry"),
            part(AIMessageChunk(content="one", id="second"), 2),
            part(AIMessageChunk(content="two", id="second"), 2),
        ]
        parts.insert(after, between)
        out = [new.data for each in parts for new in dedup.feed(each) if new.mode == "messages"]
        assert [message.text for message in out if message.text] == texts

    def graph(self, *broken: str) -> Any:
        return self.builder(*broken).compile()

    def builder(self, *broken: str, beside: threading.Event | None = None) -> Any:
        """A graph whose model breaks off after each of these, and then says it all."""

        def says(state: MessagesState) -> Any:
            runtime: Any = get_runtime()
            attempt = runtime.execution_info.node_attempt
            if attempt > len(broken) and beside is not None:
                time.sleep(0.1)  # the state comes in between
            text = [*broken, "one two three four"][attempt - 1]
            said = BreakingOff(breaks=attempt <= len(broken), script=lambda _: AIMessage(text))
            try:
                return {"messages": [said.invoke(state["messages"])]}
            finally:
                if beside is not None:
                    beside.set()

        builder = StateGraph(MessagesState)
        retry = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ValueError)
        return builder.add_node("says", says, retry_policy=retry).add_edge(START, "says")


class TestStates:
    @pytest.mark.parametrize("config", [EXACT, STOCK], ids=["exact", "stock"])
    def test_a_state_that_equals_the_one_before_comes_again_after_a_draft(
        self, config: Any
    ) -> None:
        def drafts(state: MessagesState) -> Any:
            model("a plan").invoke(state["messages"])
            return {"messages": []}

        wrapped = once(graph_of(drafts), config)
        chunks = list(wrapped.stream(ASKED, stream_mode=["messages", "values"]))
        assert [mode for mode, _ in chunks][-1] == "values"

    @pytest.mark.parametrize("modes", [["values"], MODES, ["updates", *MODES]], ids=str)
    @pytest.mark.parametrize("state", ["changed", "new_messages", "auto"])
    @pytest.mark.parametrize(
        ("form", "reader"), [("stock", {}), ("stock", ANNOUNCING), ("auto", {})]
    )
    def test_a_stock_reader_gets_the_whole_of_each(
        self, form: Any, reader: Any, state: Any, modes: Any
    ) -> None:
        def says(state: MessagesState) -> Any:
            return {"messages": [model("some text").invoke(state["messages"])]}

        wrapped = once(graph_of(says, saver=InMemorySaver()), DedupConfig(form=form, state=state))
        thread: Any = {"configurable": {"thread_id": "1", **reader}}
        for turn in range(2):
            chunks = list(wrapped.stream(ASKED, thread, stream_mode=modes))
            states = [data["messages"] for mode, data in chunks if mode == "values"]
            assert [len(messages) for messages in states] == [2 * turn + 1, 2 * turn + 2]
            updates = [data["says"]["messages"] for mode, data in chunks if mode == "updates"]
            assert all(len(messages) == 1 for messages in updates)


def test_what_is_no_message_yet_is_left_to_the_states() -> None:
    """Under an id of ours it would stand beside the same in an update."""

    def pairs(state: MessagesState) -> Any:
        model("a text").invoke(state["messages"])
        return {"messages": [("ai", "a pair"), {"role": "ai", "content": "a dict"}]}

    chunks = list(once(graph_of(pairs), STOCK).stream(ASKED, stream_mode=["messages", "values"]))
    assert "".join(said_in(chunks)) == "a text"
    assert [m.text for m in last_state(chunks)[1:]] == ["a pair", "a dict"]


def test_a_resumed_run_begins_from_nothing_for_a_stock_reader() -> None:
    """It may be another one: a page that was loaded anew."""

    def asks(state: MessagesState) -> Any:
        said = model("before the question").invoke(state["messages"])
        interrupt("well?")
        return {"messages": [said]}

    thread: Any = {"configurable": {"thread_id": "1"}}
    wrapped = once(graph_of(asks, saver=InMemorySaver()), STOCK)
    list(wrapped.stream(ASKED, thread, stream_mode="messages"))
    chunks = wrapped.stream(Command(resume="go"), thread, stream_mode="messages")
    assert "".join(m.text for m, _ in chunks) == "before the question"


@pytest.mark.parametrize(
    ("before", "is_sent"),
    [(None, True), (AIMessageChunk(content="a", id="m"), True), (AIMessage("a", id="m"), False)],
    ids=["nothing", "chunk", "whole"],
)
def test_an_empty_chunk_is_added_to_no_message_that_came_whole(before: Any, is_sent: bool) -> None:
    form = StockForm()
    empty = AIMessageChunk(content="", id="m")
    given = [Part((), "messages", data) for data in (before, empty) if data is not None]
    sent = form.sent(Operation(Kind.APPEND, Because.NEXT, part) for part in given)
    assert list(sent) == (given if is_sent else given[:-1])


def test_whole_messages_without_an_id_all_come() -> None:
    dedup = Deduplicator(form=StockForm())
    given = [Part((), "messages", AIMessage(text)) for text in ("one", "two")]
    assert [new for part in given for new in dedup.feed(part)] == given


PLAIN: Any = {**SERVED, "configurable": {READER_KEY: PLAIN_READER, "thread_id": "1"}}


class TestPlainReader:
    """A reader that asks for what the graph streams without `once`."""

    def copying(self, state: MessagesState) -> Any:
        return {"messages": [AIMessage(model("one two").invoke(state["messages"]).text, id="own")]}

    def said(self, config: Any, dedup: DedupConfig | None = None) -> list[str]:
        graph = once(graph_of(self.copying, saver=InMemorySaver()), dedup)
        chunks = list(graph.stream(ASKED, config, stream_mode=MODES))
        return ["".join(said_in(chunks)), *streamed_ids(chunks)[1:]]

    def test_a_plain_reader_gets_all_that_langgraph_tells(self) -> None:
        plain = graph_of(self.copying, saver=InMemorySaver())
        chunks = list(plain.stream(ASKED, PLAIN, stream_mode=MODES))
        assert (
            self.said(PLAIN)
            == ["one twoone two", "own"]
            == [
                "".join(said_in(chunks)),
                *streamed_ids(chunks)[1:],
            ]
        )

    async def test_a_plain_reader_gets_all_that_langgraph_tells_async(self) -> None:
        graph = once(graph_of(self.copying, saver=InMemorySaver()))
        chunks = [each async for each in graph.astream(ASKED, PLAIN, stream_mode=MODES)]
        assert "".join(said_in(chunks)) == "one twoone two"
        assert all("once" not in data[1] for mode, data in chunks if mode == "messages")

    @pytest.mark.parametrize("hide", [{"nodes": ["other"]}, {"tags": ["secret"]}])
    def test_gets_nothing_that_is_hidden(self, hide: Any) -> None:
        assert self.said(PLAIN, DedupConfig(hide=hide)) == ["one two"]
        assert self.said(PLAIN, DedupConfig(hide={"nodes": ["copying"]})) == [""]

    def test_changes_nothing_for_a_graph_that_a_node_reads(self) -> None:
        seen: list[Any] = []

        def outer(state: MessagesState) -> Any:
            seen.extend(once(graph_of(self.copying)).stream(dict(state), stream_mode=MODES))
            return {"messages": []}

        list(once(graph_of(outer, saver=InMemorySaver())).stream(ASKED, PLAIN))
        assert "".join(said_in(seen)) == "one two"
