"""A hidden message stays hidden, whatever becomes of it; and who says the same is heard."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    RemoveMessage,
    ToolMessage,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import push_message
from langgraph.types import Command, RetryPolicy, interrupt

from graphs.models import ScriptedChatModel
from langgraph_once import DedupConfig, Deduplicator, Ledger, dedup
from langgraph_once.stream import Part
from langgraph_once.stream.chunk_filter import first_chunk
from langgraph_once.stream.forms import ExactForm
from langgraph_once.stream.install import HidingMessagesHandler
from langgraph_once.stream.run import Run
from tests.exact import exactly
from tests.unit_tests.stream.scenes import (
    ASKED,
    BYE,
    NOTE,
    PLAN,
    asks,
    chain,
    copies,
    folded,
    graph_of,
    messages_in,
    model,
    says,
    tagged,
    writes,
)

THREAD: Any = {"configurable": {"thread_id": "1"}}


def heard(graph: Any, hide: Any, asked: Any = ASKED, **options: Any) -> list[BaseMessage]:
    wrapped = graph if (hide is None) else exactly(graph, DedupConfig(hide=hide))
    return [chunk[0] for chunk in wrapped.stream(asked, stream_mode="messages", **options)]


def fails_once(node: Any) -> Any:
    ran: list[int] = []

    def run(state: Any) -> Any:
        ran.append(1)
        found = node(state)
        if len(ran) == 1:
            raise ValueError
        return found

    return run


@pytest.mark.parametrize("node", [asks(tagged(PLAN, "nostream", "draft")), copies])
@pytest.mark.parametrize("is_filter", [False, True], ids=["once", "dedup"])
def test_a_retry_takes_nothing_back_that_was_not_said(node: Any, is_filter: bool) -> None:
    graph = graph_of(draft=fails_once(node), talk=says(BYE)).compile()
    hide = {"tags": ["draft"]} if not is_filter else {"nodes": ["draft"]}
    if is_filter:
        asked: Any = {"stream_mode": "messages"}
        plain = dedup(graph.stream(ASKED, **asked), config=DedupConfig(hide=hide), **asked)
        said: list[Any] = [message for message, _ in plain]
    else:
        said = heard(graph, hide)
    assert not [message for message in said if isinstance(message, RemoveMessage)]
    assert "".join(str(message.text) for message in said) == BYE


def last(state: Any) -> BaseMessage:
    found: BaseMessage = state["messages"][-1]
    return found


def edits(text: str) -> Any:
    return lambda state: {"messages": [AIMessage(text, id=last(state).id)]}


def removes(state: Any) -> Any:
    return {"messages": [RemoveMessage(id=str(last(state).id))]}


@pytest.mark.parametrize("change", [edits("Edited."), removes], ids=["edit", "removal"])
class TestWhatBecomesOfIt:
    def test_what_becomes_of_a_hidden_message_is_not_told(self, change: Any) -> None:
        graph = graph_of(plan=says(PLAN), change=change, talk=says(BYE)).compile()
        said = heard(graph, {"nodes": ["plan"]})
        assert "".join(str(m.text) for m in said) == BYE
        assert not [message for message in said if isinstance(message, RemoveMessage)]

    def test_nor_in_a_later_run_of_its_thread(self, change: Any) -> None:
        graph = graph_of(plan=says(PLAN), change=change, talk=says(BYE))
        stopped: Any = graph.compile(checkpointer=InMemorySaver(), interrupt_before=["change"])
        wrapped = exactly(stopped, DedupConfig(hide={"nodes": ["plan"]}))
        assert heard(wrapped, None, config=THREAD) == []
        said = heard(wrapped, None, None, config=THREAD)
        assert "".join(str(m.text) for m in said) == BYE
        assert not [message for message in said if isinstance(message, RemoveMessage)]

    def test_what_becomes_of_a_message_that_was_heard_is_told_whoever_does_it(
        self, change: Any
    ) -> None:
        graph = graph_of(talk=says(BYE), change=change).compile()
        wrapped = exactly(graph, DedupConfig(hide={"nodes": ["change"]}))
        chunks = wrapped.stream(ASKED, stream_mode="messages")
        kept = graph.invoke(ASKED)["messages"][1:]
        assert list(folded(chunks).values()) == [str(message.text) for message in kept]


class TestOthersAreHeard:
    """Who says the same is not hidden with it."""

    def test_another_node_than_the_hidden_one_is_heard(self) -> None:
        graph = graph_of(plan=asks(tagged(BYE, "draft")), talk=writes(BYE))
        assert "".join(str(m.text) for m in heard(graph.compile(), {"tags": ["draft"]})) == BYE

    def test_another_model_of_the_same_node(self) -> None:
        def node(state: Any) -> Any:
            tagged("Yes.", "draft").invoke(state["messages"])
            return {"messages": [model("Yes.").invoke(state["messages"])]}

        assert "".join(str(m.text) for m in heard(chain(node), {"tags": ["draft"]})) == "Yes."

    def test_a_second_copy_of_a_message_that_was_heard(self) -> None:
        """A hidden text stands for one copy, as any does."""

        def node(state: Any) -> Any:
            text = str(tagged("Yes.", "draft").invoke(state["messages"]).text)
            return {"messages": [AIMessage(text), AIMessage(text)]}

        assert [str(m.text) for m in heard(chain(node), {"tags": ["draft"]})] == ["Yes."]

    def test_a_copy_that_comes_before_the_hidden_message_itself(self) -> None:
        def node(state: Any) -> Any:
            hidden = tagged("Yes.", "draft").invoke(state["messages"])
            return {"messages": [AIMessage("Yes."), hidden]}

        assert [str(m.text) for m in heard(chain(node), {"tags": ["draft"]})] == ["Yes."]

    def test_such_a_copy_after_a_question_in_between(self) -> None:
        @task
        def draft() -> BaseMessage:
            hidden: BaseMessage = tagged("Yes.", "draft").invoke("?")
            return hidden

        @entrypoint(checkpointer=InMemorySaver())
        def flow(_: Any) -> list[BaseMessage]:
            hidden = draft().result()
            return [AIMessage(interrupt("?")), hidden]

        wrapped = exactly(flow, DedupConfig(hide={"tags": ["draft"]}))
        assert heard(wrapped, None, config=THREAD) == []
        said = heard(wrapped, None, Command(resume="Yes."), config=THREAD)
        assert [str(m.text) for m in said] == ["Yes."]

    def test_a_later_attempt_inside_a_graph_that_is_not_streamed(self) -> None:
        failures = [ValueError()]

        def node(state: Any) -> Any:
            if failures:
                tagged("Yes.", "draft").invoke(state["messages"])
                raise failures.pop()
            return {"messages": [AIMessage("Yes.")]}

        inner = chain(node)
        inner.nodes["n0"].retry_policy = [
            RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ValueError)
        ]
        assert [str(m.text) for m in heard(chain(inner), {"tags": ["draft"]})] == ["Yes."]

    def test_the_copy_of_both_is_of_the_one_that_was_heard(self) -> None:
        """So that states, which have it under a new id, do not say it again."""

        def node(state: Any) -> Any:
            tagged("Yes.", "draft").invoke(state["messages"])
            return {"messages": [AIMessage(str(model("Yes.").invoke(state["messages"]).text))]}

        config = DedupConfig(state="new_messages", hide={"tags": ["draft"]})
        asked: Any = {"stream_mode": ["messages", "values"]}
        chunks: Any = dedup(chain(node).stream(ASKED, **asked), config=config, **asked)
        said = [str(m.text) for _, data in chunks for m in messages_in(data)]
        assert "".join(said) == "Please begin.Yes."

    def test_a_message_that_was_heard_when_a_hidden_node_edits_it(self) -> None:
        dedup = Deduplicator(DedupConfig(hide={"nodes": ["m"]}))
        assert list(dedup.feed(part(AIMessage(PLAN, id="1"))))
        edited = part(AIMessage(BYE, id="1"), langgraph_checkpoint_ns="m:2", langgraph_step=2)
        kinds = [type(out.data) for out in dedup.feed(edited)]
        assert kinds == [RemoveMessage, AIMessage]

    def test_a_task_beside_a_hidden_one_is_heard(self) -> None:
        builder: Any = StateGraph(MessagesState)
        for name, made in {"open": model("Yes."), "shut": tagged("Yes.", "draft")}.items():
            builder.add_node(name, asks(made))
            builder.add_edge(START, name)
        said = heard(builder.compile(), {"tags": ["draft"]})
        assert "".join(str(m.text) for m in said) == "Yes."


def test_what_a_hidden_node_hands_on_is_not_hidden_with_what_it_says() -> None:
    """Its graph is not streamed, so that what it returns is all that is known of it."""
    team = graph_of(draft=lambda state: {"messages": state["messages"]}).compile()
    graph = graph_of(talk=says(BYE), team=team, change=edits("Edited.")).compile()
    wrapped = exactly(graph, DedupConfig(hide={"nodes": ["draft"]}))
    assert list(folded(wrapped.stream(ASKED, stream_mode="messages")).values()) == ["Edited."]


CALL = {"name": "look_up", "args": {}, "id": "call-1"}


def test_results_are_hidden_with_the_call_and_with_their_node() -> None:
    caller = ScriptedChatModel(script=lambda _: AIMessage("", tool_calls=[CALL]))
    graph = graph_of(
        plan=asks(caller.with_config(tags=["draft"])),
        tools=lambda _: {"messages": [ToolMessage("Found.", tool_call_id="call-1")]},
        talk=says(BYE),
    ).compile()
    assert {m.type for m in heard(graph, {"tags": ["draft"]})} == {"AIMessageChunk"}
    assert {m.type for m in heard(graph, {"tags": ["x"]})} == {"AIMessageChunk", "tool"}
    assert {m.type for m in heard(graph, {"nodes": ["tools"]})} == {"AIMessageChunk"}


def test_what_a_hidden_node_pushes_is_hidden() -> None:
    def node(state: Any) -> Any:
        push_message(AIMessage(NOTE, id="note"))
        return {}

    graph = graph_of(note=node, talk=says(BYE)).compile()
    assert "".join(str(m.text) for m in heard(graph, {"nodes": ["note"]})) == BYE


@pytest.mark.parametrize("subgraphs", [False, True])
def test_what_a_hidden_model_hands_to_the_graph_around_stays_hidden(subgraphs: bool) -> None:
    """LangGraph raises the command: the task ends in an error that is no failure."""

    def hands_over(state: Any) -> Any:
        answer = tagged(PLAN, "draft").invoke(state["messages"])
        return Command(graph=Command.PARENT, update={"messages": [AIMessage(str(answer.text))]})

    graph = graph_of(team=chain(hands_over), talk=says(BYE)).compile()
    chunks: Any = exactly(graph, DedupConfig(hide={"tags": ["draft"]})).stream(
        ASKED, stream_mode=["messages"], subgraphs=subgraphs
    )
    assert "".join(str(data[0].text) for *_, data in chunks) == BYE


def test_a_hidden_fallback_takes_the_place_of_what_failed() -> None:
    class Breaks(ScriptedChatModel):
        def _stream(self, *args: Any, **kwargs: Any) -> Any:
            yield from list(super()._stream(*args, **kwargs))[:1]
            raise ValueError

    breaks = Breaks(script=lambda _: AIMessage("It breaks off."))
    graph = chain(asks(breaks.with_fallbacks([tagged(PLAN, "draft")])))
    wrapped = exactly(graph, DedupConfig(hide={"tags": ["draft"]}))
    assert folded(wrapped.stream(ASKED, stream_mode="messages")) == {}


def says_text_of(made: Any) -> Any:
    return lambda state: {"messages": [AIMessage(str(made.invoke(state["messages"]).text))]}


@pytest.mark.parametrize("returned", [asks, says_text_of], ids=["itself", "a-copy"])
def test_what_upstream_does_not_stream_is_told_with_its_tags(returned: Any) -> None:
    """So that a client may hide it where the graph hides nothing."""
    graph = exactly(
        chain(returned(tagged(PLAN, "nostream", "x")), asks(model(BYE).with_config(run_name="y")))
    )
    chunks: Any = graph.stream(ASKED, stream_mode="messages")
    told: Any = {str(message.text): metadata["once"] for message, metadata in chunks}
    assert set(told[PLAN]["tags"]) == {"nostream", "x"}
    assert told["Bye."]["name"] == "y"
    assert not any("hidden" in note for note in told.values())


class TestTheLedgerOfWhatIsHidden:
    def test_goes_on_as_bytes(self) -> None:
        config = DedupConfig(hide={"tags": ["draft"]})
        before = Ledger()
        said = AIMessage(PLAN, id="1")
        assert not list(Deduplicator(config, ledger=before).feed(part(said, tags=["draft"])))
        after = Ledger.from_bytes(before.to_bytes())
        edited = part(AIMessage(BYE, id="1"), langgraph_checkpoint_ns="m:2")
        assert not list(Deduplicator(config, ledger=after).feed(edited))
        assert list(Deduplicator(config, ledger=after).feed(part(AIMessage(BYE, id="2"))))

    def test_is_bounded_and_counted(self) -> None:
        ledger = Ledger()
        ledger.hidden = Ledger(max_messages=2)
        dedup = Deduplicator(DedupConfig(hide={"tags": ["draft"]}), ledger=ledger)
        for number in range(5):
            assert not list(dedup.feed(part(AIMessage(PLAN, id=str(number)), tags=["draft"])))
        assert dedup.ledger.hidden is not None
        assert (len(dedup.ledger.hidden), len(dedup.ledger), dedup.stats.hidden) == (2, 0, 5)

    def test_there_is_none_where_nothing_is_hidden(self) -> None:
        assert Deduplicator().ledger.hidden is None


def part(message: BaseMessage, **meta: Any) -> Part:
    placed = {"langgraph_checkpoint_ns": "n:1", "langgraph_step": 1, **meta}
    return Part((), "messages", message, placed)


def test_no_token_of_a_hidden_model_leaves_the_handler() -> None:
    graph, sent = chain(asks(tagged("One two three.", "draft"))), list[Any]()
    made = (HidingMessagesHandler(each, True) for each in [sent.append])
    run = Run(graph, DedupConfig(hide={"tags": ["draft"]}), ExactForm())
    (handler,) = first_chunk(made, run.pending())
    graph.invoke(ASKED, {"callbacks": [handler]})
    told = [data for _, _, data in sent]
    assert not [message for message, _ in told if isinstance(message, AIMessageChunk)]
    assert any(metadata["once"].get("hidden") for _, metadata in told)
