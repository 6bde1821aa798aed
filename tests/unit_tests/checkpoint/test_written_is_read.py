"""What a saver writes it reads again; what it would refuse to read it refuses to write."""

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.checkpoint import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.checkpoint.pieces import PieceManifest
from langgraph_once.errors import EncodeError, SizeLimitError
from langgraph_once.serde.format import Tag

AT: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


def put(saver: OnceSqliteSaver, **values: Any) -> None:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = values
    checkpoint["channel_versions"] = dict.fromkeys(values, "1")
    saver.put(AT, checkpoint, {}, checkpoint["channel_versions"])


def values_in(path: Path, **options: Any) -> dict[str, Any]:
    """What another process reads, which remembers nothing of who wrote."""
    serde = OnceSerializer(SerdeConfig(**options))
    with open_sqlite_saver(path, serde=serde) as saver:
        found = saver.get_tuple(AT)
    assert found is not None
    return found.checkpoint["channel_values"]


def in_dicts(value: Any, levels: int) -> dict[int, Any]:
    """Dictionaries in each other, with keys that are no text."""
    for level in range(levels):
        value = {level: value}
    return value  # type: ignore[no-any-return]  # there is a level


def test_twenty_thousand_patterns_are_read(once: OnceSqliteSaver, path: Path) -> None:
    patterns = [re.compile(f"a{number}[a-z]+|b{number}") for number in range(20_000)]
    put(once, patterns=patterns)
    assert values_in(path)["patterns"] == patterns


def test_patterns_that_would_not_be_read_are_not_written(once: OnceSqliteSaver, path: Path) -> None:
    long = [re.compile(letter * 400_000) for letter in "ab"]
    put(once, pattern={1: long[0]})  # written a second time for its key, and counted once
    assert values_in(path)["pattern"] == {1: long[0]}
    for values in (long, {1: long}, [re.compile("a" * 800_000)]):
        with pytest.raises(EncodeError, match="regular expressions"):
            put(once, patterns=values)
    patterns: dict[str, Any] = {"itself": [], "all": long}
    patterns["itself"].append(patterns)
    with pytest.raises(EncodeError, match="regular expressions"):
        put(once, patterns=patterns)


def test_large_values_of_dictionaries_with_numbers_as_keys_are_read(
    once: OnceSqliteSaver, path: Path
) -> None:
    value = in_dicts({"text": "x" * 30_000_000}, 12)
    put(once, value=value)
    assert values_in(path)["value"] == value


def test_what_is_hashed_too_often_is_not_written(once: OnceSqliteSaver, path: Path) -> None:
    key = ("x" * 30_000_000,)
    value: list[Any] = []
    value += [value, *({key: number} for number in range(8))]  # written flat: each node once
    put(once, value=value)
    assert values_in(path)["value"][8] == {key: 7}
    value.append({key})
    with pytest.raises(EncodeError, match="hashed too often"):
        put(once, value=value)


# Channels of one row ----------------------------------------------------------------------

BOUND = 60_000


def test_channels_that_would_not_be_read_in_pieces_stand_whole_in_their_row(path: Path) -> None:
    values = {f"text{number}": f"{number}" + "x" * 30_000 for number in range(4)}
    bounded: Any = {"max_decoded_bytes": BOUND}
    with open_sqlite_saver(path, serde=OnceSerializer(SerdeConfig(**bounded))) as saver:
        put(saver, text0=values["text0"])
        assert values_in(path, **bounded) == {"text0": values["text0"]}
        put(saver, **values)
    assert values_in(path, **bounded) == values


def test_channels_of_a_row_are_bounded_as_one_value_is(path: Path) -> None:
    values = {f"text{number}": f"{number}" + "x" * 30_000 for number in range(4)}
    with open_sqlite_saver(path) as saver:
        put(saver, **values)
    assert values_in(path) == values
    with pytest.raises(SizeLimitError, match="expands to more than"):
        values_in(path, max_decoded_bytes=BOUND)


def test_channels_of_a_row_may_have_as_many_bytes_as_a_row_that_is_not_cut(path: Path) -> None:
    """Their manifests are some kilobytes, and could name the same pieces a million times."""
    with open_sqlite_saver(path) as saver:
        put(saver, **{f"text{number}": "x" * 30_000 for number in range(100)})
    claim_size(path, 100_000_000)
    with pytest.raises(SizeLimitError, match="10,000,000,000 bytes together") as caught:
        values_in(path)
    assert caught.value.limit_bytes == 1_000_000_000


def claim_size(path: Path, size: int) -> None:
    """Let each manifest of the only row claim so many bytes."""
    serde = OnceSerializer()
    with closing(sqlite3.connect(path)) as conn, conn:
        ((tag, data),) = conn.execute("SELECT type, checkpoint FROM checkpoints")
        _, opened = serde.unwrapped((tag, data))
        version, head, parts = ormsgpack.unpackb(opened)
        for part in parts.values():
            part[1] = replace(PieceManifest.from_bytes(part[1]), size=size).to_bytes()
        row = serde.wrapped(Tag("channels"), ormsgpack.packb([version, head, parts]))
        conn.execute("UPDATE checkpoints SET type = ?, checkpoint = ?", row)
