"""Rows whose extensions stand where none are written, or hold what none holds."""

# ruff: noqa: E501  # a row is a line
from __future__ import annotations

import struct
from typing import Any, Final

from langgraph_once.serde.format import Code, head_bytes
from tests.unit_tests.serde.hostile.build import (
    HERE,
    again,
    array,
    ext,
    graph,
    headed,
    many,
    mapping,
    node,
    nothing,
    obj,
    pack,
    raw,
    shared,
    tupled,
    value,
)

_RECORD: Final = head_bytes("record", f"{HERE}:Record")
_LIST_HEAD: Final = head_bytes("hashed", "set")


def _claiming(first: bytes) -> bytes:
    return first + b"\xff\xff\xff\xff" + nothing * 100


def _levels(count: int, native: int = 0, code: int = Code.TUPLE) -> bytes:
    data = nothing
    for _ in range(count):
        data = ext(code, array(b"\x91" * native + data))
    return data


def _deep(levels: int) -> bytes:
    """Return tuples in each other, made in the time of their bytes."""
    size, heads = 1, []
    for _ in range(levels):
        heads.append(b"\xc9" + struct.pack(">IB", size + 1, Code.TUPLE) + b"\x91")
        size += 7
    return b"".join(reversed(heads)) + nothing


def _hidden() -> bytes:
    """Return levels behind an extension that seems to have ended."""
    data = nothing
    for _ in range(8):
        data = b"\x91" * 200 + ext(Code.TUPLE, b"\x90" + data)
    return data


def _channels(levels: int, content: bytes) -> bytes:
    return (b"\x81" + pack("channel_values")) * levels + content


