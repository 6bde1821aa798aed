"""The error of a failed task is text with its message, whoever wrote it, whatever its class."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph_api.serde import json_dumpb
from langgraph_api.state import state_snapshot_to_thread_state

from langgraph_once.checkpoint import open_sqlite_saver
from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer

CONFIG: Any = {"configurable": {"thread_id": "1"}}


class OrderError(Exception):
    def __init__(self, order: int, *, code: int = 3) -> None:
        super().__init__(f"order {order} failed")
        self.code = code


class MuteError(Exception):
    def __repr__(self) -> str:
        raise KeyError("secret")


def local_error() -> Exception:
    class LocalError(Exception):
        pass

    return LocalError("order 7 failed")


def locked_error() -> Exception:
    error = OrderError(7)
    error.__dict__["lock"] = threading.Lock()
    return error


ERRORS = {
    "of a module": (OrderError(7), "OrderError('order 7 failed')"),
    "of a function": (local_error(), "LocalError('order 7 failed')"),
    "with a lock": (locked_error(), "OrderError('order 7 failed')"),
    "built in": (ValueError("order 7", "failed"), "ValueError('order 7', 'failed')"),
}


class State(TypedDict, total=False):
    error: Any
    count: int


def graph_that_fails(error: Exception, saver: Any) -> Any:
    def fail(state: State) -> State:
        if "count" in state:
            return {"count": 7}
        raise error

    builder = StateGraph(State)
    builder.add_node("fail", fail)
    builder.add_edge(START, "fail")
    return builder.compile(checkpointer=saver)


def run(graph: Any) -> None:
    with pytest.raises(Exception):  # noqa: B017  # any error that the node raises
        graph.invoke({"error": None}, CONFIG)


@pytest.mark.parametrize("enforcement", ["open", "safe", "strict"])
@pytest.mark.parametrize(("error", "text"), ERRORS.values(), ids=ERRORS)
def test_a_server_shows_the_error_of_a_task_as_with_langgraphs_saver(
    path: Path, tmp_path: Path, enforcement: Any, error: Exception, text: str
) -> None:
    answers = []
    serde = OnceSerializer(SerdeConfig(enforcement=enforcement))
    with (
        SqliteSaver.from_conn_string(str(tmp_path / "stock.sqlite")) as stock,
        open_sqlite_saver(path, serde=serde) as once,
    ):
        for saver in (stock, once):
            graph = graph_that_fails(error, saver)
            run(graph)
            state = graph.get_state(CONFIG)
            answer = json.loads(json_dumpb(state_snapshot_to_thread_state(state)))
            answers.append((state.tasks[0].error, answer["tasks"][0]["error"]))
    assert answers == [(text, text)] * 2


@pytest.mark.parametrize("enforcement", ["open", "safe", "strict"])
@pytest.mark.parametrize(("error", "text"), ERRORS.values(), ids=ERRORS)
def test_an_error_that_a_row_holds_as_an_exception_is_read_as_text(
    path: Path, enforcement: Any, error: Exception, text: str
) -> None:
    serde = OnceSerializer(SerdeConfig(enforcement=enforcement))
    with SqliteSaver.from_conn_string(str(path)) as writer:
        writer.serde = serde
        run(graph_that_fails(error, writer))
    with open_sqlite_saver(path, serde=serde) as once:
        (task,) = graph_that_fails(error, once).get_state(CONFIG).tasks
        assert task.error == text


def test_an_error_whose_repr_fails_is_named(path: Path) -> None:
    with open_sqlite_saver(path) as once:
        graph = graph_that_fails(MuteError("no"), once)
        run(graph)
        assert str(graph.get_state(CONFIG).tasks[0].error) == "MuteError()"


def test_a_run_that_failed_is_resumed(path: Path) -> None:
    with open_sqlite_saver(path) as once:
        graph = graph_that_fails(OrderError(7), once)
        run(graph)
        graph.update_state(CONFIG, {"count": 0}, as_node=START)
        assert graph.invoke(None, CONFIG)["count"] == 7


def test_an_exception_in_the_state_keeps_its_type(path: Path) -> None:
    error = OrderError(7, code=5)

    def keep(_: State) -> State:
        return {"error": error}

    builder: Any = StateGraph(State)
    builder.add_node("keep", keep)
    builder.add_edge(START, "keep")
    with open_sqlite_saver(path) as once:
        graph = builder.compile(checkpointer=once)
        graph.invoke({}, CONFIG)
        again = graph.get_state(CONFIG).values["error"]
    assert (type(again), str(again), again.code) == (OrderError, "order 7 failed", 5)
