"""`astream_events` of a wrapped graph: what is repeated is told once, and nothing else changes."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import suppress
from typing import Any, Literal
from uuid import UUID

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from langgraph_once import DedupConfig, HideConfig, once
from langgraph_once.config import READER_KEY
from langgraph_once.stream.callback_events import told_once
from tests.corpus.models import BrokenConnectionError, WireModel, answers
from tests.corpus.units import USAGE_TOKENS
from tests.corpus.wires import accumulated, openai
from tests.unit_tests.stream.event_scenes import (
    AS_PLAIN,
    HELLO,
    REPEATED,
    Graph,
    alone,
    beside,
    calls,
    handles,
    nested,
    talks,
)

ASKED: Any = {"messages": [("user", "hi")]}

pytestmark = pytest.mark.filterwarnings("ignore:astream_events version='v1'")

Version = Literal["v1", "v2"]
Events = list[dict[str, Any]]


class Reader:
    """What readers of events make of them: four of the kinds that are in use."""

    def __init__(self) -> None:
        self.events: Events = []
        self.appended = ""
        self.by_message: dict[str, str] = defaultdict(str)
        self.by_run: dict[str, str] = {}
        self.ended: dict[str, Any] = {}

    async def read(
        self, graph: Graph, asked: Any = ASKED, version: Version = "v2", **how: Any
    ) -> Reader:
        async for event in graph.astream_events(asked, version=version, **how):
            self.take(event)
        return self

    def take(self, event: dict[str, Any]) -> None:
        self.events.append(event)
        run_id = event["run_id"]
        if event["event"] == "on_chat_model_start":
            assert run_id not in self.by_run, "a run begins once"
            self.by_run[run_id] = ""
        elif event["event"] == "on_chat_model_stream":
            assert run_id not in self.ended, "a run that has ended says nothing"
            chunk = event["data"]["chunk"]
            self.by_run[run_id] += chunk.text
            self.by_message[run_id] += chunk.text
            self.appended += chunk.text
        elif event["event"] == "on_chat_model_end":
            assert run_id in self.by_run, "what ends has begun"
            assert run_id not in self.ended, "a run ends once"
            self.ended[run_id] = event["data"]["output"]

    def kinds(self) -> list[tuple[str, str]]:
        return [(event["event"], event["name"]) for event in self.events]

    def answers(self) -> list[str]:
        return [text for end in self.ended.values() if (text := _text(end))]


def _text(output: Any) -> str:
    if isinstance(output, dict):
        return "".join(each["message"].text for batch in output["generations"] for each in batch)
    return str(output.text)


async def read(graph: Graph, asked: Any = ASKED, version: Version = "v2", **how: Any) -> Reader:
    return await Reader().read(graph, asked, version, **how)


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("name", REPEATED)
async def test_what_an_attempt_repeats_is_told_once(name: str, version: Version) -> None:
    make, expected = REPEATED[name]
    told = await read(once(make()), version=version)
    assert sorted(text for text in told.by_run.values() if text) == (
        sorted(expected) if "at once" not in name else []
    )
    assert sorted(told.answers()) == sorted(expected)
    assert set(told.ended) >= {run for run, text in told.by_run.items() if text}


def told_of(events: Events) -> dict[str, list[Any]]:
    """Events by the place they are in, without ids; places side by side have no order."""
    found: dict[str, list[Any]] = defaultdict(list)
    for event in events:
        data = event["data"]
        said = {key: _said(value) for key, value in data.items() if key != "input"}
        node = event["metadata"].get("langgraph_node", "")
        found[node].append((event["event"], event["name"], tuple(event["tags"]), str(said)))
    return found


def _said(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _said(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_said(each) for each in value]
    if hasattr(value, "content"):
        return (
            value.content,
            getattr(value, "tool_call_chunks", 0),
            getattr(value, "usage_metadata", 0),
        )
    return value


@pytest.mark.parametrize("name", AS_PLAIN)
async def test_all_other_events_are_as_without_us(name: str) -> None:
    plain, told = await read(AS_PLAIN[name]()), await read(once(AS_PLAIN[name]()))
    assert told_of(told.events) == told_of(plain.events)


@pytest.mark.parametrize("name", AS_PLAIN)
async def test_version_1_says_what_it_says_without_us(name: str) -> None:
    plain, told = (
        await read(AS_PLAIN[name](), version="v1"),
        await read(once(AS_PLAIN[name]()), version="v1"),
    )
    assert sorted(told.by_run.values()) == sorted(plain.by_run.values())
    assert sorted(told.kinds()) == sorted(plain.kinds())
    assert told.kinds()[-1] == plain.kinds()[-1] == ("on_chain_end", "LangGraph")
    assert set(told.ended) == set(told.by_run)


async def test_what_goes_on_keeps_the_ids_that_the_reader_has() -> None:
    told = await read(once(alone(talks(answers(HELLO, breaks={0: 2})))))
    of_model = [event for event in told.events if "chat_model" in event["event"]]
    said = [event["data"]["chunk"] for event in of_model if event["event"].endswith("_stream")]
    assert len({event["run_id"] for event in of_model}) == 1
    assert len({chunk.id for chunk in said}) == 1
    assert of_model[-1]["data"]["output"].id == said[0].id
    assert [chunk.text for chunk in said] == ["", "Hello", " there", " friend", ""]


@pytest.mark.parametrize("name", ["dies midway", "answers, then its node fails twice"])
async def test_the_usage_of_the_answer_is_told(name: str) -> None:
    told = await read(once(REPEATED[name][0]()))
    (answer,) = told.ended.values()
    assert answer.usage_metadata["total_tokens"] == USAGE_TOKENS
    chunks = [e["data"]["chunk"] for e in told.events if e["event"] == "on_chat_model_stream"]
    counted = [chunk.usage_metadata for chunk in chunks if chunk.usage_metadata]
    assert counted == [answer.usage_metadata]


async def test_tool_calls_that_are_repeated_are_told_once() -> None:
    told = await read(once(alone(talks(answers(calls("a")), fails=1))))
    pieces = [
        piece["args"]
        for event in told.events
        if event["event"] == "on_chat_model_stream"
        for piece in event["data"]["chunk"].tool_call_chunks
    ]
    assert "".join(piece or "" for piece in pieces) == '{"at": "a"}'
    assert len(told.ended) == 1


async def test_a_text_that_its_last_chunk_says_again_stays_as_its_provider_sends_it() -> None:
    plain = await read(alone(talks(answers(HELLO, wire=accumulated))))
    told = await read(once(alone(talks(answers(HELLO, wire=accumulated)))))
    assert told.appended == plain.appended


async def test_the_first_attempt_is_told_at_once() -> None:
    """Nothing is held that repeats nothing: the model waits for each token to be read."""
    is_read = asyncio.Semaphore(0)

    class Waiting(WireModel):
        async def _astream(self, messages: Any, *_: Any, **__: Any) -> Any:
            for chunk in openai(AIMessage(HELLO)):
                yield ChatGenerationChunk(message=chunk)
                await is_read.acquire()

    told = Reader()
    async with asyncio.timeout(20):
        async for event in once(alone(talks(Waiting(replies=[])))).astream_events(ASKED):
            told.take(event)
            if event["event"] == "on_chat_model_stream":
                is_read.release()
    assert told.appended == HELLO


async def test_a_reader_that_was_not_told_of_an_attempt_is_told_of_the_next() -> None:
    """Whoever asks for one model's events has nothing of what another said in its place."""
    first = answers(HELLO, breaks={0: 2}).with_config(run_name="first")
    graph = once(
        alone(talks(first.with_fallbacks([answers(HELLO).with_config(run_name="second")])))
    )
    told = await read(graph, include_names=["second"])
    assert told.appended == HELLO


