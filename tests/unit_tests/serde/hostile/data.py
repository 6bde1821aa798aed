"""Rows in which a form or a type of values gets data that it never wrote."""

from __future__ import annotations

import re
from typing import Any, Final

from langgraph_once.serde.format import Code
from langgraph_once.serde.plans.values import BY_NUMBER
from tests.unit_tests.serde.hostile.build import (
    HERE,
    ext,
    mapping,
    nothing,
    obj,
    pack,
    raw,
    tupled,
    value,
)

_LINKS: Final = [None, None, False]
_HUGE: Final = raw(ext(Code.INT, b"\x7f" + b"\xff" * 20_000))
_NETWORK: Final = raw(value(29, "::/0"))
_RANGE: Final = raw(value(11, [0, 2**62, 1]))
_ODD: Final[tuple[Any, ...]] = (
    *(None, True, 0, -1, 2**63, -(2**63), 0.5, float("nan"), float("inf"), "", "x" * 3000, b""),
    *(b"\xff" * 30, [], [None] * 9, [0] * 9, ["a"] * 3, [[]] * 5, {}, {"a": 1}, [2**63] * 8),
    *(_HUGE, [_HUGE, _HUGE], [_HUGE, _HUGE, _HUGE], _NETWORK, [_NETWORK], _RANGE, [_RANGE] * 2),
    *(raw(tupled(pack(1))), raw(mapping(pack(1), pack(2))), raw(obj("none", "a:B", pack({})))),
    *(["d", 8, b"1234567"], ["u", 4, b"\xff" * 4], ["dd", 8, b""], ["(" * 5000, 0], ["a", 128]),
    *(["[" * 3, 0], ["a{99999999999}", 0], ["a", 2**40], ["a", -1], [[1], 0], [b"(", 0]),
    *(["2025", 1], [2025, 13, 1], [1, 1, 1, 25, 0, 0, 0, 0, None], [9999, 1, 1, 0, 0, 0, 0, 5, 0]),
    *([2025, 1, 1, 0, 0, 0, 0, 0, "../../etc/passwd", 0], "../../etc/passwd", "/etc/passwd"),
    *(
        "Europe",
        "Nowhere/Land",
        "a/b/c/d/e/f",
        "1_0",
        "\uff11",
        "sNaN123",
        "1e999999999",
        "nan" * 9,
    ),
    *("::/" + "9" * 300, "1" * 5000, "C:\\x", "\0", "a\0b", [bytes(16), 9], bytes(15), [0.5, "a"]),
    *([86_400 * 10**9, 0, 0], [0, -1, 0], [0, 0, 10**9], [1, 0], [2, 4], [1, -1]),
)
"""Data of the wrong shape, and of the right shape with what is out of range."""

_FORMS: Final[dict[str, tuple[str, tuple[Any, ...]]]] = {
    "record": ("Record", ()),
    "object": ("Plain", ()),
    "model": ("Model", (None,)),
    "exception": ("FailureError", ("FailureError",)),
    "enum": ("Colour", ()),
    "namedtuple": ("Pair", (["first", "second"],)),
}
_EXTRAS: Final[tuple[list[Any], ...]] = (
    *(
        [],
        [None],
        [None, None, None],
        [7],
        ["a"],
        [[1]],
        [{"a": 1}],
        [["a"] * 10_000],
        [True, True],
    ),
    *([["name"], True], [["first"], True], ["str", 7], ["none", 0], ["str", -1], [[], []], [b"x"]),
)
"""What no form adds to a head."""


def _numpy(cls: str, data: Any) -> bytes:
    return obj("numpy", f"numpy:{cls}", pack(data))


def _exception(name: str, args: Any, fields: Any, links: Any = _LINKS) -> bytes:
    return obj("exception", f"builtins:{name}", pack([args, fields, {}, links]), name)


def _pandas(name: str, data: Any, module: str = "pandas") -> bytes:
    return obj("pandas", f"{module}:{name}", pack(data))


