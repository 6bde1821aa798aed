"""`TREE`: objects in objects come back as from the slow way; what is wrong with one is told."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import ormsgpack
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError, TypeNotAllowedError
from langgraph_once.serde.codecs.once1 import Decoder, Opaque, Registry, encode_slow
from langgraph_once.serde.codecs.once1.format.layout import MARK, Ext, entry, pack, table
from langgraph_once.serde.codecs.once1.read.general_form import plain_blob
from langgraph_once.serde.codecs.once1.write.attempts import FastEncoder
from tests.examples import examples
from tests.unit_tests.serde.fidelity.core_samples import encode, loader, nested, read
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.fidelity.test_fast_writes import LOADER as PAGES
from tests.unit_tests.serde.fidelity.test_fast_writes import (
    PLAIN,
    Leaf,
    Note,
    Page,
    changed,
    with_extra,
)
from tests.unit_tests.serde.fidelity.test_models import (
    LOADER,
    NO_REGISTRY,
    After,
    Before,
    Point,
    moved,
    name,
)
from tests.unit_tests.serde.fidelity.test_threads import head

FAST = FastEncoder(Registry())
POINT: list[Any] = [name(Point), {}]
BEFORE: list[Any] = [name(Before), ["a"], False, {}]
TREE = b"\x15\x94\xc4"


def tree(form: Any, value: Any, *indices: Any, mark: Any = MARK) -> ormsgpack.Ext:
    return ormsgpack.Ext(Ext.TREE, pack([pack(form), [*indices], value, mark]))


def is_tree(data: bytes) -> bool:
    return plain_blob(data) != data and bytes([Ext.TREE, 0x94]) in data


LINES = st.builds(Note, st.text(max_size=2), st.none() | st.integers() | st.datetimes())
LEAVES = st.one_of(
    st.builds(Leaf, title=st.text(max_size=2)),
    st.builds(Leaf, number=st.floats(allow_nan=False)),
    st.builds(Leaf),
)


def pages(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects that hold others in every way, and some of which are of other kinds."""
    bodies = (
        st.none()
        | inner
        | st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        | st.lists(st.lists(inner, max_size=2), max_size=2)
        | st.dictionaries(st.sampled_from("ab"), st.lists(inner, max_size=2), max_size=2)
    )
    tags = st.lists(inner, max_size=3) | PLAIN.map(lambda value: [value])
    return (
        st.builds(Page, body=bodies)
        | st.builds(Page, title=st.text(max_size=2), tags=tags)
        | st.builds(Page, body=bodies, surplus=st.integers())
        | st.builds(Note, st.text(max_size=2), bodies)
    )


OBJECTS = st.recursive(LINES | LEAVES, pages, max_leaves=12)
UNIFORM = st.one_of(
    st.lists(LINES, min_size=2, max_size=4),
    st.lists(LEAVES, min_size=2, max_size=4),
    st.lists(st.builds(Page, body=st.lists(LEAVES, max_size=3)), min_size=1, max_size=4),
    st.lists(st.builds(Note, st.just("n"), st.lists(LINES, max_size=3)), max_size=4),
    st.lists(st.builds(Note, st.just("n"), st.none() | LEAVES), max_size=4),
)


@given(st.lists(OBJECTS, max_size=4) | UNIFORM | st.builds(dict, a=UNIFORM, b=OBJECTS))
@examples(50)
def test_objects_in_objects_say_what_the_slow_way_says(value: Any) -> None:
    fast = FAST.encode(value)
    assert fast is not None
    event(f"tree: {is_tree(fast)}")
    assert difference(read(fast, PAGES), value) is None
    assert plain_blob(fast) == encode_slow(value, NO_REGISTRY)
    assert difference(read(plain_blob(fast), PAGES), value) is None


@given(UNIFORM, st.data())
@examples(30)
def test_what_is_shared_stays_one(value: list[Any], data: Any) -> None:
    if not value:
        return
    again = data.draw(st.sampled_from(value))
    held = getattr(again, "body", None) or getattr(again, "more", None)
    for whole in ([*value, again], [Page(body=value), Note("a", again)], {"a": value, "b": held}):
        fast = FAST.encode(whole)
        assert fast is not None
        assert difference(read(fast, PAGES), whole) is None


