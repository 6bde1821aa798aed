"""Two consumers of one graph on a real server, as view events."""

from __future__ import annotations

from typing import Any

from demo.dev_server import DevServer
from langgraph_once.compare import Side, SideRequest, SideView, View, counting_client, followed
from tests.docs.snippets import run
from tests.integration_tests.served import HELLO

INPUT: Any = {"input": {"messages": [{"role": "user", "content": "Hello?"}]}}


async def seen(server: DevServer, side: Side, graph: str, **asked: Any) -> SideView:
    view = View()
    async with counting_client(server.url) as counting:
        wanted = SideRequest(side=side, graph=graph, **{"start": INPUT, **asked})
        async for event in followed(wanted, counting):
            view.apply(event)
    return view.sides[side]


async def test_a_wrapped_graph_is_seen_as_stock_and_as_once(server: DevServer) -> None:
    stock = await seen(server, "stock", "copying")
    once = await seen(server, "once", "copying")
    plain = await seen(server, "stock", "copying_plain")
    assert [it.text for it in stock.items if it.name == "ai"] == [HELLO, HELLO]
    assert [it.text for it in plain.items if it.name == "ai"] == [HELLO, HELLO]
    assert [it.text for it in once.items if it.name == "ai"] == [HELLO]
    assert (stock.counts.repeated, plain.counts.repeated, once.counts.repeated) == (1, 1, 0)
    assert stock.counts.wire_bytes == stock.counts.bytes > 0  # LangGraph compresses nothing
    assert 0 < once.counts.wire_bytes < once.counts.bytes
    assert (stock.counts.annotated, once.counts.annotated > 0) == (0, True)


async def test_one_run_is_recorded_for_both(server: DevServer) -> None:
    view = View()
    async with counting_client(server.url) as counting:
        both = SideRequest(side="both", graph="copying", start=INPUT)
        async for event in followed(both, counting):
            view.apply(event)
        stock, ours = view.sides["stock"], view.sides["once"]
        runs = await counting.client.runs.list(str(ours.thread_id))
    assert (stock.thread_id, stock.run_ids) == (ours.thread_id, ours.run_ids)
    assert [run["run_id"] for run in runs] == ours.run_ids
    assert [it.text for it in stock.items if it.name == "ai"] == [HELLO, HELLO]
    assert [it.text for it in ours.items if it.name == "ai"] == [HELLO]
    assert (stock.counts.repeated, ours.counts.repeated) == (1, 0)
    assert (stock.counts.bytes, ours.counts.bytes) == (0, 0)


async def test_of_a_plain_graph_one_run_is_shown_to_both(server: DevServer) -> None:
    view = View()
    async with counting_client(server.url) as counting:
        both = SideRequest(side="both", graph="copying_plain", start=INPUT)
        async for event in followed(both, counting):
            view.apply(event)
    stock, ours = view.sides["stock"].counts, view.sides["once"].counts
    assert (stock.repeated, ours.repeated, ours.left_out) == (1, 0, 1)


async def test_of_a_plain_graph_the_client_cuts_what_is_repeated(server: DevServer) -> None:
    once = await seen(server, "once", "copying_plain")
    marks = [piece.mark for item in once.items for piece in item.pieces]
    assert marks == ["kept", "kept", "repeated"]  # what was asked, the answer, its copy
    assert (once.counts.repeated, once.counts.left_out, once.counts.annotated) == (0, 1, 0)


async def test_a_run_is_joined_from_its_beginning(server: DevServer) -> None:
    first = await seen(server, "stock", "copying")
    (run_id,) = first.run_ids
    again = await seen(
        server, "stock", "copying", thread_id=first.thread_id, run_ids=(run_id,), start=None
    )
    assert again == first
    more = await seen(server, "stock", "copying", thread_id=first.thread_id, run_ids=(run_id,))
    assert more.items[: len(first.items)] == first.items
    assert len(more.run_ids) == 2


async def test_an_interrupt_is_answered(server: DevServer) -> None:
    asked: Any = {"messages": [{"role": "user", "content": "How are streams read once?"}]}
    waits = await seen(server, "once", "research", start={"input": asked})
    assert (waits.status, len(waits.waiting)) == ("interrupted", 1)
    done = await seen(
        server,
        "once",
        "research",
        thread_id=waits.thread_id,
        run_ids=tuple(waits.run_ids),
        start={"resume": "approve"},
    )
    assert (done.status, done.waiting) == ("finished", [])
    assert (done.counts.repeated, done.counts.missing) == (0, 0)


async def test_the_example_of_the_page_runs(server: DevServer) -> None:
    names = await run("docs/page.md", {})
    assert await names["repeated"](server.url, "copying", "Hello?") == 1


async def test_what_the_server_refuses_is_told(server: DevServer) -> None:
    refused = await seen(server, "stock", "no_such_graph")
    assert refused.status == "failed"
    assert "Invalid assistant: 'no_such_graph'" in str(refused.error)
