"""Rows of LangGraph's own codecs that somebody made."""

# ruff: noqa: E501  # a row is a line
from __future__ import annotations

import json
from itertools import islice, product
from typing import Any, Final

from tests.unit_tests.serde.hostile.build import HERE, P, array, ext, nothing, pack, stock
from tests.unit_tests.serde.hostile.named import FORBIDDEN, UNIMPORTED

_ALL: Final = [name.split(":", 1) for name in (*FORBIDDEN, *UNIMPORTED)]
_GADGETS: Final = ("Gadget", "Shown", "Zone", "Restored", "Reduced", "Cleaning", "WithMeta", "note")
_HUMAN: Final = ("langchain_core.messages.human", "HumanMessage")
_AI: Final = ("langchain_core.messages.ai", "AIMessage")
_DOCUMENT: Final = ("langchain_core.documents.base", "Document")
_NETWORK: Final = stock(0, "ipaddress", "IPv6Network", "::/64")
_TIMES: Final = {"created_at": "2025-01-01", "updated_at": "2025-01-01"}


def _deep(levels: int, native: int, code: int = 0) -> bytes:
    data = nothing
    for _ in range(levels):
        data = stock(code, "builtins", "set", b"\x91" * native + data)
    return data


def _boxes(levels: int, payload: bytes) -> bytes:
    data = payload
    for _ in range(levels):
        data = ext(7, data)
    return data


