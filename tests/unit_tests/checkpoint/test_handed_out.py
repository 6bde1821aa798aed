"""A checkpoint that a saver hands out is plain data: copied, serialized and stored elsewhere."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import orjson
import ormsgpack
import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph

from langgraph_once import OnceSerializer
from langgraph_once.checkpoint import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.errors import PayloadError

CONFIG: Any = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}


class State(TypedDict, total=False):
    x: int
    words: list[str]


def graph(saver: BaseCheckpointSaver[Any]) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("n", lambda state: {"x": state.get("x", 0) + 1, "words": ["a"] * 500})
    builder.add_edge(START, "n")
    return builder.compile(checkpointer=saver)


async def _latest(saver: OnceSqliteSaver) -> CheckpointTuple | None:
    return saver.get_tuple(CONFIG)


async def _listed(saver: OnceSqliteSaver) -> CheckpointTuple | None:
    return next(saver.list(CONFIG))


async def _alisted(saver: OnceSqliteSaver) -> CheckpointTuple | None:
    return await anext(aiter(saver.alist(CONFIG)))


HANDED = {"get_tuple": _latest, "list": _listed, "alist": _alisted}
WAYS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda values: values,
    "orjson": lambda values: orjson.loads(
        orjson.dumps(values, option=orjson.OPT_PASSTHROUGH_SUBCLASS)
    ),
    "ormsgpack": lambda values: ormsgpack.unpackb(ormsgpack.packb(values)),
    "json": lambda values: json.loads(json.dumps(values)),
    "pickle": lambda values: pickle.loads(pickle.dumps(values)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "dict": dict,
    "|": lambda values: {} | values,
}


@pytest.mark.parametrize("handed", HANDED)
async def test_channel_values_are_a_plain_dict_in_every_way(path: Path, handed: str) -> None:
    with open_sqlite_saver(path) as once:
        graph(once).invoke({}, CONFIG)
        for way in WAYS.values():
            found = await HANDED[handed](once)
            assert found is not None
            values = found.checkpoint["channel_values"]
            assert type(values) is dict
            assert way(values) == {"x": 1, "words": ["a"] * 500}


def copied(source: BaseCheckpointSaver[Any], target: BaseCheckpointSaver[Any]) -> None:
    for found in reversed([*source.list(None)]):
        place = {**found.config["configurable"], "checkpoint_id": None}
        if found.parent_config:
            place["checkpoint_id"] = found.parent_config["configurable"]["checkpoint_id"]
        versions = found.checkpoint["channel_versions"]
        at = target.put({"configurable": place}, found.checkpoint, found.metadata, versions)
        for task_id, channel, value in found.pending_writes or ():
            target.put_writes(at, [(channel, value)], task_id)


def test_threads_are_copied_into_langgraphs_savers_and_back(path: Path, tmp_path: Path) -> None:
    with (
        open_sqlite_saver(path) as once,
        SqliteSaver.from_conn_string(str(tmp_path / "stock.sqlite")) as stock,
        open_sqlite_saver(tmp_path / "again.sqlite") as again,
    ):
        graph(once).invoke({}, CONFIG)
        memory = InMemorySaver()
        for source, target in ((once, stock), (stock, memory), (memory, again)):
            copied(source, target)
            states = [graph(each).get_state(CONFIG) for each in (once, target)]
            assert states[0].values == states[1].values == {"x": 1, "words": ["a"] * 500}
        assert graph(again).invoke({}, CONFIG)["x"] == 2


FIELDS = ["config", "checkpoint", "metadata", "parent_config", "pending_writes"]
TUPLES: dict[str, Callable[[Any], Any]] = {
    "unpacked": lambda found: CheckpointTuple(*found),
    "by index": lambda found: CheckpointTuple(*(found[at] for at in range(5))),
    "sliced": lambda found: CheckpointTuple(*found[:2], *found[2:]),
    "by name": lambda found: CheckpointTuple(*(getattr(found, name) for name in FIELDS)),
    "as a dict": lambda found: CheckpointTuple(**found._asdict()),
    "replaced": lambda found: CheckpointTuple(*found._replace(metadata=found.metadata)),
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
    "pickled": lambda found: pickle.loads(pickle.dumps(found)),
}


@pytest.mark.parametrize("way", TUPLES)
def test_a_listed_checkpoint_is_the_tuple_that_it_would_be_elsewhere(path: Path, way: str) -> None:
    with open_sqlite_saver(path) as once:
        graph(once).invoke({}, CONFIG)
        listed, whole = next(once.list(CONFIG)), once.get_tuple(CONFIG)
        found = TUPLES[way](listed)
        assert type(found) is CheckpointTuple
        assert type(found.checkpoint["channel_values"]) is dict
        assert whole == found == next(once.list(CONFIG)) == whole
        assert len(listed) == 5
        assert isinstance(listed, CheckpointTuple)


def test_nothing_is_decoded_of_a_list_of_which_only_configs_are_read(path: Path) -> None:
    with open_sqlite_saver(path) as once:
        graph(once).invoke({}, CONFIG)
        once.serde = Refusing()
        assert [found.config["configurable"]["thread_id"] for found in once.list(CONFIG)] == [
            "1"
        ] * 3
        found = next(once.list(CONFIG))
        assert found.undecoded.checkpoint["id"] == found.config["configurable"]["checkpoint_id"]
        with pytest.raises(PayloadError):
            found.checkpoint["channel_values"]["x"]


class Refusing(OnceSerializer):
    """Reads no value but checkpoints."""

    def decoded(self, tag: Any, payload: bytes) -> Any:
        value = super().decoded(tag, payload)
        if isinstance(value, dict):
            return value
        raise PayloadError("damaged")


def test_one_damaged_channel_leaves_the_others_and_the_list_readable(path: Path) -> None:
    with open_sqlite_saver(path) as once:
        graph(once).invoke({}, CONFIG)
        graph(once).invoke({}, CONFIG)
        count = len([*once.list(CONFIG)])
        once.serde = Refusing()
        found = [each.checkpoint for each in once.list(CONFIG)]
        assert len(found) == count
        values = found[0]["channel_values"]
        assert {*values} == {"x", "words"}
        for name in values:
            with pytest.raises(PayloadError):
                values[name]
