"""Nothing that prints shows a key, also where its user took it for the id of a key."""

from __future__ import annotations

import base64
import json
import pprint
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import SecretStr

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import ConfigError, EncryptionError, shown
from langgraph_once.manifest import Manifest
from langgraph_once.serde import OnceSerializer
from langgraph_once.settings import Settings, load_settings

RAW = bytes.fromhex("b1946ac92492d2347c6235b4d2611184a7c1d3e58f0b2249d6b0f1c2a3948576")
GOOD = base64.b64encode(RAW[::-1]).decode()
KEYS = [
    base64.b64encode(RAW).decode(),
    base64.b64encode(RAW[:16]).decode(),
    base64.urlsafe_b64encode(RAW[:24]).decode(),
    base64.b64encode(RAW).decode().rstrip("="),
    RAW.hex(),
    RAW[:16].hex().upper(),
    "correct horse battery staple",
    f"base64:{base64.b64encode(RAW).decode()}",
]


def variables(name: str, value: Any) -> Callable[[], Any]:
    text = value if isinstance(value, str) else json.dumps(value)
    return lambda: load_settings(Manifest(), {name: text})


def section(once: Any) -> Callable[[], Any]:
    return lambda: load_settings(Manifest(checkpointer={"once": once}), {})


def mistakes(key: str) -> Iterator[Callable[[], Any]]:
    """Ways to write a key where something else belongs."""
    for ring in ({key: "2026-11"}, {key: 5}, {key: [GOOD]}, {key: key}, {"a": {"b": key}}, [key]):
        yield lambda ring=ring: OnceSerializer(SerdeConfig(encryption_keys=ring))  # type: ignore[misc]  # mypy cannot tell what the default of a lambda is
        yield variables("ONCE_SERDE__ENCRYPTION_KEYS", ring)
        yield variables("ONCE_SERDE", {"encryption_keys": ring})
        yield lambda ring=ring: Settings.model_validate({"serde": {"encryption_keys": ring}})  # type: ignore[misc]  # as above
        yield section({"serde": {"encryption_keys": ring}})
        yield section({"serde": ring})
    yield variables("ONCE_SERDE__ENCRYPTION_KEYS", key)
    yield variables("ONCE_SERDE__ENCRYPTION_KEYS", f'{{"2026-11": "{key}"')
    yield variables("ONCE_SERDE", {key: "2026-11"})
    yield variables("ONCE_SERDE", {"encryption_key": {"a": key}})
    yield variables("ONCE_SERDE", key)
    yield variables("LANGGRAPH_CHECKPOINTER", f'{{"{key}": ')
    yield section({"serde": key})
    yield section(key)
    yield lambda: OnceSerializer(upstream_aes_key=SecretStr(key + "x"))
    yield lambda: OnceSerializer(upstream_aes_key=SecretStr(key + "\udcff"))
    yield lambda: OnceSerializer(SerdeConfig(encryption_keys={f"{key}\udcff": GOOD}))  # type: ignore[dict-item]  # pydantic makes it secret


def chained(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        yield from chained(error.__cause__)
        error = error.__context__


def all_that_prints(made: Any) -> str:
    if isinstance(made, BaseException):
        trace = "".join(traceback.format_exception(made))
        return trace + "".join(f"{it!r} {it} {pprint.pformat(vars(it))}" for it in chained(made))
    public = made.public() if isinstance(made, Settings) else {}
    return f"{made!r} {made} {public}"


@pytest.mark.parametrize("key", KEYS)
def test_no_mistake_prints_a_key(key: str) -> None:
    for number, make in enumerate(mistakes(key)):
        try:
            made = make()
        except Exception as error:
            made = error
        assert key.rstrip("=").lower() not in all_that_prints(made).lower(), number


@pytest.mark.parametrize("key", KEYS)
def test_swapped_key_and_id_are_pointed_out(key: str) -> None:
    with pytest.raises(ConfigError, match="are they swapped") as caught:
        OnceSerializer(SerdeConfig(encryption_keys={key: "2026-11"}))  # type: ignore[dict-item]  # pydantic makes it secret
    assert "encryption_keys" in caught.value.key
    assert str(len(key)) in caught.value.key


@pytest.mark.parametrize("key", KEYS)
def test_an_id_that_may_be_a_key_works_and_does_not_print(key: str) -> None:
    writer = OnceSerializer(SerdeConfig(encryption_keys={key: GOOD}))  # type: ignore[dict-item]  # pydantic makes it secret
    row = writer.dumps_typed([1])
    assert writer.loads_typed(row) == [1]
    for ring in ({}, {key: base64.b64encode(RAW).decode()}):
        with pytest.raises(EncryptionError) as caught:
            OnceSerializer(SerdeConfig(encryption_keys=ring)).loads_typed(row)  # type: ignore[arg-type]  # pydantic makes it secret
        assert caught.value.key_id == key  # for a program
        assert key not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "name",
    [
        *("k1", "2026-11", "test", "production-eu-west-1-2026-11", "v2.7", "ünïcödé", "Staging"),
        *("550e8400-e29b-41d4-a716-446655440000", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "", "X" * 40),
        *("alias/checkpoints", "projects/p1/locations/eu/key-rings/r1/keys/threads-2026"),
    ],
)
def test_redaction_keeps_a_name_that_is_no_key(name: str) -> None:
    assert shown(name) == name


@given(st.binary(min_size=16, max_size=64))
def test_next_to_no_key_is_shown(key: bytes) -> None:
    encoded = base64.b64encode(key).decode()
    one_case = not (any(c.islower() for c in encoded) and any(c.isupper() for c in encoded))
    assert one_case or shown(encoded) != encoded
    assert shown(key.hex()) != key.hex()