def _map(*items: bytes) -> bytes:
    return b"\xdf" + (len(items) // 2).to_bytes(4, "big") + b"".join(items)


def _twins(count: int, prefix: int = 0) -> list[bytes]:
    """Return arrays that have one hash once they are tuples."""
    tuples = islice(product((-1, -2), repeat=max(14, count.bit_length())), count)
    head = [pack(7)] * prefix
    return [array(*head, *map(pack, each)) for each in tuples]


def _nested_documents(levels: int, payload: int) -> bytes:
    data = pack("x" * payload)
    for _ in range(levels):
        data = stock(
            5, *_DOCUMENT,
            _map(pack("page_content"), pack("x"), pack("validate_template"), pack(True),
                 pack("metadata"), _map(pack("a"), data)), "m",
        )  # fmt: skip
    return data


def _uuids(count: int) -> list[bytes]:
    return [stock(0, "uuid", "UUID", f"{n * P:032x}") for n in range(count)]


LANGGRAPH: Final[dict[str, Any]] = {
    **{
        f"all that is forbidden, called with {code}": (
            lambda code=code: array(*(stock(code, *name, ["true"], "x") for name in _ALL))
        )
        for code in range(6)
    },
    **{
        f"gadgets called with {code}": (
            lambda code=code: array(*(stock(code, HERE, name, ["true"], "x") for name in _GADGETS))
        )
        for code in range(6)
    },
    "gadgets called with a dictionary": array(
        *(stock(code, HERE, name, {"a": 1}, "x") for name in _GADGETS for code in (2, 4, 5))
    ),
    "methods": array(
        *(
            stock(3, *each)
            for each in (
                ("pathlib", "Path", "/etc/passwd", "read_text"),
                ("datetime", "datetime", "2025-01-01", "fromtimestamp"),
                ("datetime", "date", "2025-01-01", "fromisoformat"),
                ("builtins", "bytes", "00", "fromhex"),
                (HERE, "Gadget", "x", "__init__"),
            )
        )
    ),
    "a zone that is a file": stock(0, "dateutil.tz.tz", "tzfile", "/etc/passwd"),
    "a zone outside of its folder": stock(0, "zoneinfo", "ZoneInfo", "../../../etc/passwd"),
    "a manager that has dictionaries": stock(1, "multiprocessing.managers", "SyncManager", []),
    **{
        f"a network walked through by {name}": stock(code, module, name, argument)
        for code, module, name, argument in (
            (0, "builtins", "set", _NETWORK),
            (0, "builtins", "frozenset", _NETWORK),
            (0, "collections", "deque", _NETWORK),
            (5, *_HUMAN, _map(pack("content"), _NETWORK)),
            (5, *_AI, _map(pack("content"), pack(""), pack("tool_calls"), _NETWORK)),
            (2, "langgraph.store.base", "Item",
             _map(*(pack(each) for pair in _TIMES.items() for each in pair), pack("value"),
                  pack({}), pack("key"), pack("a"), pack("namespace"), _NETWORK)),
            (1, HERE, "Pair", _NETWORK),
            (2, HERE, "Bag", _map(pack("iterable"), _NETWORK)),
        )
    },
    "a network spread as arguments": stock(1, "builtins", "set", _NETWORK),
    "a network spread as keywords": stock(2, *_HUMAN, _NETWORK),
    "a set of a snapshot of a network": stock(0, "builtins", "set", ext(7, _NETWORK)),
    "a list said to have 2**32 items": b"\xdd\xff\xff\xff\xff" + nothing * 100,
    "a dictionary said to have 2**32 items": b"\xdf\xff\xff\xff\xff" + nothing * 100,
    "an extension said to have 2**32 bytes": b"\xc9\xff\xff\xff\xff\x00" + nothing,
    "100,000 lists in each other": b"\x91" * 100_000 + nothing,
    "100,000 dictionaries in each other": b"\x81\xc0" * 100_000 + nothing,
    "16 extensions with 1,000 lists in each": lambda: _deep(16, 1000),
    "128 extensions with 1,000 lists in each": lambda: _deep(128, 1000),
    "32 extensions with 250 lists in each": lambda: _deep(32, 250),
    "900 extensions in each other": lambda: _boxes(900, nothing),
    "5,000 extensions in each other": lambda: _boxes(5000, nothing),
    "an array larger than its bytes": stock(6, "<f8", [2**40], "C", bytes(8)),
    "an array of Python objects": stock(6, "|O", [1], "C", b"A" * 8),
    "an array of a pickled dtype": stock(6, [["a", "|O"]], [1], "C", b"A" * 8),
    "a number of many digits in a field": stock(
        2, HERE, "Model", _map(pack("name"), stock(0, "decimal", "Decimal", "1e999999"))
    ),
    "a template that becomes long": stock(
        5, "langchain_core.prompts.prompt", "PromptTemplate",
        pack({"template": "{a:>99999999}", "input_variables": ["a"], "validate_template": True}), "m",
    ),
    "a jinja template": stock(
        5, "langchain_core.prompts.prompt", "PromptTemplate",
        pack({"template": "{{ ''.__class__.__mro__ }}", "template_format": "jinja2",
              "input_variables": [], "validate_template": True}), "m",
    ),
    "parts that are no names": array(*(stock(code, 1, 2, 3) for code in range(8))),
    "parts that are missing": array(*(ext(code, b"\x90") for code in range(8))),
    "an overlong name": stock(2, "a" * 500_000, "B" * 300_000, {"a": 1}),
    "a name with a path": stock(2, "json/../os", "system", {"a": 1}),
    "a pattern with a dictionary": stock(2, "re", "compile", {"pattern": "a" * 100}),
    "a pattern with a text": stock(0, "re", "compile", "[\0-\uffff]" * 8000),
    "a pattern that prints": stock(1, "re", "compile", ["a", 128]),
}  # fmt: skip

_DISTINCT: Final = 25_000

LANGGRAPH_COSTS: Final[dict[str, Any]] = {
    "1,000 long keys of one hash": lambda: _map(
        *(part for key in _twins(1000, 900) for part in (key, nothing))
    ),
    "12,000 keys of one hash": lambda: _map(
        *(part for key in _twins(12_000) for part in (key, nothing))
    ),
    "12,000 keys of one hash, in an extension": lambda: ext(
        7, _map(*(part for key in _twins(12_000) for part in (key, nothing)))
    ),
    "50 dictionaries of 1,000 keys of one hash": lambda: array(
        *[_map(*(part for key in _twins(1000) for part in (key, nothing)))] * 50
    ),
    "12,000 UUIDs of one hash": lambda: stock(0, "builtins", "set", array(*_uuids(12_000))),
    "15 sets of 1,000 UUIDs of one hash": lambda: array(
        *[stock(0, "builtins", "set", array(*_uuids(1000)))] * 15
    ),
    "12,000 UUIDs of one hash as keys": lambda: _map(
        *(part for key in _uuids(12_000) for part in (key, nothing))
    ),
    "25,000 unknown modules of a package": lambda: array(
        *(stock(2, f"pydantic.x{n}", "A", {}) for n in range(_DISTINCT))
    ),
    "25,000 unknown names of a module": lambda: array(
        *(stock(2, HERE, f"A{n}", {}) for n in range(15_000))
    ),
    "25,000 unknown zones": lambda: array(
        *(stock(0, "zoneinfo", "ZoneInfo", f"A{n}") for n in range(_DISTINCT))
    ),
    "nested documents whose templates are looked through": lambda: _nested_documents(200, 900_000),
    "4 times 250,000 bytes in 900 extensions": lambda: array(
        *[_boxes(900, pack(bytes(240_000)))] * 4
    ),
    "a pattern of 500,000 characters": lambda: stock(1, "re", "compile", ["a|" * 250_000, 0]),
    "2,000 wide patterns": lambda: array(
        *(stock(1, "re", "compile", [f"[\u0100-\uffff]{n}", 2]) for n in range(2000))
    ),
    "one pattern of 2,000 wide sets": stock(1, "re", "compile", ["[\0-\uffff]" * 2000, 2]),
    "25,000 combinations of flags": lambda: array(
        *(stock(1, "re", "compile", ["a", 1 << 20 | n]) for n in range(_DISTINCT))
    ),
    "35,000 combinations of an enum": lambda: array(
        *(stock(0, "re", "RegexFlag", 1 << 20 | n) for n in range(35_000))
    ),
    "30,000 objects of a class that is gone": lambda: array(*[stock(2, HERE, "Gone", {})] * 15_000),
    "30,000 models that do not fit": lambda: array(
        *[stock(5, HERE, "Pair", {"x": 1}, "m")] * 15_000
    ),
    "12,000 messages that do not fit": lambda: array(*[stock(5, *_HUMAN, {"x": 1}, "m")] * 12_000),
    "a million empty lists": b"\xdd\x00\x0f\x42\x40" + b"\x90" * 1_000_000,
    "a million empty dictionaries": b"\xdd\x00\x0f\x42\x40" + b"\x80" * 1_000_000,
    "330,000 snapshots": lambda: array(*[b"\xd4\x07\xc0"] * 330_000),
    "numbers of 5,000 digits": lambda: array(*[stock(0, "decimal", "Decimal", "9" * 5000)] * 190),
    "a number of a million digits": lambda: stock(0, "decimal", "Decimal", "9" * 950_000),
}


def _made(names: Any, **more: Any) -> dict[str, Any]:
    return {"lc": 2, "type": "constructor", "id": names, **more}


def _nested_json(levels: int, payload: int) -> bytes:
    data: Any = "x" * payload
    for _ in range(levels):
        data = {"lc": 1, "type": "constructor", "id": ["a"],
                "kwargs": {"validate_template": 1, "x": data}}  # fmt: skip
    return json.dumps(data).encode()


_JSON_NETWORK: Final = _made(["ipaddress", "IPv6Network"], args=["::/64"])

LANGGRAPH_JSON: Final[dict[str, Any]] = {
    "all that is forbidden": lambda: json.dumps(
        [_made([*name[0].split("."), name[1]], args=["true"]) for name in _ALL]
    ).encode(),
    "all that is forbidden, as methods": lambda: json.dumps(
        [_made(name, method="run", kwargs={"a": 1}) for name in _ALL]
    ).encode(),
    "gadgets": lambda: json.dumps(
        [_made([*HERE.split("."), name], args=["true"]) for name in _GADGETS]
    ).encode(),
    "a name in another shape": json.dumps(
        [_made(each, args=["x"]) for each in ("os", {"os": 1}, [["os"], "system"], 7, [None], [])]
    ).encode(),
    "a secret of the environment": json.dumps(
        {"lc": 1, "type": "secret", "id": ["HOME"]}
    ).encode(),
    "a class that is no message": json.dumps(
        {"lc": 1, "type": "constructor", "id": ["os", "system"], "kwargs": {}}
    ).encode(),
    "a network in a set": json.dumps(_made(["builtins", "set"], args=[_JSON_NETWORK])).encode(),
    "a network spread": json.dumps(_made(["builtins", "set"], args=_JSON_NETWORK)).encode(),
    "a network as a text": json.dumps(_made(["builtins", "bytes"], method="fromhex", args=_JSON_NETWORK)).encode(),
    "100,000 lists in each other": b"[" * 100_000,
    "a number of 900,000 digits": b"9" * 900_000,
    "20,000 integers of one hash": json.dumps(
        _made(["builtins", "set"], args=[[n * P for n in range(20_000)]])
    ).encode(),
    "200 templates in each other": lambda: _nested_json(200, 900_000),
    "60,000 sets": lambda: b"[" + b",".join([json.dumps(_made(["builtins", "set"], args=[[1]])).encode()] * 12_000) + b"]",
    "300,000 empty lists": b"[" + b"[]," * 300_000 + b"0]",
    "a pattern of wide sets": json.dumps(_made(["re", "compile"], args=["[\0-\uffff]" * 2000, 2])).encode(),
    "no text": b"\xff\xfe\xfd",
    "a template that becomes long": json.dumps({"lc": 1, "type": "constructor",
        "id": ["langchain_core", "prompts", "prompt", "PromptTemplate"],
        "kwargs": {"template": "{a:>999999999}", "input_variables": ["a"], "validate_template": True}}).encode(),
}  # fmt: skip
