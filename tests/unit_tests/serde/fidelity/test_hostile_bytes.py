"""Bytes that nobody of ours wrote: an error of ours, soon, and nothing imported or called."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from ipaddress import IPv4Network, IPv6Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.serde.event_hooks import register_serde_event_listener
from langgraph_once.serde.codecs.once2 import Loader, Registry
from langgraph_once.serde.codecs.once2.format.layout import Ext, pack
from langgraph_once.serde.codecs.once2.format.scan import is_deeper_than
from langgraph_once.serde.trust.allowlist import Allowlist
from tests.unit_tests.serde.fidelity.core_samples import (
    CELSIUS,
    OWN,
    REGISTRY,
    TREES,
    Box,
    Celsius,
    Knot,
    Outer,
    Stranger,
    encode,
    graphs,
    loader,
    read,
)

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError, TypeNotAllowedError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.layers.compression import Compression
from tests.examples import examples
from tests.unit_tests.serde.cpu import least_seconds, within
from tests.unit_tests.serde.strictly import strict_config


def ext(code: int, *values: bytes) -> bytes:
    content = b"".join(values)
    return b"\xc9" + len(content).to_bytes(4, "big") + bytes([code]) + content


def array(*values: bytes) -> bytes:
    return b"\xdd" + len(values).to_bytes(4, "big") + b"".join(values)


def table(*entries: bytes) -> bytes:
    framed = (b"\xc6" + len(entry).to_bytes(4, "big") + entry for entry in entries)
    return ext(Ext.TABLE, *framed)


def ref(index: int) -> bytes:
    return ext(Ext.REF, index.to_bytes(4, "big"))


def family(name: str, cls: str, data: bytes) -> bytes:
    return ext(Ext.FAMILY, pack(name), pack(cls), data)


POLICIES: tuple[Any, ...] = ("raise", "opaque")
NIL = b"\xc0"
ONE = b"\x01"
EMPTY = b"\x90"
P = 2**61 - 1  # the hash of its multiples is 0

BAD = {
    "nothing": b"",
    "bytes after the end": ONE + ONE,
    "bytes after an extension": ext(Ext.BYTEARRAY, ONE) + ONE,
    "the reserved byte": b"\xc1",
    "a length field of 2**32 - 1, array": b"\xdd\xff\xff\xff\xff" + ONE * 100,
    "a length field of 2**32 - 1, map": b"\xdf\xff\xff\xff\xff" + b"\xa1a\x01" * 100,
    "a length field of 2**32 - 1, bin": b"\xc6\xff\xff\xff\xff" + ONE * 100,
    "a length field of 2**32 - 1, ext": b"\xc9\xff\xff\xff\xff\x01" + ONE * 100,
    "100,000 arrays": b"\x91" * 100_000 + NIL,
    "100,000 maps": b"\x81\xa1a" * 100_000 + NIL,
    "a key that is no text": b"\x81\x01\x01",
    "invalid utf-8": b"\xa1\xff",
    "an unknown extension": ext(99, b"x"),
    "an unknown extension inside": array(ext(0, b"")),
    "tuple without an array": ext(Ext.TUPLE, ONE),
    "tuple of nothing": ext(Ext.TUPLE),
    "tuple of two": ext(Ext.TUPLE, EMPTY, EMPTY),
    "a dict with half a pair": ext(Ext.MAP, array(ONE)),
    "a dict with a list for a key": ext(Ext.MAP, array(EMPTY, ONE)),
    "a set of lists": ext(Ext.SET, array(EMPTY)),
    "an adapter without data": ext(Ext.ADAPTER, pack("test-celsius")),
    "an adapter without a name": ext(Ext.ADAPTER, ONE, ONE),
    "an adapter named by a list": ext(Ext.ADAPTER, EMPTY, ONE),
    "an unknown adapter": ext(Ext.ADAPTER, pack("none"), ONE),
    "a family without data": ext(Ext.FAMILY, pack("test-box"), pack(OWN[1])),
    "a family with too much": ext(Ext.FAMILY, pack("test-box"), pack(OWN[1]), ONE, ONE),
    "a family named by a list": ext(Ext.FAMILY, EMPTY, pack(OWN[1]), ONE),
    "a class that is a number": ext(Ext.FAMILY, pack("test-box"), ONE, ONE),
    "a class without a colon": family("test-box", "builtins", ONE),
    "a class without a module": family("test-box", ":Box", ONE),
    "a class without a name": family("test-box", "builtins:", ONE),
    "an endless class name": family("test-box", "builtins:" + "a." * 10_000 + "b", ONE),
    "a version that is text": ext(Ext.VERSIONED, pack("test-box"), pack(OWN[1]), pack("x"), NIL),
    "data of another shape": family("test-box", OWN[1], ONE),
    "a class of another family": family("test-box", OWN[0], NIL),
    "a class that is a function": ext(Ext.CLASS, b"builtins:len"),
    "a function that is a class": ext(Ext.FUNCTION, b"builtins:int"),
    "a class that is no text": ext(Ext.CLASS, b"\xff"),
    "a reference without a table": array(ref(0)),
    "a reference to itself": ref(0),
    "a reference beyond the table": table(EMPTY, array(ref(2))),
    "a reference of two bytes": table(EMPTY, ext(Ext.REF, b"\x00\x00")),
    "an unknown extension as long as a reference": table(EMPTY, array(ext(99, bytes(4)))),
    "a class as long as a reference": table(EMPTY, array(ext(Ext.CLASS, bytes(4)))),
    "a tuple of itself": table(ext(Ext.TUPLE, array(ref(0)))),
    "an adapter's value of itself": table(ext(Ext.ADAPTER, pack("test-celsius"), ref(0))),
    "an object of itself that cannot": table(family("test-box", OWN[1], array(ref(0)))),
    "an object of itself without names": table(ext(Ext.FAMILY, ref(0), ref(0), ref(0))),
    "a set that holds one twice": ext(Ext.SET, array(ONE, ONE)),
    "a dict that holds a key twice": ext(Ext.MAP, array(ONE, ONE, ONE, NIL)),
    "a set whose items share a hash": encode(set(range(0, 5_000 * P, P)), REGISTRY),
    "a dict whose keys share a hash": encode(dict.fromkeys(range(0, 5_000 * P, P)), REGISTRY),
    "a set of itself": table(ext(Ext.SET, array(ref(0)))),
    "a tuple that is a reference": table(EMPTY, ext(Ext.TUPLE, ref(0))),
    "a set that is a reference": table(EMPTY, ext(Ext.SET, ref(0))),
    "an empty table": table(),
    "an empty entry": table(b"", ONE),
    "bytes after the table": table(ONE) + ONE,
    "bytes after an entry": table(ONE + ONE),
    "a table in a table": table(table(ONE)),
    "a table in an array": array(table(ONE)),
    "an entry that is no bin": ext(Ext.TABLE, ONE),
    "an unknown object without a name": ext(Ext.UNKNOWN, ONE, ONE),
    "an unknown object of damage": ext(Ext.UNKNOWN, pack("a"), b"\xdd\xff\xff\xff\xff"),
    "surrogates that are none": ext(Ext.STR, b"\xff"),
}


@contextmanager
def in_a_second() -> Iterator[None]:
    """What it holds takes less, without a garbage collection of all that the worker has."""
    gc.disable()
    begun = time.process_time()
    try:
        yield
        assert time.process_time() - begun < 1
    finally:
        gc.enable()


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("policy", ["raise", "opaque"])
def test_bad_bytes_are_refused(name: str, policy: Any) -> None:
    allowed = loader(*OWN, "builtins:len", "builtins:int")
    with in_a_second():
        try:
            value = read(BAD[name], allowed, on_unavailable=policy)
        except SerdeError as error:
            assert error.tag == "once2"  # noqa: PT017  # it may also be read, as opaque
        else:
            assert policy == "opaque", value


@pytest.mark.parametrize("levels", [8, 9, 12, 100, 5_000])
@pytest.mark.parametrize("native", [0, 1, 1000])
def test_no_nesting_crashes_the_process(levels: int, native: int) -> None:
    data = NIL
    for _ in range(min(levels, 5_000_000 // (native + 10) ** 2 + 20)):
        data = ext(Ext.TUPLE, array(b"\x91" * native + data))
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(read(data))
        except SerdeError as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(5)
    assert outcome


def test_levels_cannot_hide_behind_an_extension_that_seems_to_have_ended() -> None:
    data = NIL
    for _ in range(8):
        data = b"\x91" * 200 + ext(Ext.TUPLE, EMPTY, data)
    with pytest.raises(ValueError, match="wrong number"):
        is_deeper_than(data, 256)


def test_a_class_is_refused_before_anything_is_imported() -> None:
    assert "this" not in sys.modules
    for data in (
        family("test-box", "this:d", NIL),
        ext(Ext.CLASS, b"this:d"),
        ext(Ext.FUNCTION, b"this:d"),
        table(family("test-knot", "this:d", array(ref(0)))),
    ):
        with pytest.raises(TypeNotAllowedError) as caught:
            read(array(data) if data[5] != Ext.TABLE else data)
        assert caught.value.type_name == "this:d"
    assert "this" not in sys.modules


@pytest.mark.parametrize("name", ["fractions", ":A", "fractions:", "a:B..C", "a:" + "b" * 500])
def test_what_can_be_no_name_of_a_class_is_looked_up_nowhere(name: str) -> None:
    with pytest.raises(PayloadError, match="no class or function can have the name"):
        read(family("record", name, pack({})))


def test_an_object_of_a_family_without_a_name_is_shown_as_opaque() -> None:
    found = read(
        ext(Ext.FAMILY, array(pack(1)), pack("a:B"), pack({"x": 1})), on_unavailable="opaque"
    )
    assert (found.type_name, found.payload) == ("a:B", {"x": 1})


def test_a_family_never_gets_a_class_of_another_kind() -> None:
    anything = Loader(REGISTRY, Allowlist.from_config(strict_config(enforcement="open")))
    for name in REGISTRY.families:
        plain = () if name == "object" else (Loader, threading.Thread)
        for cls in (subprocess.Popen, type, *plain):
            target = f"{cls.__module__}:{cls.__qualname__}"
            with pytest.raises(SerdeError, match="is not a class of the family"):
                read(family(name, target, NIL), anything)
            with pytest.raises(TypeNotAllowedError):
                read(family(name, target, NIL))


def test_the_memory_of_one_allowlist_is_not_that_of_another() -> None:
    data = encode(Box(1), REGISTRY)
    assert read(data, loader()).content == 1
    with pytest.raises(TypeNotAllowedError):
        read(data, loader("other:Name"))


def test_a_type_that_is_merely_not_forbidden_is_reported_each_time() -> None:
    events: list[Any] = []
    unregister = register_serde_event_listener(events.append)
    open_loader = Loader(REGISTRY, Allowlist.from_config(strict_config(enforcement="open")))
    for _ in range(3):
        read(encode([Box(1)], REGISTRY), open_loader)
        read(encode([Box(1)], REGISTRY))
    unregister()
    assert [event["kind"] for event in events] == ["msgpack_unregistered_allowed"] * 3


def test_attributes_of_an_allowed_class_are_not_allowed() -> None:
    module = Outer.__module__
    for name in ("Outer.__class__", "Outer.__init__.__globals__", "sys", "Outer.Inner"):
        with pytest.raises(SerdeError):
            read(ext(Ext.CLASS, f"{module}:{name}".encode()), loader(f"{module}:Outer"))


def test_a_few_bytes_do_not_become_many_objects() -> None:
    serde = OnceSerializer(strict_config(codec="once2", max_decoded_objects=10_000_000))
    squeezed = Compression(level=3, max_decoded_bytes=10**9).compress(
        b"\xdc\xff\xff" + b"\x90" * 65_535 * 200
    )
    assert squeezed is not None
    assert len(squeezed) < 10_000

    def read_it() -> None:
        with pytest.raises(SizeLimitError):
            serde.loads_typed(("once2+zstd", squeezed))

    assert within(least_seconds(read_it, 1), 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: array(*[EMPTY] * n),
        lambda n: b"\xdf" + n.to_bytes(4, "big") + b"".join(pack(str(i)) + NIL for i in range(n)),
        lambda n: ext(Ext.TUPLE, array(*[ONE] * n)),
        lambda n: array(*[ext(Ext.TUPLE, EMPTY)] * (n // 2)),
        lambda n: family("test-box", OWN[1], array(ext(Ext.MAP, array(*map(pack, range(n)))))),
        lambda n: table(*[pack("entry")] * n, ONE),
        lambda n: table(array(*[ONE] * (n // 2)), array(*[ONE] * (n // 2))),
    ],
)
def test_the_number_of_objects_is_bounded(make: Any) -> None:
    with pytest.raises(SizeLimitError) as caught:
        read(make(12_000), max_objects=6_000)
    assert caught.value.limit_objects == 6_000
    assert caught.value.limit_bytes is None
    read(make(500), max_objects=60_000)


def test_text_is_one_object_however_long() -> None:
    assert read(encode(["x" * 5_000, b"y" * 5_000, bytearray(5_000)], REGISTRY), max_objects=1024)


def test_one_long_list_is_not_copied_by_many_objects() -> None:
    copier = ext(Ext.ADAPTER, pack("copier"), ref(0))
    registry = Registry((replace(CELSIUS, name="copier", decode=deque),))
    data = table(array(*[ONE] * 100_000), array(*[copier] * 1_000))
    with pytest.raises(SizeLimitError):
        read(data, loader(registry=registry), max_objects=10**6)


def test_an_address_range_is_never_walked_through() -> None:
    walker = replace(CELSIUS, name="walker", types=(Stranger,), decode=set)
    allowed = loader(registry=Registry((walker,)))
    for network in (IPv6Network("::/64"), IPv4Network("10.0.0.0/8")):
        data = encode(network, REGISTRY)
        assert read(data) == network
        assert type(read(data)) is type(network)
        with in_a_second(), pytest.raises(PayloadError):
            read(ext(Ext.ADAPTER, pack("walker"), data), allowed)


def test_an_error_in_the_middle_tells_the_path() -> None:
    value = {"docs": [1, {2: (Box({"owner": Celsius("broken")}),)}]}
    with pytest.raises(PayloadError, match="'test-celsius'") as caught:
        read(encode(value, REGISTRY))
    assert caught.value.path == '["docs"][1][2][0].content["owner"]'
    assert "secret" not in str(caught.value)


def test_an_error_behind_a_reference_tells_the_path() -> None:
    shared = {"owner": Knot(Celsius("broken"))}
    with pytest.raises(PayloadError) as caught:
        read(encode({"a": [shared], "b": shared}, REGISTRY))
    assert caught.value.path == '["a"][0]["owner"].label'
    with pytest.raises(TypeNotAllowedError) as refused:
        read(encode([0, fine := {"owner": Knot(1)}, fine], REGISTRY), loader("a:B"))
    assert refused.value.path == '[1]["owner"]'


CORPUS = [
    encode(value, REGISTRY)
    for value in (
        {"a": [1, 2.5, "text", b"bytes", None, True], "b": {"c": (1, 2)}},
        [Box([Knot("x"), Celsius(3)]), {1: {2, 3}, (4,): frozenset({5})}, 2**70, "\ud800"],
        (lambda shared: [shared, {"again": shared}, Knot(shared, [shared])])([1, 2, 3]),
        (lambda knot: knot.links.append(knot) or [knot, knot])(Knot("k")),
        [bytearray(b"abc"), memoryview(b"def"), Knot, {"deep": [[[[[[(((1,),),)]]]]]]}],
    )
]


def mutated(data: bytes, random: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(changed))
        match random.randrange(5):
            case 0:
                changed[at] ^= 1 << random.randrange(8)
            case 1:
                changed[at] = random.randrange(256)
            case 2:
                del changed[at : at + random.randint(1, 8)]
            case 3:
                changed[at:at] = changed[random.randrange(len(changed)) :][:16]
            case _:
                changed[at:at] = random.choice([b"\xdd\xff\xff\xff\xff", b"\xd6\x0f\0\0\0\0"])
        if not changed:
            return b""
    return bytes(changed)


@pytest.mark.parametrize("policy", ["raise", "opaque"])
@pytest.mark.parametrize("data", CORPUS)
def test_mutations_give_a_value_or_our_error(data: bytes, policy: Any) -> None:
    source = random.Random(len(data))
    for _ in range(1_000):
        changed = mutated(data, source)
        with in_a_second(), suppress(SerdeError):
            read(changed, on_unavailable=policy)


@given(st.binary(max_size=200))
@examples(50)
def test_any_bytes_give_a_value_or_our_error(data: bytes) -> None:
    for policy in POLICIES:
        with suppress(SerdeError):
            read(data, on_unavailable=policy)


@given(TREES | graphs(), st.data())
def test_truncated_bytes_are_refused(value: Any, data: st.DataObject) -> None:
    written = encode(value, REGISTRY)
    cut = data.draw(st.integers(0, len(written) - 1))
    with pytest.raises(SerdeError):
        read(written[:cut])
