"""One corpus from five sources: a graph here in v1, v2 and v3, and on two kinds of servers."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast
from uuid import uuid4

from langgraph.pregel.remote import RemoteException
from langgraph_sdk.client import SyncLangGraphClient

from demo.dev_server import DevServer
from langgraph_once import DedupConfig, Ledger, OnceRemoteGraph
from tests.corpus.play import Event
from tests.corpus.reasons import REASONS
from tests.corpus.scenario import Run, Scenario
from tests.corpus.score import Audience, Verdict, score
from tests.corpus.variants import ALL, Variant

Source: TypeAlias = Literal["v1", "v2", "v3", "once", "stock"]

LOCAL: tuple[Source, ...] = ("v1", "v2", "v3")
REMOTE: tuple[Source, ...] = ("once", "stock")
SOURCES = (*LOCAL, *REMOTE)

VARIANTS: dict[Source, Variant] = {
    "v1": Variant("async", "v1", ALL, subgraphs=True),
    "v2": Variant("async", "v2", ALL, subgraphs=True),
    "v3": Variant("async", "v3", ("messages",), subgraphs=True),
    "once": Variant("async", "v1", ALL, subgraphs=True),
    "stock": Variant("async", "v2", ALL, subgraphs=True),
}
"""How each source is streamed; from the two servers in both shapes. Servers run graphs async."""

SERVED = "tests.integration_tests.remote.corpus_served"
WRAPPED = "langgraph_once.platform.graphs"


def graph_id(name: str, kind: str) -> str:
    """What the graph of a scenario is called on the server: `kind` is `once` or `stock`."""
    return f"{kind}_{name.replace('-', '_')}"


def corpus_server(folder: Path, scenarios: Iterable[Scenario]) -> DevServer:
    """A server of the graphs of these scenarios, to be started."""
    graphs: dict[str, Any] = {}
    for scenario in scenarios:
        once, stock = graph_id(scenario.name, "once"), graph_id(scenario.name, "stock")
        graphs[once] = {"path": f"{WRAPPED}:{once}", "once": {"target": f"{SERVED}:{once}"}}
        graphs[stock] = f"{SERVED}:{stock}"
    manifest = {
        "dependencies": ["."],
        "graphs": graphs,
        "checkpointer": {"path": "langgraph_once.platform.checkpointer.saver"},
        "http": {"app": "langgraph_once.platform.app:app"},
    }
    config = folder / "langgraph.json"
    config.write_text(json.dumps(manifest))
    return DevServer(config, cwd=folder, start_timeout_s=180)


def verdicts(
    scenario: Scenario, source: Source, client: SyncLangGraphClient | None = None
) -> list[Verdict]:
    """What the reader of a source has of each unit of a scenario.

    Args:
        scenario: What to play; a server plays it once.
        source: Where the chunks come from.
        client: For the server.

    Raises:
        AssertionError: A stream ended in another way than it should.
    """
    variant = VARIANTS[source]
    if source in LOCAL:
        return score(scenario, variant, "once")
    audience = Audience(scenario, variant, "once" if source == "once" else "dedup")
    config = DedupConfig(state=variant.state)
    graph = OnceRemoteGraph(graph_id(scenario.name, source), sync_client=client, dedup=config)
    ledger, thread = Ledger(), functools.cache(lambda _: str(uuid4()))
    has_memory = bool(scenario.graph().checkpointer)
    for run in scenario.runs:
        at: Any = {"configurable": {"thread_id": thread(run.thread)} if has_memory else {}}
        _play(run, graph, run.at(cast("Any", graph), at), ledger, variant, audience)
    return audience.verdicts()


def _play(
    run: Run,
    graph: OnceRemoteGraph,
    config: Any,
    ledger: Ledger,
    variant: Variant,
    audience: Audience,
) -> None:
    asked: Any = {
        "stream_mode": list(variant.modes),
        "subgraphs": variant.subgraphs,
        "version": variant.version,
    }
    failed = False
    try:
        for chunk in graph.stream(copy.deepcopy(run.input), config, ledger=ledger, **asked):
            audience.feed(_event(chunk))
    except RemoteException:
        failed = True
    assert failed == (run.raises is not None), f"the run failed: {failed}"


def _event(chunk: Any) -> Event:
    if isinstance(chunk, dict):
        return Event(chunk["ns"], chunk["type"], chunk["data"])
    return Event(*chunk)


_PAIR = (
    "A node's pair, dict or text comes in the update, before its message has an id and is sent: at "
    "the update the client does not know that the message will come, and shows both."
)
TOLD_BY_ID = dict.fromkeys(
    (
        "as-dict",
        "as-pair",
        "as-string",
        "as-mixture",
        "command-of-tuples",
        "copied-stripped-as-pair",
        "handed-pair",
    ),
    _PAIR,
)
"""What our server tells when the client has shown a part of it already."""


def reason(name: str, source: Source) -> str | None:
    """Why a scenario need not be right from this source; None if it must be.

    A stock server tells no more than a plain stream, so what a filter cannot know holds there.
    """
    if source == "once":
        return TOLD_BY_ID.get(name)
    if source != "stock":
        return None
    holding = (each for each in REASONS.get(name, ()) if each.holds(VARIANTS[source]))
    return next((each.why for each in holding), None)
