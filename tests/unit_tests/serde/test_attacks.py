"""Blobs made by someone who can write to the database. Each is refused, soon and cheaply."""

from __future__ import annotations

import copy
import dataclasses
import ipaddress
import json
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import ormsgpack
import pydantic
import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError, TypeNotAllowedError
from langgraph_once.serde import OnceSerializer
from tests.unit_tests.serde.strictly import strict_config

from .cpu import within
from .samples import Profile, Task, allow, outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HUMAN = ("langchain_core.messages.human", "HumanMessage")
AI = ("langchain_core.messages.ai", "AIMessage")
NETWORK = ipaddress.IPv6Network("::/64")


class Numbers(pydantic.BaseModel):
    rows: list[list[Any]]


@pydantic.dataclasses.dataclass
class Row:
    cells: list[Any]


@dataclasses.dataclass
class Copying:
    net: Any
    twin: Any = None

    def __post_init__(self) -> None:
        self.twin = copy.deepcopy(self.net)


class Raw:
    """Something with given msgpack, for building blobs."""

    def __init__(self, code: int, *content: Any) -> None:
        self.code, self.content = code, content

    def ext(self) -> ormsgpack.Ext:
        return ormsgpack.Ext(self.code, pack(list(self.content)))


def pack(content: Any) -> bytes:
    return ormsgpack.packb(content, default=lambda raw: raw.ext())


def network(text: str = "::/64", name: str = "IPv6Network") -> Raw:
    return Raw(0, "ipaddress", name, text)


@pytest.fixture(autouse=True)
def _bounded() -> Iterator[None]:
    tracemalloc.start()
    started = time.process_time()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert within(time.process_time() - started, 3)
    assert peak < 50_000_000


@pytest.mark.parametrize("enforcement", ["strict", "warn", "open"])
def test_a_shell_command_is_not_run(tmp_path: Path, enforcement: Any) -> None:
    proof = tmp_path / "owned"
    blob = pack([Raw(0, "os", "system", f"touch {proof}")])
    serde = OnceSerializer(strict_config(enforcement=enforcement))
    with pytest.raises(PayloadError if enforcement != "strict" else TypeNotAllowedError):
        serde.loads_typed(("msgpack", blob))
    assert not proof.exists()
    JsonPlusSerializer(allowed_msgpack_modules=True).loads_typed(("msgpack", blob))
    assert proof.exists(), "the attack itself works"


@pytest.mark.parametrize(
    "attack",
    [
        Raw(0, "builtins", "set", network()),
        Raw(0, "builtins", "frozenset", network("0.0.0.0/0", "IPv4Network")),
        Raw(0, "collections", "deque", network()),
        Raw(1, "builtins", "set", [network()]),
        Raw(1, "builtins", "set", network()),
        Raw(2, "collections", "deque", {"iterable": network()}),
        Raw(5, *HUMAN, {"content": network()}, "model_validate_json"),
        Raw(5, *AI, {"content": "", "tool_calls": network()}, "model_validate_json"),
        Raw(5, *AI, {"content": "", "additional_kwargs": {"tool_calls": network()}}, ""),
        Raw(4, *HUMAN, {"content": network()}),
        Raw(2, *HUMAN, {"content": network()}),
        Raw(1, *HUMAN, [network()]),
        Raw(0, *HUMAN, network()),
        Raw(5, "langchain_core.documents.base", "Document", network(), ""),
        Raw(
            2,
            "langgraph.store.base",
            "Item",
            {"value": {}, "key": "", "namespace": network()}
            | {"created_at": "2025-01-01", "updated_at": "2025-01-01"},
        ),
        Raw(5, Numbers.__module__, "Numbers", {"rows": network()}, ""),
        Raw(5, Numbers.__module__, "Numbers", {"rows": [network()]}, ""),
        Raw(2, Row.__module__, "Row", {"cells": network()}),
        Raw(0, "builtins", "set", Raw(7, network())),
    ],
    ids=lambda raw: f"{raw.code}-{'-'.join(map(str, raw.content[:2]))}",
)
def test_nothing_walks_through_a_network(attack: Raw) -> None:
    serde = OnceSerializer(strict_config(allowed_types=allow(Numbers, Row)))
    with pytest.raises(PayloadError):
        serde.loads_typed(("msgpack", pack({"messages": [attack]})))


@pytest.mark.parametrize(
    "value",
    [
        [NETWORK, {"net": NETWORK}],
        ToolMessage("x", tool_call_id="c", artifact=NETWORK),
        HumanMessage("x", additional_kwargs={"net": [NETWORK]}),
        Profile(name="x", net=NETWORK),
        Task("x", NETWORK),
        {NETWORK, ipaddress.IPv4Network("10.0.0.0/30")},
    ],
)
def test_a_network_where_it_belongs_is_an_ordinary_one_again(value: Any) -> None:
    serde = OnceSerializer(strict_config(allowed_types=allow(Profile, Task)))
    back = serde.loads_typed(serde.dumps_typed(value))
    assert back == value
    if isinstance(value, list):
        assert type(back[0]) is ipaddress.IPv6Network
        assert vars(back[0]).keys() == vars(ipaddress.IPv6Network("::/64")).keys()
        assert next(iter(back[0])) == ipaddress.IPv6Address("::")


