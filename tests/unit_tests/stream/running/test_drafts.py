"""Drafts: what a model streamed and no task put into the state is marked as such."""

from __future__ import annotations

import contextlib
import operator
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt
from typing_extensions import TypedDict

from langgraph_once import ChannelStreamingProcessor, DedupConfig, TokenStreamingConfig, dedup
from langgraph_once.events import MessageCompletedEvent, TokenStreamEvent
from langgraph_once.stream import v2_part
from langgraph_once.stream.annotation import annotation_of
from tests.corpus.models import answers
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, folded, model, nested, says, says_copy

RETRY = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ValueError)


def thinks(text: str, answer: str = "Public.") -> Any:
    """A node that streams one thing and returns another."""

    def node(state: Any) -> Any:
        model(text).invoke(state["messages"])
        return {"messages": [AIMessage(answer)]}

    return node


def streamed(graph: Any, config: DedupConfig | None = None, **options: Any) -> list[Any]:
    return list(exactly(graph, config).stream(ASKED, stream_mode="messages", **options))


def marked(chunks: list[Any]) -> list[str]:
    """The texts of the messages that are marked, in the order of their marks."""
    texts: dict[str, str] = {}
    found = []
    for message, meta in chunks:
        texts[message.id] = texts.get(message.id, "") + str(message.text)
        if (note := annotation_of(meta)) is not None and note.get("draft"):
            assert (type(message), message.text) == (AIMessageChunk, "")
            assert message.chunk_position == "last"
            found.append(texts[message.id])
    return found


class TestWhatIsADraft:
    def test_what_a_node_streams_and_does_not_return(self) -> None:
        chunks = streamed(chain(thinks("To be or not.")))
        assert marked(chunks) == ["To be or not."]
        assert list(folded(chunks).values()) == ["To be or not.", "Public."]

    def test_the_mark_bears_the_metadata_of_its_message(self) -> None:
        *_, (mark, meta) = streamed(chain(thinks("To be or not.")))
        first, first_meta = streamed(chain(thinks("To be or not.")))[0]
        assert type(first) is type(mark)
        assert meta.keys() == first_meta.keys()
        assert meta["once"].keys() == {*first_meta["once"], "draft"}

    @pytest.mark.parametrize("node", [says("Hello."), says_copy("Hello."), nested(says("Hi."), 2)])
    def test_a_message_that_enters_the_state_is_no_draft(self, node: Any) -> None:
        chunks = streamed(chain(node), subgraphs=True)
        assert marked([chunk for _, chunk in chunks]) == []

    def test_what_a_child_says_in_vain_is_one_when_its_parent_has_ended(self) -> None:
        child = chain(thinks("Deep thought."))

        def parent(state: Any) -> Any:
            return {"messages": [AIMessage(f"It said {len(child.invoke(state))}.")]}

        chunks = [chunk for _, chunk in streamed(chain(parent), subgraphs=True)]
        assert marked(chunks) == ["Deep thought."]
        assert chunks[-1][0].text == ""
        assert chunks[-1][1]["langgraph_checkpoint_ns"].count("|") == 1

    def test_what_the_parent_returns_of_its_childs_words_is_none(self) -> None:
        class Answer(TypedDict):
            messages: Annotated[list[AnyMessage], operator.add]
            answer: str

        builder = StateGraph(Answer)
        builder.add_node("n", lambda s: {"answer": model("Deep thought.").invoke("?").text})
        child = builder.add_edge(START, "n").compile()

        def parent(state: Any) -> Any:
            return {"messages": [AIMessage(child.invoke(state)["answer"])]}

        chunks = [chunk for _, chunk in streamed(chain(parent), subgraphs=True)]
        assert (marked(chunks), list(folded(chunks).values())) == ([], ["Deep thought."])

    def test_the_same_text_streamed_twice_and_returned_once(self) -> None:
        def node(state: Any) -> Any:
            answers = [model("ok").invoke("?") for _ in range(2)]
            return {"messages": answers[1:]}

        chunks = streamed(chain(node))
        assert marked(chunks) == ["ok"]
        assert list(folded(chunks).values()) == ["ok", "ok"]

    def test_a_message_said_again_unchanged_in_a_later_turn_is_none(self) -> None:
        def node(state: Any) -> Any:
            return {"messages": [answers(AIMessage("ok", id="fixed")).invoke("?")]}

        graph = exactly(chain(node).copy({"checkpointer": InMemorySaver()}))
        config: Any = {"configurable": {"thread_id": "1"}}
        for _ in range(2):
            assert marked(list(graph.stream(ASKED, config, stream_mode="messages"))) == []


