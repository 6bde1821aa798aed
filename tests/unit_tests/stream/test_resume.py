"""What the consumer has survives the stream: resumes, other processes, forks, crashes."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from langgraph_once import DedupConfig
from langgraph_once.stream import InMemoryStreamStateStore, StreamAddress, StreamStateStore
from tests.exact import exactly
from tests.unit_tests.stream.scenes import (
    ASKED,
    chain,
    folded,
    model,
    says,
)

THREAD: Any = {"configurable": {"thread_id": "1"}}
MESSAGES: Any = {"stream_mode": "messages"}


def asks(state: Any) -> Any:
    """Streams, then asks the human: on resume it streams again."""
    answer = model("Before the question.").invoke(state["messages"])
    return {"messages": [answer, AIMessage(interrupt("Go on?"))]}


def graph_of(*nodes: Any) -> Any:
    return chain(*nodes).copy({"checkpointer": InMemorySaver()})


def texts_of(*streams: Any) -> list[str]:
    """What a consumer has in the end that folds the streams one after the other."""
    return list(folded([chunk for stream in streams for chunk in stream]).values())


class TestInterrupts:
    def test_a_resume_takes_back_what_the_node_says_again(self) -> None:
        graph = exactly(graph_of(asks))
        one = list(graph.stream(ASKED, THREAD, **MESSAGES))
        two = list(graph.stream(Command(resume="Yes."), THREAD, **MESSAGES))
        assert isinstance(two[0][0], RemoveMessage)
        assert texts_of(one, two) == ["Before the question.", "Yes."]

    def test_hold_withholds_what_is_repeated(self) -> None:
        graph = exactly(graph_of(asks), DedupConfig(reexecution="hold"))
        one = list(graph.stream(ASKED, THREAD, **MESSAGES))
        two = list(graph.stream(Command(resume="Yes."), THREAD, **MESSAGES))
        assert not any(isinstance(message, RemoveMessage) for message, _ in two)
        assert texts_of(one, two) == ["Before the question.", "Yes."]

    def test_hold_takes_back_when_the_words_differ(self) -> None:
        words = iter(["Before one.", "Before two."])

        def node(state: Any) -> Any:
            answer = model(next(words)).invoke(state["messages"])
            return {"messages": [answer, AIMessage(interrupt("Go on?"))]}

        graph = exactly(graph_of(node), DedupConfig(reexecution="hold"))
        one = list(graph.stream(ASKED, THREAD, **MESSAGES))
        two = list(graph.stream(Command(resume="Yes."), THREAD, **MESSAGES))
        assert texts_of(one, two) == ["Before two.", "Yes."]

    async def test_an_async_resume_takes_back_what_the_node_says_again(self) -> None:
        graph = exactly(graph_of(asks))
        one = [chunk async for chunk in graph.astream(ASKED, THREAD, **MESSAGES)]
        two = [c async for c in graph.astream(Command(resume="Yes."), THREAD, **MESSAGES)]
        assert texts_of(one, two) == ["Before the question.", "Yes."]


class TestOtherProcesses:
    def test_a_store_that_is_shared_goes_on_where_the_other_stopped(self) -> None:
        plain, store = graph_of(asks), InMemoryStreamStateStore()
        one = list(exactly(plain, stream_state=store).stream(ASKED, THREAD, **MESSAGES))
        other = exactly(plain, stream_state=store)
        two = list(other.stream(Command(resume="Yes."), THREAD, **MESSAGES))
        assert texts_of(one, two) == ["Before the question.", "Yes."]

    def test_a_saver_that_keeps_ledgers_is_used_by_itself(self) -> None:
        class Saver(InMemorySaver, InMemoryStreamStateStore):
            def __init__(self) -> None:
                InMemorySaver.__init__(self)
                InMemoryStreamStateStore.__init__(self)

        plain = chain(asks).copy({"checkpointer": Saver()})
        one = list(exactly(plain).stream(ASKED, THREAD, **MESSAGES))
        two = list(exactly(plain).stream(Command(resume="Yes."), THREAD, **MESSAGES))
        assert texts_of(one, two) == ["Before the question.", "Yes."]

    def test_without_a_ledger_the_state_tells_what_was_said(self) -> None:
        plain = graph_of(says("First."), lambda s: {"messages": s["messages"]})
        config = DedupConfig(state="new_messages")
        options: Any = {"stream_mode": ["updates", "values"]}
        list(exactly(plain, config).stream(ASKED, THREAD, **options))
        asked = {"messages": [("user", "Again.")]}
        later = list(exactly(plain, config).stream(asked, THREAD, **options))
        told = [m.text for mode, data in later if mode == "values" for m in data["messages"]]
        assert "Please begin." not in told

    def test_damaged_bytes_are_a_fresh_start(self) -> None:
        class Damaged(InMemoryStreamStateStore):
            def load_stream_state(self, address: StreamAddress) -> bytes | None:
                return b"no ledger"

        graph = exactly(graph_of(asks), stream_state=Damaged())
        list(graph.stream(ASKED, THREAD, **MESSAGES))
        two = list(graph.stream(Command(resume="Yes."), THREAD, **MESSAGES))
        assert texts_of(two) == ["Before the question.", "Yes."]


class TestThePast:
    def test_a_replay_from_an_old_checkpoint_says_it_all_again(self) -> None:
        graph = exactly(graph_of(says("First."), says("Second.")))
        list(graph.stream(ASKED, THREAD, **MESSAGES))
        start = list(graph.get_state_history(THREAD))[-2]
        again = list(graph.stream(None, start.config, **MESSAGES))
        assert texts_of(again) == ["First.", "Second."]

    def test_a_fork_of_a_question_that_was_answered_says_all_of_it(self) -> None:
        """What was said before it stays: a ledger is of a thread, not of a checkpoint."""
        graph = exactly(graph_of(says("First."), asks))
        one = list(graph.stream(ASKED, THREAD, **MESSAGES))
        at_question = graph.get_state(THREAD).config
        yes = list(graph.stream(Command(resume="Yes."), THREAD, **MESSAGES))
        fork = list(graph.stream(None, at_question, **MESSAGES))
        assert texts_of(one, yes) == ["First.", "Before the question.", "Yes."]
        assert texts_of(fork) == ["Before the question."]

    def test_a_node_that_died_says_it_again_once(self) -> None:
        dies = iter([True, False])

        def node(state: Any) -> Any:
            answer = model("Hello there.").invoke(state["messages"])
            if next(dies):
                raise ValueError("died")
            return {"messages": [answer]}

        graph, chunks = exactly(graph_of(node)), []
        with pytest.raises(ValueError, match="died"):
            chunks.extend(graph.stream(ASKED, THREAD, **MESSAGES))
        later = list(graph.stream(None, THREAD, **MESSAGES))
        assert texts_of(chunks, later) == ["Hello there."]

    def test_a_consumer_that_leaves_early_loses_nothing(self) -> None:
        graph = exactly(graph_of(says("First words."), says("Second words.")))
        stream: Any = graph.stream(ASKED, THREAD, **MESSAGES)
        first = next(stream)
        stream.close()
        later = list(graph.stream(None, THREAD, **MESSAGES))
        told = texts_of([first], later)
        assert told[-1] == "Second words."
        assert isinstance(first[0], AIMessageChunk)


class TestTheStoreIsBounded:
    def kept(self, store: InMemoryStreamStateStore, threads: str) -> str:
        """Which of the ledgers of these threads are left, when all were saved."""
        for thread_id in threads:
            store.save_stream_state(StreamAddress(thread_id, ""), b"x" * 1_000)
        left = [t for t in threads if store.load_stream_state(StreamAddress(t, "")) is not None]
        return "".join(left)

    def test_the_store_in_memory_is_a_ledger_store(self) -> None:
        assert isinstance(InMemoryStreamStateStore(), StreamStateStore)

    def test_the_store_in_memory_keeps_the_threads_used_last(self) -> None:
        store = InMemoryStreamStateStore(max_threads=2)
        assert self.kept(store, "abc") == "bc"
        store.load_stream_state(StreamAddress("b", ""))
        assert self.kept(store, "d") == "d"
        assert store.load_stream_state(StreamAddress("c", "")) is None
        assert store.load_stream_state(StreamAddress("b", "")) is not None

    def test_the_store_in_memory_keeps_no_more_bytes_than_it_may(self) -> None:
        assert self.kept(InMemoryStreamStateStore(max_bytes=4_000), "abcc") == "bcc"

    def test_a_ledger_larger_than_the_store_may_be_is_kept_while_it_is_the_last(self) -> None:
        store = InMemoryStreamStateStore(max_bytes=10)
        assert self.kept(store, "a") == "a"
        assert self.kept(store, "ab") == "b"

    @pytest.mark.slow
    def test_many_short_runs_take_no_more_than_a_few_hundred_bytes_each(self) -> None:
        """And in the end no more at all: nothing else that they leave grows with them."""
        saver = InMemorySaver()
        plain = chain(says("First.")).copy({"checkpointer": saver})
        graph = exactly(plain, stream_state=InMemoryStreamStateStore(max_threads=20))

        def grown(runs: range) -> int:
            gc.collect()
            before, _ = tracemalloc.get_traced_memory()
            for run in runs:
                config: Any = {"configurable": {"thread_id": str(run)}}
                list(graph.stream(ASKED, config, **MESSAGES))
                saver.delete_thread(str(run))
            gc.collect()
            return tracemalloc.get_traced_memory()[0] - before

        tracemalloc.start()
        try:
            grown(range(30))
            # What leaks grows in each hundred; Python's own tables grow in one of them.
            assert any(grown(range(n, n + 100)) < 20_000 for n in (100, 200, 300))
        finally:
            tracemalloc.stop()


class Full(InMemoryStreamStateStore):
    """A store on a disk that is full, and cannot be read."""

    def load_stream_state(self, address: StreamAddress) -> bytes | None:
        raise OSError("damaged")

    async def aload_stream_state(self, address: StreamAddress) -> bytes | None:
        raise OSError("damaged")

    def save_stream_state(self, address: StreamAddress, data: bytes) -> None:
        raise OSError("disk full")

    async def asave_stream_state(self, address: StreamAddress, data: bytes) -> None:
        raise OSError("disk full")


def dies(state: Any) -> Any:
    raise ValueError("died")


class TestAStoreThatFails:
    def test_the_error_of_the_graph_is_the_one_that_is_raised(self, caplog: Any) -> None:
        with pytest.raises(ValueError, match="died"):
            list(exactly(graph_of(dies), stream_state=Full()).stream(ASKED, THREAD, **MESSAGES))
        assert "was not saved (OSError)" in caplog.text

    async def test_an_async_run_whose_store_fails_logs_it(self, caplog: Any) -> None:
        graph = exactly(graph_of(dies), stream_state=Full())
        with pytest.raises(ValueError, match="died"):
            [chunk async for chunk in graph.astream(ASKED, THREAD, **MESSAGES)]
        assert "was not saved (OSError)" in caplog.text

    @pytest.mark.parametrize("asynchronously", [False, True])
    async def test_no_run_fails_because_the_ledger_store_does(
        self, caplog: Any, asynchronously: bool
    ) -> None:
        graph = exactly(graph_of(says("First."), asks), stream_state=Full())
        told: list[Any] = []
        inputs: list[Any] = [ASKED, Command(resume="Yes.")]
        for asked in inputs:
            if asynchronously:
                told += [chunk async for chunk in graph.astream(asked, THREAD, **MESSAGES)]
            else:
                told += list(graph.stream(asked, THREAD, **MESSAGES))
        assert set(texts_of(told)) >= {"First.", "Yes."}
        for done in ("read", "saved"):
            assert f"was not {done} (OSError)" in caplog.text


def append(state: list[Any], new: list[list[Any]]) -> list[Any]:
    return [*state, *(item for items in new for item in items)]


class Delta(TypedDict):
    messages: Annotated[list[Any], DeltaChannel(append)]


@pytest.mark.parametrize("asynchronously", [False, True])
async def test_a_state_kept_in_pieces_counts_as_delivered(asynchronously: bool) -> None:
    """A checkpoint of a `DeltaChannel` holds what is new; the thread's state is all of it."""

    builder: Any = StateGraph(Delta)
    builder.add_node("n0", lambda state: {"messages": [AIMessage(f"{len(state['messages'])}.")]})
    builder.add_edge(START, "n0")
    plain = builder.compile(checkpointer=InMemorySaver())
    asked: Any = [{"messages": [HumanMessage(text)]} for text in ("One?", "Two?")]
    told = []
    for each in asked:  # in another process each time
        graph = exactly(plain, DedupConfig(state="new_messages"))
        config: Any = {"configurable": {"thread_id": "1"}}
        if asynchronously:
            told.append([s async for s in graph.astream(each, config, stream_mode="values")])
        else:
            told.append(list(graph.stream(each, config, stream_mode="values")))
    texts = [[m.text for state in states for m in state["messages"]] for states in told]
    assert texts == [["One?", "1."], ["Two?", "3."]]


