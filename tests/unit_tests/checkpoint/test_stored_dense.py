"""Pieces of a few bytes make up no value that takes much more than that to read."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from langgraph_once.checkpoint import open_sqlite_saver
from langgraph_once.errors import SizeLimitError
from langgraph_once.serde import serializer
from tests.unit_tests.checkpoint.test_stored_once import ROOT, pieces, put, serde, talk, values

pytestmark = pytest.mark.usefixtures("no_least_limit")
DENSE = [0] * 60_000
LIMIT: Any = {"max_decoded_bytes": 400_000}
"""A row of few bytes may take a sixteenth, which is less than `DENSE` takes."""


@pytest.fixture
def no_least_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serializer, "MAX_UNITS", 0)


def test_what_pieces_of_few_bytes_make_up_is_refused_again_and_again(path: Path) -> None:
    with open_sqlite_saver(path) as saver:
        put(saver, ROOT, dense=DENSE)
        assert pieces(saver)
        assert values(saver)["dense"] == DENSE
    with open_sqlite_saver(path, serde=serde(**LIMIT)) as saver:
        for _ in range(2):
            with pytest.raises(SizeLimitError, match="may take more memory"):
                saver.get_tuple(ROOT)


def test_what_would_be_refused_in_pieces_is_stored_whole(path: Path) -> None:
    with open_sqlite_saver(path, serde=serde(**LIMIT)) as saver:
        at = put(saver, ROOT, dense=DENSE, messages=talk(100))
        found = pieces(saver)
        assert values(saver) == {"dense": DENSE, "messages": talk(100)}
        at = put(saver, at, dense=[*DENSE, 1], messages=talk(101))
        assert len(pieces(saver) - found) < 30
    with open_sqlite_saver(path, serde=serde(**LIMIT)) as saver:
        assert values(saver, at) == {"dense": [*DENSE, 1], "messages": talk(101)}


def test_what_grows_to_take_too_much_is_stored_whole_from_then_on(path: Path) -> None:
    texts = [text * 500 for text in "abcdefghijklmnopqrst" * 3]
    with open_sqlite_saver(path, serde=serde(**LIMIT)) as saver:
        at = put(saver, ROOT, value=texts)
        assert pieces(saver)
        at = put(saver, at, value=[*texts, *DENSE])
        assert values(saver)["value"] == [*texts, *DENSE]
    with open_sqlite_saver(path, serde=serde(**LIMIT)) as saver:
        assert values(saver, at)["value"] == [*texts, *DENSE]


def test_what_is_long_in_pieces_is_stored_in_pieces_however_much_it_takes(path: Path) -> None:
    chance = random.Random(1)
    value = [chance.randbytes(60) for _ in range(40_000)]
    limit: Any = {"max_decoded_bytes": 3_000_000}
    with open_sqlite_saver(path, serde=serde(**limit)) as saver:
        put(saver, ROOT, value=value)
        assert len(pieces(saver)) > 20
    with open_sqlite_saver(path, serde=serde(**limit)) as saver:
        assert values(saver)["value"] == value
