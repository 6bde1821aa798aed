"""Rows of less than a megabyte that would take long, much memory, or the stack."""

# ruff: noqa: E501  # a row is a line
from __future__ import annotations

import struct
from itertools import islice, product
from typing import Any, Final

from langgraph_once.serde.format import Code, Held, head_bytes, holder_bytes
from tests.unit_tests.serde.hostile.build import (
    HERE,
    P,
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
    obj_of_raw,
    pack,
    raw,
    shared,
    stock,
    tupled,
    value,
)

_LINKS: Final = [None, None, False]
_ONE: Final = pack(1)


def integer(size: int, byte: bytes = b"\x55") -> bytes:
    """Return an integer of so many bytes."""
    return ext(Code.INT, b"\x01" + byte * (size - 2) + b"\x01")


def doubled(levels: int, wrap: Any, *last: bytes) -> bytes:
    """Return a graph of which each node holds the one before twice."""
    nodes = [pack([1]) if wrap is listed else tupled(_ONE)]
    nodes += (wrap(node(number)) for number in range(levels))
    return graph(*nodes, *last)


def listed(part: bytes) -> bytes:
    return array(part, part)


def two(part: bytes) -> bytes:
    return tupled(part, part)


def chained(levels: int, wrap: Any, last: Any = None) -> bytes:
    """Return a graph of which each node holds the one before."""
    nodes = [nothing]
    nodes += (wrap(node(number)) for number in range(levels))
    return graph(*nodes, *([last(node(levels))] if last else []))


def in_set(part: bytes) -> bytes:
    return tupled(part, code=Code.SET)


def twins(count: int, prefix: int = 0, item: bytes = b"\x07") -> list[bytes]:
    """Return tuples of one hash that begin alike."""
    pairs = islice(product((-1, -2), repeat=max(12, count.bit_length())), count)
    head = [item] * prefix
    return [tupled(*head, *map(pack, each)) for each in pairs]


def uuids(count: int) -> list[bytes]:
    return [value(7, (n * P).to_bytes(16, "big")) for n in range(count)]


def addresses(count: int) -> list[bytes]:
    import ipaddress

    return [value(27, str(ipaddress.IPv6Address(n * P))) for n in range(count)]


def colliding(count: int) -> bytes:
    """Return integers of 64 bits that one function of hash tables makes the same of."""
    # key>>33 ^ key ^ key<<11, of 32 bits, is linear: what is 0 for these is found by elimination.
    return b"".join(struct.pack("<q", each) for each in islice(_null_space(), count))


def _null_space() -> Any:
    def image(key: int) -> int:
        return ((key >> 33) ^ key ^ (key << 11)) & 0xFFFFFFFF

    rows: dict[int, tuple[int, int]] = {}
    basis: list[int] = []
    for bit in range(63):
        vector, made = 1 << bit, image(1 << bit)
        while made:
            top = made.bit_length()
            if top not in rows:
                rows[top] = made, vector
                break
            made ^= rows[top][0]
            vector ^= rows[top][1]
        else:
            basis.append(vector)
    for number in range(1 << len(basis)):
        key = 0
        for at, vector in enumerate(basis):
            if number >> at & 1:
                key ^= vector
        yield key


