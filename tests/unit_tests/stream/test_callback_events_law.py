"""Whatever attempts say and wherever they break: no answer is missing, and nothing is made up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import example, given, strategies as st
from langchain_core.messages import AIMessage

from langgraph_once import once
from tests.corpus.models import BrokenConnectionError, answers
from tests.examples import examples
from tests.unit_tests.stream.event_scenes import Graph, beside, nested
from tests.unit_tests.stream.test_callback_events import Reader, read

pytestmark = pytest.mark.filterwarnings("ignore:astream_events version='v1'")

TEXTS = ("ok", "ok then", "ok then go", "no", "no way out")


@dataclass(frozen=True)
class Call:
    """One call of a model: what it says, whether that streams, and where it breaks off."""

    text: str
    streams: bool
    breaks_after: int | None
    is_caught: bool


Attempt = tuple[Call, ...]
"""The calls of a node, one after the other. All attempts of a node but its last one fail."""

calls = st.builds(
    Call,
    text=st.sampled_from(TEXTS),
    streams=st.sampled_from([True, True, True, False]),
    breaks_after=st.sampled_from([None, None, 0, 1, 2, 3]),
    is_caught=st.booleans(),
)
attempts = st.lists(st.lists(calls, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3)
nodes = st.lists(attempts, min_size=1, max_size=3)


def speaks(script: list[Attempt], *, is_async: bool) -> Any:
    """A node that goes through its attempts."""
    begun = 0

    async def node(state: Any) -> Any:
        nonlocal begun
        number, begun = min(begun, len(script) - 1), begun + 1
        is_last = number == len(script) - 1
        said: list[AIMessage] = []
        for call in script[number]:
            breaks = {} if call.breaks_after is None else {0: call.breaks_after}
            is_dead = bool(breaks) and not (is_last and not call.is_caught)
            model = answers(
                call.text, breaks=breaks if is_dead else {}, disable_streaming=not call.streams
            )
            try:
                said.append(await model.ainvoke("hi") if is_async else model.invoke("hi"))
            except BrokenConnectionError:
                if not call.is_caught:
                    raise
        if not is_last:
            raise BrokenConnectionError("behind the answers")
        return {"messages": said}

    return node


def graph(script: list[list[Attempt]], *, is_nested: bool, is_async: bool) -> Graph:
    made = beside({f"n{i}": speaks(each, is_async=is_async) for i, each in enumerate(script)})
    return nested(made) if is_nested else made


OK, OK_WHOLE = Call("ok", True, None, False), Call("ok", False, None, False)
BROKEN = Call("ok", True, 0, True)


@examples(40, deadline=None)
@example(
    script=[[(OK,), (OK,), (BROKEN, OK_WHOLE, OK)]], is_nested=False, is_async=False, version="v2"
)
@example(script=[[(OK_WHOLE,), (OK,)]], is_nested=False, is_async=False, version="v1")
@given(
    script=nodes,
    is_nested=st.booleans(),
    is_async=st.booleans(),
    version=st.sampled_from(["v1", "v2"]),
)
async def test_no_answer_is_missing_and_none_is_made_up(
    script: list[list[Attempt]], is_nested: bool, is_async: bool, version: Literal["v1", "v2"]
) -> None:
    plain = await read(graph(script, is_nested=is_nested, is_async=is_async), version=version)
    told = await read(once(graph(script, is_nested=is_nested, is_async=is_async)), version=version)
    kept = Counter(call.text for each in script for call in each[-1] if lives(call))
    streamed = Counter(c.text for n in script for c in n[-1] if lives(c) and c.streams)
    assert kept <= Counter(told.answers())
    assert streamed <= texts(told)
    assert texts(told) <= texts(plain)
    assert Counter(told.answers()) <= Counter(plain.answers())
    assert len(told.events) <= len(plain.events)


def lives(call: Call) -> bool:
    """Whether the call of a last attempt ends."""
    return call.breaks_after is None or not call.is_caught


def texts(reader: Reader) -> Counter[str]:
    return Counter(text for text in reader.by_run.values() if text)
