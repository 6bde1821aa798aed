"""Rows that upstream's other serializers left behind."""

from __future__ import annotations

import json
import pickle
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.types import Interrupt
from pydantic import SecretStr

from langgraph_once.errors import (
    ConfigError,
    EncryptionError,
    PayloadError,
    SerdeError,
    TypeNotAllowedError,
)
from langgraph_once.serde import OnceSerializer
from tests.unit_tests.serde.labels import label
from tests.unit_tests.serde.samples import SAFE_VALUES, Task, allow, outcome
from tests.unit_tests.serde.strictly import strict_config

if TYPE_CHECKING:
    from pathlib import Path

KEY = "0123456789abcdef"


def envelope(cls: type, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Return what upstream wrote for an object before it used msgpack."""
    identity = [*cls.__module__.split("."), cls.__name__]
    return {"lc": 2, "type": "constructor", "id": identity, "args": args, "kwargs": kwargs}


def load_json(content: Any, *allowed: type) -> Any:
    serde = OnceSerializer(strict_config(allowed_types=allow(*allowed)))
    return serde.loads_typed(("json", json.dumps(content).encode()))


def test_plain_json_is_read() -> None:
    content = {"a": [1, 2.5, None, {"lc": 1}], "id": "x"}
    assert load_json(content) == content


def test_json_envelopes_of_safe_types_are_rebuilt() -> None:
    content = {"m": [dumpd(HumanMessage("hi")), envelope(AIMessage, content="yo")]}
    assert load_json(content) == {"m": [HumanMessage("hi"), AIMessage("yo")]}
    assert load_json(envelope(set, [1, 2])) == {1, 2}
    assert load_json(envelope(Interrupt, value=1, id="i")) == Interrupt(1, id="i")


def test_json_envelopes_of_own_types_are_rebuilt_where_allowed() -> None:
    content = [{"deep": envelope(Task, name="x", inner=envelope(set, [1]))}]
    assert load_json(content, Task) == [{"deep": Task("x", {1})}]
    with pytest.raises(TypeNotAllowedError) as caught:
        load_json(content)
    assert caught.value.type_name == f"{Task.__module__}:Task"
    assert caught.value.tag == "json"


def test_a_schema_allows_types_in_json_too() -> None:
    serde = OnceSerializer(strict_config()).with_msgpack_allowlist([Task])
    blob = json.dumps(envelope(Task, name="x")).encode()
    assert serde.loads_typed(("json", blob)) == Task("x")


def test_json_names_are_not_imported() -> None:
    assert "this" not in sys.modules
    with pytest.raises(TypeNotAllowedError):
        load_json({"lc": 2, "type": "constructor", "id": ["this", "d"], "args": []})
    assert "this" not in sys.modules


@pytest.mark.parametrize("blob", [b"", b"{", b"\xff\xfe\xfd", b"[" * 100_000, b'{"a": 1} x'])
def test_damaged_json_is_refused(blob: bytes) -> None:
    with pytest.raises(PayloadError) as caught:
        OnceSerializer(strict_config()).loads_typed(("json", blob))
    assert caught.value.tag == "json"


JSON = json.dumps([envelope(set, [1]), dumpd(HumanMessage("hi")), envelope(Task, name="x")])


@given(st.integers(0, len(JSON) - 1), st.characters(max_codepoint=127))
def test_changed_json_yields_a_value_or_our_error(position: int, character: str) -> None:
    changed = JSON[:position] + character + JSON[position + 1 :]
    result = outcome(OnceSerializer(strict_config()), ("json", changed.encode()))
    if isinstance(result, SerdeError):
        assert result.tag == "json"


def aes(key: str = KEY) -> EncryptedSerializer:
    return EncryptedSerializer.from_pycryptodome_aes(key=key.encode())


def reader(key: str = KEY, **config: Any) -> OnceSerializer:
    return OnceSerializer(strict_config(**config), upstream_aes_key=SecretStr(key))


@pytest.mark.parametrize("value", [None, b"raw", *SAFE_VALUES[20:40]], ids=label)
def test_encrypted_rows_of_upstream_are_read(value: Any) -> None:
    pytest.importorskip("Crypto")
    row = aes().dumps_typed(value)
    assert row[0].endswith("+aes")
    assert reader().loads_typed(row) == aes().loads_typed(row)


def test_encrypted_rows_of_upstream_count_as_encrypted() -> None:
    pytest.importorskip("Crypto")
    config: dict[str, Any] = {
        "encryption": "required",
        "encryption_keys": {"k": "MDEyMzQ1Njc4OWFiY2RlZg=="},
    }
    assert reader(**config).loads_typed(aes().dumps_typed([1])) == [1]


@pytest.mark.parametrize("row", [aes("f" * 16).dumps_typed([1]), ("msgpack+aes", b"short")])
def test_a_wrong_key_or_a_damaged_row_is_refused(row: tuple[str, bytes]) -> None:
    with pytest.raises(EncryptionError, match="LANGGRAPH_AES_KEY") as caught:
        reader().loads_typed(row)
    assert caught.value.tag == row[0]


def test_a_missing_key_is_named() -> None:
    with pytest.raises(EncryptionError, match="set LANGGRAPH_AES_KEY"):
        OnceSerializer(strict_config()).loads_typed(("msgpack+aes", b"x" * 50))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Crypto.Cipher", None)
    with pytest.raises(EncryptionError, match=r"pip install .*pycryptodome") as caught:
        reader().loads_typed(("msgpack+aes", b"x" * 50))
    assert isinstance(caught.value.__cause__, ImportError)


def test_a_key_of_the_wrong_length_is_a_mistake_and_not_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        reader("much too short")
    assert caught.value.key == "LANGGRAPH_AES_KEY"
    assert "much" not in str(caught.value)


class Touch:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (self.path, "w")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("layer", ["", "+aes"])
def test_pickle_is_refused_with_a_way_out(tmp_path: Path, layer: str) -> None:
    proof = tmp_path / "owned"
    blob = pickle.dumps(Touch(str(proof)))
    if layer:
        pytest.importorskip("Crypto")
        blob = aes().cipher.encrypt(blob)[1]
    with pytest.raises(PayloadError, match=r"any code.*LangGraph's own saver"):
        reader().loads_typed((f"pickle{layer}", blob))
    assert not proof.exists()
