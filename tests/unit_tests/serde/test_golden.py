"""Rows that our versions wrote load for ever, and there is one for everything we write."""

from __future__ import annotations

import importlib.util
from typing import Any, get_args

import pytest

from langgraph_once.errors import EncryptionError, TypeNotAllowedError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.layers.tag import Codec
from tests.data.blobs import model
from tests.data.blobs.compare import alike
from tests.data.blobs.once_values import ADAPTERS, ELSEWHERE, EXTENSIONS, FAMILIES, KEY
from tests.data.blobs.write_once import stored, wanted
from tests.unit_tests.serde.strictly import strict_config

ROWS = stored()
WRITES_ONCE1 = "once1" in get_args(Codec)

NEEDS = {
    "family-pandas": "pandas",
    "family-arrow": "pyarrow",
    "family-polars": "polars",
    "form-pandas-arrow-text": "pyarrow",
}
"""What reading a row takes."""

only_once1 = pytest.mark.skipif(not WRITES_ONCE1, reason="codec once1 is not written yet")


def reader(**settings: Any) -> OnceSerializer:
    defaults = {"encryption_keys": KEY, "allowed_types": model.ALLOWED_TYPES}
    return OnceSerializer(strict_config(**(defaults | settings)))


def test_a_row_comes_back_as_what_was_written(subtests: pytest.Subtests) -> None:
    for name in ROWS:
        with subtests.test(name):
            package = NEEDS.get(name)
            if package is not None and importlib.util.find_spec(package) is None:
                pytest.skip(f"{package} is an extra")
            back = reader().loads_typed(ROWS[name])
            if name == "ext-unknown":
                assert repr(back).startswith(f"<Opaque unknown {model.__name__}:Stranger")
            else:
                _, make = wanted()[name]
                assert alike(back, make())


def test_there_is_a_row_for_everything_we_write() -> None:
    lacking = wanted().keys() - ELSEWHERE - ROWS.keys()
    assert not lacking, "run `python -m tests.data.blobs.write_once`, and commit what it adds"


def test_no_row_was_taken_away() -> None:
    assert ROWS.keys() <= wanted().keys()


def test_a_sealed_row_needs_its_key(subtests: pytest.Subtests) -> None:
    for name in (name for name in ROWS if name.endswith("aesgcm")):
        with subtests.test(name):
            with pytest.raises(EncryptionError) as caught:
                reader(encryption_keys={}).loads_typed(ROWS[name])
            assert caught.value.key_id == "test"


def test_all_tags_that_we_write_are_there() -> None:
    codecs = {"bytes", "bytearray", "msgpack"} | ({"once1"} if WRITES_ONCE1 else set())
    layers = ("", ".zstd", ".aesgcm", ".zstd.aesgcm", "+zstd", "+aesgcm", "+zstd+aesgcm")
    tags = {row[0] for row in ROWS.values()}
    assert tags >= {codec + suffix for codec in codecs for suffix in layers}
    # An empty value does not get smaller.
    assert tags >= {"null", "null.aesgcm", "null+aesgcm"}


@only_once1
def test_there_is_a_value_for_every_adapter_and_family() -> None:
    adapters = importlib.import_module("langgraph_once.serde.codecs.once1.types")
    wire = importlib.import_module("langgraph_once.serde.codecs.once1.format.layout")
    assert ADAPTERS.keys() == {adapter.name for adapter in adapters.BUILTIN_ADAPTERS}
    assert FAMILIES.keys() == {family.name for family in adapters.BUILTIN_FAMILIES}
    assert EXTENSIONS.keys() == {code.name.lower() for code in wire.Ext}


@only_once1
def test_each_value_is_one_of_its_adapter_or_family() -> None:
    adapters = importlib.import_module("langgraph_once.serde.codecs.once1.types")
    for adapter in adapters.BUILTIN_ADAPTERS:
        if f"adapter-{adapter.name}" not in ELSEWHERE:
            assert type(ADAPTERS[adapter.name]()) in adapter.types
    for name in FAMILIES.keys() - {"pandas"}:
        cls = type(FAMILIES[name]())
        assert next(it.name for it in adapters.BUILTIN_FAMILIES if it.matches(cls)) == name


@only_once1
@pytest.mark.parametrize("name", ["family-record", "family-enum", "ext-class", "ext-function"])
def test_a_row_that_names_own_types_needs_them_allowed(name: str) -> None:
    with pytest.raises(TypeNotAllowedError):
        reader(allowed_types=()).loads_typed(ROWS[name])