SHAPES: Final[dict[str, Any]] = {
    "nothing": b"",
    "the reserved byte": b"\xc1",
    "bytes behind the value": nothing * 2,
    "a text that is no UTF-8": b"\xa1\xff",
    "a key that is no text": b"\x81\x01\x01",
    "a list said to have 2**32 items": _claiming(b"\xdd"),
    "a dictionary said to have 2**32 items": _claiming(b"\xdf"),
    "bytes said to be 2**32": _claiming(b"\xc6"),
    "an extension said to have 2**32 bytes": b"\xc9\xff\xff\xff\xff\x01" + nothing,
    "100,000 lists in each other": b"\x91" * 100_000 + nothing,
    "100,000 dictionaries in each other": b"\x81\xa1a" * 100_000 + nothing,
    "an unknown extension": ext(99, b"x"),
    "an extension of negative code": ext(-1, b"x"),
    "empty extensions": array(*(ext(code, b"") for code in range(1, 16))),
    **{f"an empty {code.name}": ext(code, b"") for code in Code},
    **{f"a {code.name} of a number": ext(code, b"\x07") for code in Code},
    **{f"a {code.name} of a text": ext(code, pack("text")) for code in Code},
    "half a pair": mapping(pack(1)),
    "a key twice": mapping(pack(1), nothing, pack(1), nothing),
    "an item twice": tupled(pack(1), pack(1), code=Code.SET),
    "a list as a key": mapping(b"\x90", pack(1)),
    "a list in a set": tupled(b"\x90", code=Code.SET),
    "a NaN twice in a set": tupled(pack(float("nan")), pack(float("nan")), code=Code.SET),
    "100,000 tuples in each other": lambda: _deep(100_000),
    "33 tuples in each other": lambda: _levels(33),
    "16 tuples with 1,000 lists in each": lambda: _levels(16, 1000),
    "32 tuples with 250 lists in each": lambda: _levels(32, 250),
    "levels that hide behind an extension": lambda: _hidden(),
    "a thread in a tuple": tupled(many([], b"")),
    "a thread as a key": mapping(many([], b""), nothing),
    "a thread in a set": tupled(many([], b""), code=Code.SET),
    "a thread in an object": obj("record", f"{HERE}:Record", many([], b"")),
    "a thread as the value": many([], b""),
    "a thread further on": pack([1, raw(many([], b"")), 2]),
    "a thread in a thread": pack([raw(many([_RECORD], b"\x01\x00")), {}, raw(many([], b""))]),
    "a thread two levels deep": pack({"a": {"b": [raw(many([_RECORD], b"\x01")), {}]}}),
    "a thread in channels in channels": pack(
        {"channel_values": {"channel_values": [raw(many([], b""))]}}
    ),
    "a thread in 900 channels": _channels(900, array(many([], b""))),
    "a thread of too many numbers": pack([raw(many([_RECORD], b"\x01\x01"))]),
    "a thread with a number of no head": pack([raw(many([_RECORD], b"\x09")), {}]),
    "a thread whose heads are lists": pack([raw(many([[1]], b"\x01")), {}]),
    "a thread whose heads are texts": pack([raw(many(["a"], b"\x01")), {}]),
    "a thread whose heads are a number": pack([raw(many(7, b"\x01")), {}]),
    "a thread of sets": pack([raw(many([_LIST_HEAD], b"\x01")), [1, 1]]),
    "a thread that stands twice": pack([raw(shared(many([], b""))), raw(again(0))]),
    "a thread in a stand-in": pack([raw(obj("none", "a:B", many([], b"")))]),
    "a part again that is not there": again(7),
    "a part again that is being read": shared(pack([raw(again(0))])),
    "a part again by a number of a megabyte": ext(Code.AGAIN, b"\xff" * 1_000_000),
    "a part again by no number": pack([raw(shared(nothing)), raw(ext(Code.AGAIN, b""))]),
    "a node without a graph": node(0),
    "a graph of nothing": graph(),
    "a graph of what is no bytes": ext(Code.GRAPH, pack([1, 2])),
    "a graph of an empty node": graph(b""),
    "a graph in a graph": graph(graph(nothing)),
    "a graph in a node": graph(pack([raw(graph(nothing))])),
    "a node of itself that is a tuple": graph(tupled(node(0))),
    "a node of itself that is a number": graph(node(0)),
    "a set of itself": graph(tupled(node(0), code=Code.SET)),
    "a frozenset of itself": graph(tupled(node(0), code=Code.FROZENSET)),
    "a key that is itself": graph(mapping(node(0), nothing)),
    "a node that is not there": graph(pack([raw(node(9))])),
    "a node by a number of a megabyte": graph(ext(Code.NODE, b"\xff" * 1_000_000)),
    "a node that is made empty as something else": graph(
        pack([raw(node(1))]), obj("record", f"{HERE}:Record", pack([]))
    ),
    "a node whose class is gone, in itself": graph(
        pack([raw(node(1))]), obj("record", f"{HERE}:Gone", pack({"name": raw(node(0))}))
    ),
    "a node that is a value and in itself": graph(value(17, node(0))),
    "a node of an enum in itself": graph(obj("enum", f"{HERE}:Colour", node(0))),
    "a node of a key in itself, in a set": graph(
        tupled(node(1), code=Code.SET), obj("record", f"{HERE}:Key", pack({"content": raw(node(0))}))
    ),
    "a node that is a thread": graph(pack([raw(many([_RECORD], b"\x01")), {}])),
    "a node with bytes behind it": graph(nothing * 2),
    "a head without data": ext(Code.OBJECT, b"\x91" + pack(_RECORD)),
    "a head with two data": ext(Code.OBJECT, b"\x93" + pack(_RECORD) + nothing * 2),
    "a head that is cut": headed(_RECORD[:5]),
    "a head of no bytes": headed(b""),
    "a head that is a number": headed(b"\x07"),
    "a head of two parts": headed(b"\x92\xa0\xa0"),
    "a head with an extension in it": headed(b"\x93\xa6record\xd4\x01\x90\x00"),
    "a head that is a text": ext(Code.OBJECT, pack(["record", 1])),
    "a head that is a list": ext(Code.OBJECT, pack([[1], 1])),
    "a head that is a network": ext(Code.OBJECT, value(29, "::/0")),
    "a head that is a tuple": ext(Code.OBJECT, b"\x92" + tupled(pack(1)) + nothing),
    "a head that is a record": ext(Code.OBJECT, b"\x92" + obj("record", f"{HERE}:Key", pack({"content": 1})) + nothing),
    "an object that is a dictionary": ext(Code.OBJECT, pack({"a": 1, "b": 2})),
    "a head whose name is a number": obj("record", 7, nothing),
    "a head whose name is nothing": obj("record", None, nothing),
    "a head whose name is a dictionary": obj("record", {"a": "b"}, nothing),
    "a head whose version is text": headed(pack(["record", "a:B", "x"])),
    "a head whose version is true": headed(head_bytes("record", "a:B", True)),
    "a head of a version far off": obj(
        "record", f"{HERE}:Record", pack({"name": 1}), version=2**63
    ),
    "a head of a version below zero": obj(
        "record", f"{HERE}:Record", pack({"name": 1}), version=-(2**62)
    ),
    "a head whose form is unknown": obj("none", f"{HERE}:Record", pack({"a": 1})),
    "a head whose form is unknown and long": obj("x" * 500_000, "a:B", nothing),
    "a form with too much in its head": obj("record", f"{HERE}:Record", pack({"name": 1}), 1, 2, 3),
    "a hashed head of no kind": obj("hashed", "list", pack([])),
    "a hashed head with a list for its kind": obj("hashed", ["set"], pack([])),
    "a hashed set of a dictionary": obj("hashed", "set", pack({"a": 1})),
    "a hashed set of a text": obj("hashed", "set", pack("abc")),
    "a hashed dictionary of a text": obj("hashed", "dict", pack("abcd")),
    "surrogates that are none": ext(Code.TEXT, b"\xff"),
    "a buffer of no kind": ext(7, b"\x09abc"),
    "a value of an unknown number": ext(Code.VALUE, b"\xfe" + nothing),
    "a value with two data": ext(Code.VALUE, b"\x07" + nothing * 2),
}  # fmt: skip
