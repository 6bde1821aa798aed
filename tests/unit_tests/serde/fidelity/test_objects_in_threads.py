"""`HEAD` with forms: objects in messages are maps in maps, and come back as from the slow way."""

from __future__ import annotations

from typing import Any

import ormsgpack
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError, TypeNotAllowedError
from langgraph_once.serde.codecs.once1 import Decoder, Opaque, Registry, encode_slow
from langgraph_once.serde.codecs.once1.format.layout import MARK, Ext, entry, pack, table
from langgraph_once.serde.codecs.once1.read.general_form import plain_blob
from langgraph_once.serde.codecs.once1.read.type_names import mentions
from langgraph_once.serde.codecs.once1.write.attempts import FastEncoder
from langgraph_once.serde.codecs.once1.write.odd_parts import NotPlain, bytes_in
from tests.examples import examples
from tests.unit_tests.serde.fidelity.core_samples import loader, read
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.fidelity.test_fast_writes import LOADER as PAGES
from tests.unit_tests.serde.fidelity.test_fast_writes import PLAIN, Note
from tests.unit_tests.serde.fidelity.test_models import (
    NO_REGISTRY,
    After,
    Before,
    Point,
    name,
)
from tests.unit_tests.serde.fidelity.test_objects_in_objects import BEFORE, OBJECTS, POINT
from tests.unit_tests.serde.fidelity.test_threads import head

FAST = FastEncoder(NO_REGISTRY)
NOTE: list[Any] = [name(Note), {"more": [POINT]}]
MAP = {"x": 1, "y": 2}

HELD = PLAIN | OBJECTS | st.lists(OBJECTS | PLAIN, max_size=3) | st.tuples(OBJECTS, PLAIN)
MESSAGES = st.one_of(
    st.builds(ToolMessage, st.just("t"), tool_call_id=st.just("1"), artifact=HELD),
    st.builds(ToolMessage, st.just("t"), tool_call_id=st.just("1")),
    st.builds(HumanMessage, st.just("h"), additional_kwargs=st.dictionaries(st.just("k"), HELD)),
    st.builds(AIMessage, st.just("a"), response_metadata=st.dictionaries(st.just("k"), PLAIN)),
    OBJECTS,
)
THREADS = st.lists(MESSAGES, min_size=1, max_size=5)


def thread(*kinds: Any, items: Any = (MAP,), indices: bytes = b"\x01") -> list[Any]:
    return [head(pack([*kinds]), indices, MARK), *items]


@given(THREADS | st.builds(dict, a=THREADS, b=HELD), st.booleans(), st.data())
@examples(80)
def test_objects_in_threads_say_what_the_slow_way_says(
    value: Any, is_shared: bool, data: Any
) -> None:
    if is_shared and isinstance(value, list):
        value = [
            *value,
            HumanMessage("h", additional_kwargs={"k": data.draw(st.sampled_from(value))}),
        ]
    fast = FAST.encode(value)
    try:
        found = FAST.threads.by_type[type(value)](value)
        written, is_plain = bytes_in(found), isinstance(found, bytes)
    except Exception:
        written, is_plain = fast or b"", False
    event(f"plain: {is_plain}, at once: {written is not fast}")
    slow = read(encode_slow(value, NO_REGISTRY), PAGES)
    reader = Decoder(PAGES, max_objects=10**6)
    for _ in range(2):  # once its kinds are not known, and once they are
        assert difference(reader.decode(written, "once1"), slow) is None
    assert difference(read(plain_blob(written), PAGES), slow) is None


def at_once(value: Any) -> bytes:
    return bytes_in(FAST.threads.by_type[type(value)](value))


def documents(count: int) -> list[Any]:
    return [
        ToolMessage(
            f"t{n}",
            tool_call_id="1",
            artifact=[Document(f"d{n}", metadata={"at": n}), Document(f"e{n}", metadata={})],
        )
        for n in range(count)
    ]


def test_documents_of_one_kind_are_maps() -> None:
    found = FAST.threads.encode_list(documents(20))
    assert isinstance(found, NotPlain)  # its size is checked
    data = found.data
    assert data.count(b"base:Document") == 1
    [(code, _)] = [(top.tag, top.data) for top in ormsgpack.unpackb(data, ext_hook=Found)[:1]]
    assert code == Ext.HEAD


class Found:
    """An extension as it was met."""

    def __init__(self, tag: int, data: bytes) -> None:
        self.tag, self.data = tag, data