def _line(items: list[int], dtype: str = "<i8") -> list[Any]:
    size = int(dtype[-1])
    return [dtype, [len(items)], "C", b"".join(n.to_bytes(size, "little") for n in items)]


def _long_index(name: Any = None) -> Any:
    return raw(
        obj("pandas", "pandas.core.indexes.range:RangeIndex", pack([None, 0, 2**40, 1, name]))
    )


def _index(items: list[int]) -> Any:
    return raw(obj("pandas", "pandas.core.indexes.base:Index", pack([None, _line(items), None])))


_OBJECTS: Final = [[["a", None, 0, "|O"]], 8, False, False]
_FRAME: Final = "pandas.core.frame"
_SPARSE: Final = "pandas.core.arrays.sparse.array"


def _deep_dtype(levels: int) -> Any:
    data: Any = "<i8"
    for _ in range(levels):
        data = [[["a", None, 0, data]], 8, False, False]
    return data


ONE_BY_ONE: Final[dict[str, bytes]] = {
    **{
        f"value {number} of data {at}": value(number, pack(each))
        for number in BY_NUMBER
        for at, each in enumerate(_ODD)
    },
    **{
        f"form {form} of data {at}": obj(form, f"{HERE}:{name}", pack(each), *extra)
        for form, (name, extra) in _FORMS.items()
        for at, each in enumerate(_ODD)
    },
    **{
        f"form {form} with {at} in its head": obj(form, f"{HERE}:{name}", pack({"name": 1}), *extra)
        for form, (name, _) in (*_FORMS.items(), ("derived", ("Text", ())), ("stock", ("x", ())))
        for at, extra in enumerate(_EXTRAS)
    },
    **{
        f"derived {base} of data {at}": obj("derived", f"{HERE}:{name}", pack(each), base, where)
        for base, name in (("str", "Text"), ("list", "Words"), ("dict", "Names"), ("set", "Bag"))
        for where in (0, 1, 2)
        for at, each in enumerate(_ODD[:30])
    },
}
"""Small ones, read one after the other in one process by a test of their own."""

