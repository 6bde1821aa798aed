"""The values that `write_once` stores in our own codecs. A name once stored stays."""

from __future__ import annotations

import array
import base64
import functools
import importlib
import ipaddress
import pathlib
import re
import uuid
from collections import Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType, SimpleNamespace
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo

import pydantic
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.store.base import Item
from langgraph.types import Command, Send
from ormsgpack import Ext

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import Adapter, OnceSerializer, SubclassAdapter
from langgraph_once.serde.format import Code, head_bytes, object_of, pack
from tests.data.blobs import model

Makers: TypeAlias = dict[str, Callable[[], Any]]

KEY: Final = {"test": base64.b64encode(b"0123456789abcdef").decode()}
"""A test key: whatever is sealed with it is public."""

_BERLIN: Final = ZoneInfo("Europe/Berlin")
_NOW: Final = datetime(2025, 3, 1, 12, 30, 5, 7, tzinfo=UTC)

_SETTINGS: Final[dict[tuple[str, ...], dict[str, Any]]] = {
    (): {"compression": "none"},
    ("zstd",): {},
    ("aesgcm",): {"compression": "none", "encryption_keys": KEY},
    ("zstd", "aesgcm"): {"encryption_keys": KEY},
}
LAYERS: Final = {
    "".join(separator + layer for layer in layers): settings
    for separator in (".", "+")  # the first versions joined with `+`
    for layers, settings in _SETTINGS.items()
}
"""The settings that put each set of layers around a value."""

ADAPTERS: Final = (
    Adapter(
        name="angle",
        types=(model.Angle,),
        encode=lambda angle: angle.degrees,
        decode=lambda data: model.Angle(data),
    ),
    SubclassAdapter(
        name="shape",
        bases=(model.Shape,),
        encode=lambda shape: shape.sides,
        decode=lambda cls, data: cls(data),
    ),
)


def serde(**settings: Any) -> OnceSerializer:
    """Return a serializer that knows the classes of `model` and of `structs`."""
    names = (*model.ALLOWED_TYPES, "tests.data.blobs.structs:Station")
    return OnceSerializer(SerdeConfig(**({"allowed_types": names} | settings)), adapters=ADAPTERS)


COMMON: Final[Makers] = {
    "none": lambda: None,
    "bytes": lambda: b"the same " * 20,
    "bytearray": lambda: bytearray(b"the same " * 20),
    "thread": lambda: {"messages": [HumanMessage("hi there", id="1"), AIMessage("hi", id="2")] * 3},
}
"""Stored below all layers."""

VALUES: Final[Makers] = {
    "datetime": lambda: _NOW.replace(tzinfo=_BERLIN, fold=1),
    "datetime-utc": lambda: _NOW,
    "date": lambda: date(2024, 2, 29),
    "time": lambda: time(12, 1, 2, 3, fold=1),
    "timedelta": lambda: timedelta(days=-1, microseconds=3),
    "timezone": lambda: timezone(timedelta(hours=2), "EET"),
    "zoneinfo": lambda: _BERLIN,
    "uuid": lambda: uuid.UUID(int=7),
    "uuid-safe": lambda: uuid.UUID(int=7, is_safe=uuid.SafeUUID.safe),
    "decimal": lambda: Decimal("-1.50"),
    "fraction": lambda: Fraction(-3, 7),
    "complex": lambda: 1 - 2j,
    "range": lambda: range(1, 9, 2),
    "slice": lambda: slice(1, None, 2),
    "ellipsis": lambda: ...,
    "notimplemented": lambda: NotImplemented,
    "pattern": lambda: re.compile("a+(b)", re.IGNORECASE),
    "array": lambda: array.array("d", [1.5, -2.0]),
    "mappingproxy": lambda: MappingProxyType({"a": 1, 2: "b"}),
    "secretstr": lambda: pydantic.SecretStr("pst"),
    "secretbytes": lambda: pydantic.SecretBytes(b"pst"),
    "pureposixpath": lambda: pathlib.PurePosixPath("/srv/data/x"),
    "purewindowspath": lambda: pathlib.PureWindowsPath("c:/data/x"),
    "posixpath": lambda: pathlib.PosixPath("/srv/data/x"),
    "windowspath": lambda: pathlib.WindowsPath("c:/data/x"),
    "ipv4address": lambda: ipaddress.IPv4Address("10.0.0.1"),
    "ipv4interface": lambda: ipaddress.IPv4Interface("10.0.0.1/8"),
    "ipv4network": lambda: ipaddress.IPv4Network("10.0.0.0/8"),
    "ipv6address": lambda: ipaddress.IPv6Address("::1"),
    "ipv6interface": lambda: ipaddress.IPv6Interface("::1/64"),
    "ipv6network": lambda: ipaddress.IPv6Network("2001:db8::/64"),
}
"""By the type of `plans.values`."""

