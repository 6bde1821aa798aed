"""What nodes answer that do not run reaches `messages` all the same."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import CachePolicy, Command, interrupt

from langgraph_once import Deduplicator, Ledger, dedup
from langgraph_once.stream import InMemoryStreamStateStore, Part
from langgraph_once.stream.repeated import CachedParts
from langgraph_once.stream.state_cut import is_default_key
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, folded, model, says

THREAD: Any = {"configurable": {"thread_id": "1"}}


def cached_graph() -> Any:
    """A graph whose only node has answered already."""
    builder: Any = StateGraph(MessagesState)
    by_text: Any = CachePolicy(key_func=lambda state: str(state["messages"][-1].content))
    builder.add_node(
        "answers",
        lambda s: {"messages": [AIMessage(str(model("Hello.").invoke(s["messages"]).text))]},
        cache_policy=by_text,
    )
    builder.add_edge(START, "answers")
    graph = builder.compile(cache=InMemoryCache())
    graph.invoke(ASKED)
    return graph


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("subgraphs", [False, True])
@pytest.mark.parametrize("modes", ["messages", ["messages"], ["messages", "values"]])
def test_a_cached_answer_comes_in_the_shape_asked_for(
    version: Any, subgraphs: bool, modes: Any
) -> None:
    asked: Any = {"stream_mode": modes, "subgraphs": subgraphs, "version": version}
    cold = exactly(chain(says("Hello.")))
    shapes = {_shape(chunk) for chunk in cold.stream(ASKED, **asked)}
    chunks = list(exactly(cached_graph()).stream(ASKED, **asked))
    assert "Hello." in str(chunks)
    assert {_shape(chunk) for chunk in chunks} <= shapes


def test_a_cached_answer_comes_once_where_updates_are_asked_for_too() -> None:
    chunks = list(exactly(cached_graph()).stream(ASKED, stream_mode=["updates", "messages"]))
    assert [mode for mode, _ in chunks] == ["messages", "updates"]


def test_what_was_done_when_the_consumer_left_comes_with_the_resume() -> None:
    plain = chain(says("Hello there, all."), says("Bye."))
    graph = exactly(plain.copy({"checkpointer": InMemorySaver()}))
    stream: Any = graph.stream(ASKED, THREAD, stream_mode="messages")
    before = list(itertools.islice(stream, 2))
    stream.close()
    later = list(graph.stream(None, THREAD, stream_mode="messages"))
    assert list(folded([*before, *later]).values()) == ["Hello there, all.", "Bye."]


def _shape(chunk: Any) -> Any:
    if isinstance(chunk, dict):
        return chunk["type"]
    return tuple(part if isinstance(part, str) else type(part) for part in chunk if _plain(part))


def _plain(part: Any) -> bool:
    return isinstance(part, str | tuple)


def asks_beside(text: str) -> Any:
    """A graph of two nodes side by side: one speaks, the other asks the human."""
    builder: Any = StateGraph(MessagesState)
    builder.add_node("speaks", says(text))
    builder.add_node("asks", lambda _: {"messages": [AIMessage(interrupt("Go on?"))]})
    builder.add_edge(START, "speaks")
    builder.add_edge(START, "asks")
    return builder.compile(checkpointer=InMemorySaver())


def test_without_a_ledger_what_the_thread_holds_counts_as_had() -> None:
    """The writes of a done node are the thread's, as its messages are."""
    plain = asks_beside("Hello.")
    list(exactly(plain).stream(ASKED, THREAD, stream_mode="messages"))
    elsewhere = exactly(plain, stream_state=InMemoryStreamStateStore())
    later = list(elsewhere.stream(Command(resume="Yes."), THREAD, stream_mode="messages"))
    assert list(folded(later).values()) == ["Yes."]


