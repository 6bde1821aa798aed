"""Threads are written and small blobs are read at once, and become what care makes of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import ormsgpack
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langgraph_once.errors import EncodeError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1 import Registry
from langgraph_once.serde.codecs.once1.read.general_form import plain_blob
from langgraph_once.serde.codecs.once1.write.attempts import FastEncoder
from langgraph_once.serde.codecs.once1.write.odd_parts import bytes_in
from tests.examples import examples
from tests.unit_tests.serde.fidelity.core_samples import loader, nested, read
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.fidelity.test_fast_writes import PLAIN, TEXTS, Note, Page, messages
from tests.unit_tests.serde.strictly import strict_config
from tests.unit_tests.serde.test_fuzz import readers, row_of

SERDE = OnceSerializer(
    strict_config(compression="none", allowed_types=(f"{__name__}:Text", f"{__name__}:Own"))
)
FAST = FastEncoder(Registry())
LOADER = loader()
CALL: Any = {"name": "f", "args": {"a": 1}, "id": "1"}
USAGE: Any = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}


def straight(value: Any) -> bytes | None:
    """What is written at once; nothing where care is needed."""
    try:
        FAST.threads.take(type(value))
        return bytes_in(FAST.threads.by_type[type(value)](value))
    except Exception:
        return None


def simple() -> st.SearchStrategy[Any]:
    identity = st.none() | st.text(max_size=3)
    return st.one_of(
        st.builds(HumanMessage, TEXTS, id=identity),
        st.builds(AIMessage, TEXTS, id=identity, usage_metadata=st.just(USAGE)),
        st.builds(AIMessage, TEXTS, tool_calls=st.lists(st.builds(dict, st.just(CALL)))),
        st.builds(ToolMessage, TEXTS, tool_call_id=st.just("1"), id=identity),
        st.builds(SystemMessage, TEXTS, name=identity),
    )


THREADS = st.lists(simple(), min_size=1, max_size=6) | st.lists(messages(), min_size=1, max_size=3)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.binary(max_size=2)
PARTS = THREADS | PLAIN | st.lists(SCALARS, max_size=3)
MAPS = st.recursive(
    st.dictionaries(TEXTS, PARTS, max_size=2),
    lambda inner: st.dictionaries(TEXTS | st.integers(), inner | PARTS, max_size=3),
    max_leaves=4,
)
STATES = THREADS | MAPS | SCALARS | simple() | messages() | st.lists(SCALARS)


CHECKPOINT: dict[str, Any] = {
    "v": 4,
    "id": "1f0",
    "channel_values": {"messages": [HumanMessage("a"), AIMessage("b")], "n": 1.5, "todo": ["a", 1]},
    "channel_versions": {"messages": "0001.0", "n": "0002.0"},
    "versions_seen": {"__input__": {}, "agent": {"messages": "0001.0"}},
    "updated_channels": ["n"],
    "written": [],
}


@pytest.mark.parametrize(
    "value", [CHECKPOINT, "text", 1, -1.5, True, ["a", None], [], {}, {"a": 1}]
)
def test_plain_data_is_written_at_once(value: Any) -> None:
    at_once, careful = straight(value), FAST.encode(value)
    assert at_once is not None
    assert careful is not None
    assert says_the_same(at_once, careful)
    assert difference(read(at_once, LOADER), value) is None


def test_a_message_is_written_at_once() -> None:
    for _ in range(2):
        for message in (HumanMessage("a"), AIMessage("b", tool_calls=[CALL], id="1")):
            assert straight(message) == FAST.encode(message)


@given(STATES, st.integers(0, 9), st.data())
@examples(50)
def test_a_thread_is_written_as_what_care_writes(value: Any, twice: int, data: Any) -> None:
    if isinstance(value, list) and value and twice == 0:
        value = [*value, value[0]]
    if isinstance(value, dict) and twice < 3:
        held = data.draw(st.sampled_from([value, *value.values()])) if value else None
        value = {"again": held, "whole": value, "inner": {"again": held}}
    careful = FAST.encode(value)
    at_once = straight(value)
    event(f"at once: {at_once is not None}")
    assert careful is not None
    if at_once is not None and not says_the_same(at_once, careful):
        # Plain data that stands twice is written twice.
        assert repr(read(at_once, LOADER)) == repr(value)


def says_the_same(at_once: bytes, careful: bytes) -> bool:
    return plain_blob(at_once) == plain_blob(careful)


@pytest.mark.parametrize("count", [1, 2, 5, 40, 80])
def test_a_common_thread_is_written_at_once(count: int) -> None:
    thread: list[Any] = []
    for i in range(count):
        thread += [HumanMessage("a", id=f"h{i}"), AIMessage("b", id=f"a{i}", tool_calls=[CALL])]
        thread += [ToolMessage("c", tool_call_id="1"), AIMessage("d", usage_metadata=USAGE)]
    for value in (thread, {"messages": thread, "topic": "x", "turn": 1}, {"a": thread[:1]}):
        careful = FAST.encode(value)
        at_once = straight(value)
        assert at_once is not None
        assert careful is not None
        assert says_the_same(at_once, careful)
        for _ in range(2):  # once its start is not known, and once it is
            assert difference(read(at_once, LOADER), value) is None


def test_plain_data_deep_in_the_arguments_of_a_call_is_written_at_once() -> None:
    call: Any = {**CALL, "args": {"where": {"cities": ["Rome", 1]}, "when": None}}
    asks = AIMessage("a", tool_calls=[call])
    for thread in ([asks], [HumanMessage("b"), asks]):
        assert straight(thread) is not None


class Text(str):
    """Text of another type."""


def changed(message: Any, **fields: Any) -> Any:
    vars(message).update(fields)
    return message


def stripped(message: Any, name: str) -> Any:
    del vars(message)[name]
    return message


def with_extra(message: Any, extra: Any) -> Any:
    object.__setattr__(message, "__pydantic_extra__", extra)
    return message


class Own(HumanMessage):
    """A message of a class of one's own."""


