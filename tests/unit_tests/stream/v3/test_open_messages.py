"""v3: a message whose model died ends as void where it is taken back, and no other does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.types import RetryPolicy
from langgraph_sdk.stream.decoders import MessagesDecoder

from langgraph_once import DedupConfig, once
from langgraph_once.config import READER_KEY
from langgraph_once.stream import v2_part
from langgraph_once.stream.v3 import VOID
from tests.corpus.models import BrokenConnectionError, answers
from tests.corpus.screen import SERVED
from tests.unit_tests.stream.scenes import ASKED, chain, fan_out, folded, says

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)

RETRY = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=Exception, max_attempts=2)
BROKEN, SECOND = "One two three four.", "Another answer."
Shown = list[tuple[str, bool]]
"""Each message of `run.messages`: its text, and whether it is void."""


def asks(*replies: str | AIMessage, **how: Any) -> Any:
    """A node that returns what its model streams."""
    model = answers(*replies, **how)
    return lambda state: {"messages": [model.invoke(state["messages"])]}


def fails_after(*replies: str) -> Any:
    """A node that fails once, when its model has finished."""
    model, dies = answers(*replies), iter([True, False])

    def node(state: Any) -> Any:
        answer = model.invoke(state["messages"])
        if next(dies):
            raise ValueError
        return {"messages": [answer]}

    return node


def retried(node: Any) -> Any:
    graph = chain(says("First."), node)
    graph.nodes["n1"].retry_policy = [RETRY]
    return graph


def is_void(message: AIMessage | None) -> bool:
    return message is not None and "void" in message.response_metadata.get("once", {})


def read(messages: Iterable[Any]) -> Shown:
    """As who knows nothing of attempts reads: nothing raises."""
    return [("".join(message.text), is_void(message.output_message)) for message in messages]


async def aread(messages: Any) -> Shown:
    return [
        ("".join([piece async for piece in message.text]), is_void(await message))
        async for message in messages
    ]


def payloads(graph: Any, config: Any = None) -> list[Any]:
    events = list(graph.stream_events(ASKED, config, version="v3"))
    return [event["params"]["data"][0] for event in events if event["method"] == "messages"]


def voided(told: Iterable[Any]) -> list[str]:
    """The ids of the messages that ended as void."""
    return [each["id"] for each in told if isinstance(each, dict) and each.get("metadata") == VOID]


def removed(told: Iterable[Any]) -> list[str]:
    return [str(each.id) for each in told if isinstance(each, RemoveMessage)]


class TestOneThatDies:
    @pytest.mark.parametrize(("at", "text"), [(0, None), (1, ""), (2, "One"), (4, "One two three")])
    async def test_a_message_that_dies_at_any_piece_is_followed_by_its_successor(
        self, at: int, text: str | None
    ) -> None:
        def graph() -> Any:
            return once(retried(asks(BROKEN, SECOND, breaks={0: at})))

        dead = [] if text is None else [(text, True)]
        expected = [("First.", False), *dead, (SECOND, False)]
        run: Any = graph().stream_events(ASKED, version="v3")
        assert read(run.messages) == expected
        arun: Any = await graph().astream_events(ASKED, version="v3")
        assert await aread(arun.messages) == expected

    def test_the_end_of_a_message_that_dies_comes_at_once_and_its_successor_streams(self) -> None:
        """Upstream, who reads a message that is left open waits for the end of the run."""
        graph = once(retried(asks(BROKEN, SECOND, breaks={0: 3})))
        run: Any = graph.stream_events(ASKED, version="v3")
        shown = iter(run.messages)
        next(shown)
        assert is_void(next(shown).output)
        assert not next(shown).done

    def test_the_once_channel_agrees_on_a_message_that_died(self) -> None:
        graph = once(retried(asks(BROKEN, SECOND, breaks={0: 3})))
        run: Any = graph.stream_events(ASKED, version="v3")
        parts = [v2_part(chunk) for chunk in run.extensions["once"]]
        said = [(part.data, part.meta) for part in parts if part.mode == "messages"]
        assert list(folded(said).values()) == ["First.", SECOND]
        assert all(not isinstance(message, dict) for message, _ in said)

    def test_the_events_tell_it_before_the_removal_and_under_its_id(self) -> None:
        told = payloads(once(retried(asks(BROKEN, SECOND, breaks={0: 3}))))
        assert voided(told) == removed(told)
        at = next(i for i, each in enumerate(told) if voided([each]))
        assert isinstance(told[at + 1], RemoveMessage)

    def test_an_open_message_that_dies_ends_with_a_fallback_and_a_retried_model_too(self) -> None:
        broken, well = answers(BROKEN, breaks={0: 3}), answers(SECOND)
        again = answers(BROKEN, SECOND, breaks={0: 3}).with_retry(
            wait_exponential_jitter=False, stop_after_attempt=2
        )
        for model in (broken.with_fallbacks([well]), again):
            graph = once(chain(lambda _, model=model: {"messages": [model.invoke("?")]}))
            run: Any = graph.stream_events(ASKED, version="v3")
            assert read(run.messages) == [("One two", True), (SECOND, False)]

    @pytest.mark.parametrize("inside", [True, False])
    async def test_an_open_message_dies_in_a_subgraph_that_its_node_runs_again(
        self, inside: bool
    ) -> None:
        def graph() -> Any:
            child = chain(says("First."), asks(BROKEN, SECOND, breaks={0: 3}))
            if inside:
                child.nodes["n1"].retry_policy = [RETRY]
                return once(chain(child))
            outer = chain(child)
            outer.nodes["n0"].retry_policy = [RETRY]
            return once(outer)

        told = payloads(graph())
        (failed,) = voided(told)
        assert failed in removed(told)
        run: Any = graph().stream_events(ASKED, version="v3")
        shown = [each for handle in run.subgraphs for each in read(handle.messages)]
        assert shown[:2] == [("First.", False), ("One two", True)]
        # Upstream projects no second run of a graph in one task.
        assert shown[2:] == ([(SECOND, False)] if inside else [])
        arun: Any = await graph().astream_events(ASKED, version="v3")
        ashown = []
        async for handle in arun.subgraphs:
            ashown += await aread(handle.messages)
        assert ashown == shown

    def test_an_open_message_dies_in_one_of_parallel_tasks_with_equal_ids(self) -> None:
        texts = (BROKEN, SECOND, BROKEN, "Yet another one.")
        replies = [AIMessage(text, id="same") for text in texts]
        graph = fan_out(asks(*replies, breaks={1: 3}), times=3)
        graph.nodes["worker"].retry_policy = [RETRY]
        run: Any = once(graph).stream_events(ASKED, version="v3")
        shown = read(run.messages)
        assert [failed for _, failed in shown].count(True) == 1
        assert len(shown) == 4


class TestOthers:
    @pytest.mark.parametrize("policy", ["retract", "hold"])
    async def test_what_had_ended_stands_and_the_removal_tells(self, policy: Any) -> None:
        def graph() -> Any:
            return once(retried(fails_after("One two.", SECOND)), DedupConfig(reexecution=policy))

        expected = [("First.", False), ("One two.", False), (SECOND, False)]
        run: Any = graph().stream_events(ASKED, version="v3")
        assert read(run.messages) == expected
        arun: Any = await graph().astream_events(ASKED, version="v3")
        assert await aread(arun.messages) == expected
        told = payloads(graph())
        assert voided(told) == []
        (gone,) = removed(told)
        begun = [each["id"] for each in told if isinstance(each, dict) and "role" in each]
        assert begun.index(gone) == 1

    def test_the_last_attempt_fails_with_what_the_run_fails_with(self) -> None:
        graph = once(retried(asks(BROKEN, SECOND, breaks={0: 3, 1: 3})))
        run: Any = graph.stream_events(ASKED, version="v3")
        shown = iter(run.messages)
        next(shown)
        assert is_void(next(shown).output)
        with pytest.raises(BrokenConnectionError):
            list(next(shown).text)


class TestOverANetwork:
    @pytest.mark.parametrize("announced", [True, False])
    def test_a_stock_reader_is_sent_no_mark(self, announced: bool) -> None:
        graph = once(retried(asks(BROKEN, SECOND, breaks={0: 3})))
        config = {**SERVED, "configurable": {READER_KEY: True} if announced else {}}
        assert len(voided(payloads(graph, config))) == announced

    def test_the_sdk_ends_the_message_that_died(self) -> None:
        """The wire has no metadata; two are open, and the end names its message."""
        replies = [AIMessage(BROKEN, id="a"), AIMessage(SECOND, id="b"), AIMessage("Cc.")]
        graph = fan_out(asks(*replies, breaks={0: 3}), times=2)
        graph.nodes["worker"].retry_policy = [RETRY]
        config = {**SERVED, "configurable": {READER_KEY: True}}
        told = payloads(once(graph), config)
        (failed,) = voided(told)
        decoder = MessagesDecoder([], _Stream)
        decoded = [
            message
            for data in told
            for message in decoder.feed(
                {"method": "messages", "params": {"namespace": [], "data": data}}
            )
        ]
        assert [m.id for m in decoded if m.is_void] == [failed]


class _Stream:
    """What the SDK's decoder makes of the events of one message."""

    def __init__(self, *, message_id: str, **_: Any) -> None:
        self.id = message_id
        self.is_void = False

    def dispatch(self, event: Any) -> None:
        self.is_void = event.get("metadata") == VOID
