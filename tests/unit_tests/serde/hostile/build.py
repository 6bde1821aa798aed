"""Builds rows of codec `once2` and of LangGraph's codecs by hand."""

from __future__ import annotations

import struct
from typing import Any

import ormsgpack

from langgraph_once.serde.format import Code, head_bytes

HERE = "tests.unit_tests.serde.hostile.classes"
"""Where the classes are that rows name; it is imported."""
P = 2**61 - 1
"""The hash of its multiples is 0."""
nothing = b"\xc0"


def pack(value: Any) -> bytes:
    """Return msgpack; bytes that `raw` made stand in it as they are."""
    return ormsgpack.packb(value)


def raw(content: bytes) -> ormsgpack.Fragment:
    """Return what stands in a value that is packed for bytes that are packed already."""
    return ormsgpack.Fragment(content)


def ext(code: int, content: bytes) -> bytes:
    """Return an extension."""
    return b"\xc9" + struct.pack(">IB", len(content), code & 0xFF) + content


def array(*items: bytes) -> bytes:
    """Return an array of packed items."""
    return b"\xdd" + struct.pack(">I", len(items)) + b"".join(items)


def obj(form: str, name: Any, data: bytes, *extra: Any, version: int = 0) -> bytes:
    """Return an object of packed data."""
    return headed(head_bytes(form, name, version, *extra), data)


def obj_of_raw(form: str, name: bytes, data: bytes) -> bytes:
    """Return an object whose name is packed already: it may be deeper than anybody packs."""
    head = b"\x93" + pack(form) + name + b"\x00"
    return headed(head, data)


def value(number: int, data: Any) -> bytes:
    """Return a value of that number; the data are packed if they are not."""
    return ext(Code.VALUE, bytes([number]) + (data if type(data) is bytes else pack(data)))


def tupled(*items: bytes, code: int = Code.TUPLE) -> bytes:
    """Return a tuple of packed items; a set or the like by its code."""
    return ext(code, array(*items))


def mapping(*items: bytes) -> bytes:
    """Return a dictionary of packed keys and values in turn."""
    return ext(Code.MAP, array(*items))


def shared(item: bytes) -> bytes:
    """Return a value that occurs again."""
    return ext(Code.SHARED, item)


def again(number: int) -> bytes:
    """Return the value of a `SHARED`."""
    return b"\xd6" + bytes([Code.AGAIN]) + struct.pack(">I", number)


def graph(*nodes: bytes) -> bytes:
    """Return a `GRAPH`."""
    return ext(Code.GRAPH, pack([*nodes]))


def node(number: int) -> bytes:
    """Return what stands for a node of a graph."""
    return b"\xd6" + bytes([Code.NODE]) + struct.pack(">I", number)


def many(heads: Any, numbers: Any) -> bytes:
    """Return what stands first in a thread."""
    return ext(Code.MANY, pack([heads, numbers]))


def stock(code: int, *parts: Any) -> bytes:
    """Return an extension of LangGraph's; parts that are bytes are packed already."""
    return ext(code, array(*(each if type(each) is bytes else pack(each) for each in parts)))


def headed(head: bytes, data: bytes = nothing) -> bytes:
    """Return an object of a head as it is."""
    return ext(Code.OBJECT, b"\x92" + pack(head) + data)


def split(content: bytes) -> tuple[bytes, bytes]:
    """Return an object up to its data, and these.

    Where there is no head, all are data.
    """
    if content[:1] != b"\x92" or content[1:2] not in (b"\xc4", b"\xc5", b"\xc6"):
        return b"", content
    width = 1 << (content[1] - 0xC4)
    end = 2 + width + int.from_bytes(content[2 : 2 + width], "big")
    return content[:end], content[end:]