DATE = datetime(2026, 5, 1, tzinfo=UTC)
SAME = HumanMessage("a")
LIST: list[Any] = [1]
PLAIN_DICT: dict[str, Any] = {"a": 1}
LIST_OF_SAME = [SAME]

IN_PLACE: dict[str, Any] = {
    "a message that is no item": {"a": [HumanMessage("b")], "last": SAME},
    "a thread in a list": {"a": [[SAME]]},
    "an extra value": [HumanMessage("a", more=1)],
    "a hidden extra value": [with_extra(HumanMessage("a"), {"more": 1})],
    "no place for extra values": [with_extra(HumanMessage("a"), None)],
    "an artifact": [ToolMessage("a", tool_call_id="1", artifact=(1, 2))],
    "an artifact like calls": [
        ToolMessage("a", tool_call_id="1", artifact=[{"args": {}, "b": bytearray(b"x")}])
    ],
    "a mutable buffer": [HumanMessage("a", additional_kwargs={"b": bytearray(b"x")})],
    "a mutable buffer beside calls": [AIMessage("a", additional_kwargs={"b": bytearray(b"x")})],
    "blocks with a buffer": [HumanMessage([{"type": "text", "text": bytearray(b"x")}])],
    "a view": [AIMessage("a", response_metadata={"b": [memoryview(b"x")]})],
    "a tuple among arguments": [AIMessage("a", tool_calls=[{**CALL, "args": {"x": (1,)}}])],
    "a buffer among arguments": [
        AIMessage("a", tool_calls=[CALL, {**CALL, "args": {"x": bytearray()}}])
    ],
    "blocks with a tuple": [HumanMessage([{"type": "text", "text": ("a",)}])],
    "something else": [SAME, "text", 1],
    "text first": ["text", SAME],
    "scalars and a list": [1, LIST],
    "a set among scalars": {"a": [1, {2}]},
    "a key that is no text in a dict": {"a": {1: 2}},
    "deep dictionaries": nested(30, lambda v: {"a": v}),
    "documents, one list of them a tuple": [
        ToolMessage("a", tool_call_id="1", artifact=[Document("d"), Document("e", id="1")]),
        ToolMessage("b", tool_call_id="2", artifact=(Document("f", metadata={"at": DATE}),)),
    ],
    "documents beside a message of a class of one's own": [
        ToolMessage("a", tool_call_id="1", artifact=[Document("d")]),
        Own(content="c"),
    ],
    "documents of one kind": [
        ToolMessage(str(n), tool_call_id="1", artifact=[Document("d", metadata={"n": [n]})])
        for n in range(3)
    ],
    "a message in an artifact": [
        ToolMessage("a", tool_call_id="1", artifact={"asked": HumanMessage("b")}),
    ],
}
"""Written at once: what is not plain is an extension, or has a form, where it stands."""

