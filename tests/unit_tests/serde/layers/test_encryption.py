from __future__ import annotations

import base64
import json
import os

import pytest
from hypothesis import given, strategies as st
from pydantic import SecretStr

from langgraph_once.errors import ConfigError, EncryptionError
from langgraph_once.serde.encryption import BoundTo, KeyRing, UpstreamCipher

TAG = "msgpack+aesgcm"


def key(size: int = 32) -> SecretStr:
    return SecretStr(base64.b64encode(os.urandom(size)).decode())


OLD, NEW = key(), key(16)
RING = KeyRing({"old": OLD, "new": NEW})


@given(st.binary(max_size=200))
def test_what_is_sealed_opens(data: bytes) -> None:
    assert RING.decrypt(RING.encrypt(data, tag=TAG), tag=TAG) == data


def test_the_last_key_writes_and_all_read() -> None:
    by_old = KeyRing({"old": OLD}).encrypt(b"x", tag=TAG)
    by_ring = RING.encrypt(b"x", tag=TAG)
    assert RING.decrypt(by_old, tag=TAG) == b"x"
    assert KeyRing({"new": NEW}).decrypt(by_ring, tag=TAG) == b"x"
    with pytest.raises(EncryptionError) as caught:
        KeyRing({"old": OLD}).decrypt(by_ring, tag=TAG)
    assert caught.value.key_id == "new"
    assert caught.value.tag == TAG


def test_another_key_of_the_same_name_is_refused() -> None:
    with pytest.raises(EncryptionError) as caught:
        KeyRing({"new": key(16)}).decrypt(RING.encrypt(b"x", tag=TAG), tag=TAG)
    assert caught.value.key_id == "new"


def test_a_blob_under_another_tag_is_refused() -> None:
    sealed = RING.encrypt(b"x", tag="bytes+aesgcm")
    with pytest.raises(EncryptionError):
        RING.decrypt(sealed, tag="msgpack+aesgcm")


def test_a_blob_under_the_name_of_another_key_is_refused() -> None:
    """Even where both names hold the same key."""
    ring = KeyRing({"a": OLD, "b": OLD})
    sealed = ring.encrypt(b"x", tag=TAG)
    assert ring.decrypt(sealed, tag=TAG) == b"x"
    with pytest.raises(EncryptionError):
        ring.decrypt(sealed.replace(b"\x01\x01b", b"\x01\x01a", 1), tag=TAG)


@given(st.data())
def test_any_changed_byte_is_refused(data: st.DataObject) -> None:
    sealed = bytearray(RING.encrypt(b"some plain text", tag=TAG))
    sealed[data.draw(st.integers(0, len(sealed) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(EncryptionError):
        RING.decrypt(bytes(sealed), tag=TAG)


@given(st.data())
def test_any_truncation_is_refused(data: st.DataObject) -> None:
    sealed = RING.encrypt(b"some plain text", tag=TAG)
    with pytest.raises(EncryptionError):
        RING.decrypt(sealed[: data.draw(st.integers(0, len(sealed) - 1))], tag=TAG)


PLACES = st.lists(st.none() | st.integers() | st.text(max_size=5), min_size=1, max_size=4).map(
    tuple
)


@given(PLACES, PLACES)
def test_what_is_bound_to_a_place_opens_there_and_nowhere_else(
    place: BoundTo, other: BoundTo
) -> None:
    sealed = RING.encrypt(b"x", tag=TAG, bound_to=place)
    assert RING.decrypt(sealed, tag=TAG, bound_to=place) == b"x"
    with pytest.raises(EncryptionError):
        RING.decrypt(sealed, tag=TAG)
    if json.dumps(place) != json.dumps(other):
        with pytest.raises(EncryptionError):
            RING.decrypt(sealed, tag=TAG, bound_to=other)


@pytest.mark.parametrize("bound_to", [(), ("a thread", 7)])
def test_no_envelope_can_be_said_to_be_bound_otherwise(bound_to: BoundTo) -> None:
    sealed = bytearray(RING.encrypt(b"x", tag=TAG, bound_to=bound_to))
    sealed[0] = 3 - sealed[0]
    for place in ((), ("a thread", 7), ("another", 7)):
        with pytest.raises(EncryptionError):
            RING.decrypt(bytes(sealed), tag=TAG, bound_to=place)


def test_what_is_bound_to_nothing_opens_anywhere_unless_it_must_be_bound() -> None:
    sealed = RING.encrypt(b"x", tag=TAG)
    assert RING.decrypt(sealed, tag=TAG, bound_to=("a thread",)) == b"x"
    strict = KeyRing({"old": OLD, "new": NEW}, requires_bound=True)
    assert strict.decrypt(sealed, tag=TAG) == b"x"  # of who does not say where it stands
    with pytest.raises(EncryptionError, match="must be"):
        strict.decrypt(sealed, tag=TAG, bound_to=("a thread",))


def test_equal_values_do_not_look_equal() -> None:
    assert RING.encrypt(b"x" * 50, tag=TAG) != RING.encrypt(b"x" * 50, tag=TAG)


def test_the_plaintext_is_not_in_the_blob() -> None:
    assert b"some plain text" not in RING.encrypt(b"some plain text", tag=TAG)


@pytest.mark.parametrize(
    ("key_id", "secret"),
    [
        ("short", base64.b64encode(b"0123456789").decode()),
        ("long", base64.b64encode(b"x" * 33).decode()),
        ("text", "not base64, but a pass phrase"),
        ("stray", base64.b64encode(b"x" * 16).decode().replace("e", "!e", 1)),
        ("accent", "clé secrète"),
        ("empty", ""),
        ("", base64.b64encode(b"x" * 32).decode()),
        ("k" * 256, base64.b64encode(b"x" * 32).decode()),
    ],
)
def test_a_malformed_key_is_named_but_not_shown(key_id: str, secret: str) -> None:
    with pytest.raises(ConfigError) as caught:
        KeyRing({key_id: SecretStr(secret)})
    assert caught.value.key == f"SerdeConfig.encryption_keys.{key_id}"
    assert not secret or secret not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_of_a_key_with_half_a_character_no_error_holds_it() -> None:
    half = "\udc80"  # a variable may have any bytes
    with pytest.raises(ConfigError, match="bytes of utf-8") as of_ours:
        KeyRing({half: SecretStr("")})
    with pytest.raises(ConfigError, match="bytes of utf-8") as of_langgraphs:
        UpstreamCipher(SecretStr(half * 16))
    assert half not in str(of_langgraphs.value)
    assert of_ours.value.__context__ is of_langgraphs.value.__context__ is None


def test_the_repr_names_the_keys_only() -> None:
    assert repr(RING) == "KeyRing(old, new)"


def test_an_empty_ring_is_false_and_does_not_encrypt() -> None:
    ring = KeyRing({})
    assert not ring
    with pytest.raises(EncryptionError):
        ring.encrypt(b"x", tag=TAG)
