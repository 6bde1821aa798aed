"""The values that `write_once` stores in our own codecs. A name once stored stays."""

from __future__ import annotations

import array
import base64
import functools
import importlib
import ipaddress
import re
import uuid
from collections import ChainMap, OrderedDict, UserDict, UserList
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import pydantic
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.store.base import Item, SearchItem
from langgraph.types import Send, TimeoutPolicy

from langgraph_once.serde import Unstored, UnstoredError
from tests.data.blobs import model

if TYPE_CHECKING:
    from collections.abc import Callable

    Makers = dict[str, Callable[[], Any]]

NOW: Final = datetime(2025, 3, 1, 12, 30, 5, 7, tzinfo=UTC)
TIMES: Final[dict[str, Any]] = {"created_at": NOW, "updated_at": NOW}
KEY: Final = {"test": base64.b64encode(b"0123456789abcdef").decode()}
"""A test key: whatever is sealed with it is public."""

_SETTINGS: Final[dict[tuple[str, ...], dict[str, Any]]] = {
    (): {"compression": "none"},
    ("zstd",): {"min_compress_bytes": 0},
    ("aesgcm",): {"compression": "none", "encryption_keys": KEY},
    ("zstd", "aesgcm"): {"min_compress_bytes": 0, "encryption_keys": KEY},
}
LAYERS: Final = {
    "".join(separator + layer for layer in layers): settings
    for separator in (".", "+")  # the first versions joined with `+`
    for layers, settings in _SETTINGS.items()
}
"""The settings that put each set of layers around a value."""


def _validation_error() -> pydantic.ValidationError:
    with pytest.raises(pydantic.ValidationError) as caught:
        model.Profile.model_validate({"name": 7})
    return caught.value


COMMON: Final[Makers] = {
    "none": lambda: None,
    "bytes": lambda: b"the same " * 20,
    "bytearray": lambda: bytearray(b"the same " * 20),
    "thread": lambda: {"messages": [HumanMessage("hi there", id="1"), AIMessage("hi", id="2")] * 3},
}
"""Stored in every codec, below all layers."""


def _unstored_error() -> UnstoredError:
    error = UnstoredError("shop:LocalError", "no luck")
    error.__cause__ = ValueError(1)
    error.add_note("seen twice")
    return error


