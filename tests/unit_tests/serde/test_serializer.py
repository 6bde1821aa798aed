from __future__ import annotations

import base64
import itertools
from typing import Any

import pytest
from hypothesis import given, strategies as st
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.errors import (
    ConfigError,
    EncodeError,
    EncryptionError,
    PayloadError,
    SerdeError,
    SizeLimitError,
    UnknownTagError,
)
from langgraph_once.serde import OnceSerializer
from tests.layered_stock import LayeredStock
from tests.unit_tests.serde.strictly import strict_config

from .labels import label
from .samples import OWN_TYPES, OWN_VALUES, SAFE_VALUES, VALUES, Task, outcome

KEY_TEXT = base64.b64encode(b"a secret of 16 b").decode()
KEY: dict[str, Any] = {"encryption_keys": {"k1": KEY_TEXT}}
UPSTREAM = JsonPlusSerializer(
    allowed_msgpack_modules=[tuple(name.split(":")) for name in OWN_TYPES]
)
LONG = {"messages": [HumanMessage("the same words " * 50, id=str(i)) for i in range(5)]}


def serde(**settings: Any) -> OnceSerializer:
    return OnceSerializer(strict_config(**({"allowed_types": OWN_TYPES} | settings)))


def written_alike(value: Any) -> bool:
    ours = serde(compatible=True).dumps_typed(value)
    return ours == JsonPlusSerializer().dumps_typed(value)


@given(VALUES)
def test_msgpack_without_layers_is_that_of_upstream(value: Any) -> None:
    assert written_alike(value)


@pytest.mark.parametrize("value", SAFE_VALUES + OWN_VALUES, ids=label)
def test_every_sample_is_written_in_msgpack_as_upstream_does(value: Any) -> None:
    assert written_alike(value)


LAYERS: list[tuple[dict[str, Any], str]] = [
    ({"compression": "none"}, ""),
    ({}, ".zstd"),
    ({"compression": "none", **KEY}, ".aesgcm"),
    (KEY, ".zstd.aesgcm"),
    ({"encryption": "required", **KEY}, ".zstd.aesgcm"),
]


KINDS: dict[str, Any] = {"once2": OnceSerializer, "msgpack": LayeredStock}


def written_by(codec: str, **settings: Any) -> OnceSerializer:
    made: OnceSerializer = KINDS[codec](strict_config(**({"allowed_types": OWN_TYPES} | settings)))
    return made


@pytest.mark.parametrize("codec", KINDS)
@pytest.mark.parametrize(("settings", "suffix"), LAYERS)
def test_the_tag_tells_the_layers(codec: str, settings: dict[str, Any], suffix: str) -> None:
    tag, data = written_by(codec, **settings).dumps_typed(LONG)
    assert tag == f"{codec}{suffix}"
    assert (b"HumanMessage" in data) == (suffix == "")
    assert (len(data) < 500) == ("zstd" in suffix)


@given(settings=st.sampled_from([settings for settings, _ in LAYERS]), value=VALUES)
def test_every_value_comes_back_through_every_layer(settings: dict[str, Any], value: Any) -> None:
    once = serde(**settings)
    assert once.loads_typed(once.dumps_typed(value)) == value


@pytest.mark.parametrize("value", [*SAFE_VALUES, *OWN_VALUES, LONG], ids=label)
def test_every_sample_comes_back_through_every_layer(value: Any) -> None:
    as_upstream = UPSTREAM.loads_typed(UPSTREAM.dumps_typed(value))
    for codec, (settings, _) in itertools.product(KINDS, LAYERS):
        once = written_by(codec, **settings)
        back = once.loads_typed(once.dumps_typed(value))
        assert back == (value if codec == "once2" else as_upstream)
        assert type(back) is type(value)


def test_reads_obey_the_tag_and_not_the_settings() -> None:
    keys = KEY["encryption_keys"]
    for settings, _ in LAYERS:
        row = serde(**settings).dumps_typed(LONG)
        assert serde(compression="none", encryption_keys=keys).loads_typed(row) == LONG