@pytest.mark.parametrize("form", ["exact", "stock"])
def test_what_a_node_runs_under_its_own_name_is_not_the_node(form: Any) -> None:
    """A graph inside says more than its node returns; only that is in the state. Stock readers
    get what LangGraph sends them."""
    inner = chain(says("Between you and me."), says("The answer.")).with_config(run_name="n0")
    plain = chain(lambda state: {"messages": inner.invoke(state)["messages"][-1:]})
    told = folded(exactly(plain, DedupConfig(form=form)).stream(ASKED, stream_mode="messages"))
    upstream = folded(plain.stream(ASKED, stream_mode="messages"))
    assert list(upstream.values()) == ["Between you and me.", "The answer."]
    assert list(told.values()) == (["The answer."] if form == "exact" else list(upstream.values()))


def test_a_saver_behind_an_adapter_keeps_the_ledgers() -> None:
    """LangGraph Platform's hands on what it lacks by `__getattr__`."""

    class Adapter(InMemorySaver):
        def __init__(self) -> None:
            super().__init__()
            self.inner = InMemoryStreamStateStore()

        def __getattr__(self, name: str) -> Any:
            if name == "inner":
                raise AttributeError(name)
            return getattr(self.inner, name)

    saver = Adapter()
    plain = chain(says("First."), asks).copy({"checkpointer": saver})
    inputs: list[Any] = [ASKED, Command(resume="Yes.")]
    told = [exactly(plain).stream(each, THREAD, stream_mode="messages") for each in inputs]
    assert texts_of(*told) == ["First.", "Before the question.", "Yes."]
    assert saver.inner.load_stream_state(StreamAddress("1", ""))