REPEATS: dict[str, Any] = {
    "the same message twice": [SAME, SAME],
    "the same message in two lists": {"a": [SAME], "b": [HumanMessage("b"), SAME]},
    "the same list under two keys": {"a": LIST_OF_SAME, "b": LIST_OF_SAME},
    "the same message in threads apart": {"a": {"b": [SAME]}, "c": [SAME]},
}

NEEDS_CARE: dict[str, Any] = {
    "a key that is no text": {1: [SAME]},
    "a key of another type": {Text("a"): [SAME]},
    "a key with a surrogate": {"\ud800": [SAME]},
    "text with a surrogate": [HumanMessage("\ud800")],
    "a large integer": {"a": [SAME], "b": 2**70},
    "text of another type": [changed(HumanMessage("a"), content=Text("b"))],
    "a key of a number": [HumanMessage("a", additional_kwargs={"b": {1: 2}})],
    "a large integer in a dict": {"a": {"b": [2**70]}},
}


LIKE_THEM = (
    HumanMessage("a", additional_kwargs={"a": 1}),
    AIMessage("a", additional_kwargs={"a": 1}),
    AIMessage("a", response_metadata={"a": 1}),
    AIMessage("a", tool_calls=[CALL]),
    ToolMessage("a", tool_call_id="1"),
    ToolMessage("a", tool_call_id="1", artifact=None),
)
"""Messages that set the same fields as those above, and are plain."""


def assert_written_at_once(value: Any) -> None:
    at_once, careful = straight(value), FAST.encode(value)
    assert at_once is not None
    assert careful is not None
    assert says_the_same(at_once, careful)
    assert difference(value, SERDE.loads_typed(SERDE.dumps_typed(value))) is None


@pytest.mark.parametrize("name", IN_PLACE)
def test_what_is_not_plain_is_written_in_its_place(name: str) -> None:
    value = IN_PLACE[name]
    messages = value if type(value) is list and isinstance(value[0], BaseMessage) else [SAME]
    for whole in (value, {"a": value}, {"a": {"b": value}}, [*LIKE_THEM, *messages]):
        for _ in range(2):
            assert_written_at_once(whole)


@pytest.mark.parametrize("part", [LIST, PLAIN_DICT, SAME])
def test_what_is_not_plain_and_shares_a_part_keeps_it_shared(part: Any) -> None:
    documents = [ToolMessage("a", tool_call_id="1", artifact=[Document("d"), part])]
    for value in (
        [*documents, ToolMessage("b", tool_call_id="1", artifact=(part,))],
        {"a": documents, "b": part},
        [*documents, part],
    ):
        assert_written_at_once(value)


@pytest.mark.parametrize("name", REPEATS)
def test_a_part_that_occurs_twice_stays_one_part(name: str) -> None:
    for _ in range(2):  # once its kinds are not known, and once they are
        assert_written_at_once(REPEATS[name])


@pytest.mark.parametrize("name", NEEDS_CARE)
def test_what_needs_care_gets_it(name: str) -> None:
    value = NEEDS_CARE[name]
    for _ in range(2):  # once its kinds are not known, and once they are
        assert straight(value) is None
        straight([HumanMessage("a"), AIMessage("a"), AIMessage("a", additional_kwargs={"a": 1})])
        assert all(straight([like]) for like in LIKE_THEM)
        assert difference(value, SERDE.loads_typed(SERDE.dumps_typed(value))) is None