@pytest.mark.parametrize(
    "asked",
    [
        {"include_types": ["chat_model"]},
        {"include_tags": ["mine"]},
        {"exclude_names": ["node"]},
        {"exclude_types": ["chain"]},
    ],
)
async def test_filters_of_the_reader_hold(asked: dict[str, Any]) -> None:
    def graph() -> Graph:
        return alone(talks(answers(HELLO, tags=["mine"], breaks={0: 2})))

    told, plain = await read(once(graph()), **asked), await read(graph(), **asked)
    assert told.appended == HELLO
    assert plain.appended == "Hello" + HELLO
    assert set(told.kinds()) == set(plain.kinds())


async def test_a_resumed_thread_is_told_as_without_us() -> None:
    """Nobody knows what the reader of a new stream has."""

    async def node(state: Any) -> Any:
        answer = await answers(HELLO).ainvoke("hi")
        interrupt("go on?")
        return {"messages": [answer]}

    graph = once(alone(node, checkpointer=InMemorySaver()))
    config = {"configurable": {"thread_id": "1"}}
    first = await read(graph, config=config)
    second = await read(graph, Command(resume="yes"), config=config)
    assert (first.appended, second.appended) == (HELLO, HELLO)


async def test_a_plain_reader_gets_what_the_graph_says_by_itself() -> None:
    config = {"configurable": {READER_KEY: "plain"}}
    told = await read(once(alone(talks(answers(HELLO), fails=1))), config=config)
    assert told.appended == HELLO + HELLO


