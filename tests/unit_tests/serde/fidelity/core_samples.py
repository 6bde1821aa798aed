"""Values, types and a strict comparison for the tests of the core."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Any

from hypothesis import strategies as st

from langgraph_once.serde.codecs.once1 import Adapter, Decoder, Encoder, Family, Loader, Registry
from langgraph_once.serde.codecs.once1.format.layout import REF_PREFIX, VALUES_IN, Ext, unpack
from langgraph_once.serde.codecs.once1.format.scan import split
from langgraph_once.serde.trust.allowlist import Allowlist
from tests.unit_tests.serde.strictly import strict_config

TAG = "once1"


@dataclass(eq=False)
class Knot:
    """Has its own identity, and may hold itself."""

    label: Any = None
    links: Any = field(default_factory=list)


class Box:
    """Of a family whose objects cannot be made empty."""

    def __init__(self, content: Any) -> None:
        self.content = content


class Outer:
    class Inner:
        pass


class Versioned:
    __once_version__ = 2

    def __init__(self, content: Any) -> None:
        self.content = content


class Stranger:
    """Nobody taught the codec this type."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def __reduce__(self) -> Any:
        return type(self), ()


class Slotted:
    __slots__ = ("a",)

    def __reduce__(self) -> Any:
        return type(self), ()


class Celsius:
    """Written by an adapter."""

    def __init__(self, degrees: Any) -> None:
        self.degrees = degrees

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Celsius) and other.degrees == self.degrees

    def __hash__(self) -> int:
        return hash(self.degrees)


class KnotFamily:
    name = "test-knot"

    def matches(self, cls: type) -> bool:
        return issubclass(cls, Knot)

    def encode(self, obj: Any) -> Any:
        return {"label": obj.label, "links": obj.links}

    def decode(self, cls: type, data: Any) -> Any:
        made = self.blank(cls)
        self.fill(made, data)
        return made

    def blank(self, cls: type) -> Any:
        return object.__new__(cls)

    def fill(self, obj: Any, data: Any) -> None:
        obj.label, obj.links = data["label"], data["links"]


class BoxFamily:
    name = "test-box"

    def matches(self, cls: type) -> bool:
        return cls in (Box, Versioned, Outer.Inner)

    def encode(self, obj: Any) -> Any:
        return [vars(obj)]

    def decode(self, cls: type, data: Any) -> Any:
        if type(data) is not list or data[0].get("content") == "broken":
            raise ValueError("secret")
        made: Any = object.__new__(cls)
        made.__dict__.update(data[0])
        return made


def decode_celsius(data: Any) -> Celsius:
    if data == "broken":
        raise ValueError("secret")
    return Celsius(data)


CELSIUS = Adapter(
    name="test-celsius", types=(Celsius,), encode=lambda c: c.degrees, decode=decode_celsius
)
EXTENSIONS: tuple[Adapter | Family, ...] = (CELSIUS, KnotFamily(), BoxFamily())
REGISTRY = Registry(EXTENSIONS)
OWN = tuple(
    f"{cls.__module__}:{cls.__qualname__}" for cls in (Knot, Box, Versioned, Outer.Inner, Celsius)
)


def loader(*names: str, registry: Registry = REGISTRY, **settings: Any) -> Loader:
    config = strict_config(allowed_types=names or OWN, **settings)
    return Loader(registry, Allowlist.from_config(config))


LOADER = loader()


def encode(value: Any, registry: Registry, **options: Any) -> bytes:
    return Encoder(registry, **options).encode(value)


def read(data: bytes, loader: Loader = LOADER, max_objects: int = 10**7, **options: Any) -> Any:
    return Decoder(loader, max_objects=max_objects, **options).decode(data, TAG)


def back(value: Any) -> Any:
    return read(encode(value, REGISTRY))


def nested(depth: int, wrap: Any) -> Any:
    value: Any = None
    for _ in range(depth):
        value = wrap(value)
    return value


