"""The law: after any number of streams, in one process or several, the transcript is the state.

Random programs of nodes that stream, call tools, edit, extend, redact, rename, fail and are tried
again, die, ask a human and nest.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, example, given, strategies as st
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from langgraph_once import once
from langgraph_once.events import (
    ChannelConfig,
    ChannelStreamingProcessor,
    Event,
    TokenStreamingConfig,
    Transcript,
    UsageEvent,
)
from tests.examples import examples
from tests.unit_tests.stream.scenes import ASKED, model
from tests.unit_tests.stream.test_law_graphs import NODES, TEXTS, THREAD, Script, answer_to

AGAIN: Any = {"messages": [("user", "Once more.")]}
CALLS = st.tuples(st.sampled_from(["calls", "calls_and_asks", "calls_whole"]), TEXTS)
CHANGES = st.tuples(st.sampled_from(["extends", "redacts", "renames", "cites"]), TEXTS)
PROGRAMS = st.lists(NODES | CALLS | CHANGES, min_size=1, max_size=5)


class Programs(Script):
    """Nodes that call tools, and that change what others said."""

    numbers = itertools.count()

    @functools.cached_property
    def made(self) -> Counter[str]:
        """How often each result of a call was returned. A call is answered anew if another message
        has taken the place of its result."""
        return Counter()

    def _result(self, text: str, call_id: str) -> ToolMessage:
        self.made[f"{call_id}: {text}"] += 1
        return ToolMessage(text, tool_call_id=call_id)

    def _calling(self, text: str, **how: Any) -> AIMessage:
        made: Any = {"name": "look", "args": {"q": text}, "id": f"c{next(self.numbers)}"}
        answering = model(text)
        answering.script = lambda _: AIMessage(text, tool_calls=[made])
        answering.disable_streaming = how.get("disable_streaming", False)
        answer: AIMessage = answering.invoke("?")
        return answer

    def _calls(self, _: Any, text: str) -> Any:
        answer = self._calling(text)
        return [answer, self._result(f"found {text}", str(answer.tool_calls[0]["id"]))]

    def _calls_whole(self, _: Any, text: str) -> Any:
        return [self._calling(text, disable_streaming=True)]

    def _calls_and_asks(self, state: Any, text: str) -> Any:
        """The call of the node before is answered after a pause."""
        answer = interrupt("May I?")
        open_calls = {
            call["id"]: None
            for message in state["messages"]
            if isinstance(message, AIMessage)
            for call in message.tool_calls
        }
        for message in state["messages"]:
            if isinstance(message, ToolMessage):
                open_calls.pop(message.tool_call_id, None)
        return [self._result(f"{answer} {text}", str(each)) for each in open_calls]

    def _last(self, state: Any, **update: Any) -> Any:
        said = [m for m in state["messages"] if isinstance(m, AIMessage)]
        return [said[-1].model_copy(update=update)] if said else []

    def _extends(self, state: Any, text: str) -> Any:
        said = [m for m in state["messages"] if isinstance(m, AIMessage)]
        return self._last(state, content=f"{said[-1].text} ({text})") if said else []

    def _redacts(self, state: Any, text: str) -> Any:
        return self._last(state, content=f"[{len(text)}]")

    def _renames(self, state: Any, text: str) -> Any:
        return self._last(state, name=text.split(maxsplit=1)[0].strip("."))

    def _cites(self, state: Any, text: str) -> Any:
        return self._last(state, additional_kwargs={"sources": [text]})


def shown(messages: list[BaseMessage]) -> Counter[str]:
    """Messages as a reader sees them, without those that humans said."""
    return Counter(
        str((message.type, str(message.text))) for message in messages if message.type != "human"
    )


def carried(messages: list[BaseMessage]) -> dict[str, dict[str, Any]]:
    """What messages carry besides, by their ids. Those under other ids than in the state are
    copies."""
    return {
        str(message.id): {
            "its name": message.name,
            **message.additional_kwargs,
            **message.response_metadata,
        }
        for message in messages
    }


def answered(messages: list[BaseMessage]) -> Counter[str]:
    """The results of the calls in a state."""
    made = {c["id"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls}
    told = [m for m in messages if isinstance(m, ToolMessage) and m.tool_call_id in made]
    return Counter(f"{message.tool_call_id}: {message.text}" for message in told)


def streamed(graph: Any, *, is_apart: bool) -> list[Event]:
    """The events of two turns, each with as many streams as it takes."""

    def make() -> ChannelStreamingProcessor:
        return ChannelStreamingProcessor(
            [ChannelConfig(key="messages", namespaces={"main"})],
            TokenStreamingConfig(enabled_namespaces={"**"}),
        )

    wrapped, processor, events = once(graph), make(), list[Event]()
    for turn in (ASKED, AGAIN):
        asked: Any = turn
        for _ in range(20):
            processor = make() if is_apart else processor
            with contextlib.suppress(RuntimeError):
                for event in processor.stream_sync(wrapped, asked, THREAD):
                    events.append(event)  # those before an error count
            state = graph.get_state(THREAD)
            if not state.next:
                break
            asked = answer_to(state)
    return events


@examples(30, suppress_health_check=[HealthCheck.too_slow])
@given(nodes=PROGRAMS, is_apart=st.booleans())
@example(nodes=[("calls_whole", "ok"), ("calls_and_asks", "ok"), ("cites", "ok")], is_apart=True)
@example(nodes=[("streams", "ok"), ("extends", "ok"), ("renames", "ok")], is_apart=False)
@example(nodes=[("graph", [("calls_whole", "ok"), ("calls_and_asks", "ok")])], is_apart=True)
@example(
    nodes=[("branches", [("streams", "ok"), ("asks", "ok")]), ("extends", "ok")], is_apart=True
)
@example(
    nodes=[("renames", "ok"), ("branches", [("streams", "ok"), ("writes_pair", "ok")])],
    is_apart=False,
)
def test_the_transcript_is_the_state(nodes: Any, is_apart: bool) -> None:
    programs = Programs()
    graph = programs.graph(nodes, checkpointer=InMemorySaver())
    events = streamed(graph, is_apart=is_apart)
    transcript, state = Transcript(events), graph.get_state(THREAD).values["messages"]
    messages = transcript.messages(None)
    assert shown(messages) == shown(state)
    has = carried(messages)
    for each, wanted in carried(state).items():
        # A node that copies an answer may leave behind what the answer carried.
        assert each not in has or has[each] == {**has[each], **wanted}
    results = Counter(
        f"{call.tool_call_id}: {told.content}"
        for call in transcript.tool_calls()
        for told in call.results
    )
    # A call was answered, though its result may have left the state, or say something else there.
    assert answered(state) <= results
    assert results <= programs.made
    paid = Counter(event.message_id for event in events if isinstance(event, UsageEvent))
    assert set(paid.values()) <= {1}
    assert shown(transcript.channels()["messages"]) == shown(state)