@pytest.mark.parametrize(
    "shared", [[1], [], {"k": 1}, {}, [Point(1)], {"k": Point(1)}, Point(1), {"k": [{}]}]
)
def test_what_two_objects_share_stays_one(shared: Any) -> None:
    for value in (
        [Note("a", shared), Note("b", [shared]), Note("c", {"k": shared})],
        Note("root", [Note("a", {"k": shared}), Note("b", [[shared]])]),
    ):
        back = read(encode(value, NO_REGISTRY), PAGES_AND_POINTS)
        assert difference(back, value) is None
        first, second, *_ = back if isinstance(back, list) else back.more
        inner = first.more["k"] if isinstance(value, Note) else first.more
        assert inner is (second.more[0][0] if isinstance(value, Note) else second.more[0])


def test_a_form_tells_where_the_objects_are() -> None:
    value = [Note("a", [Point(1), None]), Note("b", [Point(2)]), Note("c", None)]
    maps = [{"x": 1, "y": 0}, None], [{"x": 2, "y": 0}]
    written = [{"text": t, "more": m} for t, m in zip("abc", [*maps, None], strict=True)]
    form: Any = [[name(Note), {"more": [POINT]}]]
    assert encode(value, NO_REGISTRY) == pack(tree(form, written))


def test_indices_tell_the_kinds_of_one_column() -> None:
    value = [Point(1), Before(a=1), Before(a=2, gone="x"), Point(2)]
    written = [{"x": 1, "y": 0}, {"a": 1, "gone": ""}, {"a": 2, "gone": "x"}, {"x": 2, "y": 0}]
    form: Any = [[None, POINT, BEFORE, [name(Before), None, False, {}]]]
    assert encode(value, NO_REGISTRY) == pack(tree(form, written, b"\x00\x01\x02\x00"))


@pytest.mark.parametrize(
    "value",
    [
        [Note("a", (Point(1), {2})), Note("b", datetime(2025, 1, 1, tzinfo=UTC))],
        [Note("a", {"k": [Point(1)]}), Note("b", {"k": [], "l": [Point(2), None]})],
        [Note("a", [[Point(1)], []]), Note("b", [[Point(2), Point(3)]])],
        [Page(body=Page(body=Page(title="x"))), Page(body=None)],
        [Note("a", [HumanMessage("a", id="1"), AIMessage("b", id="2")]), Note("b", [])],
        [Note("a", {"json": [1, {"k": [None, {}]}, []]}), Note("b", [{"json": 1}])],
    ],
)
def test_common_trees_are_written_as_such(value: Any) -> None:
    for whole in (value, {"k": value}, Note("root", value)):
        fast = FAST.encode(whole)
        assert fast is not None
        assert is_tree(fast)
        assert difference(read(fast, PAGES_AND_POINTS), whole) is None


PAGES_AND_POINTS = loader(*map(name, (Note, Page, Leaf, Point, Before)))


@pytest.mark.parametrize(
    "more",
    [
        *(bytearray(b"x"), [memoryview(b"x")], {1: Point(1)}, [{"x": 1}, Point(1)], "\ud800"),
        *(
            2**70,
            [Point(2**70)],
            [Point(1), [Point(1)]],
            {"a": {}, "b": Point(1)},
            [{"\ud800": Point(1)}],
        ),
        *(nested(20, lambda v: [v]), nested(20, lambda v: Note("a", v))),
    ],
)
def test_what_no_form_fits_is_written_otherwise(more: Any) -> None:
    value = [Note("a", [Point(1)]), Note("b", more)]
    data = encode(value, NO_REGISTRY)
    assert difference(read(data, PAGES_AND_POINTS), value) is None


ODD: list[Any] = [
    with_extra(Page(title="x")),
    changed(Page(title="x"), "surplus", 1),
    changed(Note("x"), "surplus", 1),
    changed(Note("x", 1), "text"),
]


@pytest.mark.parametrize("odd", ODD, ids=["hidden", "extra", "more", "less"])
def test_an_object_that_is_not_as_its_class_says_keeps_what_it_has(odd: Any) -> None:
    twin = Page(title="y") if isinstance(odd, Page) else Note("y", 1)
    for value in ([twin, odd], [twin, odd, 1], [odd, twin]):
        for whole in (value, Note("root", {"k": value})):
            assert difference(read(encode(whole, NO_REGISTRY), PAGES), whole) is None