ADAPTERS: Final[Makers] = {
    "complex": lambda: 1 - 2j,
    "range": lambda: range(1, 9, 2),
    "slice": lambda: slice(1, None, 2),
    "fraction": lambda: Fraction(-3, 7),
    "decimal": lambda: Decimal("-1.50"),
    "ellipsis": lambda: ...,
    "notimplemented": lambda: NotImplemented,
    "datetime": lambda: NOW.replace(tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
    "date": lambda: date(2024, 2, 29),
    "time": lambda: time(12, 1, 2, 3, fold=1),
    "timedelta": lambda: timedelta(days=-1, microseconds=3),
    "timezone": lambda: timezone(timedelta(hours=2), "EET"),
    "zoneinfo": lambda: ZoneInfo("Europe/Berlin"),
    "uuid": lambda: uuid.UUID(int=7),
    "pureposixpath": lambda: PurePosixPath("/srv/data/x"),
    "purewindowspath": lambda: PureWindowsPath("c:/data/x"),
    "posixpath": lambda: PosixPath("/srv/data/x"),
    "windowspath": lambda: WindowsPath("c:/data/x"),
    "pattern": lambda: re.compile("a+(b)", re.IGNORECASE),
    "ipv4address": lambda: ipaddress.IPv4Address("10.0.0.1"),
    "ipv4interface": lambda: ipaddress.IPv4Interface("10.0.0.1/8"),
    "ipv4network": lambda: ipaddress.IPv4Network("10.0.0.0/8"),
    "ipv6address": lambda: ipaddress.IPv6Address("::1"),
    "ipv6interface": lambda: ipaddress.IPv6Interface("::1/64"),
    "ipv6network": lambda: ipaddress.IPv6Network("2001:db8::/64"),
    "secretstr": lambda: pydantic.SecretStr("pst"),
    "secretbytes": lambda: pydantic.SecretBytes(b"pst"),
    "array": lambda: array.array("d", [1.5, -2.0]),
    "mappingproxy": lambda: MappingProxyType({"a": 1, 2: "b"}),
    "generic": lambda: model.Pair[int],
    "genericalias": lambda: dict[str, int],
    "unstored": lambda: Unstored("httpx:Response"),
    "unstorederror": _unstored_error,
    "validationerror": _validation_error,
    "send": lambda: Send("node", {"a": (1, 2)}, timeout=TimeoutPolicy(run_timeout=3)),
    "item": lambda: Item(value={"a": 1}, key="k", namespace=("n", "m"), **TIMES),
    "searchitem": lambda: SearchItem(("n",), "k", {"a": 1}, NOW, NOW, 0.5),
    "partial": lambda: functools.partial(int, "101", base=2),
}
"""By the name of the adapter."""


def _title() -> model.Title:
    title = model.Title("Der Prozess")
    title.language = "de"
    return title


def _run_error() -> model.RunError:
    error = model.RunError(7, hint="again")
    error.__cause__ = ValueError("no", 3)
    error.add_note("seen twice")
    return error


FAMILIES: Final[Makers] = {
    "model": lambda: model.Profile(name="ann", inner=model.Profile(name="bob", tags=["a"])),
    "enum": lambda: model.Access.READ | model.Access.WRITE,
    "numpy": lambda: importlib.import_module("numpy").arange(6, dtype=">i4").reshape(2, 3),
    "pandas": lambda: importlib.import_module("pandas").Timestamp("2025-03-01T12:30", tz="UTC"),
    "exception": _run_error,
    "exceptiongroup": lambda: ExceptionGroup("two", [ValueError(1), OSError(2, "no")]),
    "namedtuple": lambda: model.Point(1, model.Point(2, (3,))),
    "value": _title,
    "container": lambda: OrderedDict(b=1, a=model.Tags([2, (3,)])),
    "chainmap": lambda: ChainMap({"a": 1}, {"b": {2}}),
    "v1model": lambda: model.OldProfile(name="ann", tags=["a"]),
    "url": lambda: pydantic.AnyUrl("https://example.org/a?b=1"),
    "record": lambda: model.Task("outer", model.Task("inner", {model.Colour.RED: (1, 2)})),
    "object": lambda: SimpleNamespace(a=(1, 2), b=UserDict({1: UserList("ab")})),
    "arrow": lambda: importlib.import_module("pyarrow").table({"a": [1, None], "b": ["x", "y"]}),
    "polars": lambda: importlib.import_module("polars").Series("a", ["x", "y"]),
}
"""By the name of the family."""


def _cycle() -> list[Any]:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    return cycle


def _shared() -> list[Any]:
    shared = {"a": 1}
    return [shared, shared]


def _tree() -> list[Any]:
    inner = model.Profile(name="bob", tags=["a"])
    return [model.Profile(name="ann", inner=inner), model.Profile(name="eve", tags=["b"])]


EXTENSIONS: Final[Makers] = {
    "tuple": lambda: (1, ("two", [3])),
    "map": lambda: {1: "x", (2, 3): None, model.Colour.RED: b"y"},
    "set": lambda: {(1, 2)},
    "frozenset": lambda: frozenset({"a"}),
    "int": lambda: [2**64, -(2**200)],
    "str": lambda: "half \ud83d of a pair",
    "bytearray": lambda: [bytearray(b"ab")],
    "memoryview": lambda: memoryview(b"abcdef"),
    "adapter": lambda: [Decimal("1.5")],
    "family": lambda: [model.Fixed("x")],
    "versioned": lambda: model.Grown("x"),
    "class": lambda: model.Task,
    "function": lambda: model.double,
    "unknown": lambda: model.Stranger("pst"),
    "ref": _shared,
    "table": _cycle,
    "record": FAMILIES["namedtuple"],
    "model": lambda: model.Fixed("x"),
    "models": lambda: {"thread": [HumanMessage("x", id="1"), model.Fixed("y"), 3]},
    "tree": _tree,
    "upstream": lambda: {"locked": model.Locked("x")},
    "head": lambda: {"thread": [HumanMessage("x", id="1"), HumanMessage("y"), HumanMessage("z")]},
}
"""By the name of the extension of codec `once1`, in lower case."""


def _objects() -> Any:
    numpy = importlib.import_module("numpy")
    made = numpy.empty(4, object)
    made[:] = [1, "two", None, model.Task("four", (4,))]
    made[2] = [3, {3}]
    return made.reshape((2, 2), order="F")


def _numpy() -> Any:
    return importlib.import_module("numpy")


def _structure() -> Any:
    return (
        _numpy()
        .array([(1, "a"), (2, "b")], [("n", "i1"), ("s", "U2")])
        .astype(_numpy().dtype([("n", "i1"), ("s", "U2")], align=True))
    )


def _tuple_cycle() -> Any:
    cycle: Any = ([1],)
    cycle[0].append(cycle)
    return cycle


def _thread_of_documents() -> Any:
    found = [Document("d", metadata={"page": 1}), Document("e", metadata={"page": 2})]
    return [HumanMessage("x"), ToolMessage("y", tool_call_id="1", artifact=found)]


def _thread_of_odd_parts() -> Any:
    return [
        HumanMessage("x", additional_kwargs={"at": NOW}),
        ToolMessage("y", tool_call_id="1", artifact=(model.Task("t"), {"k": [Document("d")]})),
        model.Task("no message"),
    ]


def _thread_beside_its_last() -> Any:
    thread = _thread_of_odd_parts()
    return {"thread": thread, "last": thread[-1], "again": [thread[0]]}


FORMS: Final[dict[str, tuple[dict[str, Any], Callable[[], Any]]]] = {
    "numpy-objects": ({}, _objects),
    "numpy-structure": ({}, _structure),
    "numpy-dtype": ({}, lambda: _structure().dtype),
    "numpy-matrix": ({}, lambda: _numpy().array([[1, 2]], "i1").view(_numpy().matrix)),
    "pandas-arrow-text": ({}, lambda: importlib.import_module("pandas").Series(["x", "y"])),
    "tuple-cycle": ({}, _tuple_cycle),
    "thread-of-documents": ({}, _thread_of_documents),
    "thread-of-odd-parts": ({}, _thread_of_odd_parts),
    "odd-parts-beside-a-thread": ({}, lambda: {"a": _thread_of_odd_parts(), "b": (NOW, {1: 2})}),
    "thread-beside-its-last": ({}, _thread_beside_its_last),
    "proxy-of-a-mapping": ({}, lambda: MappingProxyType(OrderedDict(b=1, a=2))),
}
"""Other ways in which these write: a setting that it takes, and the value."""

ELSEWHERE: Final = {"adapter-windowspath"}
"""What cannot be written where the blobs are written."""
