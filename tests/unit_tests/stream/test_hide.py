"""`DedupConfig(hide=…)`: who is hidden is not heard in `messages`, in any way of streaming."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import (
    BaseMessage,
)

from langgraph_once import (
    ChannelStreamingProcessor,
    DedupConfig,
    HideConfig,
    TokenStreamingConfig,
    adedup,
    dedup,
    once,
)
from langgraph_once.errors import ConfigError
from langgraph_once.events import MessageCompletedEvent
from langgraph_once.stream import v2_part
from tests.exact import exactly
from tests.unit_tests.stream.scenes import (
    ALL,
    ALL_MODES,
    ASKED,
    BYE,
    CHEAP,
    DRAFT,
    FOUND,
    JOINED,
    NOTE,
    PLAN,
    VERDICT,
    chain,
    folded,
    messages_in,
    model,
    tagged,
    team,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)

Way = Callable[[Any, Any], Any]
"""How a graph is streamed: it gives the texts that come in `messages`."""


async def stream(
    graph: Any, hide: Any, *, version: Any, is_async: bool, subgraphs: bool = True, **given: Any
) -> list[str]:
    graph = once(graph, DedupConfig(hide=hide, **given))
    asked: Any = {"stream_mode": ["messages"], "subgraphs": subgraphs, "version": version}
    if is_async:
        chunks = [chunk async for chunk in graph.astream(ASKED, **asked)]
    else:
        chunks = list(graph.stream(ASKED, **asked))
    said = [chunk["data"] if version == "v2" else chunk[-1] for chunk in chunks]
    return list(folded(said).values())


async def channel(graph: Any, hide: Any, *, is_async: bool) -> list[str]:
    graph = once(graph, DedupConfig(hide=hide))
    if is_async:
        run: Any = await graph.astream_events(ASKED, version="v3")
        parts = [v2_part(chunk) async for chunk in run.extensions["once"]]
    else:
        run = graph.stream_events(ASKED, version="v3")
        parts = [v2_part(chunk) for chunk in run.extensions["once"]]
    return list(folded((p.data, p.meta) for p in parts if p.mode == "messages").values())


async def events(graph: Any, hide: Any, **given: Any) -> list[str]:
    run: Any = once(graph, DedupConfig(hide=hide, **given)).stream_events(ASKED, version="v3")
    said: list[str] = []
    for event in run:
        if event["method"] == "messages":
            payload = event["params"]["data"][0]
            if isinstance(payload, BaseMessage):
                said.append(str(payload.text))
            elif payload["event"] == "content-block-finish":
                said.append(payload["content"].get("text", ""))
    return said


async def filtered(graph: Any, hide: Any, *, version: Any, is_async: bool) -> list[str]:
    asked: Any = {"stream_mode": ["messages"], "subgraphs": True, "version": version}
    config = DedupConfig(hide=hide)
    chunks: list[Any]
    if is_async:
        plain = adedup(graph.astream(ASKED, **asked), config=config, **asked)
        chunks = [chunk async for chunk in plain]
    else:
        chunks = list(dedup(graph.stream(ASKED, **asked), config=config, **asked))
    said = [chunk["data"] if version == "v2" else chunk[-1] for chunk in chunks]
    return list(folded(said).values())


async def client(graph: Any, hide: Any) -> list[str]:
    """What `once` streams, which hides nothing, read by one that does."""
    return await filtered(once(graph), hide, version="v2", is_async=False)


WAYS: dict[str, Way] = {
    "v1": functools.partial(stream, version="v1", is_async=False),
    "v1-async": functools.partial(stream, version="v1", is_async=True),
    "v2": functools.partial(stream, version="v2", is_async=False),
    "v2-async": functools.partial(stream, version="v2", is_async=True),
    "root": functools.partial(stream, version="v2", is_async=False, subgraphs=False),
    "stock": functools.partial(stream, version="v1", is_async=True, form="stock"),
    "hold": functools.partial(stream, version="v2", is_async=False, reexecution="hold"),
    "v3": functools.partial(channel, is_async=False),
    "v3-async": functools.partial(channel, is_async=True),
    "v3-events": events,
    "v3-stock": functools.partial(events, form="stock"),
    "client": client,
}
FILTERS: dict[str, Way] = {
    f"dedup-{version}{suffix}": functools.partial(filtered, version=version, is_async=bool(suffix))
    for version in ("v1", "v2")
    for suffix in ("", "-async")
}
HIDES: dict[str, tuple[dict[str, list[str]], set[str]]] = {
    "nothing": ({}, set()),
    "nostream": ({"tags": ["nostream"]}, {PLAN}),
    "tag": ({"tags": ["draft"]}, {DRAFT, JOINED}),
    "node": ({"nodes": ["talk"]}, {BYE}),
    "node-and-inside": ({"nodes": ["research"]}, {FOUND, NOTE}),
    "node-inside": ({"nodes": ["note"]}, {NOTE}),
    "root": ({"namespaces": ["main"]}, {PLAN, DRAFT, JOINED, VERDICT, CHEAP, BYE}),
    "namespace": ({"namespaces": ["research/*"]}, {FOUND, NOTE}),
    "path": ({"namespaces": ["main/talk", "*/search"]}, {BYE, FOUND}),
    "run-name": ({"models": ["judge"]}, {VERDICT}),
    "model": ({"models": ["tiny-1"]}, {CHEAP}),
    "some": ({"tags": ["draft"], "nodes": ["plan"], "models": ["x"]}, {DRAFT, JOINED, PLAN}),
}


def _ways_to_hide() -> Iterator[Any]:
    """Everything in three ways, and some in every way; the rest is for `make test-all`."""
    for way, hide in itertools.product(WAYS, HIDES):
        quick = way in {"v1", "v3", "client"} or hide in {"nothing", "root", "node-inside", "some"}
        yield pytest.param(way, hide, marks=() if quick else pytest.mark.product)


@pytest.mark.parametrize(("way", "hide"), [*_ways_to_hide()])
async def test_a_hidden_node_is_not_heard(way: str, hide: str) -> None:
    given, hidden = HIDES[hide]
    if way == hide == "root":  # of graphs inside nothing is heard, but by their nodes there
        hidden = ALL
    said = await WAYS[way](team(), given)
    assert sorted(said) == sorted(ALL - hidden)


@pytest.mark.parametrize("hide", sorted(HIDES.keys() - {"nostream", "run-name"}))
@pytest.mark.parametrize("way", FILTERS)
async def test_a_filter_hides_by_what_plain_langgraph_tells(way: str, hide: str) -> None:
    """Which is nothing of what was tagged `nostream`, and not the name of a run."""
    given, hidden = HIDES[hide]
    said = await FILTERS[way](team(), given)
    assert set(said) == ALL - hidden


async def test_run_messages_and_its_texts_have_nothing_hidden() -> None:
    graph = once(team(), DedupConfig(hide=HideConfig(tags={"nostream"}, nodes={"research"})))
    run: Any = graph.stream_events(ASKED, version="v3")
    assert [str(m.text) for m in run.messages] == [DRAFT, JOINED, VERDICT, CHEAP, BYE]


@pytest.mark.parametrize("state", ["full", "changed", "new_messages", "auto"])
@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("is_filter", [False, True], ids=["once", "dedup"])
def test_states_have_what_is_hidden(state: Any, version: Any, is_filter: bool) -> None:
    config = DedupConfig(state=state, hide={"tags": ["draft"], "nodes": ["research"]})
    asked: Any = {"stream_mode": ALL_MODES, "subgraphs": True, "version": version}
    graph = team()
    chunks: Any = (
        dedup(graph.stream(ASKED, **asked), config=config, **asked)
        if is_filter
        else exactly(graph, config).stream(ASKED, **asked)
    )
    told: dict[str, list[str]] = {mode: [] for mode in ALL_MODES}
    for chunk in chunks:
        mode, data = (chunk["type"], chunk["data"]) if version == "v2" else chunk[1:]
        told[mode] += [str(message.text) for message in messages_in(data)]
    hidden = {DRAFT, JOINED, FOUND, NOTE}
    assert not hidden & set(told["messages"])
    assert hidden <= set(told["updates"]) | set(told["values"])
    if state in ("new_messages", "auto"):  # each once, and what was heard not again
        assert not {BYE, VERDICT, CHEAP} & set(told["updates"] + told["values"])


def test_states_alone_are_as_ever() -> None:
    config = DedupConfig(hide={"namespaces": ["**"]})
    for mode in ("updates", "values"):
        plain = list(team().stream(ASKED, stream_mode=mode))
        hiding = list(exactly(team(), config).stream(ASKED, stream_mode=mode))
        assert [len(messages_in(chunk)) for chunk in plain] == [
            len(messages_in(chunk)) for chunk in hiding
        ]


@pytest.mark.parametrize(
    ("hide", "where", "problem"),
    [
        ({"tagz": []}, "DedupConfig.hide", "does not know 'tagz'; it knows nodes"),
        ("nostream", "DedupConfig.hide", "must be a mapping"),
        ({"tags": "nostream"}, "HideConfig.tags", "must be a list, as in"),
        ({"nodes": [""]}, "HideConfig.nodes", "must hold texts"),
        ({"namespaces": ["a:b"]}, "HideConfig.namespaces", "without ids of tasks"),
    ],
)
def test_a_wrong_one_is_refused_clearly(hide: Any, where: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        DedupConfig(hide=hide)
    assert caught.value.key == where
    assert problem in caught.value.problem


def test_a_mapping_is_as_good_as_the_object() -> None:
    assert DedupConfig(hide={"tags": ["a"]}) == DedupConfig(hide=HideConfig(tags={"a"}))
    assert DedupConfig(hide={}) == DedupConfig()


@pytest.mark.parametrize("wrap", [lambda graph: graph, once, None], ids=["plain", "once", "chunks"])
def test_a_processor_hides_what_it_or_the_graph_hides(wrap: Any) -> None:
    hide = HideConfig(nodes={"research"}, tags={"draft"})
    processor = ChannelStreamingProcessor(
        token_streaming=TokenStreamingConfig(enabled_namespaces={"**"}),
        dedup=DedupConfig(hide=hide),
    )
    asked: Any = {"stream_mode": ["messages", "tasks"], "subgraphs": True, "version": "v2"}
    told: Any = (
        processor.stream_sync(wrap(team()), ASKED)
        if wrap is not None
        else processor.stream_sync(team().stream(ASKED, **asked))
    )
    said = [str(event.message.text) for event in told if isinstance(event, MessageCompletedEvent)]
    assert set(said) == ALL - {FOUND, NOTE, DRAFT, JOINED}


def test_what_is_hidden_is_no_answer_for_which_a_stock_client_gives_up_a_draft() -> None:
    """To give it up, its message is begun anew with nothing."""

    def node(state: Any) -> Any:
        model(DRAFT).invoke(state["messages"])
        tagged(PLAN, "draft").invoke(state["messages"])
        return {}

    config = DedupConfig(hide={"tags": ["draft"]}, form="stock")
    run: Any = once(chain(node), config).stream_events(ASKED, version="v3")
    said = [event["params"]["data"][0] for event in run if event["method"] == "messages"]
    assert [each["event"] for each in said].count("message-start") == 1