def test_small_and_incompressible_values_are_not_compressed() -> None:
    assert serde().dumps_typed([1])[0] == "once2"
    assert serde().dumps_typed(bytes(range(256)))[0] == "bytes"
    assert serde().dumps_typed(b"a" * 256)[0] == "bytes.zstd"
    assert serde().dumps_typed(b"a" * 255)[0] == "bytes"
    assert serde().dumps_typed({"key": "a" * 256})[0] == "once2.zstd"
    assert serde().dumps_typed({"key": "a" * 247})[0] == "once2"


def test_none_is_written_plainly_without_a_key_and_sealed_with_one() -> None:
    assert serde().dumps_typed(None) == ("null", b"")
    tag, data = serde(**KEY).dumps_typed(None)
    assert tag == "null.aesgcm"
    assert serde(**KEY).loads_typed((tag, data)) is None


def test_a_bytearray_is_not_shared_with_the_caller() -> None:
    mutable = bytearray(b"before")
    row = serde().dumps_typed(mutable)
    mutable[:] = b"after!"
    assert serde().loads_typed(row) == bytearray(b"before")


def test_a_database_may_hand_back_a_memoryview() -> None:
    for settings, _ in LAYERS:
        once = serde(**settings)
        tag, data = once.dumps_typed(LONG)
        assert once.loads_typed((tag, memoryview(data))) == LONG  # type: ignore[arg-type]  # what drivers of databases hand out


def test_a_database_may_hand_back_none_for_nothing_and_nothing_else_for_bytes() -> None:
    assert serde().loads_typed(("null", None)) is None  # type: ignore[arg-type]  # as above
    for payload in (None, 3, "text"):
        with pytest.raises(PayloadError, match="where bytes belong"):
            serde().loads_typed(("once2", payload))  # type: ignore[arg-type]  # as above


@pytest.mark.parametrize(
    "tags",
    [
        ("bytes.aesgcm", "bytearray.aesgcm"),
        ("bytes.aesgcm", "bytes.zstd.aesgcm"),
        ("bytes.aesgcm", "bytes+aesgcm"),
    ],
)
def test_a_row_under_another_tag_is_refused(tags: tuple[str, str]) -> None:
    once = serde(compression="none", **KEY)
    tag, data = once.dumps_typed(b"x")
    assert tag == tags[0]
    with pytest.raises(EncryptionError):
        once.loads_typed((tags[1], data))


def test_a_sealed_row_cannot_pass_as_plaintext() -> None:
    once = serde(compression="none", encryption="required", **KEY)
    _, data = once.dumps_typed(b"x")
    with pytest.raises(EncryptionError):
        once.loads_typed(("bytes", data))


@pytest.mark.parametrize("tag", ["null", "bytes", "msgpack", "msgpack.zstd", "json", "pickle"])
def test_plaintext_is_refused_where_encryption_is_required(tag: str) -> None:
    with pytest.raises(EncryptionError, match="not encrypted") as caught:
        serde(encryption="required", **KEY).loads_typed((tag, b"\xc0"))
    assert caught.value.tag == tag


def test_plaintext_is_still_read_where_it_is_not() -> None:
    assert serde(**KEY).loads_typed(("msgpack", b"\x01")) == 1


def test_requiring_encryption_takes_a_key() -> None:
    for encryption in ("required", "bound"):
        with pytest.raises(ConfigError, match=r"SerdeConfig\.encryption"):
            serde(encryption=encryption)


PLACE = ("a thread", 7)


def test_what_is_bound_is_read_in_its_place_alone() -> None:
    once = serde(**KEY)
    row = once.dumps_typed(LONG, bound_to=PLACE)
    assert once.loads_typed(row, bound_to=PLACE) == LONG
    for other in ((), ("another", 7)):
        with pytest.raises(EncryptionError):
            once.loads_typed(row, bound_to=other)
    assert once.loads_typed(once.dumps_typed(LONG), bound_to=PLACE) == LONG
    assert serde().loads_typed(serde().dumps_typed(LONG, bound_to=PLACE)) == LONG  # no key


