"""Rows that make the serializer use a weaker codec, cipher or reader than it was told to."""

from __future__ import annotations

import base64
import json
import pickle
import sys
import uuid
from typing import TYPE_CHECKING, Any, get_args

import pytest
from langchain_core.messages import HumanMessage

from langgraph_once.errors import EncodeError, EncryptionError, PayloadError, SerdeError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.encryption import KeyRing
from langgraph_once.serde.format import Codec, Tag
from tests.unit_tests.serde.strictly import strict_config

from .samples import Task, allow, outcome

if TYPE_CHECKING:
    from pathlib import Path

KEYS: dict[str, Any] = {"k1": base64.b64encode(b"a secret of 16 b").decode()}
LAYERS = ("", ".zstd", ".aesgcm", ".zstd.aesgcm", "+zstd+aesgcm", "+aes", ".zstd+aes")
TAGS = [codec + layers for codec in get_args(Codec) for layers in LAYERS]


def serde(**settings: Any) -> OnceSerializer:
    return OnceSerializer(strict_config(allowed_types=allow(Task), **settings))


def shell(command: str, lc: Any = 2) -> dict[str, Any]:
    """Return the JSON envelope that made upstream run a command."""
    return {"lc": lc, "type": "constructor", "id": ["os", "system"], "args": [command]}


def hidden(text: str, envelope: Any) -> list[Any]:
    """Return values whose text cannot be UTF-8: upstream wrote such values as JSON instead."""
    return [
        [text, envelope],
        {text: 1, "state": envelope},
        {"messages": [HumanMessage(text, additional_kwargs=envelope)]},
        Task(text, envelope),
    ]


@pytest.mark.parametrize("settings", [{"compression": "none"}, {"encryption_keys": KEYS}])
def test_half_a_surrogate_pair_does_not_change_the_codec(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    proof = tmp_path / "owned"
    once = serde(**settings)
    codec = Tag.parse(once.dumps_typed([1])[0]).codec
    for value in hidden("\ud83d", shell(f"touch {proof}")):
        try:
            row = once.dumps_typed(value)
        except EncodeError:
            continue
        assert Tag.parse(row[0]).codec == codec
        assert type(once.loads_typed(row)) is type(value)
    assert not proof.exists()


@pytest.mark.parametrize("value", [lambda: None, object(), {"x": open}, [sys]])
def test_what_cannot_be_written_is_refused_and_not_pickled(value: Any) -> None:
    with pytest.raises(EncodeError):
        serde().dumps_typed(value)


@pytest.mark.parametrize("lc", [2, 2.0])
def test_json_runs_no_command(tmp_path: Path, lc: Any) -> None:
    proof = tmp_path / "owned"
    blob = json.dumps({"state": [shell(f"touch {proof}", lc)]}).encode()
    with pytest.raises(SerdeError):
        serde().loads_typed(("json", blob))
    assert not proof.exists()


@pytest.mark.parametrize("enforcement", ["warn", "open"])
def test_json_runs_no_command_where_any_type_may_be_loaded(
    tmp_path: Path, enforcement: Any
) -> None:
    proof = tmp_path / "owned"
    blob = json.dumps({"state": [shell(f"touch {proof}")]}).encode()
    with pytest.raises(PayloadError):
        serde(enforcement=enforcement).loads_typed(("json", blob))
    assert not proof.exists()


def test_json_cannot_name_a_module_in_another_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ㄱ.py").write_text("ㄴ = print\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    # Upstream takes a text for the list of its letters.
    blob = json.dumps({"lc": 2, "type": "constructor", "id": "ㄱㄴ", "args": ["called"]}).encode()
    outcome(serde(), ("json", blob))
    assert sys.modules.pop("ㄱ", None) is None


@pytest.mark.parametrize("identity", [[["os"], "system"], {"os": 1, "system": 2}, [], None, 7])
def test_json_with_a_malformed_name_is_refused_or_plain(identity: Any, tmp_path: Path) -> None:
    proof = tmp_path / "owned"
    blob = json.dumps(shell(f"touch {proof}") | {"id": identity}).encode()
    assert isinstance(outcome(serde(), ("json", blob)), (SerdeError, dict))
    assert not proof.exists()


def test_json_does_not_read_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "hunter2")
    blob = json.dumps([{"lc": 1, "type": "secret", "id": ["DATABASE_PASSWORD"]}]).encode()
    assert "hunter2" not in repr(outcome(serde(), ("json", blob)))


@pytest.mark.parametrize("envelope", ["pickle", "pickle.zstd", "pickle.aesgcm"])
def test_pickle_is_refused_below_every_layer(envelope: str) -> None:
    data = pickle.dumps(uuid.UUID(int=0))
    if envelope.endswith(".zstd"):
        data = data_of(serde().dumps_typed(data * 9))
    if envelope.endswith(".aesgcm"):
        data = KeyRing(strict_config(encryption_keys=KEYS).encryption_keys).encrypt(
            data, tag=envelope
        )
    with pytest.raises(PayloadError, match="pickle is refused"):
        serde(encryption_keys=KEYS).loads_typed((envelope, data))


def data_of(row: tuple[str, bytes]) -> bytes:
    return row[1]


SEALED = [
    serde(encryption_keys=KEYS, **settings).dumps_typed(value)
    for settings in ({"compression": "none"}, {})
    for value in (None, b"ab" * 200, bytearray(b"ab" * 200), ["ab"] * 200)
]


@pytest.mark.parametrize("row", SEALED, ids=lambda row: row[0])
def test_a_sealed_row_opens_under_no_other_tag(row: tuple[str, bytes]) -> None:
    once = serde(encryption_keys=KEYS, encryption="required")
    once.loads_typed(row)
    for tag in {*TAGS} - {row[0]}:
        with pytest.raises(EncryptionError) as caught:
            once.loads_typed((tag, row[1]))
        assert caught.value.tag == tag


def test_a_row_of_another_deployment_is_refused() -> None:
    foreign = {"k1": base64.b64encode(b"another of 16 by").decode()}
    for tag, data in SEALED:
        with pytest.raises(EncryptionError) as caught:
            serde(encryption_keys=foreign).loads_typed((tag, data))
        assert caught.value.key_id == "k1"
        with pytest.raises(EncryptionError, match="does not hold"):
            serde(encryption_keys={"k2": KEYS["k1"]}).loads_typed((tag, data))


def test_halves_of_two_sealed_rows_do_not_make_a_third() -> None:
    once = serde(encryption_keys=KEYS, compression="none")
    (tag, one), (_, two) = (once.dumps_typed(b"x" * 64 + end) for end in (b"1", b"2"))
    for cut in range(4, len(one)):
        if one[:cut] + two[cut:] not in (one, two):
            with pytest.raises(EncryptionError):
                once.loads_typed((tag, one[:cut] + two[cut:]))