@pytest.mark.parametrize(("ended", "told"), [(True, []), (False, [RemoveMessage, AIMessage])])
def test_an_edit_comes_again_only_after_a_stream_that_was_cut_short(
    ended: bool, told: list[type]
) -> None:
    """One that came to its end has told it, or what a task beside wrote in its place."""
    deduplicator = Deduplicator(ledger=Ledger())
    first = Part((), "messages", AIMessage("First.", id="m"), {"langgraph_checkpoint_ns": "b:1"})
    list(deduplicator.feed(first))
    if ended:
        list(deduplicator.close())
    ledger = Ledger.from_bytes(deduplicator.ledger.to_bytes())
    again = Deduplicator(ledger=ledger)
    cached = CachedParts("messages", ledger, is_default_key, has_cache=False)
    edited = {"messages": [AIMessage("Edited.", id="m")]}
    update = Part((), "updates", {"n": edited, "__metadata__": {"cached": True}})
    parts = [out for part in cached.expand(update) for out in again.feed(part)]
    assert [type(part.data) for part in parts] == told


def edits_beside(cached: str, edits: str) -> Any:
    """A graph of nodes side by side, "a" and "b", both of which write the last message.

    Args:
        cached: The one whose answer a cache provides.
        edits: The one that edits it; the other returns it as it is.
    """

    def edited(state: Any) -> Any:
        return {"messages": [AIMessage("Edited.", id=state["messages"][-1].id)]}

    builder: Any = StateGraph(MessagesState)
    for name in ("a", "b"):
        write = edited if name == edits else lambda state: {"messages": state["messages"][-1:]}
        policy = CachePolicy(key_func=lambda _: "same") if name == cached else None
        builder.add_node(name, write, cache_policy=policy)
        builder.add_edge(START, name)
    graph = builder.compile(cache=InMemoryCache())
    graph.invoke({"messages": [AIMessage("First.", id="m")]})
    return graph


@pytest.mark.parametrize(
    ("cached", "edits", "in_a_graph"),
    [(cached, edits, inside) for cached in "ab" for edits in "ab" for inside in (False, True)],
)
def test_of_a_cached_and_a_live_task_that_write_one_message_the_reader_has_the_list_s(
    cached: str, edits: str, in_a_graph: bool
) -> None:
    """It keeps the one whose name is last, though it returns the message as it was given."""
    first: Any = {"messages": [AIMessage("First.", id="m")]}
    graph = edits_beside(cached, edits)
    plain, asked = (chain(lambda _: first, graph), ASKED) if in_a_graph else (graph, first)
    said = list(exactly(plain).stream(asked, stream_mode="messages", subgraphs=True))
    wanted = plain.invoke(asked)["messages"][-1].text
    assert folded([message for _, message in said]).get("m", "First.") == wanted


def test_a_state_of_a_graph_beside_does_not_tell_what_the_list_keeps() -> None:
    """It shows the message as that graph was given it, before the list is written."""
    edits = edits_beside("a", "a").nodes["a"].bound
    builder: Any = StateGraph(MessagesState)
    builder.add_node("a", edits, cache_policy=CachePolicy(key_func=lambda _: "same"))
    builder.add_node("b", chain(lambda state: {"messages": state["messages"][-1:]}))
    builder.add_edge(START, "a").add_edge(START, "b")
    graph, first = builder.compile(cache=InMemoryCache()), AIMessage("First.", id="m")
    assert graph.invoke({"messages": [first]})["messages"] == [first]
    said = exactly(graph).stream({"messages": [first]}, stream_mode="messages", subgraphs=True)
    assert folded([message for _, message in said]).get("m", "First.") == "First."


def test_of_equal_answers_each_stands_for_itself() -> None:
    """One came whole, one did not come: the one that came is not taken for the other."""
    builder: Any = StateGraph(MessagesState)
    for name in ("a", "b", "c"):
        builder.add_node(name, says("ok"))
        builder.add_edge(START, name)
    graph = exactly(chain(builder.compile(), says("Bye.")).copy({"checkpointer": InMemorySaver()}))
    asked: Any = {"stream_mode": "messages", "subgraphs": True}
    stream: Any = graph.stream(ASKED, THREAD, **asked)
    before = list(itertools.islice(stream, 4))
    stream.close()
    later = list(graph.stream(None, THREAD, **asked))
    told = folded(chunk for _, chunk in [*before, *later])
    assert list(told.values()) == ["ok", "ok", "ok", "Bye."]