DATA: Final[dict[str, Any]] = {
    "an array larger than its bytes": _numpy("ndarray", ["<f8", [2**40], "C", bytes(8)]),
    "an array of many empty rows": _numpy("ndarray", ["<f8", [2**62, 2**62, 0], "C", b""]),
    "an array whose shape is below zero": _numpy("ndarray", ["<f8", [-1, -1], "C", bytes(8)]),
    "an array of 100 dimensions": _numpy("ndarray", ["<f8", [1] * 100, "C", bytes(8)]),
    "an array of items without size": _numpy("ndarray", ["|S0", [2**40], "C", b""]),
    "an array of items of 4 GB": _numpy("ndarray", ["|S4294967295", [0], "C", b""]),
    "an array of items of 999 MB": _numpy("ndarray", ["|S999999999", [0], "C", b""]),
    "bytes of Python objects": _numpy("ndarray", ["|O", [1], "C", b"A" * 8]),
    "bytes of texts": _numpy("ndarray", ["T", [1], "C", b"A" * 16]),
    "bytes of objects in a structure": _numpy("ndarray", [_OBJECTS, [1], "C", b"A" * 8]),
    "a scalar of objects": _numpy("void", [_OBJECTS, [], "C", b"A" * 8]),
    "a scalar that is an array": _numpy("float64", ["<f8", [2], "C", bytes(16)]),
    "a scalar of another type": _numpy("float64", ["|O", [], "C", [[1]]]),
    "a structure that overlaps its end": _numpy(
        "ndarray", [[[["a", None, 7, "<f8"]], 8, False, False], [1], "C", bytes(8)]
    ),
    "a structure whose fields overlap": _numpy(
        "ndarray",
        [
            [[["a", None, 0, "|O"], ["b", None, 0, "<i8"]], 8, False, False],
            *([1], "C", [["|O", [1], "C", [None]], ["<i8", [1], "C", b"A" * 8]]),
        ],
    ),
    "a structure of 1 GB of gaps": _numpy(
        "ndarray",
        [[[["a", None, 0, "|O"]], 1 << 30, False, False], [1], "C", [["|O", [1], "C", [None]]]],
    ),
    "a structure of no fields": _numpy("ndarray", [[[], 8, False, False], [1], "C", []]),
    "a structure of 2**40 empty items": _numpy(
        "ndarray",
        [
            [[["a", None, 0, ["<i8", [0]]]], 0, False, False],
            *([2**40], "C", [["<i8", [2**40, 0], "C", b""]]),
        ],
    ),
    "a field of another shape": _numpy(
        "ndarray", [_OBJECTS, [2**40], "C", [["|O", [1], "C", [None]]]]
    ),
    "a dtype that is too deep": _numpy("dtypes.VoidDType", [_deep_dtype(30)]),
    "a dtype of 2 GB": _numpy("dtypes.StrDType", ["<U999999999"]),
    "a dtype of a huge shape": _numpy("ndarray", [["<i8", [2**31, 2**31]], [0], "C", b""]),
    "a dtype of a shape below zero": _numpy("ndarray", [["<i8", [-1]], [0], "C", b""]),
    "a mask of another shape": obj(
        "numpy",
        "numpy.ma:MaskedArray",
        pack(
            [
                raw(_numpy("ndarray", _line([1, 2]))),
                *(raw(_numpy("ndarray", ["|b1", [1], "C", b"\1"])), None, False),
            ]
        ),
    ),
    "a matrix of three dimensions": _numpy("matrix", ["<i8", [1, 1, 1], "C", bytes(8)]),
    "characters that are numbers": obj(
        "numpy", "numpy.char:chararray", pack(["<i8", [1], "C", bytes(8)])
    ),
    "a moment before the year 1": _numpy("datetime64", ["<M8[s]", [], "C", b"\0" * 7 + b"\x81"]),
    "an exception with a field of another type": _exception(
        "UnicodeDecodeError",
        [],
        {"encoding": "a", "object": 1, "start": 0, "end": 1, "reason": "r"},
    ),
    "an exception that starts before its text": _exception(
        "UnicodeDecodeError",
        *([], {"encoding": "a", "object": b"a", "start": -9, "end": -8, "reason": "r"}),
    ),
    "an exception that ends behind its text": _exception(
        "UnicodeDecodeError",
        *([], {"encoding": "a", "object": b"a", "start": 2**31, "end": 2**31 + 1, "reason": "r"}),
    ),
    "an exception without its fields": _exception("UnicodeEncodeError", [], {}),
    "an exception with a field of others": _exception("ValueError", [], {"errno": 1}),
    "an exception from a number": _exception("ValueError", [], {}, [1, None, False]),
    "an error of syntax of odd parts": _exception(
        "SyntaxError", [1], {"lineno": "x", "offset": [], "text": 7, "msg": {}, "filename": 1.5}
    ),
    "an error of the system of odd parts": _exception(
        "OSError", [1], {"errno": [], "filename": {}, "strerror": 1, "characters_written": -5}
    ),
    "the end of the program": _exception("SystemExit", [1], {"code": 1}),
    "an interrupt of the user": _exception("KeyboardInterrupt", [], {}),
    "a group of numbers": obj(
        "group", "builtins:ExceptionGroup", pack(["m", [1], [], {}, _LINKS]), "ExceptionGroup"
    ),
    "a group of nothing": obj(
        "group", "builtins:ExceptionGroup", pack(["m", [], [], {}, _LINKS]), "ExceptionGroup"
    ),
    "a group of itself as argument": obj(
        "group",
        "builtins:ExceptionGroup",
        pack(["m", [raw(_exception("SystemExit", [1], {}))], [], {}, _LINKS]),
        "ExceptionGroup",
    ),
    "a deque that is too long": obj("derived", "collections:deque", pack([[1, 2], 1]), "deque", 0),
    "a deque of less than nothing": obj("derived", "collections:deque", pack([[], -1]), "deque", 0),
    "a deque of 2**100 at most": obj(
        *("derived", "collections:deque", pack([[], raw(ext(Code.INT, b"\1" * 13))]), "deque", 0)
    ),
    "a truth that is a number": obj("derived", "builtins:bool", pack(5), "int", 0),
    "a member that is a number": obj("derived", f"{HERE}:Access", pack(5), "int", 0),
    "a member that is an object": obj("object", f"{HERE}:Colour", pack({"_value_": 1})),
    "a member that is a method": obj("enum", f"{HERE}:Colour", pack("_generate_next_value_")),
    "a member of the base of all": obj("enum", "enum:Enum", pack(["a", "b"])),
    "flags below zero": obj("enum", f"{HERE}:Access", pack([None, -(2**63)])),
    "flags of a million bits": obj(
        "enum", f"{HERE}:Access", pack([None, raw(ext(Code.INT, b"\1" * 125_000))])
    ),
    "a moment of the system as a tuple": obj("derived", "time:struct_time", pack([1]), "tuple", 0),
    "a status of files as a tuple": obj("derived", "os:stat_result", pack([1]), "tuple", 0),
    "a timestamp as a date": obj(
        *("derived", "pandas:Timestamp", pack(raw(value(1, "2025-01-01T00:00:00"))), "datetime", 0)
    ),
    "a number of numpy as a number": obj("derived", "numpy:float64", pack(0.5), "float", 0),
    "a text of numpy as a text": obj("derived", "numpy:str_", pack("a"), "str", 0),
    "a record for a model": obj("record", f"{HERE}:Model", pack({"name": 1})),
    "a model for a record": obj("model", f"{HERE}:Record", pack({"name": 1}), None),
    "an exception for a record": obj(
        "exception", f"{HERE}:Record", pack([[], {}, {}, _LINKS]), "A"
    ),
    "an object for a model": obj("object", f"{HERE}:Model", pack({"name": 1})),
    "an object for a type": obj("object", "builtins:type", pack({"name": 1})),
    "an object for an object": obj("object", "builtins:object", pack({"name": 1})),
    "an object for a function": obj("object", "types:FunctionType", pack({"name": 1})),
    "an object for a lock": obj("object", "_thread:lock", pack({"name": 1})),
    "a derived list for a dictionary": obj("derived", f"{HERE}:Names", pack([1]), "list", 0),
    "a named tuple for a tuple": obj("namedtuple", "builtins:tuple", pack([1]), ["a"]),
    "a record with its class as an attribute": obj(
        "record", f"{HERE}:Record", pack({"name": 1, "other": 2, "__class__": 3, "__dict__": 4})
    ),
    "an object with a method as an attribute": obj(
        "object", f"{HERE}:Plain", pack({"__eq__": 1, "__del__": 2, "__reduce__": 3})
    ),
    "an object without a place for attributes": obj("object", f"{HERE}:Slots", pack({"x": 1})),
    "attributes whose names are numbers": obj(
        "record", f"{HERE}:Record", mapping(pack(1), pack(2))
    ),
    "a model with an unknown field": obj("model", f"{HERE}:Model", pack({"x": 1}), None),
    "a model with methods among its values": obj(
        *("model", f"{HERE}:Model"),
        *(pack([{"name": 1, "other": 1}, None, None, {"model_dump": 1, "__class__": 2}, []]), None),
    ),
    "a model with names that are numbers": obj(
        *("model", f"{HERE}:Model", pack([{}, None, None, {}, [1]]), [1, 2])
    ),
    "a model with private attributes it has not": obj(
        "model", f"{HERE}:Model", pack([{}, {}, {"_x": 1}, {}, []]), None
    ),
    "a dictionary that is its own attributes": obj(
        "derived", f"{HERE}:Names", mapping(pack(1), pack(2)), "dict", 2
    ),
    "a list that is its own attributes": obj("derived", f"{HERE}:Words", pack([1]), "list", 2),
    "a URL of a megabyte": obj("url", "pydantic:AnyUrl", pack("http://" + "a." * 500_000)),
    "a URL of many hosts": obj(
        "url", "pydantic:MongoDsn", pack("mongodb://" + "a," * 300_000 + "a")
    ),
    "a frame with more rows than values": _pandas(
        "DataFrame", [None, [_line([1, 2])], _long_index(), _index([0]), {}, True], _FRAME
    ),
    "a frame with more labels than columns": _pandas(
        "DataFrame", [None, [], _index([0]), _long_index(), {}, True], _FRAME
    ),
    "a series with more rows than values": _pandas(
        "Series", [None, _line([1, 2]), _long_index(), None, {}, True], "pandas.core.series"
    ),
    "levels of 2**40 labels": _pandas(
        "MultiIndex", [None, [_long_index()], [_line([0])], [None]], "pandas.core.indexes.multi"
    ),
    "categories of 2**40 labels": _pandas(
        *("Categorical", [None, _line([0]), _long_index(), False]),
        "pandas.core.arrays.categorical",
    ),
    "categories of codes that are not there": _pandas(
        *("Categorical", [None, _line([7]), _index([0]), False]),
        "pandas.core.arrays.categorical",
    ),
    "a sparse array of 2**40": _pandas(
        *("SparseArray", [None, _line([1]), "integer", 2**40, [_line([0], "<i4")], 0], _SPARSE)
    ),
    "a sparse array with places outside": _pandas(
        *("SparseArray", [None, _line([1]), "integer", 3, [_line([7], "<i4")], 0], _SPARSE)
    ),
    "a sparse array of blocks that overlap": _pandas(
        "SparseArray",
        [None, _line([1] * 4), "block", 4, [_line([0, 1], "<i4"), _line([2, 2], "<i4")], 0],
        _SPARSE,
    ),
    "a period of an odd frequency": _pandas("Period", [None, 2**62, "9999999W-MON"]),
    "a frequency that is a network": _pandas("Period", [None, 1, _NETWORK]),
    "an index with its name a network": _pandas(
        "Index", [None, _line([1]), [_NETWORK]], "pandas.core.indexes.base"
    ),
    "a frame of polars of zeros": obj(
        "polars", "polars.dataframe.frame:DataFrame", pack(bytes(64))
    ),
    "a table of arrow of zeros": obj("arrow", "pyarrow.lib:Table", pack(bytes(64))),
    "a stream of 2**31 of schema": obj(
        "arrow", "pyarrow.lib:Schema", pack(b"\xff\xff\xff\xff\xff\xff\xff\x7f" + bytes(64))
    ),
    "a pattern that ends nowhere": value(15, [r"(?P<a>(?P<b>" * 200, 0]),
    "a set that is a network": obj("derived", f"{HERE}:Bag", pack(_NETWORK), "set", 0),
    "a frozenset that is a range": obj("derived", "a:B", pack(_RANGE), "frozenset", 0),
    "a pattern that is a range": value(15, pack([_RANGE, 0])),
    "a pattern that is a network": value(15, pack(_NETWORK)),
    "a pattern that prints": value(15, ["a", int(re.DEBUG)]),
    "a stand-in in a stand-in": obj(
        "none",
        "a:B",
        pack({"x": raw(obj("none", "c:D", pack([raw(obj("none", "e:F", nothing))])))}),
    ),
    "a stand-in as a key": mapping(obj("none", "a:B", nothing), nothing),
    "stand-ins in a set": tupled(
        *(obj("none", f"a:B{n}", pack({"a": n})) for n in range(9)), code=Code.SET
    ),
    "LangGraph's extension that is damaged": obj("stock", "a:B", pack(b"\xc1"), 5),
    "LangGraph's extension that is a number": obj("stock", "a:B", pack(7), 5),
    "LangGraph's extension of no code": obj("stock", "a:B", pack(pack(["a", "B", 1])), "x"),
    "LangGraph's extension of 2**40": obj("stock", "a:B", pack(pack(["a", "B", 1])), 2**40),
    "LangGraph's extension of a list": obj("stock", "a:B", pack(pack(["a", "B", 1])), [5]),
    "LangGraph's extension of two codes": obj("stock", "a:B", pack(pack(["a", "B", 1])), 5, 5),
}
