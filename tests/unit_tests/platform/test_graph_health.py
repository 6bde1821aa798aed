"""What is remembered of factories that failed, and what of it keeps a server from being ready."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_once.config import DedupConfig
from langgraph_once.platform.health import GraphHealth, graph_health
from langgraph_once.platform.targets import wrap
from langgraph_once.settings import GraphTarget

builder = StateGraph(MessagesState).add_node("n", lambda _: {}).add_edge(START, "n")
is_broken = True


def _graph() -> Any:
    if is_broken:
        raise LookupError("the tea is in the third drawer")
    return builder


def plain() -> Any:
    return _graph()


async def awaited() -> Any:
    return _graph()


@contextmanager
def managed() -> Iterator[Any]:
    yield _graph()


@asynccontextmanager
async def managed_async() -> AsyncIterator[Any]:
    yield _graph()


async def _enter(name: str) -> None:
    """Make the graph as the server does, and run something that fails with it."""
    target = GraphTarget(graph_id=name, name=name, target=f"{__name__}:{name}", dedup=DedupConfig())
    made = wrap(target)()
    if hasattr(made, "__aenter__"):
        async with made:
            raise ZeroDivisionError
    if hasattr(made, "__enter__"):
        with made:
            raise ZeroDivisionError
    if asyncio.iscoroutine(made):
        await made


@pytest.mark.parametrize("name", ["plain", "awaited", "managed", "managed_async"])
async def test_a_factory_that_fails_is_told_of_until_it_makes_a_graph(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with pytest.raises(LookupError):
        await _enter(name)
    assert graph_health.problems() == [f"graph '{name}': its factory raised LookupError"]
    assert graph_health.keeps_from_serving()
    monkeypatch.setattr(f"{__name__}.is_broken", False)
    if name.startswith("managed"):
        with pytest.raises(ZeroDivisionError):  # of the run, not of the factory
            await _enter(name)
    else:
        await _enter(name)
    assert graph_health.problems() == []


def test_what_one_request_may_have_caused_stops_nobody_else() -> None:
    health = GraphHealth()

    def for_tenant(config: dict[str, Any]) -> None: ...

    with pytest.raises(KeyError), health.watching("tenants", for_tenant):
        raise KeyError("acme")
    assert health.problems() == ["graph 'tenants': its factory raised KeyError"]
    assert not health.keeps_from_serving()


def test_a_server_without_requests_is_ready_again_after_a_while() -> None:
    now = 0.0
    health = GraphHealth(lambda: now)
    with pytest.raises(OSError), health.watching("agent", plain):
        raise OSError
    assert health.keeps_from_serving()
    now = 61.0
    assert not health.keeps_from_serving()
    assert health.problems() != []


def test_a_cancelled_run_says_nothing_of_the_factory() -> None:
    health = GraphHealth()
    with pytest.raises(asyncio.CancelledError), health.watching("agent", plain):
        raise asyncio.CancelledError
    assert health.problems() == []