def line(content: bytes, dtype: str = "<i8") -> list[Any]:
    return [dtype, [len(content) // 8], "C", content]


def index(content: bytes) -> Any:
    return raw(obj("pandas", "pandas.core.indexes.base:Index", pack([None, line(content), None])))


def dates(content: bytes, freq: Any) -> bytes:
    array_of = raw(
        obj("pandas", "pandas.core.arrays.datetimes:DatetimeArray",
            pack([None, line(content), "ns", None, None]))
    )  # fmt: skip
    return obj(
        "pandas", "pandas.core.indexes.datetimes:DatetimeIndex", pack([None, array_of, None, freq])
    )


def days(count: int) -> bytes:
    return b"".join(struct.pack("<q", n % 100_000 * 86_400 * 10**9) for n in range(count))


def exception(name: str, args: Any, fields: Any, links: Any, cls: str = "builtins") -> bytes:
    return obj("exception", f"{cls}:{name}", pack([args, fields, {}, links]), name)


def raised(name: str, field: str | None = None) -> Any:
    def wrap(part: bytes) -> bytes:
        if field:
            return exception(name, [], {field: raw(part)}, _LINKS)
        return exception(name, [raw(part)], {}, _LINKS)

    return wrap


def sliced(part: bytes) -> bytes:
    return value(12, pack([raw(part), None, None]))


def partial(part: bytes) -> bytes:
    named = raw(obj("named", "builtins:int", nothing))
    return obj("partial", "functools:partial", pack([named, raw(tupled(part)), {}, {}]))


def objects(part: bytes) -> bytes:
    return obj("numpy", "numpy:ndarray", pack(["|O", [1], "C", [raw(part)]]))


def union(count: int) -> Any:
    """Return the name of a union of so many lists."""
    names: list[Any] = [["builtins:list", ["builtins:tuple", *_digits(n)]] for n in range(count)]
    while len(names) > 1:
        names = [
            ["types:UnionType", *names[at : at + 60], "builtins:None"]
            for at in range(0, len(names), 60)
        ]
    return names[0]


def _digits(number: int) -> list[str]:
    kinds = ("builtins:int", "builtins:str", "builtins:bool", "builtins:list", "builtins:dict",
             "builtins:set", "builtins:float", "builtins:bytes")  # fmt: skip
    return [kinds[number >> 3 * at & 7] for at in range(5)]


def deep_name(levels: int, start: Any) -> bytes:
    return (b"\x92" + pack("builtins:list")) * levels + pack(start)


def stocked(code: int, *parts: Any) -> bytes:
    """Return an object that is written as LangGraph writes it."""
    return obj(
        "stock",
        "a:B",
        pack(array(*(each if type(each) is bytes else pack(each) for each in parts))),
        code,
    )


def deep_stock(ours: int, native: int, theirs: int) -> bytes:
    data = nothing
    for _ in range(theirs):
        data = stock(0, "builtins", "set", b"\x91" * native + data)
    data = obj("stock", "a:B", pack(array(pack("builtins"), pack("list"), data)), 0)
    for number in range(ours):
        data = tupled(b"\x91" * (1000 if ours - number <= 3 else 240) + data)
    return data


def gaps(count: int) -> bytes:
    """Return an array of structures that are nearly empty."""
    fields = [[["a", None, 0, "|u1"]], 100, False, False]
    return obj(
        "numpy",
        "numpy:ndarray",
        pack([fields, [count], "C", [["|u1", [count], "C", bytes(count)]]]),
    )


def heads(count: int, make: Any) -> bytes:
    return array(*(make(number) for number in range(count)))


_DAG: Final = 22
_COMMON: Final[dict[str, Any]] = {
    "30,000 unknown zones": lambda: heads(30_000, lambda n: value(6, f"A{n}")),
    "15,000 moments in unknown zones": lambda: heads(
        15_000, lambda n: value(1, [2025, 1, 1, 0, 0, 0, 0, 0, f"A{n}", 0])
    ),
    "1,000 long tuples of one hash": lambda: tupled(*twins(1000, 850), code=Code.SET),
    "900 long tuples of one hash, as keys": lambda: mapping(
        *(part for key in twins(900, 850) for part in (key, nothing))
    ),
    "40 sets of 1,000 tuples of one hash": lambda: array(
        *[tupled(*twins(1000), code=Code.SET)] * 40
    ),
    "40 sets of 1,000 UUIDs of one hash": lambda: array(*[tupled(*uuids(1000), code=Code.SET)] * 40),
    "25 sets of 1,000 addresses of one hash": lambda: array(
        *[tupled(*addresses(1000), code=Code.SET)] * 25
    ),
    "12,000 integers of one hash": lambda: tupled(
        *(ext(Code.INT, (n * P).to_bytes(12, "big")) for n in range(12_000)), code=Code.SET
    ),
    "2,000 integers of one hash as labels": lambda: obj(
        "pandas", "pandas.core.indexes.base:Index",
        pack([None, ["|O", [2000], "C", [raw(ext(Code.INT, (n * P).to_bytes(12, "big")))
                                        for n in range(2000)]], None]),
    ),
    "labels that one hash table cannot tell": lambda: obj(
        "pandas", "pandas.core.arrays.categorical:Categorical",
        pack([None, line(bytes(8)), index(colliding(100_000)), False]),
    ),
    "labels that may not occur twice": lambda: obj(
        "pandas", "pandas.core.series:Series",
        pack([None, line(bytes(400_000)), index(colliding(50_000)), None, {}, False]),
    ),
    "moments every business day": lambda: dates(days(100_000), "B"),
    "moments every third Friday": lambda: dates(days(100_000), "WOM-3FRI"),
    "4,000 indexes with a frequency": lambda: array(*[dates(days(3), "D")] * 2500),
    "series of one number": lambda: array(*[obj(
        "pandas", "pandas.core.series:Series",
        pack([None, line(bytes(8)), index(bytes(8)), None, {}, True]))] * 3500),
    "a frame of 30,000 columns": lambda: obj(
        "pandas", "pandas.core.frame:DataFrame",
        pack([None, [line(bytes(8))] * 30_000, index(bytes(8)), index(bytes(240_000)), {}, True]),
    ),
    "one range of large numbers": lambda: value(
        11, pack([0, raw(integer(400_000)), raw(integer(200_000))])
    ),
    "a fraction of large numbers": lambda: value(9, pack([raw(integer(900_000)), raw(integer(8000))])),
    "23 fractions of two large numbers": lambda: array(
        value(9, pack([raw(shared(integer(900_000))), raw(shared(integer(8000)))])),
        *[value(9, pack([raw(again(0)), raw(again(1))]))] * 22,
    ),
    "an array of a large shape": lambda: obj(
        "numpy", "numpy:ndarray", pack(["<i8", [raw(integer(15_000))] * 60, "C", b""])
    ),
    "an array of a large shape, again and again": lambda: obj(
        "numpy", "numpy:ndarray",
        pack(["<i8", [raw(shared(integer(900_000))), *[raw(again(0))] * 22], "C", b""]),
    ),
    "a number of a million digits": lambda: value(8, "9" * 950_000),
    "numbers of a large exponent": lambda: tupled(
        value(8, "1e999999999"), value(9, [1, 3]), value(8, "1e-999999999"), code=Code.SET
    ),
    "a pattern of 500,000 characters": lambda: value(15, ["a|" * 250_000, 0]),
    "one pattern of 2,000 wide sets": lambda: value(15, ["[\0-\uffff]" * 2000, 2]),
    "3,000 wide patterns": lambda: heads(3000, lambda n: value(15, [f"[\u0100-\uffff]{n}", 2])),
    "40,000 combinations of flags of a pattern": lambda: heads(
        40_000, lambda n: value(15, ["a", 1 << 20 | n])
    ),
    "14,000 combinations of flags": lambda: heads(
        14_000, lambda n: obj("enum", f"{HERE}:Access", pack([None, 1 << 20 | n]))
    ),
    "200 patterns as LangGraph writes them": lambda: array(
        *(stocked(1, "re", "compile", [f"[\u0100-\uffff]{n}" * 400, 0]) for n in range(200))
    ),
    "500 unknown names in each of 60 objects of LangGraph's": lambda: array(
        *(stocked(7, array(*(stock(2, f"pydantic.x{each}_{n}", "A", {}) for n in range(400)))) for each in range(60))
    ),
    "LangGraph's objects in 900 levels, 4 times": lambda: array(
        *[obj("stock", "a:B", pack(_boxes(900, pack(bytes(200_000)))), 7)] * 4
    ),
    "LangGraph's levels in ours": lambda: deep_stock(30, 1000, 3),
    "LangGraph's levels in ours, many": lambda: deep_stock(30, 20, 90),
    "28,000 unknown modules of a package": lambda: heads(
        28_000, lambda n: obj("record", f"pydantic.x{n}:A", nothing)
    ),
    "28,000 refused names": lambda: heads(28_000, lambda n: obj("record", f"x{n}:A", nothing)),
    "12,000 unknown names of a module": lambda: heads(
        12_000, lambda n: obj("record", f"{HERE}:A{n}", nothing)
    ),
    "28,000 unknown forms": lambda: heads(28_000, lambda n: obj(f"x{n}", "a:B", nothing)),
    "12,000 versions of one class": lambda: heads(
        12_000, lambda n: obj("record", f"{HERE}:Record", pack({"name": 1}), version=-n)
    ),
    "10,000 sets of fields of a model": lambda: heads(
        10_000, lambda n: obj("model", f"{HERE}:Model", pack({"name": 1}), [f"a{n}"])
    ),
    "5,000 models with parameters": lambda: heads(
        5000, lambda n: obj("model", [f"{HERE}:Wide", ["builtins:tuple", *_digits(n)]], pack({}), None)
    ),
    "5,000 types with parameters": lambda: heads(
        5000, lambda n: obj("named", ["builtins:tuple", *_digits(n)], nothing)
    ),
    "one union of 5,000 types": lambda: obj("named", union(5000), nothing),
    "a type in 900 others": lambda: obj_of_raw("named", deep_name(900, "builtins:int"), nothing),
    "a name in 400 lists": lambda: obj_of_raw("named", deep_name(900, 7), nothing),
    "a name that is 900 levels deep": lambda: obj_of_raw("record", _lists(900), nothing),
    "250 long heads": lambda: heads(
        250, lambda n: obj("model", f"{HERE}:Model", pack({"name": 1, "other": 1}), [f"a{n}" * 300, "x" * 2000])
    ),
    "one head of a megabyte": lambda: obj(
        "model", f"{HERE}:Model", pack({"name": 1, "other": 1}), ["name"] * 190_000
    ),
    "a set that is a range": lambda: obj("hashed", "set", value(11, [0, 2**62, 1])),
    "a frozenset that is a network": lambda: obj("hashed", "frozenset", value(29, "::/0")),
    "a dictionary that is a range": lambda: obj("hashed", "dict", value(11, [0, 2**62, 1])),
    "an exception of a range": lambda: exception("ValueError", raw(value(11, [0, 2**62, 1])), {}, _LINKS),
    "60 tuples in pairs, in a set": lambda: doubled(60, two, in_set(node(60))),
    "60 lists in pairs": lambda: doubled(60, listed),
    f"{_DAG} tuples in pairs, in a set": lambda: doubled(_DAG, two, in_set(node(_DAG))),
    f"{_DAG} tuples in pairs, in 2,000 sets": lambda: doubled(
        _DAG, two, *([in_set(node(_DAG))] * 2000), array(node(_DAG + 1))
    ),
    f"{_DAG} tuples in pairs, as keys of 2,000 dictionaries": lambda: doubled(
        _DAG, two, *([mapping(node(_DAG), _ONE)] * 2000), array(node(_DAG + 1))
    ),
    f"{_DAG} tuples in pairs, as 2,000 names of a series": lambda: doubled(
        20, two,
        *([obj("pandas", "pandas.core.indexes.base:Index", pack([None, line(bytes(8)), raw(node(20))]))] * 2000),
        array(node(21)),
    ),
    f"{_DAG} lists in pairs, shown by 500 exceptions": lambda: doubled(
        20, listed, *([exception("Gone", [raw(node(20))], {}, _LINKS, HERE)] * 500), array(node(21))
    ),
    "one long integer in 45,000 sets": lambda: graph(
        integer(100_000), *([in_set(node(0))] * 45_000), array(node(1))
    ),
    "parts in pairs that are shared": lambda: _pairs(30),
    "one part 100,000 times": lambda: array(shared(pack(bytes(100_000))), *[again(0)] * 100_000),
    "a part in a part, 30 times": lambda: _nested_shared(200),
    "400 tuples in each other, as a key": lambda: chained(400, tupled, in_set),
    "50,000 tuples in each other, as a key": lambda: chained(50_000, tupled, in_set),
    "60,000 lists in each other": lambda: chained(60_000, array),
    "60,000 dictionaries in each other": lambda: chained(45_000, lambda part: mapping(_ONE, part)),
    "40,000 slices in each other": lambda: chained(40_000, sliced),
    "views in each other": lambda: chained(35_000, lambda part: value(17, mapping(_ONE, part))),
    "partials in each other": lambda: chained(8000, partial),
    "1,660 arrays in each other": lambda: chained(1660, objects),
    "arrays in each other": lambda: chained(14_000, objects),
    "records in each other": lambda: chained(
        10_000, lambda part: obj("record", f"{HERE}:Record", pack({"name": raw(part), "other": 1}))
    ),
    "deques in each other": lambda: chained(
        15_000, lambda part: obj("derived", "collections:deque", pack([[raw(part)], None]), "deque", 0)
    ),
    "factories in each other": lambda: chained(
        12_000, lambda part: obj("derived", "collections:defaultdict", pack([{"a": raw(part)}, None]), "defaultdict", 0)
    ),
    **{
        f"{name}s in each other": (lambda name=name, field=field: chained(11_000, raised(name, field)))
        for name, field in (("OSError", "filename"), ("ValueError", None), ("ImportError", "name"),
                            ("StopIteration", "value"), ("SyntaxError", "text"), ("NameError", "name"),
                            ("AttributeError", "name"), ("SystemExit", "code"))
    },
    "60 lists in pairs, each before what it holds": lambda: _backwards(60),
    "60 lists in pairs, to and fro": lambda: _to_and_fro(60),
    "9,000 errors in each other, each before what it holds": lambda: _contexts(9_000, forward=True),
    "errors that are each other's context": lambda: _contexts(9_000),
    "three chains of 4,000 errors that lead back": lambda: _leading_back(3, 4000),
    "an error that is its own context": lambda: graph(
        exception("ValueError", [], {}, [raw(node(0)), raw(node(0)), False])
    ),
    "lists of a megabyte in 32 tuples": lambda: _padded(32, 900_000),
    "750 threads of 20 heads": lambda: pack({str(n): [raw(many([head_bytes("record", f"{HERE}:Record", -n - each) for each in range(20)], b""))] for n in range(750)}),
    "a thread of 400,000 items of one head": lambda: pack(
        [raw(many([head_bytes("record", f"{HERE}:Record")], b"\x01" * 400_000)), *[{}] * 400_000]
    ),
    "a thread of stand-ins": lambda: pack(
        [raw(many([head_bytes("record", "os:system")], b"\x01" * 400_000)), *[{}] * 400_000]
    ),
    "stand-ins of one class": lambda: array(*[obj("record", "a:B", b"\x80")] * 40_000),
    "35,000 UUIDs": lambda: array(*[value(7, bytes(16))] * 35_000),
    "URLs": lambda: array(*[obj("url", "pydantic:AnyUrl", pack("http://a.b"))] * 20_000),
    "330,000 empty tuples": lambda: array(*[b"\xd4\x01\x90"] * 330_000),
    "330,000 empty sets": lambda: array(*[b"\xd4\x02\x90"] * 330_000),
    "a million empty lists": b"\xdd\x00\x0f\x42\x40" + b"\x90" * 1_000_000,
    "a million empty dictionaries": b"\xdd\x00\x0f\x42\x40" + b"\x80" * 1_000_000,
    "500,000 texts": b"\xdd\x00\x07\xa1\x20" + b"\xa1b" * 500_000,
}  # fmt: skip


def holder_of_records(count: int) -> bytes:
    record = head_bytes("record", f"{HERE}:Record")
    head = holder_bytes(record, [("name", int(Held.ALIKE), (record,))])
    return headed(
        head, b"\x81" + pack("name") + b"\xdd" + struct.pack(">I", count) + b"\x80" * count
    )


def _boxes(levels: int, payload: bytes) -> bytes:
    data = payload
    for _ in range(levels):
        data = ext(7, data)
    return data


def _lists(levels: int) -> bytes:
    return b"\x92" * levels + b"\x07" + b"\x07" * levels


def _pairs(levels: int) -> bytes:
    """Return what is shared in what is shared: each is written out twice."""
    data = pack([1])
    for _ in range(levels):
        data = array(shared(data), again(0))
    return data


def _nested_shared(levels: int) -> bytes:
    data = pack(bytes(500))
    for number in range(30):
        data = array(shared(data), *[again(29 - number)] * 30)
    return data


def _contexts(count: int, *, forward: bool = False) -> bytes:
    nodes = [exception("OSError", [], {}, _LINKS)]
    for number in range(count):
        at = count - number if forward else number
        nodes.append(exception("OSError", [], {}, [None, raw(node(at)), False]))
    return graph(*reversed(nodes), array(node(0))) if forward else graph(*nodes)


def _backwards(levels: int) -> bytes:
    return graph(*(listed(node(n + 1)) for n in range(levels)), b"\x90", array(node(0)))


def _to_and_fro(levels: int) -> bytes:
    """Return lists that hold later ones, which hold earlier ones."""
    first = [listed(node(2 * levels - n)) for n in range(levels)]
    last = [listed(node(levels - n)) for n in range(levels)]
    return graph(*first, b"\x90", *last, array(node(0)))


def _leading_back(chains: int, length: int) -> bytes:
    """Return a list of chains of errors, each of which ends with the list."""
    nodes: list[bytes] = []
    ends: list[bytes] = []
    for _ in range(chains):
        nodes.append(exception("OSError", [raw(node(chains * length))], {}, _LINKS))
        for _ in range(length - 1):
            links = [None, raw(node(len(nodes) - 1)), False]
            nodes.append(exception("OSError", [], {}, links))
        ends.append(node(len(nodes) - 1))
    return graph(*nodes, array(*ends))


def _padded(levels: int, size: int) -> bytes:
    data = pack(bytes(size))
    for _ in range(levels):
        data = tupled(data)
    return data


COSTS: Final = _COMMON

_MB: Final = 1 << 20

PRESSED: Final[dict[str, Any]] = {
    **_COMMON,
    "zeros in 20 tuples": lambda: _padded(20, 200 * _MB),
    "zeros in a tuple": lambda: _padded(1, 110 * _MB),
    "zeros in 3 tuples": lambda: _padded(3, 230 * _MB),
    "structures with gaps": lambda: gaps(200 * _MB),
    "an integer of 200 MB": lambda: ext(Code.INT, b"\x7f" * (200 * _MB)),
    "a range of 20 MB": lambda: value(11, pack([0, raw(integer(4 * _MB)), raw(integer(2 * _MB))])),
    "a fraction of 100 MB": lambda: value(9, pack([raw(integer(100 * _MB)), raw(integer(8000))])),
    "a number of 50 million digits": lambda: value(8, "9" * (50 * _MB)),
    "1,000 tuples of 30,000 of one hash": lambda: tupled(*twins(1000, 2500), code=Code.SET),
    "24 million empty lists": lambda: b"\xdd" + struct.pack(">I", 24 * _MB) + b"\x90" * (24 * _MB),
    "8 million empty tuples": lambda: b"\xdd" + struct.pack(">I", 8 * _MB) + b"\xd4\x01\x90" * (8 * _MB),
    "3 million empty tuples": lambda: b"\xdd" + struct.pack(">I", 3 * _MB) + b"\xd4\x01\x90" * (3 * _MB),
    "30 million numbers": lambda: b"\xdd" + struct.pack(">I", 30 * _MB) + b"\x01" * (30 * _MB),
    "4 million texts": lambda: b"\xdd" + struct.pack(">I", 3 * _MB) + b"\xa4\xf0\x9f\x98\x80" * (3 * _MB),
    "a head of 100 MB": lambda: obj("model", f"{HERE}:Model", pack({"name": 1, "other": 1}), ["x" * (100 * _MB)]),
    "300,000 slices in each other": lambda: chained(300_000, sliced),
    "300,000 tuples in each other": lambda: chained(300_000, tupled),
    "150,000 errors in each other": lambda: _contexts(150_000),
    "100,000 indexes with a frequency": lambda: array(*[dates(days(3), "D")] * 100_000),
    "100,000 series": lambda: array(*[obj(
        "pandas", "pandas.core.series:Series",
        pack([None, line(bytes(8)), index(bytes(8)), None, {}, True]))] * 100_000),
    "600,000 UUIDs": lambda: array(*[value(7, bytes(16))] * 600_000),
    "400,000 records": lambda: array(*[obj("record", f"{HERE}:Record", pack({"name": 1}))] * 400_000),
    "200,000 errors": lambda: array(*[exception("OSError", [1], {}, _LINKS)] * 200_000),
    "an object that holds 3 million records": lambda: holder_of_records(3 * _MB),
    "a thread of 3 million records": lambda: b"\xdd" + struct.pack(">I", 3 * _MB + 1) + many([head_bytes("record", f"{HERE}:Record")], b"\1" * (3 * _MB)) + b"\x80" * (3 * _MB),
    "moments of a long index": lambda: dates(days(1_000_000), "B"),
    "1.5 million nodes": lambda: graph(*[b"\x90"] * 1_500_000),
    "1.5 million nodes in a list": lambda: array(graph(*[b"\x90"] * 1_500_000)),
    "300,000 of LangGraph's objects in one of ours": lambda: obj(
        "stock", "a:B", pack(pack(array(*[stock(0, "builtins", "list", [])] * 300_000))), 7
    ),
    "one head for 100,000 series": lambda: array(
        shared(pack(head_bytes("pandas", "pandas.core.indexes.base:Index"))),
        *[ext(Code.OBJECT, b"\x92" + again(0) + pack([None, line(bytes(8)), None]))] * 100_000,
    ),
    "labels of a long index": lambda: obj(
        "pandas", "pandas.core.arrays.categorical:Categorical",
        pack([None, line(bytes(8)), index(colliding(500_000)), False]),
    ),
    "a pattern of 4 MB": lambda: value(15, ["a|" * 2_000_000, 0]),
    "numbers written out": lambda: array(*[value(8, "1e999999")] * 300_000),
}  # fmt: skip