def test_a_model_with_a_surplus_value_is_refused() -> None:
    odd = Before(a=2)
    vars(odd)["surplus"] = 1
    with pytest.raises(SerdeError):
        read(encode([Before(a=1), odd], NO_REGISTRY), LOADER)


def test_an_extension_in_a_tree_is_not_smuggled_in() -> None:
    for smuggled in (ormsgpack.Ext(20, b"\x90"), ormsgpack.Fragment(b"\x90")):
        with pytest.raises(SerdeError):
            encode([Note("a", smuggled), Note("b")], NO_REGISTRY)


@pytest.mark.parametrize("depth", range(1, 70, 3))
@pytest.mark.parametrize("wrap", [lambda v: Note("a", v), lambda v: [Note("a", v), Note("b")]])
def test_trees_of_any_depth_come_back(wrap: Any, depth: int) -> None:
    value = nested(depth, wrap)
    back = read(encode(value, NO_REGISTRY), PAGES)
    assert encode_slow(back, NO_REGISTRY) == encode_slow(value, NO_REGISTRY)


def test_a_try_at_a_tree_leaves_nothing_behind_and_takes_nothing_away() -> None:
    buffers = [bytes([n]) * (1 << 17) for n in (1, 2, 3)]
    too_deep = [Note("a", [Point(1)]), Note("b", nested(20, lambda v: {"in": v}))]
    value = [memoryview(buffers[0]), bytearray(buffers[1]), too_deep, memoryview(buffers[2])]
    data = encode(value, NO_REGISTRY)
    assert FastEncoder(NO_REGISTRY).encode(value) == data
    one, two, items, three = read(data, PAGES_AND_POINTS)
    assert [bytes(each) for each in (one, two, three)] == buffers
    assert items == too_deep


def test_a_tree_in_a_table_shares_nothing_with_what_else_refers_to_its_maps() -> None:
    value = [memoryview(bytes(1 << 17)), [Note("a", [Point(1)]), Note("b", [])]]
    back = read(encode(value, NO_REGISTRY), PAGES_AND_POINTS)
    assert back[1] == value[1]
    ref = ormsgpack.Ext(Ext.REF, bytes(4))
    form: Any = [[name(Note), {"more": [POINT]}]]
    root = [ref, tree(form, [{"text": "a", "more": [ref]}, {"text": "b", "more": [ref, ref]}])]
    data = table([*entry(pack({"x": 1, "y": 2})), *entry(pack(root))])
    for _ in range(2):
        plain, (one, two) = read(data, PAGES_AND_POINTS)
        assert plain == {"x": 1, "y": 2}
        points = [*one.more, *two.more]
        assert points == [Point(1, 2)] * 3
        assert len({id(vars(point)) for point in [*points]} | {id(plain)}) == 4


MAP = {"x": 1, "y": 2}
DAMAGED: list[Any] = [
    tree([POINT], [MAP], mark=b"ecno"),
    tree([BEFORE], [{"a": 1, "z": 2}]),
    tree([POINT], [MAP], b"\x00"),
    tree([POINT], [MAP], "\x00"),
    tree([[None, POINT]], [MAP, MAP], b"\x00"),
    tree([[None, POINT]], [MAP]),
    tree([[None, POINT]], [MAP], b"\x01"),
    tree([[None]], [MAP], b"\x00"),
    tree([["builtins:dict", {}]], [{}]),
    tree([[name(Point), {"x": 3}]], [MAP]),
    tree([[name(Point), None]], [MAP]),
    tree([[name(Point), [1], False, {}]], [MAP]),
    tree([[name(Before), [1], False, {}]], [{"a": 1, "gone": ""}]),
    tree([1, 2], [MAP]),
    tree({"": POINT, "a": POINT}, {"k": MAP}),
    tree({"a": POINT}, {"k": MAP}),
    tree("form", [MAP]),
    tree([[POINT + [0] * 9_000]], [MAP]),
    ormsgpack.Ext(Ext.TREE, pack([pack([POINT]), [], [MAP]])),
    ormsgpack.Ext(Ext.TREE, pack([pack([POINT]), [], [MAP], MARK, 1])),
    ormsgpack.Ext(Ext.TREE, pack([pack([POINT])[:-1], [], [MAP], MARK])),
    ormsgpack.Ext(Ext.TREE, pack({})),
    ormsgpack.Ext(Ext.TREE, b""),
]


