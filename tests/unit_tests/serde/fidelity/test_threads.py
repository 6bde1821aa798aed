"""`HEAD`: threads are read wherever they stand, and what is wrong with one is told."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import ormsgpack
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError, TypeNotAllowedError
from langgraph_once.serde.codecs.once1 import Decoder, Opaque, Registry
from langgraph_once.serde.codecs.once1.format.layout import MARK, Ext, entry, pack, table
from langgraph_once.serde.codecs.once1.format.scan import split
from langgraph_once.serde.codecs.once1.write.attempts import FastEncoder
from langgraph_once.serde.codecs.once1.write.odd_parts import bytes_in
from langgraph_once.serde.codecs.once1.write.simple_objects import GiveUpError
from tests.unit_tests.serde.fidelity.core_samples import loader, read
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.fidelity.test_models import (
    BEFORE,
    LOADER,
    POINT,
    After,
    Before,
    Point,
    moved,
    name,
)

STRAIGHT = FastEncoder(Registry()).threads
SERDE = OnceSerializer(SerdeConfig(compression="none"))
POINTS = [{"x": 1, "y": 2}, {"x": 3, "y": 4}]


def head(*content: Any) -> ormsgpack.Ext:
    return ormsgpack.Ext(Ext.HEAD, pack([*content]))


def points(*items: Any, kinds: Any = POINT, indices: Any = b"\x01\x01") -> list[Any]:
    return [head(kinds, indices, MARK), *(items or POINTS)]


def message(i: int) -> Any:
    call: Any = {"name": "f", "args": {"a": i}, "id": str(i)}
    match i % 5:
        case 0:
            return HumanMessage(f"h{i}", id=str(i))
        case 1:
            return AIMessage(f"a{i}", tool_calls=[call])
        case 2:
            return ToolMessage(f"t{i}", tool_call_id=str(i), name="f")
        case 3:
            return AIMessage(f"a{i}", response_metadata={"model": "m", "tokens": [i, {}]})
        case _:
            return HumanMessage([{"type": "text", "text": f"h{i}"}])


@pytest.mark.parametrize("count", [1, 2, 13, 14, 15, 16, 127, 128, 129])
def test_threads_of_any_length_come_back(count: int) -> None:
    for _ in range(2):
        thread = [message(i) for i in range(count)]
        one_reader = Decoder(LOADER, max_objects=10**6)
        for value in (thread, {"messages": thread}, {"x" * 40: thread}, {"": thread}):
            write: Any = STRAIGHT.encode_list if value is thread else STRAIGHT.encode_dict
            data = bytes_in(write(value))
            assert pack(MARK) in data
            assert difference(one_reader.decode(data, "once1"), value) is None
            for _ in range(2):  # once its start is not known, then nothing
                assert one_reader.decode(data, "once1") == value


def test_dictionaries_of_threads_come_back() -> None:
    thread = [message(i) for i in range(5)]
    value = {"a": thread[:2], "b": 1, "c": thread[2:], "d": "text"}
    assert difference(read(bytes_in(STRAIGHT.encode_dict(value)), LOADER), value) is None


@pytest.mark.parametrize(
    "wrap",
    [
        lambda thread: thread,
        lambda thread: {"a": thread},
        lambda thread: {"a": {"b": {"c": thread}}, "d": [1], "e": {"f": thread}},
        lambda thread: [1, {"a": thread}],
        lambda thread: {"a": [thread]},
    ],
)
def test_a_thread_is_read_wherever_it_stands(wrap: Any) -> None:
    found = [Point(1, 2), Point(3, 4)]
    assert read(pack(wrap(points())), LOADER) == wrap(found)
    assert read(pack(ormsgpack.Ext(Ext.TUPLE, pack([wrap(points())]))), LOADER) == (wrap(found),)
    entries = [*entry(pack(wrap(points()))), *entry(pack(ormsgpack.Ext(Ext.REF, bytes(4))))]
    assert read(table(entries), LOADER) == wrap(found)


def test_values_beside_the_objects_of_a_list_are_read() -> None:
    data = pack({"a": points(POINTS[0], [1], indices=b"\x01\x00"), "b": [(1).to_bytes(), {}]})
    assert read(data, LOADER) == {"a": [Point(1, 2), [1]], "b": [b"\x01", {}]}
    assert read(pack(points(kinds=POINT, indices=b"")[:1]), LOADER) == []


DAMAGED: list[Any] = [
    points(indices=b"\x01"),
    points(indices=b"\x01\x01\x01"),
    points(indices=b"\x01\x02"),
    points(indices="\x01\x01"),
    points(kinds="no kinds"),
    points(kinds=BEFORE, indices=b"\x01\x01"),
    points([1], [2]),
    [head(POINT, b"\x01\x01"), *POINTS],
    [head(POINT, b"\x01\x01", b"ecno"), *POINTS],
    [head(POINT, b"\x01\x01", MARK, 1), *POINTS],
    [head(), *POINTS],
    [ormsgpack.Ext(Ext.HEAD, b"\xc1"), *POINTS],
    [POINTS[0], head(POINT, b"\x01", MARK)],
    [*points(), head(POINT, b"\x01", MARK)],
    points(POINTS[0], head(POINT, b"\x01", MARK)),
    head(POINT, b"\x01\x01", MARK),
    {"a": head(POINT, b"", MARK)},
    {"a": {"b": head(POINT, b"", MARK)}, "c": points()},
]


@pytest.mark.parametrize("value", DAMAGED)
def test_a_damaged_head_is_refused(value: Any) -> None:
    once = Decoder(LOADER, max_objects=10**6)
    once.decode(pack(points()), "once1")  # what is like it is known
    for data in (pack(value), pack({"k": value}), pack([value]), table(entry(pack(value)))):
        with pytest.raises(SerdeError):
            once.decode(data, "once1")


def test_the_start_of_a_thread_is_not_mistaken() -> None:
    once = Decoder(LOADER, max_objects=10**6)
    good = pack({"k": points()})
    start = good.index(pack(MARK)) + len(pack(MARK))
    for _ in range(2):
        assert once.decode(good, "once1") == {"k": [Point(1, 2), Point(3, 4)]}
    for data in (
        b"\x82" + good[1:],
        good[:start],
        good + b"\xc0",
        good[:start] + good[start : start + 7],
        good[:start] + pack(POINTS[0]),
        good[:start] + pack(POINTS[0]) * 3,
        good[:5] + bytes([good[5] - 1]) + good[6:],
        good[:5] + bytes([good[5] + 1]) + good[6:],
        good[:3] + b"\x94" + good[4:],
        good[:3] + b"\x92" + good[4:],
        b"\x81\xa1\xff" + good[3:],
        b"\x81\x90" + good[3:],
        b"\x81\x05" + good[3:],
        b"\x81\xc4\x01k" + good[3:],
    ):
        for _ in range(2):
            with pytest.raises(SerdeError):
                once.decode(data, "once1")


def test_a_class_that_is_not_allowed_is_refused_with_its_place() -> None:
    refusing = loader(name(Before))
    for _ in range(2):
        with pytest.raises(TypeNotAllowedError, match="Point") as caught:
            read(pack({"points": points()}), refusing)
        assert caught.value.path == '["points"][0]'


def test_a_class_that_has_changed_is_dealt_with() -> None:
    data = pack({"all": points({"a": 1}, {"a": 2}, kinds=BEFORE)})
    found = read(data, moved(After))["all"]
    assert found == [After(a=1), After(a=2)]
    assert [each.model_fields_set for each in found] == [{"a"}, {"a"}]
    lost = pack({"all": points({"a": 1}, {"a": 1, "gone": "x"}, kinds=BEFORE)})
    with pytest.raises(PayloadError, match="could not be rebuilt") as caught:
        read(lost, moved(After))
    assert caught.value.path == '["all"][1]'


def test_what_cannot_be_rebuilt_is_opaque_where_that_is_wanted() -> None:
    found = read(pack(points()), loader(name(Before)), on_unavailable="opaque")
    assert [type(each) for each in found] == [Opaque, Opaque]


def test_the_objects_of_a_thread_are_bounded() -> None:
    data = pack(points(*POINTS * 25_000, indices=b"\x01" * 50_000))
    assert len(read(data, LOADER, max_objects=625_000)) == 50_000
    with pytest.raises(SizeLimitError):
        read(data, LOADER, max_objects=600_000)


def test_more_kinds_than_a_byte_can_count_are_left_to_care() -> None:
    fast = FastEncoder(Registry())
    fields = [*AIMessage.model_fields]
    fields_sets = [{*way} for size in range(5) for way in combinations(fields, size)][:300]
    written = 0
    for fields_set in fields_sets:
        message = AIMessage("a")
        object.__setattr__(message, "__pydantic_fields_set__", fields_set)
        try:
            data = bytes_in(fast.threads.encode_list([message]))
        except GiveUpError:
            continue
        written += 1
        assert difference(read(data, LOADER), [message]) is None
    assert written == min(len(fields_sets), 255)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("of", ["thread", "dictionary", "message"])
def test_what_a_message_holds_of_all_around_it_stays_the_same_object(count: int, of: str) -> None:
    thread: list[Any] = [HumanMessage(str(number)) for number in range(count - 1)]
    last = ToolMessage("t", tool_call_id="1")
    thread.append(last)
    value = {"a": 1, "messages": thread}
    last.artifact = {"thread": thread, "dictionary": value, "message": thread[0]}[of]
    found = SERDE.loads_typed(SERDE.dumps_typed(value))
    around = {"thread": found["messages"], "dictionary": found, "message": found["messages"][0]}
    assert found["messages"][-1].artifact is around[of]


@pytest.mark.parametrize("part", [[HumanMessage("h")], HumanMessage("h")], ids=repr)
def test_what_stands_twice_in_a_dictionary_is_one_object(part: Any) -> None:
    found = SERDE.loads_typed(SERDE.dumps_typed({"a": part, "b": part, "c": [part]}))
    assert found["a"] is found["b"] is found["c"][0]
    found = SERDE.loads_typed(SERDE.dumps_typed({"a": 1, "b": [part], "c": part}))
    assert found["b"][0] is found["c"]


@pytest.mark.parametrize("extra", [{"odd": 1}, None], ids=repr)
def test_extra_values_that_no_set_field_tells_come_back(extra: dict[str, Any] | None) -> None:
    plain, odd = HumanMessage("a"), HumanMessage("b")
    object.__setattr__(odd, "__pydantic_extra__", extra)
    assert SERDE.loads_typed(SERDE.dumps_typed([plain, plain.model_copy()]))[1] == plain
    for thread in ([plain, odd], {"messages": [plain, odd]}):
        found = SERDE.loads_typed(SERDE.dumps_typed(thread))
        message = found[1] if isinstance(found, list) else found["messages"][1]
        assert message.__pydantic_extra__ == extra


SHARED: dict[str, Any] = {"of": "two"}


def with_artifact(artifact: Any) -> list[Any]:
    thread = [message(i) for i in range(8)]
    thread[2].artifact = artifact
    thread[7].artifact = artifact
    return thread


REPEATED: dict[str, Callable[[], Any]] = {
    "the last, in a list": lambda: [*(thread := with_artifact(None)), thread[-1]],
    "the last, in a dictionary": lambda: {"messages": [*(t := with_artifact(None)), t[0]]},
    "the last, beside the thread": lambda: {"messages": (t := with_artifact((1, 2))), "last": t[7]},
    "what messages hold": lambda: with_artifact(SHARED),
    "a document of messages": lambda: with_artifact([Document("text", metadata=SHARED)]),
    "what stands beside the thread": lambda: {
        "messages": with_artifact([Document("one"), Document("two")]),
        "b": [SHARED, {"c": Document("text", metadata=SHARED)}],
    },
    "all of two threads": lambda: {"a": (t := with_artifact(Point(1, 2))), "b": [*t]},
    "a buffer": lambda: {"messages": with_artifact(memoryview(bytes(70_000))), "b": bytearray(3)},
}


def codes(data: bytes | memoryview) -> list[int]:
    """Return the extensions that are not in others."""
    found: list[int] = []
    ormsgpack.unpackb(data, ext_hook=lambda code, _content: found.append(code))
    return found


@pytest.mark.parametrize("name", REPEATED)
def test_a_thread_with_a_part_that_stands_twice_is_written_as_one(name: str) -> None:
    value = REPEATED[name]()
    data = SERDE.encoded(value)[1]
    *entries, last = split(data)
    assert entries
    assert Ext.HEAD in codes(last)
    for _ in range(2):
        assert difference(value, SERDE.loads_typed(("once1", data))) is None


def test_a_thread_with_a_message_that_stands_twice_keeps_its_forms() -> None:
    thread = with_artifact([Document("one")])
    thread[7].artifact = [Document("two")]
    alone, twice = (SERDE.encoded(value)[1] for value in (thread, [*thread, thread[0]]))
    assert codes(split(twice)[-1]) == [Ext.HEAD, Ext.REF, Ext.REF]
    assert codes(alone) == [Ext.HEAD]


def linked(*entries: Any) -> bytes:
    return table([piece for each in entries for piece in entry(pack(each))])


def ref(index: int) -> ormsgpack.Ext:
    return ormsgpack.Ext(Ext.REF, index.to_bytes(4, "big"))


def test_maps_that_are_messages_of_a_table_are_no_others() -> None:
    data = linked(POINTS[0], points(ref(0), ref(0)))
    first, second = read(data, LOADER)
    assert first == second == Point(1, 2)
    first.x = 5
    assert second.x == 1


def test_a_thread_that_is_referred_to_holds_itself() -> None:
    found = read(linked(points(POINTS[0], ref(0), indices=b"\x01\x00")), LOADER)
    assert found[0] == Point(1, 2)
    assert found[1] is found
    found = read(linked({"a": points(), "b": ref(0)}), LOADER)
    assert found["a"] == [Point(1, 2), Point(3, 4)]
    assert found["b"] is found


def test_maps_in_maps_are_looked_through_once() -> None:
    maps: list[Any] = [{"a": {}}, *({"a": ref(n), "b": ref(n)} for n in range(17))]
    found = read(linked(*maps, {"thread": points(), "maps": ref(17)}), LOADER)
    assert found["thread"] == [Point(1, 2), Point(3, 4)]
    assert found["maps"]["a"] is found["maps"]["b"]
    itself = [{"a": ref(0)}, {"thread": points(), "maps": ref(0)}]
    found = read(linked(*itself), LOADER)
    assert found["maps"]["a"] is found["maps"]