DAMAGED: list[Any] = [
    thread([name(Note), {"more": 3}], items=[{"text": "a", "more": [MAP]}]),
    thread([name(Note), None], items=[{"text": "a", "more": []}]),
    thread([{"more": [POINT]}], items=[{"text": "a", "more": []}]),
    thread(["builtins:dict", {}], items=[{}]),
    thread([name(Note), {"more": [["a", "b", "c", "d"]]}], items=[{"text": "a", "more": [MAP]}]),
    thread([name(Note), {"more": [[None, POINT]]}], items=[{"text": "a", "more": [MAP]}]),
    thread(NOTE, items=[{"text": "a", "more": []}], indices=b"\x02"),
    thread(NOTE, items=[{"text": "a", "more": []}] * 2),
    thread([name(Note), {"more": b"\x91" * 9_000}], items=[{"text": "a", "more": []}]),
]


@pytest.mark.parametrize("value", DAMAGED)
def test_a_damaged_form_is_refused(value: Any) -> None:
    once = Decoder(loader(name(Note), name(Point)), max_objects=10**6)
    good = thread(NOTE, items=[{"text": "a", "more": [MAP, 1]}])
    for _ in range(2):
        assert once.decode(pack(good), "once1") == [Note("a", [Point(1, 2), 1])]
    for data in (pack(value), pack({"k": value}), pack([value]), table(entry(pack(value)))):
        with pytest.raises(SerdeError):
            once.decode(data, "once1")


def test_forms_are_known_behind_a_head_alone() -> None:
    once = Decoder(loader(name(Note), name(Point)), max_objects=10**6)
    assert once.decode(pack(thread(NOTE, items=[{"text": "a", "more": [MAP]}])), "once1")
    for code, content in (
        (Ext.MODEL, [pack([NOTE]), {"text": "a", "more": [MAP]}, MARK]),
        (Ext.MODELS, [pack([NOTE]), b"\x01", [{"text": "a", "more": [MAP]}], MARK]),
    ):
        with pytest.raises(SerdeError):
            once.decode(pack(ormsgpack.Ext(code, pack(content))), "once1")


@pytest.mark.parametrize("value", [documents(2), {"k": documents(1)}])
def test_all_that_a_thread_holds_is_named(value: Any) -> None:
    named = {found for (found, _), _ in mentions(at_once(value))}
    assert named == {
        "langchain_core.messages.tool:ToolMessage",
        "langchain_core.documents.base:Document",
    }


def test_a_class_that_is_not_allowed_is_refused_with_its_place() -> None:
    value = [ToolMessage("t", tool_call_id="1", artifact=[Note("a"), Note("b", [Point(2)])])]
    data = at_once(value)
    refusing = loader("langchain_core.messages.tool:ToolMessage", name(Note))
    for _ in range(2):
        with pytest.raises(TypeNotAllowedError, match="Point") as caught:
            read(data, refusing)
        assert caught.value.path == "[0].artifact[1].more[0]"
    found = read(data, refusing, on_unavailable="opaque")
    assert isinstance(found[0].artifact[1].more[0], Opaque)


def test_a_class_that_has_changed_is_dealt_with() -> None:
    items = [{"text": "a", "more": [{"a": 1}, {"a": 2}]}]
    data = pack(thread([name(Note), {"more": [BEFORE]}], items=items))
    reader = loader(name(After), name(Note), registry=Registry(aliases={name(Before): name(After)}))
    [note] = read(data, reader)
    assert note.more == [After(a=1), After(a=2)]
    lost = [{"text": "a", "more": [{"a": 1, "gone": "x"}]}]
    with pytest.raises(PayloadError, match="could not be rebuilt"):
        read(pack(thread([name(Note), {"more": [BEFORE]}], items=lost)), reader)


def test_a_form_takes_of_the_budget() -> None:
    form = [name(Note), {f"{n:0>40}": [POINT] for n in range(60)}]
    data = pack(thread(form, items=[{"text": "a", "more": []}]))
    allowed = loader(name(Note), name(Point))
    assert read(data, allowed, max_objects=10**6) == [Note("a", [])]
    with pytest.raises(SizeLimitError):
        read(data, allowed, max_objects=20_000)


@pytest.mark.parametrize("like", [{"text": "b", "more": None}, {"text": "b"}, {"more": [1]}])
def test_a_map_is_no_object_because_another_message_has_one_there(like: Any) -> None:
    first, then = HumanMessage("a"), HumanMessage("a")
    vars(first)["content"], vars(then)["content"] = [Note("b")], [like]
    for value in ([first, then], [then, first]):
        data = at_once(value)
        assert difference(read(data, PAGES), value) is None