ELSEWHERE: Final = {"value-windowspath"}
"""What cannot be made where the blobs are written."""


def _numpy() -> Any:
    return importlib.import_module("numpy")


def _pandas() -> Any:
    return importlib.import_module("pandas")


def _objects() -> Any:
    made = _numpy().empty(4, object)
    made[:] = [1, "two", [3, {3}], model.Task("four", (4,))]
    return made.reshape((2, 2), order="F")


def _structure() -> Any:
    kind = _numpy().dtype([("n", "i1"), ("s", "U2")], align=True)
    return _numpy().array([(1, "a"), (2, "b")], [("n", "i1"), ("s", "U2")]).astype(kind)


def _frame() -> Any:
    index = _pandas().date_range("2025-03-01", periods=2, tz="Europe/Berlin")
    return _pandas().DataFrame({"a": [1, 2], "b": ["x", None]}, index=index)


def _title() -> model.Title:
    title = model.Title("Der Prozess")
    title.language = "de"
    return title


def _run_error() -> model.RunError:
    error = model.RunError(7, hint="again")
    error.__cause__ = ValueError("no", 3)
    error.add_note("seen twice")
    return error


def _syntax_error() -> SyntaxError:
    return SyntaxError("no", ("a.py", 1, 2, "x = ", 1, 3))


def _validated() -> model.Account:
    account = model.Account.model_validate({"name": "ann", "age": "7", "note": "more"})
    account._seen = 3  # a private attribute
    return account


def _without_class() -> Any:
    """What stands for an object whose class is gone: it is written back as it was read."""
    head = head_bytes("record", f"{model.__name__}:Gone")
    return serde().loads_typed(("once2", _object(head, {"name": "x"})))


def _unhashable() -> Any:
    """A set of such an object, which cannot be hashed."""
    inside = object_of(head_bytes("record", f"{model.__name__}:Gone"), {"name": "x"})
    return serde().loads_typed(("once2", pack(Ext(Code.SET, pack([inside])))))


def _object(head: bytes, data: Any) -> bytes:
    return pack(object_of(head, data))