class TestPairs:
    """A node that returns (role, text): the reducer makes a message of it, and its id."""

    def test_of_two_cached_pairs_the_one_that_is_edited_is_replaced(self) -> None:
        pairs = lambda _: {"messages": [("ai", "One."), ("ai", "Two.")]}  # noqa: E731  # a node
        edits = lambda s: {"messages": [AIMessage("Edited.", id=s["messages"][2].id)]}  # noqa: E731  # short, and named once
        chunks = exactly(chain(pairs, edits)).stream(ASKED, stream_mode="messages")
        assert list(folded(chunks).values()) == ["One.", "Edited."]

    def test_a_pair_of_the_cache_has_an_id(self) -> None:
        cached = CachedParts("messages", Ledger(), is_default_key, has_cache=True)
        update = {"n": {"messages": [("ai", "One.")]}, "__metadata__": {"cached": True}}
        (said,) = cached.expand(Part((), "updates", update))
        assert said.data.id

    def test_a_pair_that_is_edited_in_a_later_stream_is_the_one_that_was_shown(self) -> None:
        def edits(state: Any) -> Any:
            return {"messages": [AIMessage("Edited.", id=state["messages"][1].id)]}

        def node(state: Any) -> Any:
            return edits(state) if len(state["messages"]) > 2 else {"messages": [("ai", "First.")]}

        graph = exactly(chain(node).copy({"checkpointer": InMemorySaver()}))
        before = list(graph.stream(ASKED, THREAD, stream_mode="messages"))
        later = list(graph.stream(ASKED, THREAD, stream_mode="messages"))
        assert list(folded([*before, *later]).values()) == ["Edited."]


def test_after_a_process_died_what_came_is_known_by_its_id_first() -> None:
    """Nothing told what else was said then; of two equal answers one came."""
    ledger = Ledger()
    chunk = AIMessageChunk(content="ok", id="a", chunk_position="last")
    came = Part(("g:1",), "messages", chunk, {"langgraph_checkpoint_ns": "g:1|n:1"})
    assert list(Deduplicator(ledger=ledger).feed(came)) == [came]

    dedup = Deduplicator(ledger=ledger)
    cached = CachedParts("messages", ledger, is_default_key, has_cache=False)
    both = [AIMessage("ok", id="b"), AIMessage("ok", id="a")]
    part = Part((), "updates", {"g": {"messages": both}, "__metadata__": {"cached": True}})
    later = [out for each in cached.expand(part) for out in dedup.feed(each)]
    told = folded([(out.data, out.meta) for out in [came, *later]])
    assert told == {"a": "ok", "b": "ok"}


def test_a_task_that_an_entrypoint_calls_has_its_update_in_each_round() -> None:
    """Of the tasks that are called, upstream repeats none."""

    policy: Any = CachePolicy(key_func=lambda *_: b"always")

    @task(cache_policy=policy)
    def looks() -> str:
        return "Price: 5."

    @entrypoint(checkpointer=InMemorySaver(), cache=InMemoryCache())
    def rounds(_: Any) -> list[str]:
        return [looks().result() + interrupt("Go on?") for _ in range(2)]

    graph, told = exactly(rounds), []
    resume: Any = Command(resume="Yes.")
    for asked in ("Begin.", resume):
        chunks = graph.stream(asked, THREAD, stream_mode="updates")
        told.append([key for chunk in chunks for key in chunk])
    assert told == [["looks", "__interrupt__"], ["looks", "__metadata__", "__interrupt__"]]