@pytest.mark.parametrize(
    "name", [name for name, value in IN_PLACE.items() if type(value) is list and len(value) == 1]
)
def test_a_message_that_is_not_plain_is_seen_among_others(name: str) -> None:
    [odd] = IN_PLACE[name]
    for value in ([odd, HumanMessage("a")], {"k": [AIMessage("a", tool_calls=[CALL]), odd]}):
        for like in LIKE_THEM:
            assert straight([like]) is not None  # so that its kind is the one met last
            assert_written_at_once(value)


def test_as_many_fields_set_are_not_the_same_fields() -> None:
    thread = [HumanMessage("a", id="1"), HumanMessage("b", name="n"), HumanMessage("c", id="2")]
    for value in (thread, thread[:1], thread[1:2], thread[::-1]):
        for _ in range(2):
            assert_written_at_once(value)


def test_an_extension_in_a_message_is_not_smuggled_in() -> None:
    for smuggled in (ormsgpack.Ext(19, b"\x90"), ormsgpack.Fragment(b"\x90")):
        for value in (
            [HumanMessage("a", additional_kwargs={"x": smuggled})],
            [AIMessage("a", tool_calls=[{**CALL, "args": {"x": smuggled}}])],
            {"a": [SAME], "b": smuggled},
        ):
            assert straight(value) is None


@pytest.mark.parametrize(
    "odd", [stripped(HumanMessage("a"), "name"), changed(HumanMessage("a"), more=1)]
)
def test_a_message_that_is_not_as_its_class_says_is_not_written(odd: Any) -> None:
    for _ in range(2):
        assert straight([odd]) is None
        with pytest.raises(EncodeError):
            SERDE.dumps_typed([odd])


@pytest.mark.parametrize("seed", range(0, 6_000, 500))
def test_a_damaged_row_is_read_at_once_as_with_care(seed: int) -> None:
    quick, careful = readers()[0], readers()[0]
    for decoder in careful._decoders.values():
        decoder.__self__._small_bytes = -1  # type: ignore[attr-defined]  # of either codec
    met = set()
    for row in filter(
        lambda row: row[0] in ("once1", "msgpack"), map(row_of, range(seed, seed + 500))
    ):
        one, other = result(quick, row), result(careful, row)
        met.add(type(one))
        assert type(one) is type(other)
        if isinstance(one, Exception):
            assert (str(one), vars(one)) == (str(other), vars(other))
        else:
            assert difference(one, other) is None
    assert len(met) > 5


def result(serde: OnceSerializer, row: tuple[str, bytes]) -> Any:
    try:
        return serde.loads_typed(row)
    except Exception as error:
        return error


@pytest.mark.parametrize("codec", ["once1", "msgpack"])
def test_bytes_after_a_small_value_are_refused(codec: Any) -> None:
    serde = OnceSerializer(strict_config(codec=codec, compression="none"))
    tag, data = serde.dumps_typed({"messages": [HumanMessage("a", id="1")]})
    assert serde.loads_typed((tag, data))
    for rest in (b"\xc0", data, b"\x92", data[-1:]):
        with pytest.raises(Exception, match=r"damaged|after the end"):
            serde.loads_typed((tag, data + rest))
    for end in range(len(data)):
        with pytest.raises(Exception, match=r"damaged|after the end"):
            serde.loads_typed((tag, data[:end]))


@pytest.mark.parametrize("value", [[Note("a")], {"page": [Page(title="x")]}])
def test_a_kind_that_is_not_allowed_is_refused_again_and_again(value: Any) -> None:
    data = OnceSerializer(strict_config(enforcement="open", compression="none")).dumps_typed(value)
    for _ in range(2):
        with pytest.raises(Exception, match=r"not allowed|may not|refuse"):
            SERDE.loads_typed(data)