@pytest.mark.parametrize(
    "hide",
    [HideConfig(nodes=("a",)), HideConfig(models=("quiet",)), HideConfig(tags=("quiet",))],
)
async def test_hidden_models_are_not_told(hide: HideConfig) -> None:
    quiet = answers("secret", tags=["quiet"]).with_config(run_name="quiet")
    graph = beside({"a": talks(quiet), "b": talks(answers(HELLO))})
    told = await read(once(graph, DedupConfig(hide=hide)))
    assert told.appended == HELLO
    assert told.answers() == [HELLO]


async def test_hidden_names_are_those_of_the_graph_alone() -> None:
    graph = once(alone(talks(answers(HELLO))), DedupConfig(hide=HideConfig(nodes=("model",))))
    assert (await read(graph)).appended == HELLO


async def test_hidden_graphs_are_not_told_however_deep() -> None:
    graph = nested(nested(alone(talks(answers("secret")))))
    hide = HideConfig(namespaces=("outer/outer",))
    assert (await read(once(graph, DedupConfig(hide=hide)))).appended == ""


async def test_version_1_tells_the_end_of_a_failed_run_before_its_node_ends() -> None:
    graph = alone(handles(answers("No", breaks={0: 2})))
    told = await read(once(graph), version="v1")
    assert (
        told.kinds()
        == (await read(alone(handles(answers("No", breaks={0: 2}))), version="v1")).kinds()
    )


async def test_or_before_the_graph_ends_where_its_node_waits_for_an_answer() -> None:
    async def node(state: Any) -> Any:
        with suppress(BrokenConnectionError):
            await answers("No", breaks={0: 2}).ainvoke("hi")
        return {"messages": [AIMessage(interrupt("what then?"))]}

    graph = once(alone(node, checkpointer=InMemorySaver()))
    told = await read(graph, version="v1", config={"configurable": {"thread_id": "1"}})
    kinds = [kind for kind, _ in told.kinds()]
    assert kinds.index("on_chat_model_end") < len(kinds) - 1
    assert kinds[-1] == "on_chain_end"


async def test_version_1_tells_it_at_the_end_to_whoever_asked_for_models_alone() -> None:
    graph = once(alone(handles(answers("No", breaks={0: 2}))))
    told = await read(graph, version="v1", include_types=["chat_model"])
    assert [kind for kind, _ in told.kinds()][-1] == "on_chat_model_end"


async def test_a_chunk_that_cannot_be_read_is_told_as_it_is() -> None:
    chunk: Any = AIMessageChunk(content="")
    chunk.content = None  # which nothing validates
    event = {"run_id": "1", "name": "m", "tags": [], "metadata": {}, "data": {"chunk": chunk}}
    said = [{**event, "event": "on_chat_model_stream"}] * 2

    async def events(_: Any) -> Any:
        for each in said:
            yield each

    assert [each async for each in told_once(events, None, DedupConfig())] == said


@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_a_run_that_fails_for_good_raises_what_it_raises(version: Version) -> None:
    model = answers(HELLO, breaks=dict.fromkeys(range(4), 2))
    told = Reader()
    with pytest.raises(BrokenConnectionError):
        await told.read(once(alone(talks(model))), version=version)
    assert told.appended == "Hello"
    assert len(told.ended) == (version == "v1")


async def test_a_reader_that_leaves_ends_the_run() -> None:
    stopped = asyncio.Event()

    async def node(state: Any) -> Any:
        try:
            await answers(HELLO).ainvoke("hi")
            await asyncio.sleep(60)
        finally:
            stopped.set()

    events = once(alone(node)).astream_events(ASKED, version="v2")
    async for event in events:
        if event["event"] == "on_chat_model_end":
            break
    await events.aclose()
    assert stopped.is_set()


async def test_the_callbacks_and_the_run_id_of_the_caller_are_kept() -> None:
    names: list[str] = []

    class Listener(BaseCallbackHandler):
        def on_chat_model_start(self, *args: Any, **told: Any) -> None:
            names.append(str(told["run_id"]))

    run_id = UUID(int=7)
    config: Any = {"callbacks": [Listener()], "run_id": run_id, "tags": ["t"], "metadata": {"m": 1}}
    told = await read(once(alone(talks(answers(HELLO), fails=1))), config=config)
    assert len(names) == 2
    assert told.events[0]["run_id"] == str(run_id)
    assert told.events[0]["tags"] == ["t"]
    assert told.events[0]["metadata"]["m"] == 1
    assert config["callbacks"][1:] == []


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
async def test_version_3_is_the_stream_of_protocol_events() -> None:
    run = await once(alone(talks(answers(HELLO), fails=1))).astream_events(ASKED, version="v3")
    async with run:
        assert (await run.output())["messages"][-1].text == HELLO
