"""A thread that goes on is written as one that nobody has met: whatever was changed in place."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1.format.layout import array, pack
from langgraph_once.serde.codecs.once1.write.written_threads import WrittenThreads

LONG = 70
"""Messages: of so long a thread it is remembered how it was written."""
_IDS = count()


def message(number: int) -> AnyMessage:
    """One of a thread, all of whose parts are its own."""
    name = f"{number}, {next(_IDS)}"
    match number % 3:
        case 0:
            return HumanMessage(f"question {name}", id=name)
        case 1:
            call: Any = {"name": "search", "args": {"topic": name, "deep": {"n": 1}}, "id": name}
            told = {"token_usage": {"prompt": 1, "cached": True}, "model": "m"}
            return AIMessage(
                [{"type": "text", "text": name}],
                id=name,
                tool_calls=[call],
                response_metadata=told,
                additional_kwargs={"seen": [1, [2.0, None]]},
            )
        case _:
            return ToolMessage(f"answer {name}", id=name, tool_call_id=name)


def thread(size: int = LONG) -> list[AnyMessage]:
    return [message(number) for number in range(size)]


def written(serializer: OnceSerializer, value: Any) -> tuple[str, bytes]:
    tag, data = serializer.encoded(value)
    return tag.text, data


def _deep(items: list[Any]) -> None:
    items[4].additional_kwargs["seen"][1].append("new")


def _true(items: list[Any]) -> None:
    items[4].response_metadata["token_usage"]["prompt"] = True  # it was 1


def _float(items: list[Any]) -> None:
    items[4].additional_kwargs["seen"][1][0] = 2  # it was 2.0


def _zero(items: list[Any]) -> None:
    items[4].response_metadata["token_usage"]["cached"] = 1  # it was True


def _call(items: list[Any]) -> None:
    items[4].tool_calls[0]["args"]["deep"]["n"] += 1


def _block(items: list[Any]) -> None:
    items[4].content[0]["text"] = "another"


def _tuple(items: list[Any]) -> None:
    items[4].additional_kwargs["seen"] = (1, [2.0, None])


def _order(items: list[Any]) -> None:
    items[4].response_metadata["token_usage"] = {"cached": True, "prompt": 1}


def _extra(items: list[Any]) -> None:
    items[3].remark = "set on the message"


def _only_extra(items: list[Any]) -> None:
    items[3].__pydantic_extra__["remark"] = "past the message"


def _buffer(items: list[Any]) -> None:  # msgpack writes it as it does `bytes`
    items[4].additional_kwargs["seen"][0] = bytearray(b"1")


def _new_buffer(items: list[Any]) -> None:
    items.append(HumanMessage("new", id="new", additional_kwargs={"data": bytearray(b"1")}))


def _artifact(items: list[Any]) -> None:
    items[5].artifact = Document("found", metadata={"page": 1})


def _class(items: list[Any]) -> None:
    items[3].__class__ = SystemMessage


def _fields(items: list[Any]) -> None:
    items[3].__pydantic_fields_set__.add("name")


def _other_fields(items: list[Any]) -> None:
    items[3].__pydantic_fields_set__.remove("id")
    items[3].__pydantic_fields_set__.add("name")


def _other_values(items: list[Any]) -> None:  # as where an id is that of another object by now
    items[3].__dict__.update(HumanMessage("another one", id="another").__dict__)


def _twice(items: list[Any]) -> None:
    items[6] = items[3]


def _twice_at_the_end(items: list[Any]) -> None:
    items.append(items[3])


def _equal_twice(items: list[Any]) -> None:
    items[6] = items[3] = HumanMessage("equal", id="equal")


def _swapped(items: list[Any]) -> None:
    items[3], items[6] = items[6], items[3]


def _removed(items: list[Any]) -> None:
    del items[3]


def _shared(items: list[Any]) -> None:
    items[5].artifact = items[2].artifact = ["one", "for", "two"]


def _no_message(items: list[Any]) -> None:
    items[3] = "text"


CHANGES: list[Callable[[list[Any]], None]] = [
    _deep, _true, _float, _zero, _call, _block, _tuple, _order, _extra,
    _only_extra, _buffer, _new_buffer, _artifact, _class, _fields,
    _other_fields, _other_values, _twice, _twice_at_the_end, _equal_twice, _swapped, _removed,
    _shared, _no_message,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__.strip("_"))
def test_a_message_of_a_thread_that_was_changed_in_place_is_noticed(
    change: Callable[[list[Any]], None],
) -> None:
    serializer, items = OnceSerializer(), thread()
    before = written(serializer, items)
    change(items)
    after = written(serializer, items)
    assert after == written(OnceSerializer(), items) != before
    items.append(message(0))
    assert written(serializer, items) == written(OnceSerializer(), items)


@pytest.mark.parametrize("other", [bytearray, memoryview])
def test_bytes_that_become_a_buffer_of_the_same_bytes_are_noticed(other: type) -> None:
    serializer, items = OnceSerializer(), thread()
    items[4].additional_kwargs["data"] = b"bytes"
    written(serializer, items)
    items[4].additional_kwargs["data"] = other(b"bytes")
    assert written(serializer, items) == written(OnceSerializer(), items)
    back = serializer.loads_typed(serializer.dumps_typed(items))
    assert type(back[4].additional_kwargs["data"]) is other


_SCALARS = st.sampled_from([0, 1, -1, True, False, 0.0, -0.0, 1.0, None, "", "1", b"1"])
_DATA = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)
_WHERE = st.integers(0, LONG - 1)


@settings(max_examples=60)
@given(st.data())
def test_any_changes_between_writes_leave_the_bytes_of_a_thread_that_is_new(data: Any) -> None:
    serializer, items = OnceSerializer(), thread()
    for _ in range(data.draw(st.integers(2, 6))):
        for _ in range(data.draw(st.integers(0, 2))):
            one = items[data.draw(_WHERE)]
            place = data.draw(st.sampled_from(["kwargs", "told", "content", "field", "name"]))
            value = data.draw(_DATA)
            if place == "kwargs":
                one.additional_kwargs["key"] = value
            elif place == "told":
                one.response_metadata.setdefault("list", []).append(value)
            elif place == "content":
                one.content = value if type(value) is list else str(value)
            elif place == "field":
                one.__pydantic_fields_set__ ^= {"name"}
            else:
                one.name = value if type(value) is str else None
        items = [*items, *thread(data.draw(st.integers(0, 2)))]
        assert written(serializer, items) == written(OnceSerializer(), items)


def test_threads_that_begin_with_the_same_messages_are_written_each_as_it_is() -> None:
    serializer, begin = OnceSerializer(), thread()
    branches = [[*begin, message(0)], [*begin, message(1)]]
    for number in range(6):
        branch = branches[number % 2]
        branch.append(message(number))
        assert written(serializer, branch) == written(OnceSerializer(), branch)


def test_messages_that_are_there_already_are_not_looked_through_again() -> None:
    serializer, items = OnceSerializer(), thread(600)
    written(serializer, items)
    calls = []
    sys.setprofile(lambda _frame, event, _: calls.append(event) if event == "call" else None)
    try:
        written(serializer, [*items, message(1)])
    finally:
        sys.setprofile(None)
    assert len(calls) < 120


def test_of_all_threads_so_many_bytes_are_remembered() -> None:
    items = [HumanMessage("", id=str(number)) for number in range(64)]
    kind: Any = SimpleNamespace(fields_set=items[0].__pydantic_fields_set__)
    written_threads = WrittenThreads({1: kind})
    threads = [[*items[:-1], HumanMessage("", id=str(number))] for number in range(40)]
    for each in threads:
        for _ in range(2):
            written_threads.keep(None, each, [1] * 64, array([pack(bytes(1 << 20))]))
        before = written_threads.take(each)
        written_threads.keep(before, each, [], array([pack(bytes(1 << 20))]))
    kept = [written_threads.take(each) is not None for each in threads]
    assert kept == [False] * 25 + [True] * 15
    assert written_threads.take(threads[-1]) is None
