"""Whatever goes in comes back equal, of the same types, and connected in the same way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ormsgpack
import pytest
from hypothesis import assume, given
from tests.unit_tests.serde.fidelity.core_samples import (
    EXTENSIONS,
    OWN,
    REGISTRY,
    TREES,
    Box,
    Celsius,
    Knot,
    Outer,
    back,
    encode,
    graphs,
    has_sets_in_any_order,
    loader,
    nested,
    read,
    shape,
)

from langgraph_once.errors import EncodeError
from langgraph_once.serde import OnceSerializer, Opaque
from langgraph_once.serde.layers.tag import Tag
from tests.examples import examples
from tests.unit_tests.serde.labels import label
from tests.unit_tests.serde.strictly import strict_config


@given(TREES)
@examples(40)
def test_every_tree_comes_back(value: Any) -> None:
    assert shape(back(value)) == shape(value)


@given(graphs())
@examples(40)
def test_every_graph_comes_back(value: Any) -> None:
    assert shape(back(value)) == shape(value)


@given(TREES | graphs())
def test_a_value_that_came_back_takes_as_many_bytes(value: Any) -> None:
    assert len(encode(back(value), REGISTRY)) == len(encode(value, REGISTRY))


@given(TREES | graphs())
def test_a_value_that_came_back_is_written_with_the_same_bytes(value: Any) -> None:
    data = encode(value, REGISTRY)
    assume(not has_sets_in_any_order(data))
    assert encode(back(value), REGISTRY) == data


@given(TREES | graphs())
def test_the_bytes_are_valid_msgpack(value: Any) -> None:
    ormsgpack.unpackb(encode(value, REGISTRY), ext_hook=lambda code, content: (code, content))


VALUES = [
    *(0, -1, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**400, -(10**400)),
    *(0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324),
    *("", "\ud800", "a\udc00\ud800", "\x00", "☃"),
    *(b"", bytearray(b"\x00"), memoryview(b"ab"), memoryview(b""), bytearray()),
    *((), (1, (2, ())), frozenset(), frozenset({(1,)}), set(), {None, 1.5, "a", b"a", (1,)}),
    {1: "int", "1": "str", b"1": "bytes", (1,): "tuple", None: "none", 1.5: "float"},
    *({True: 1}, {1: 1}, {1.0: 1}, {frozenset({1}): {2: 3}}, {"\ud800": 1}, {"b": 1, "a": 2}),
    *({}, [], [[]], {"": {}}, [{}], ({},)),
    *(Fraction(1, 3), {Celsius(3): Celsius("x")}, Box([Box(None)]), Knot(1)),
]


@pytest.mark.parametrize("value", VALUES, ids=label)
def test_every_sample_comes_back(value: Any) -> None:
    assert shape(back(value)) == shape(value)


def test_a_strided_memoryview_comes_back_with_equal_bytes() -> None:
    view = memoryview(b"a.b.c.")[::2]
    assert back(view).tobytes() == b"abc"


@pytest.mark.parametrize("size", [65_535, 65_536, 300_000])
@pytest.mark.parametrize("step", [1, 2])
def test_a_large_memoryview_comes_back_as_a_view_of_the_blob(size: int, step: int) -> None:
    view = memoryview(bytes(range(256)) * (size * step // 256 + 1))[: size * step : step]
    inside = back({"a": [view], "b": view})
    assert inside["a"][0] == inside["b"] == view.tobytes()
    assert back(view) == view.tobytes()


def test_keys_keep_their_order_and_their_types() -> None:
    value = {"z": 1, "a": 2, 3: 4}
    assert list(back(value).items()) == list(value.items())
    assert [type(key) for key in back({True: 1, 2.0: 2, 3: 3})] == [bool, float, int]


def test_a_shared_part_is_one_object_again() -> None:
    shared = [1]
    one = back({"a": shared, "b": (shared, {"c": shared}), "d": [1]})
    assert one["a"] is one["b"][0] is one["b"][1]["c"]
    assert one["a"] is not one["d"]


@pytest.mark.parametrize("shared", [bytearray(b"x"), {1}, Box(1), Knot(), {1: 2}, {"a": 1}])
def test_everything_that_can_change_keeps_its_identity(shared: Any) -> None:
    first, second = back([shared, shared])
    assert first is second


def test_what_contains_itself_comes_back_containing_itself() -> None:
    ring: list[Any] = [1]
    ring.append({"ring": ring, (1, 2): ring})
    again = back(ring)
    assert again[1]["ring"] is again
    assert again[1][1, 2] is again


def test_objects_that_know_each_other_come_back_so() -> None:
    parent, child = Knot("parent"), Knot("child")
    parent.links, child.links = {child}, {parent: "parent"}
    again = back(parent)
    (found,) = again.links
    assert found.links == {again: "parent"}


def test_a_tuple_in_a_cycle_is_no_obstacle_where_the_cycle_begins_elsewhere() -> None:
    ring: list[Any] = []
    ring.append((ring,))
    again = back(ring)
    assert again[0][0] is again


def tied(make: Any) -> Any:
    inside: list[Any] = []
    inside.append(make(inside))
    return inside


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (tied(Box), "[0].content"),
        (tied(Celsius), "[0]"),
        ({"a": [1, tied(Box)]}, '["a"][1][0].content'),
    ],
)
def test_a_cycle_that_cannot_be_rebuilt_is_refused_with_its_path(value: Any, path: str) -> None:
    with pytest.raises(EncodeError, match="contains itself") as caught:
        encode(value, REGISTRY)
    assert caught.value.path == path


def test_a_cycle_through_a_hash_that_needs_the_whole_is_refused() -> None:
    class Valued(Knot):
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return hash(self.label)

    value: Any = Outer.__dict__.get("Valued") or Valued("a")
    setattr(Outer, "Valued", Valued)  # noqa: B010  # mypy knows no such attribute
    Valued.__qualname__ = "Outer.Valued"
    value.links = {value}
    with pytest.raises(EncodeError, match="its hash depends"):
        encode(value, REGISTRY)


WRAPS: dict[str, tuple[Any, Any]] = {
    "list": (lambda v: [v], lambda v: v[0]),
    "tuple": (lambda v: (v,), lambda v: v[0]),
    "dict": (lambda v: {"k": v}, lambda v: v["k"]),
    "map": (lambda v: {1: v}, lambda v: v[1]),
    "family": (Box, lambda v: v.content),
    "cyclic": (lambda v: Knot(v), lambda v: v.label),
    "adapter": (Celsius, lambda v: v.degrees),
}


@pytest.mark.parametrize("kind", WRAPS)
@pytest.mark.parametrize("depth", [31, 32, 33, 62, 63, 64, 65, 66, 127, 130, 6_000])
def test_any_depth_comes_back(kind: str, depth: int) -> None:
    wrap, unwrap = WRAPS[kind]
    value = back(nested(depth, wrap))
    for _ in range(depth):
        value = unwrap(value)
    assert value is None


def test_parts_shared_on_every_level_do_not_multiply() -> None:
    for make in (
        lambda v: [v, v],
        lambda v: (v, v),
        lambda v: {1: v, 2: v},
        lambda v: Celsius((v, v)),
    ):
        value = nested(200, make)
        assert len(encode(value, REGISTRY)) < 20_000


def test_a_class_and_a_function_come_back_where_they_are_allowed() -> None:
    names = (f"{nested.__module__}:nested", f"{Outer.__module__}:Outer.Inner", "builtins:len")
    allowed = loader(*names)
    for value in (nested, Outer.Inner, len, int, [Outer.Inner, {"f": nested}]):
        assert read(encode(value, REGISTRY), allowed) == value


@pytest.mark.parametrize("value", [lambda: 1, [].append, "x".join, [1].sort])
def test_what_cannot_be_found_by_its_name_is_refused(value: Any) -> None:
    with pytest.raises(EncodeError) as caught:
        encode({"a": value}, REGISTRY)
    assert caught.value.path == '["a"]'


def test_an_object_of_a_class_that_cannot_be_found_shows_its_attributes() -> None:
    @dataclass(eq=False)
    class Local:
        inside: Any = None

    value = Local()
    value.inside = [value]
    found = read(encode([value, Local], REGISTRY), on_unavailable="opaque")
    assert [type(each) for each in found] == [Opaque, Opaque]
    assert found[0].payload["inside"][0] is found[0]
    again = read(encode(found, REGISTRY), on_unavailable="opaque")
    assert [each.type_name for each in again] == [each.type_name for each in found]
    assert again[0].payload["inside"][0] is again[0]


@pytest.mark.parametrize("layers", [{}, {"min_compress_bytes": 0}])
@given(value=TREES | graphs())
def test_the_serializer_writes_and_reads_it(layers: dict[str, Any], value: Any) -> None:
    serde = OnceSerializer(
        strict_config(codec="once2", allowed_types=OWN, **layers), adapters=EXTENSIONS
    )
    tag, data = serde.dumps_typed(value)
    assert Tag.parse(tag).codec == "once2" or type(value) in (type(None), bytes, bytearray)
    assert shape(serde.loads_typed((tag, data))) == shape(value)


def test_the_allowlist_of_a_copy_is_its_own() -> None:
    serde = OnceSerializer(strict_config(codec="once2"), adapters=EXTENSIONS)
    allowed = serde.with_msgpack_allowlist([Knot])
    data = allowed.dumps_typed(Knot("x"))
    assert allowed.loads_typed(data).label == "x"
    with pytest.raises(Exception, match="not allowed"):
        serde.loads_typed(data)
