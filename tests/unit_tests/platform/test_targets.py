"""Targets: every form in which a graph can be given comes back wrapped, in the same form."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from langgraph_api._factory_utils import _classify_factory
from langgraph_api.asyncio import as_asynccontextmanager

from langgraph_once.config import DedupConfig
from langgraph_once.errors import ConfigError
from langgraph_once.platform.targets import wrap
from langgraph_once.settings import GraphTarget
from langgraph_once.stream.graph import OnceStreams
from tests.unit_tests.platform import made

CONFIG = DedupConfig(state="auto")


def wrapped(name: str, module: str = "tests.unit_tests.platform.made") -> Any:
    target = GraphTarget(graph_id="g", name="g", target=f"{module}:{name}", dedup=CONFIG)
    return wrap(target)


@pytest.mark.parametrize("name", ["graph", "builder"])
def test_graphs_and_builders_become_wrapped_graphs(name: str) -> None:
    graph = wrapped(name)
    assert isinstance(graph, OnceStreams)
    assert graph.dedup_config == CONFIG


@pytest.mark.parametrize(
    "name", ["by_nothing", "by_config", "by_runtime", "by_async_manager", "by_manager"]
)
async def test_a_factory_stays_a_factory_that_the_server_calls_alike(name: str) -> None:
    """`_classify_factory` is how langgraph-api 0.16.7 decides on the arguments."""
    factory, original = wrapped(name), getattr(made, name)
    assert inspect.signature(factory) == inspect.signature(original)
    given = _classify_factory(factory)
    assert given is not None or not inspect.signature(original).parameters
    arguments: dict[str, Any] = given({"configurable": {}}, "runtime") if given else {}
    assert set(arguments) == set(inspect.signature(original).parameters)
    async with as_asynccontextmanager(factory(**arguments)) as graph:
        assert isinstance(graph, OnceStreams)
        assert graph.dedup_config == CONFIG


async def test_a_context_manager_is_left_when_the_server_leaves_it() -> None:
    async with wrapped("by_async_manager")({}, None):
        assert made.closed == []
    assert made.closed == [True]


@pytest.mark.parametrize(
    ("module", "name", "problem"),
    [
        ("tests.unit_tests.platform.made", "missing", "has no 'missing'"),
        ("tests.unit_tests.platform.absent", "graph", "no module 'tests.unit_tests.platform.abs"),
        ("absent_package.graph", "graph", "no module 'absent_package'"),
        ("tests.unit_tests.platform.made", "nothing", "got int"),
    ],
)
def test_a_target_that_is_none_is_named(module: str, name: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        wrapped(name, module)
    assert caught.value.key == "langgraph.json: graphs.g.once.target"
    assert problem in caught.value.problem


def test_a_factory_that_makes_no_graph_is_named_when_it_is_called() -> None:
    with pytest.raises(ConfigError, match="makes something else than a graph"):
        wrapped("by_mistake")()


def test_an_error_inside_the_users_module_keeps_its_traceback() -> None:
    with pytest.raises(ModuleNotFoundError, match="surely_not_installed"):
        wrapped("graph", "tests.unit_tests.platform.broken")