class TestElsewhere:
    """A stream stops amid a step, and the next begins at a node that a cache answers for."""

    @staticmethod
    def graph() -> Any:
        builder: Any = StateGraph(MessagesState)
        policy: Any = CachePolicy(key_func=lambda _: "always")
        builder.add_node("answers", lambda _: {"messages": [("ai", "Hi.")]}, cache_policy=policy)
        builder.add_node("asks", lambda _: interrupt("Go on?"))
        builder.add_edge(START, "answers").add_edge("answers", "asks")
        return builder.compile(cache=InMemoryCache(), checkpointer=InMemorySaver())

    @staticmethod
    def keys(chunks: Any) -> set[str]:
        return {key for chunk in chunks for key in chunk} - {"__metadata__"}

    @pytest.mark.parametrize("asked", [ASKED, Command(goto="answers")])
    def test_the_update_of_a_cached_answer_comes(self, asked: Any) -> None:
        graph = exactly(self.graph())
        for given in (ASKED, asked, asked):
            chunks = graph.stream(given, THREAD, stream_mode="updates")
            assert self.keys(chunks) == {"answers", "__interrupt__"}

    async def test_a_cached_answer_comes_once_after_a_change_of_the_state_too(self) -> None:
        graph = exactly(self.graph())
        for given in (ASKED, None, None):
            if given is None:
                graph.update_state(THREAD, {"messages": [("user", "Again.")]}, as_node=START)
            chunks = graph.stream(given, THREAD, stream_mode="updates")
            assert self.keys(chunks) == {"answers", "__interrupt__"}
        graph.update_state(THREAD, {"messages": [("user", "Again.")]}, as_node=START)
        later = [chunk async for chunk in graph.astream(None, THREAD, stream_mode="updates")]
        assert self.keys(later) == {"answers", "__interrupt__"}

    def test_a_filter_is_told(self) -> None:
        ledger, graph = Ledger(), self.graph()
        for _ in range(3):
            ledger.forget_updates()
            chunks = graph.stream(ASKED, THREAD, stream_mode="updates")
            told = dedup(chunks, stream_mode="updates", ledger=ledger)
            assert self.keys(told) == {"answers", "__interrupt__"}


class TestTurns:
    """A cached answer in a later turn of a thread is said again, though it is equal."""

    @staticmethod
    def graph(answer: Any) -> Any:
        builder: Any = StateGraph(MessagesState)
        policy: Any = CachePolicy(key_func=lambda _: "always")
        builder.add_node("answers", lambda _: {"messages": [answer()]}, cache_policy=policy)
        builder.add_edge(START, "answers")
        graph = builder.compile(cache=InMemoryCache(), checkpointer=InMemorySaver())
        graph.invoke(ASKED, {"configurable": {"thread_id": "before"}})
        return graph

    @pytest.mark.parametrize("answer", [lambda: ("ai", "Hi."), lambda: AIMessage("Hi.", id="1")])
    def test_updates_are_those_of_the_plain_graph(self, answer: Any) -> None:
        plain = self.graph(answer)
        wrapped = exactly(plain.copy({"checkpointer": InMemorySaver()}))
        for _ in range(3):
            streams = (g.stream(ASKED, THREAD, stream_mode="updates") for g in (plain, wrapped))
            expected, told = (list(map(str, stream)) for stream in streams)
            assert told == expected

    @pytest.mark.parametrize("modes", ["messages", ["messages", "updates"]])
    def test_messages_hold_it_as_often_as_the_state(self, modes: Any) -> None:
        graph = exactly(self.graph(lambda: ("ai", "Hi.")))
        said: list[Any] = []
        for _ in range(3):
            chunks = list(graph.stream(ASKED, THREAD, stream_mode=modes))
            said += chunks if modes == "messages" else [d for m, d in chunks if m == "messages"]
        assert list(folded(said).values()) == ["Hi."] * 3
        assert not any(isinstance(message, RemoveMessage) for message, _ in said)

    def test_a_filter_finds_that_the_turn_before_ended(self) -> None:
        ledger, graph = Ledger(), self.graph(lambda: ("ai", "Hi."))
        for _ in range(3):
            chunks = graph.stream(ASKED, THREAD, stream_mode="updates")
            assert list(dedup(chunks, stream_mode="updates", ledger=ledger))