class TestAttempts:
    @pytest.mark.parametrize("policy", ["retract", "hold"])
    def test_an_attempt_that_failed(self, policy: Any) -> None:
        words = iter(["First.", "Second."])

        def node(state: Any) -> Any:
            answer = model(text := next(words)).invoke("?")
            if text == "First.":
                raise ValueError
            return {"messages": [answer]}

        graph = chain(node)
        graph.nodes["n0"].retry_policy = [RETRY]
        chunks = streamed(graph, DedupConfig(reexecution=policy))
        assert marked(chunks) == []
        assert list(folded(chunks).values()) == ["Second."]

    def test_a_task_that_has_not_ended_may_return_it_yet(self) -> None:
        def node(state: Any) -> Any:
            model("Thinking.").invoke("?")
            return {"messages": [AIMessage(interrupt("?"))]}

        graph = exactly(chain(node).copy({"checkpointer": InMemorySaver()}))
        config: Any = {"configurable": {"thread_id": "1"}}
        asked = list(graph.stream(ASKED, config, stream_mode="messages"))
        assert marked(asked) == []
        resumed = list(graph.stream(Command(resume="Yes."), config, stream_mode="messages"))
        assert marked(resumed) == ["Thinking."]

    def test_nor_is_anything_marked_when_the_graph_dies(self) -> None:
        def node(state: Any) -> Any:
            model("Thinking.").invoke("?")
            raise ValueError

        chunks: list[Any] = []
        with contextlib.suppress(ValueError):
            chunks.extend(exactly(chain(node)).stream(ASKED, stream_mode="messages"))
        assert marked(chunks) == []


class TestReaders:
    def test_a_second_deduplicator_lets_the_mark_through_and_loses_nothing(self) -> None:
        plain = exactly(chain(thinks("To be or not."))).stream(ASKED, stream_mode="messages")
        chunks = list(dedup(plain, stream_mode="messages"))
        assert marked(chunks) == ["To be or not."]
        assert list(folded(chunks).values()) == ["To be or not.", "Public."]

    async def test_typed_events_tell_the_message_once(self) -> None:
        graph = exactly(chain(thinks("To be or not.")))
        processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())
        events = [event async for event in processor.stream(graph, ASKED)]
        done = [e.message.text for e in events if isinstance(e, MessageCompletedEvent)]
        assert done == ["To be or not.", "Public."]
        told = [e.content_delta for e in events if isinstance(e, TokenStreamEvent)]
        assert "".join(told) == "To be or not.Public."

    @pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
    def test_in_v3_the_mark_is_on_the_channel_alone(self) -> None:
        graph = exactly(chain(thinks("To be or not.")))
        run: Any = graph.stream_events(ASKED, version="v3")
        parts = [v2_part(chunk) for chunk in run.extensions["once"]]
        assert marked([(p.data, p.meta) for p in parts if p.mode == "messages"]) == [
            "To be or not."
        ]
        run = graph.stream_events(ASKED, version="v3")
        assert [str(message.text) for message in run.messages] == ["To be or not.", "Public."]
        events: Any = list(graph.stream_events(ASKED, version="v3"))
        said = [e["params"]["data"][0] for e in events if e["method"] == "messages"]
        assert not [message for message in said if isinstance(message, AIMessageChunk)]
