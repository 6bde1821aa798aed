"""Rows that our versions wrote load for ever, under each Python; there is one for all we write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import WindowsPath
from typing import Any, Final

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from ormsgpack import Ext, unpackb

from langgraph_once.errors import EncryptionError, TypeNotAllowedError, UnknownTagError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.format import Code, head_parts, heads_in, is_holder, pack
from langgraph_once.serde.plans.values import BY_NUMBER, BY_TYPE
from langgraph_once.serde.registry import FORMS
from tests.data.blobs.once_values import ADAPTERS, ELSEWHERE, KEY, serde
from tests.data.blobs.write_once import stored, wanted
from tests.unit_tests.serde.fidelity.sameness import difference

STORED: Final = stored()
ROWS: Final = [
    pytest.param(name, row, id=f"{name} of {folder}")
    for folder, rows in STORED.items()
    for name, row in rows.items()
]
STOCK: Final = JsonPlusSerializer()
BARE: Final = {Code.INT, Code.TEXT, Code.AGAIN, Code.NODE}
"""The extensions that hold no values."""


def reader(**settings: Any) -> OnceSerializer:
    how = {"enforcement": "strict", "encryption_keys": KEY}
    return serde(**(how | settings))


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_a_row_comes_back_as_what_was_written(name: str, row: tuple[str, bytes]) -> None:
    _, make = wanted()[name]
    value = make()
    if row[0].startswith("msgpack"):
        value = STOCK.loads_typed(STOCK.dumps_typed(value))
    assert difference(reader().loads_typed(row), value) is None


def test_there_is_a_row_for_everything_we_write_and_none_was_taken_away() -> None:
    names = {name for rows in STORED.values() for name in rows}
    told = "run `python -m tests.data.blobs.write_once`, and commit what it adds"
    assert names == wanted().keys() - ELSEWHERE, told


def met_in(content: bytes) -> Iterator[Any]:
    """Yield each extension of codec `once2`, each form, and each value by its number."""
    heads: list[bytes] = []
    met: list[Any] = []

    def hook(number: int, data: bytes) -> None:
        code = Code(number)
        met.append(code)
        if code is Code.OBJECT:
            heads.append(unpackb(data, ext_hook=lambda *_: None)[0])
        elif code is Code.MANY:
            heads.extend(unpackb(data)[0])
        elif code is Code.VALUE:
            met.append(("value", data[0]))
            data = data[1:]
        for inside in unpackb(data) if code is Code.GRAPH else [data]:
            if code not in BARE:
                met.extend(met_in(inside))

    unpackb(content, ext_hook=hook)
    yield from met
    yield from ("holder" for head in heads if is_holder(head))
    yield from (head_parts(inner).form for head in heads for inner in heads_in(head))


def test_the_rows_hold_each_extension_and_value_and_object_of_each_form() -> None:
    rows = [row for rows in STORED.values() for row in rows.values() if row[0] == "once2"]
    met = {each for _, content in rows for each in met_in(content)}
    forms = {form.name for form in FORMS} | {"named", "hashed", "stock", "holder"}
    own = {f"own:{adapter.name}" for adapter in ADAPTERS}
    values = {("value", number) for number in BY_NUMBER} - {("value", BY_TYPE[WindowsPath].number)}
    assert met == {*Code} | forms | own | values


def test_a_path_of_another_system_comes_back_as_its_parts_as_with_langgraph() -> None:
    content = bytes((BY_TYPE[WindowsPath].number,)) + pack(r"c:\data\x")
    back = reader().loads_typed(("once2", pack(Ext(Code.VALUE, content))))
    assert back == ["c:\\", "data", "x"]


def test_all_tags_that_we_write_are_there() -> None:
    tags = {tag for rows in STORED.values() for tag, _ in rows.values()}
    layers = ("", ".zstd", ".aesgcm", ".zstd.aesgcm")
    of_first = ("+zstd", "+aesgcm", "+zstd+aesgcm")
    first = {f"{codec}{each}" for codec in ("bytes", "bytearray", "msgpack") for each in of_first}
    codecs = ("bytes", "bytearray", "msgpack", "once2")
    # An empty value does not get smaller.
    assert tags == {f"{codec}{each}" for codec in codecs for each in layers} | first | {
        *("null", "null.aesgcm", "null+aesgcm")
    }


@pytest.mark.parametrize(
    ("name", "row"), [each for each in ROWS if str(each.values[0]).endswith("aesgcm")]
)
def test_a_sealed_row_needs_its_key(name: str, row: tuple[str, bytes]) -> None:
    with pytest.raises(EncryptionError) as caught:
        reader(encryption_keys={}).loads_typed(row)
    assert caught.value.key_id == "test"


@pytest.mark.parametrize("name", ["form-record", "form-enum", "form-named", "form-model"])
def test_a_row_that_names_own_types_needs_them_allowed(name: str) -> None:
    strict = reader(allowed_types=(), on_unavailable="raise")
    with pytest.raises(TypeNotAllowedError) as caught:
        strict.loads_typed(STORED["once-0.2"][name])
    assert caught.value.tag == "once2"


@pytest.mark.parametrize("tag", ["once1", "once1.zstd", "once1+zstd+aesgcm", "once1.aesgcm+aes"])
def test_a_row_of_the_codec_before_says_how_to_rewrite_it(tag: str) -> None:
    with pytest.raises(UnknownTagError, match="migrate --to msgpack") as caught:
        reader().loads_typed((tag, b"\x01"))
    assert caught.value.tag == tag