def shape(value: Any, seen: dict[int, int] | None = None) -> Any:
    """Return a form of `value` that is equal for values that nothing can tell apart."""
    seen = {} if seen is None else seen
    kind = type(value)
    if kind in (int, bool, str, bytes, type(None), Fraction):
        return kind.__name__, value
    if kind is float:
        return "float", struct.pack(">d", value)
    if kind is memoryview:
        return "memoryview", value.tobytes()
    if kind not in (tuple, frozenset, Celsius):
        if id(value) in seen:
            return "seen", seen[id(value)]
        seen[id(value)] = len(seen)
    return kind.__name__, [shape(part, seen) for part in _parts(value)]


def _parts(value: Any) -> list[Any]:
    match value:
        case set() | frozenset():
            return _in_order(value)
        case dict():
            return list(chain.from_iterable(value.items()))
        case list() | tuple():
            return list(value)
        case bytearray():
            return [bytes(value)]
        case _:
            return list(chain.from_iterable(vars(value).items()))


def _in_order(items: Any) -> list[Any]:
    # A knot in a set has a label of its own, and may lead back to the set.
    return sorted(items, key=lambda i: f"Knot {i.label}" if type(i) is Knot else repr(shape(i)))


INTEGERS = (
    st.integers()
    | st.sampled_from(
        [2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 127, 128, -128, -129, 255, 256]
    )
    | st.integers(-(2**200), 2**200)
)
TEXT = st.text(st.characters(exclude_categories=())) | st.sampled_from(["\ud800", "a\udfffb", "☃"])
ATOMS = st.none() | st.booleans() | INTEGERS | st.floats() | TEXT | st.binary()
HASHABLE = st.recursive(
    ATOMS | st.builds(Celsius, st.integers()) | st.fractions(),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)
LEAVES: st.SearchStrategy[Any] = (
    ATOMS
    | st.binary().map(bytearray)
    | st.binary().map(lambda data: memoryview(data))
    | st.builds(Celsius, st.integers() | st.text())
    | HASHABLE
)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(TEXT, inner, max_size=4)
        | st.dictionaries(HASHABLE, inner, max_size=4)
        | st.sets(HASHABLE, max_size=4)
        | st.frozensets(HASHABLE, max_size=4)
        | st.builds(Knot, inner, inner)
        | st.builds(Box, inner)
    )


TREES = st.recursive(LEAVES, _containers, max_leaves=20)
"""Values of every kind that the core writes; parts occur once."""


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    """Values whose parts occur more than once, and contain themselves."""
    nodes: list[Any] = [
        draw(st.sampled_from([list, dict, set, Knot]))() for _ in range(draw(st.integers(1, 6)))
    ]
    knots = [node for node in nodes if type(node) is Knot]
    for number, knot in enumerate(knots):
        knot.label = number
    parts = st.sampled_from(nodes) | st.sampled_from(nodes).map(lambda node: (node, 1)) | TREES
    for _ in range(draw(st.integers(0, 12))):
        into = draw(st.sampled_from(nodes))
        if type(into) is set:
            into.add(draw(st.sampled_from([*knots, 1, "a"])))
        elif type(into) is list:
            into.append(draw(parts))
        elif type(into) is dict:
            into[draw(st.sampled_from([*knots, 1, "a", "b", None]))] = draw(parts)
        else:
            into.links.append(draw(parts))
    return draw(st.sampled_from(nodes))


def has_sets_in_any_order(data: bytes) -> bool:
    """Whether a set in these bytes refers to the table.

    The entries of its parts are in the order in which Python goes through the set, which no two
    sets need to share. All else that is equal is written as the same bytes.
    """
    found = []

    def hook(code: int, content: bytes) -> None:
        if code in {Ext.SET, Ext.FROZENSET} and REF_PREFIX in content:
            found.append(code)
        elif code in VALUES_IN:
            unpack(content, VALUES_IN[code], hook)

    for entry in split(data):
        unpack(entry, 1, hook)
    return bool(found)