FORMS: Final[Makers] = {
    "enum": lambda: [model.Colour.RED, model.Level.HIGH, model.Access.READ | model.Access.WRITE],
    "namedtuple": lambda: model.Point(1, model.Point(2, (3,))),
    "derived": lambda: [_title(), model.Tags([2, (3,)]), OrderedDict(b=1, a=2), Counter("aab")],
    "derived-containers": lambda: [defaultdict(list, a=[1]), deque([1, 2], maxlen=3)],
    "derived-values": lambda: [model.Stamp(2025, 3, 1, 12, tzinfo=UTC), model.Money("1.50")],
    "partial": lambda: functools.partial(int, "101", base=2),
    "exception": _run_error,
    "exception-system": lambda: OSError(2, "no", "/srv/x"),
    "exception-import": lambda: ImportError("no", name="x", path="/srv/x.py"),
    "exception-syntax": _syntax_error,
    "exception-unicode": lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"),
    "group": lambda: ExceptionGroup("two", [ValueError(1), OSError(2, "no")]),
    "numpy": lambda: _numpy().arange(6, dtype=">i4").reshape(2, 3),
    "numpy-objects": _objects,
    "numpy-structure": _structure,
    "numpy-scalars": lambda: [_numpy().float32(1.5), _numpy().str_("x"), _structure().dtype],
    "pandas": _frame,
    "pandas-timestamp": lambda: _pandas().Timestamp("2025-03-01T12:30", tz="UTC"),
    "polars": lambda: importlib.import_module("polars").DataFrame({"a": [1, None], "b": ["x", ""]}),
    "arrow": lambda: importlib.import_module("pyarrow").table({"a": [1, None], "b": ["x", "y"]}),
    "model": lambda: model.Profile(name="ann", inner=model.Profile(name="bob", tags=["a"])),
    "model-more": _validated,
    "model-generic": lambda: model.Page[int](items=[1]),
    "model-root": lambda: model.Names(["a"]),
    "model1": lambda: model.OldProfile(name="ann", tags=["a"]),
    "url": lambda: pydantic.AnyUrl("https://example.org/a?b=1"),
    "record": lambda: model.Task("outer", model.Task("inner", {model.Colour.RED: (1, 2)})),
    "record-holding": lambda: model.Task("x", [model.Task("a"), model.Profile(name="b"), 3]),
    "record-frozen": lambda: [model.Fixed("x"), model.Pair(1, 2), model.Slotted(3)],
    "record-versioned": lambda: model.Grown("x"),
    "object": lambda: SimpleNamespace(a=(1, 2), b=UserDict({1: UserList("ab")})),
    "struct": lambda: importlib.import_module("tests.data.blobs.structs").Station("x", [1]),
    "reduced": lambda: model.Reduced(3),
    "stock": lambda: {"locked": model.Locked("x")},
    "named": lambda: [model.Task, model.double, dict[str, int], model.Pair[int], int | None, list],
    "named-paths": lambda: [pathlib.Path, pathlib.PurePosixPath],
    "hashed": _unhashable,
    "stand-in": _without_class,
    "own:angle": lambda: model.Angle(90),
    "own:shape": lambda: model.Square(4),
}
"""By the form, and where it has several ways, by one of these."""


def _cycle() -> list[Any]:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    return cycle


def _deep() -> Any:
    value: Any = model.Task("innermost")
    for level in range(40):
        value = (level, value)
    return value


def _shared() -> list[Any]:
    shared = model.Task("shared")
    return [shared, {"again": shared}]


def _odd_thread() -> list[Any]:
    found = [Document("d", metadata={"page": 1}), Document("e", metadata={"at": _NOW})]
    return [
        HumanMessage("x", id="1", additional_kwargs={"at": _NOW}),
        ToolMessage("y", tool_call_id="1", artifact=found),
        ToolMessage("z", tool_call_id="2", artifact=(model.Task("t"), {"k": [Document("d")]})),
        model.Task("no message"),
        "text",
    ]


def _state() -> dict[str, Any]:
    thread = _odd_thread()
    times = {"created_at": _NOW, "updated_at": _NOW}
    item = Item(value={"a": 1}, key="k", namespace=("n", "m"), **times)
    command: Command[Any] = Command(update={"a": (1,)}, goto=Send("node", {"a": {1}}), resume=item)
    return {"thread": thread, "last": thread[-2], "sends": [command]}


CODES: Final[Makers] = {
    "native": lambda: {"a": [None, True, -1, 2**64 - 1, 1.5, "x", b"y"]},
    "tuple": lambda: (1, ("two", [3])),
    "set": lambda: {(1, 2)},
    "frozenset": lambda: frozenset({"a"}),
    "map": lambda: {1: "x", (2, 3): None, model.Colour.RED: b"y"},
    "int": lambda: [2**64, -(2**200)],
    "text": lambda: ["half \ud83d of a pair", {"\ud83d": 1}],
    "many": lambda: [HumanMessage("x", id="1"), model.Fixed("y"), 3],
    "many-odd": _odd_thread,
    "many-in-a-state": _state,
    "shared": _shared,
    "graph": _cycle,
    "graph-deep": _deep,
}
"""By the extension of codec `once2`, in lower case, and where it has several uses, by one."""
