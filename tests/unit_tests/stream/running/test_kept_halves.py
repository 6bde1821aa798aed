"""A model breaks off, and its node returns what came of the answer: a reader has that, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from langgraph_once import DedupConfig, once
from tests.corpus.graphs import chain
from tests.corpus.models import BrokenConnectionError, answers
from tests.unit_tests.stream.scenes import ASKED, folded

WHOLE = "Half of it, and the rest."

Returns = Callable[[Any], Any]


def as_copy(came: Any) -> Any:
    return {"messages": [AIMessage(came.text)]}


def as_copy_in_a_command(came: Any) -> Any:
    return Command(update={"messages": [AIMessage(came.text)]})


def under_its_id(came: Any) -> Any:
    return {"messages": [AIMessage(came.text, id=came.id)]}


def with_a_remark(came: Any) -> Any:
    return {"messages": [AIMessage(f"{came.text} (the connection broke)")]}


def as_dict(came: Any) -> Any:
    return {"messages": [{"role": "assistant", "content": came.text}]}


def beside_another(came: Any) -> Any:
    return {"messages": [AIMessage("It broke off:"), AIMessage(came.text)]}


def of_a_broken_connection(returns: Returns) -> Any:
    model = answers(WHOLE, breaks={0: 4})

    async def node(_: Any) -> Any:
        came: Any = None
        try:
            async for chunk in model.astream("?"):
                came = chunk if came is None else came + chunk
        except BrokenConnectionError:
            pass
        return returns(came)

    return node


def of_a_scope_that_is_left(returns: Returns) -> Any:
    model = answers(WHOLE, hangs={0: 4})

    async def node(_: Any) -> Any:
        came: Any = None
        with anyio.move_on_after(0.1):
            async for chunk in model.astream("?"):
                came = chunk if came is None else came + chunk
        return returns(came)

    return node


@pytest.mark.parametrize("form", ["exact", "stock"])
@pytest.mark.parametrize("break_off", [of_a_broken_connection, of_a_scope_that_is_left])
@pytest.mark.parametrize("is_inside", [False, True])
@pytest.mark.parametrize(
    "returns", [as_copy, as_copy_in_a_command, under_its_id, with_a_remark, as_dict, beside_another]
)
async def test_the_half_that_a_node_keeps_is_there(
    returns: Returns, is_inside: bool, break_off: Any, form: Any
) -> None:
    node = break_off(returns)
    graph = once(chain(chain(node) if is_inside else node), DedupConfig(form=form))
    modes: Any = ["messages", "values"]
    parts: list[Any] = [part async for part in graph.astream(ASKED, stream_mode=modes)]
    texts = list(folded(data for mode, data in parts if mode == "messages").values())
    state = [data for mode, data in parts if mode == "values"][-1]
    kept = [message.text for message in state["messages"][1:]]
    assert kept[-1].startswith("Half")
    if form == "exact":
        assert texts == kept
    else:
        assert returns is as_dict or set(kept) <= set(texts)