def test_what_is_bound_can_be_moved_without_being_decoded() -> None:
    once = serde(**KEY)
    row = once.dumps_typed(LONG, bound_to=PLACE)
    moved = once.moved(row, PLACE, ("another", 7))
    assert moved is not None
    assert once.loads_typed(moved, bound_to=("another", 7)) == LONG
    with pytest.raises(EncryptionError):
        once.moved(row, ("another", 7), PLACE)
    for free in (once.dumps_typed(LONG), serde().dumps_typed(LONG)):
        assert once.moved(free, PLACE, ("another", 7)) is None


def test_binding_can_be_demanded() -> None:
    required, demanding = serde(encryption="required", **KEY), serde(encryption="bound", **KEY)
    free, bound = required.dumps_typed(LONG), required.dumps_typed(LONG, bound_to=PLACE)
    assert required.loads_typed(free, bound_to=PLACE) == LONG
    assert demanding.loads_typed(bound, bound_to=PLACE) == LONG
    for refused in (free, serde().dumps_typed(LONG)):
        with pytest.raises(EncryptionError, match="must be"):
            demanding.loads_typed(refused, bound_to=PLACE)
    assert [required.is_sealed_as_now(row) for row in (free, bound)] == [False, True]


def test_a_malformed_key_stops_construction() -> None:
    with pytest.raises(ConfigError, match=r"encryption_keys\.bad") as caught:
        serde(encryption_keys={"bad": "cGFzcw=="})
    assert "cGFzcw" not in str(caught.value)


def test_a_sealed_row_without_its_key_is_refused() -> None:
    with pytest.raises(EncryptionError) as caught:
        serde().loads_typed(serde(**KEY).dumps_typed([1]))
    assert caught.value.key_id == "k1"


def test_the_bound_on_decompression_is_the_configured_one() -> None:
    row = serde().dumps_typed(b"a" * 5000)
    with pytest.raises(SizeLimitError) as caught:
        serde(max_decoded_bytes=4999).loads_typed(row)
    assert caught.value.limit_bytes == 4999
    assert serde(max_decoded_bytes=5000).loads_typed(row) == b"a" * 5000


def test_an_unknown_tag_is_refused() -> None:
    with pytest.raises(UnknownTagError):
        serde().loads_typed(("msgpack.lz4", b""))


class Unwritable:
    def __repr__(self) -> str:
        return "a secret payload"


@pytest.mark.parametrize("value", [Unwritable(), {"a": [Unwritable()]}, Task("x", Unwritable())])
def test_a_value_that_cannot_be_written_is_named_and_not_shown(value: Any) -> None:
    for codec, name in (("once2", "Unwritable"), ("msgpack", type(value).__name__)):
        with pytest.raises(EncodeError, match=name) as caught:
            serde(compatible=codec == "msgpack").dumps_typed(value)
        assert "secret payload" not in str(caught.value)


def test_integers_and_nesting_beyond_msgpack_are_refused() -> None:
    deep: list[Any] = []
    for _ in range(3000):
        deep = [deep]
    for value in (2**64, deep):
        with pytest.raises(EncodeError):
            serde(compatible=True).dumps_typed(value)


@given(st.sampled_from([s for s, _ in LAYERS]), st.integers(0, 10**6), st.integers(1, 255))
def test_changed_rows_yield_a_value_or_our_error(
    settings: dict[str, Any], position: int, mask: int
) -> None:
    once = serde(**settings)
    tag, data = once.dumps_typed(SAFE_VALUES)
    changed = bytearray(data)
    changed[position % len(changed)] ^= mask
    result = outcome(once, (tag, bytes(changed)))
    if "." in tag:
        # zstd may carry bits that mean nothing; everything else is checked.
        assert isinstance(result, SerdeError) or result == once.loads_typed((tag, data))


def test_the_repr_shows_settings_and_no_key() -> None:
    once = serde(**KEY)
    assert repr(once) == (
        "OnceSerializer(compression='zstd', keys=KeyRing(k1), enforcement='strict')"
    )
    assert KEY_TEXT not in f"{once!r} {once} {once.config!r} {vars(once)!r}"