def test_a_copy_that_a_constructor_made_is_an_ordinary_network_too() -> None:
    serde = OnceSerializer(strict_config(allowed_types=allow(Copying)))
    for net in (NETWORK, ipaddress.IPv4Network("10.0.0.0/8")):
        blob = pack(
            Raw(2, Copying.__module__, "Copying", {"net": network(str(net), type(net).__name__)})
        )
        back = serde.loads_typed(("msgpack", blob))
        assert back.twin == net
        assert type(back.twin) is type(net)


@pytest.mark.parametrize("enforcement", ["strict", "warn", "open"])
def test_no_method_is_called_but_the_safe_ones(enforcement: Any) -> None:
    serde = OnceSerializer(strict_config(enforcement=enforcement))
    safe = pack(Raw(3, "datetime", "datetime", "2025-01-01", "fromisoformat"))
    assert serde.loads_typed(("msgpack", safe)).year == 2025
    for module, name, method in (
        ("datetime", "date", "fromisoformat"),
        ("datetime", "datetime", "fromtimestamp"),
        ("pathlib", "Path", "read_text"),
    ):
        blob = pack([Raw(3, module, name, "2025-01-01", method)])
        with pytest.raises(PayloadError, match=f"method '{method}', which is never made"):
            serde.loads_typed(("msgpack", blob))


@pytest.mark.parametrize(
    "outer",
    [
        {"lc": 2, "type": "constructor", "id": ["builtins", "set"]},
        {"lc": 2, "type": "constructor", "id": [*HUMAN[0].split("."), "HumanMessage"]},
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"]},
    ],
)
@pytest.mark.parametrize("key", ["args", "kwargs"])
def test_nothing_walks_through_a_network_in_json(outer: dict[str, Any], key: str) -> None:
    inner = {"lc": 2, "type": "constructor", "id": ["ipaddress", "IPv6Network"], "args": ["::/64"]}
    blob = json.dumps({"x": [outer | {key: [inner] if key == "args" else {"content": inner}}]})
    with pytest.raises(PayloadError, match="IPv6Network"):
        OnceSerializer(strict_config()).loads_typed(("json", blob.encode()))


def nested(levels: int, payload: int) -> bytes:
    blob = pack(b"x" * payload)
    for _ in range(levels):
        blob = pack(ormsgpack.Ext(7, blob))
    return blob


def test_deep_extensions_are_refused() -> None:
    blob = nested(5000, 10)
    with pytest.raises(PayloadError, match="nested"):
        OnceSerializer(strict_config()).loads_typed(("msgpack", blob))


def test_copies_of_nested_data_are_budgeted() -> None:
    serde = OnceSerializer(strict_config(max_decoded_bytes=1024))
    assert serde.loads_typed(("msgpack", nested(10, 500_000)))
    with pytest.raises(SizeLimitError) as caught:
        serde.loads_typed(("msgpack", nested(100, 500_000)))
    assert caught.value.limit_bytes is not None
    assert caught.value.limit_bytes < 17 * 510_000


def test_the_budget_is_for_what_is_open_at_once() -> None:
    serde = OnceSerializer(strict_config(max_decoded_bytes=1024))
    for payload in (1000, 3000):
        branch = nested(30, payload)
        wide = pack([ormsgpack.Ext(7, branch) for _ in range(100)])
        assert len(serde.loads_typed(("msgpack", wide))) == 100


@pytest.mark.parametrize(
    "blob",
    [
        *(
            b"\x91" * 100_000,
            b"\xdd\xff\xff\xff\xff",
            b"\xc6\xff\xff\xff\xff",
            b"\xdf\xff\xff\xff\xff",
        ),
        *(b"\xc9\xff\xff\xff\xff\x00", b"\xc1", b"", b"\xdb\xff\xff\xff\xffabc"),
    ],
)
def test_absurd_lengths_and_depths_are_refused(blob: bytes) -> None:
    with pytest.raises(PayloadError):
        OnceSerializer(strict_config()).loads_typed(("msgpack", blob))


@pytest.mark.parametrize("tag", ["null", "bytes", "bytearray", "msgpack", "json", "pickle"])
@pytest.mark.parametrize(
    "layers", ["", ".zstd", ".aesgcm", ".zstd.aesgcm", "+aes", "+zstd", ".zstd+aes"]
)
def test_garbage_under_any_tag_is_our_error_or_a_value(tag: str, layers: str) -> None:
    for blob in (b"", b"\x00", b"\x01\x00" + b"x" * 60, b'{"lc": 2}', b"\xff" * 100, b"[" * 90_000):
        result = outcome(OnceSerializer(strict_config()), (tag + layers, blob))
        if isinstance(result, SerdeError):
            assert str(result.tag).startswith(tag)