@pytest.mark.parametrize("value", DAMAGED)
def test_a_damaged_tree_is_refused(value: Any) -> None:
    once = Decoder(LOADER, max_objects=10**6)
    assert once.decode(pack(tree([POINT], [MAP])), "once1") == [Point(1, 2)]
    for whole in (value, {"k": value}, [value], [value, bytes(20_000)]):
        for data in (pack(whole), table(entry(pack(whole)))):
            with pytest.raises(SerdeError):
                once.decode(data, "once1")


def test_a_form_of_endless_depth_is_refused() -> None:
    deep = b"\x91" * 8_000 + pack(POINT)
    data = pack(ormsgpack.Ext(Ext.TREE, pack([deep, [], [], MARK])))
    with pytest.raises(SerdeError):
        read(data, LOADER)


def test_what_stands_where_no_object_belongs_stands_as_it_is() -> None:
    assert read(pack(tree([POINT], [1, [MAP], None, MAP])), LOADER) == [1, [MAP], None, Point(1, 2)]
    assert read(pack(tree({"": POINT}, [MAP])), LOADER) == [MAP]
    assert read(pack(tree(None, [MAP])), LOADER) == [MAP]


def test_a_class_that_is_not_allowed_is_refused_with_its_place() -> None:
    data = encode({"k": [Note("a", [1, Point(2)]), Note("b")]}, NO_REGISTRY)
    for _ in range(2):
        with pytest.raises(TypeNotAllowedError, match="Point") as caught:
            read(data, PAGES)
        assert caught.value.path == '["k"][0].more[1]'


def test_a_class_that_has_changed_is_dealt_with() -> None:
    data = pack({"all": tree({"": [BEFORE]}, {"k": [{"a": 1}, {"a": 2}]})})
    found = read(data, moved(After))["all"]["k"]
    assert found == [After(a=1), After(a=2)]
    assert [each.model_fields_set for each in found] == [{"a"}, {"a"}]
    lost = pack(tree([[None, BEFORE]], [{"a": 1}, {"a": 1, "gone": "x"}], b"\x00\x00"))
    with pytest.raises(PayloadError, match="could not be rebuilt") as caught:
        read(lost, moved(After))
    assert caught.value.path == "[1]"


def test_what_cannot_be_rebuilt_is_opaque_where_that_is_wanted() -> None:
    value = [Note("a", [Point(1), Before(a=1)]), Note("b", {"k": 1})]
    data = encode(value, NO_REGISTRY)
    found = read(data, loader(name(Note), name(Before)), on_unavailable="opaque")
    assert isinstance(found[0].more[0], Opaque)
    assert found[0].more[1] == Before(a=1)
    assert read(encode(found, NO_REGISTRY), PAGES_AND_POINTS) == value


@pytest.mark.parametrize("form", [[POINT], {"": POINT}, [[None, POINT]]])
def test_the_objects_of_a_tree_are_bounded(form: Any) -> None:
    count = 20_000
    value: Any = (
        [MAP] * count if isinstance(form, list) else dict.fromkeys(map(str, range(count)), MAP)
    )
    several = isinstance(form, list) and form[0][0] is None
    data = pack(tree(form, value, *([bytes(count)] if several else [])))
    assert len(read(data, LOADER, max_objects=300_000)) == count
    with pytest.raises(SizeLimitError):
        read(data, LOADER, max_objects=240_000)


def test_trees_and_threads_of_nothing_are_bounded() -> None:
    threads = {str(i): [head(b"\x90", b"", MARK)] for i in range(15_000)}
    for data in (pack([tree(None, None)] * 15_000), pack(threads)):
        read(data, LOADER, max_objects=700_000)
        with pytest.raises(SizeLimitError):
            read(data, LOADER, max_objects=330_000)
