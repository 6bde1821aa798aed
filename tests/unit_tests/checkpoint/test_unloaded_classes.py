"""What commands make of values whose classes are not loaded: nothing that they cannot prove."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver
from pydantic import SecretStr

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.checkpoint import open_sqlite_saver
from langgraph_once.checkpoint.rewriting import (
    Entering,
    Leaving,
    Migration,
    Rotating,
    Way,
    migrate,
)
from langgraph_once.serde import OpaqueDict
from tests.layered_stock import LayeredStock
from tests.operations import verify

CONFIG: Any = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
KEYS = {
    "old": SecretStr("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="),
    "new": SecretStr("ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="),
}
MODULE = """
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from pydantic import Base64Bytes, BaseModel, Json, field_validator

T = TypeVar("T")

class Upload(BaseModel):
    data: Base64Bytes

class Settings(BaseModel):
    text: Json[Any]

class Share(BaseModel):
    percent: float

    @field_validator("percent")
    @classmethod
    def _as_part(cls, percent):
        return percent / 100

class Page(BaseModel, Generic[T]):
    items: list[T]

@dataclass
class Point:
    x: Any

SharesPage = Page[Share]
VALUES = {
    "upload": Upload(data=b"aGVsbG8="),
    "settings": Settings(text="[1]"),
    "share": Share(percent=50),
    "page": SharesPage(items=[Share(percent=50)]),
    "in a dataclass": Point([Share(percent=50)]),
    "in a key": {("k",): {"deep": [Share(percent=50)]}},
    "long": [Point(number) for number in range(3000)],
}
"""
NAMES = ["upload", "settings", "share", "page", "in a dataclass", "in a key", "long"]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module that a test can take away and put back."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "unloaded_shop.py").write_text(MODULE)
    yield importlib.import_module("unloaded_shop")
    sys.modules.pop("unloaded_shop", None)


def serde(*keys: str) -> OnceSerializer:
    return OnceSerializer(SerdeConfig(encryption_keys={key: KEYS[key] for key in keys}))


def put(saver: Any, value: Any) -> None:
    version = saver.get_next_version(None, None)
    checkpoint = {
        **empty_checkpoint(),
        "channel_values": {"held": value},
        "channel_versions": {"held": version},
    }
    at = saver.put(CONFIG, checkpoint, {"source": "input", "step": -1}, {"held": version})
    saver.put_writes(at, [("held", value)], "task")


def held(saver: Any) -> list[Any]:
    found = saver.get_tuple(CONFIG)
    return [found.checkpoint["channel_values"]["held"], found.pending_writes[0][2]]


def migrated(path: Path, way: Way, serializer: OnceSerializer) -> Migration:
    with open_sqlite_saver(path, serde=serializer) as saver:
        return migrate(saver, way)


@pytest.mark.parametrize("name", NAMES)
def test_a_thread_is_not_rewritten_for_langgraphs_savers_without_its_classes(
    path: Path, module: Any, name: str
) -> None:
    value = module.VALUES[name]
    with open_sqlite_saver(path, serde=serde()) as saver:
        put(saver, value)
    del sys.modules["unloaded_shop"]
    done = migrated(path, Leaving(serde()), serde())
    assert (done.rows, done.is_any_left) == (0, True)
    assert "cannot be loaded here" in done.troubles[0].problem
    sys.modules["unloaded_shop"] = module
    with open_sqlite_saver(path, serde=serde()) as saver:
        assert held(saver) == [value, value]


def test_bytes_that_langgraph_wrote_go_back_to_it_without_their_class(
    path: Path, module: Any
) -> None:
    point = module.Point("x")
    with SqliteSaver.from_conn_string(str(path)) as stock:
        put(stock, point)
    del sys.modules["unloaded_shop"]
    with open_sqlite_saver(path) as saver:
        stand_in = held(saver)[0]
        assert isinstance(stand_in, OpaqueDict)
        saver.put_writes(saver.get_tuple(CONFIG).config, [("held", stand_in)], "task")  # type: ignore[union-attr]  # there is one
    assert migrated(path, Leaving(serde()), serde()).troubles == []
    sys.modules["unloaded_shop"] = module
    with SqliteSaver.from_conn_string(str(path)) as stock:
        assert held(stock) == [point, point]


@pytest.mark.parametrize("keys", [(), ("old",)])
@pytest.mark.parametrize("name", ["in a dataclass", "long"])
def test_a_class_that_a_sealed_row_names_is_known_and_imported(
    path: Path, module: Any, name: str, keys: tuple[str, ...]
) -> None:
    with open_sqlite_saver(path, serde=serde(*keys)) as saver:
        put(saver, module.VALUES[name])
    del sys.modules["unloaded_shop"]
    with open_sqlite_saver(path, serde=serde(*keys)) as saver:
        for value in held(saver):
            first = value[0] if name == "long" else value
            assert type(first).__name__ == ("Point" if keys else "OpaqueDict")
    assert ("unloaded_shop" in sys.modules) == bool(keys)


@pytest.mark.parametrize("loaded", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_rotation_leaves_every_byte_of_a_value_as_it_was(
    path: Path, module: Any, name: str, loaded: bool
) -> None:
    value = module.VALUES[name]
    with open_sqlite_saver(path, serde=serde("old")) as saver:
        put(saver, value)
    if not loaded:
        del sys.modules["unloaded_shop"]
    both = serde("old", "new")
    done = migrated(path, Rotating(both), both)
    assert (done.troubles, done.rows > 1) == ([], True)
    sys.modules["unloaded_shop"] = module
    with open_sqlite_saver(path, serde=serde("new")) as saver:
        assert held(saver) == [value, value]


def test_rotation_does_not_read_what_langgraphs_serializer_wrote(path: Path, module: Any) -> None:
    value = module.VALUES["upload"]
    writer = LayeredStock(SerdeConfig(encryption_keys={"old": KEYS["old"]}))
    with open_sqlite_saver(path, serde=writer) as saver:
        put(saver, value)
    both = serde("old", "new")
    assert migrated(path, Rotating(both), both).troubles == []
    reader = OnceSerializer(SerdeConfig(enforcement="open", encryption_keys={"new": KEYS["new"]}))
    with open_sqlite_saver(path, serde=reader) as saver:
        assert held(saver) == [value, value]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_read_as_langgraph_wrote_it_is_carried_and_not_called_sound(
    path: Path, module: Any, name: str
) -> None:
    value = module.VALUES[name]
    with SqliteSaver.from_conn_string(str(path)) as stock:
        put(stock, value)
        before = held(stock)
    with open_sqlite_saver(path, serde=serde()) as saver:
        assert held(saver) == before  # nobody knows better than LangGraph what it wrote
        is_right = before == [value, value]
        troubles = verify(saver, serde()).troubles
    assert bool(troubles) != is_right
    with open_sqlite_saver(path, serde=serde()) as saver:
        done = migrate(saver, Entering(serde()))
    assert (done.troubles, bool(done.rows)) == ([], is_right)
    if not is_right:
        with SqliteSaver.from_conn_string(str(path)) as stock:
            assert held(stock) == before
