"""Damaged rows: a value or our error; never another exception, an import, or a part of a value.

The rows that are damaged are the stored ones, so every tag, adapter and upstream version takes
part. A failure names the seed and the row; `row_of` makes it again.
"""

from __future__ import annotations

import logging
import random
import sys
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import SecretStr

from langgraph_once.errors import SerdeError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.format import Tag
from tests.data.blobs import files, model
from tests.data.blobs.once_values import KEY
from tests.data.blobs.upstream_values import AES_KEY
from tests.unit_tests.serde.strictly import strict_config

from .cpu import least_seconds, within
from .mutate import mutate, mutate_tree
from .samples import outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS = [row for folder in files.folders("") for row in files.load(folder).values()]
TAGS = sorted({tag for tag, _ in CORPUS})
MAX_SECONDS = 1.0

SAFE_MODULES = (
    *("langchain_core.", "langgraph.", "pydantic.", "numpy.", "pandas.", "polars.", "pyarrow."),
    *("pathlib.", "re.", "types.", "typing.", "uuid.", "zoneinfo.", "collections.", "datetime."),
)
"""Where the lists of safe types lead."""

DATA_MODULES = ("encodings.", "tzdata")
"""JSON may be in UTF-16, and time zones are looked for in a package of data."""

Row = tuple[str, bytes]


class ImportLog:
    """A finder that finds nothing and remembers what was looked for."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        self.names.add(name)


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Return the modules that were not there and that something tried to import."""
    log = ImportLog()
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        # As in production, where a warning is not an error.
        warnings.simplefilter("ignore")
        reader = readers()[0]
        for row in CORPUS:
            outcome(reader, row)  # imports what is imported when it is needed
        monkeypatch.setattr(sys, "meta_path", [log, *sys.meta_path])
        yield log.names
    logging.disable(logging.NOTSET)


def readers() -> list[OnceSerializer]:
    types = (*model.ALLOWED_TYPES, "pydantic.types:SecretStr", "langgraph.constants:Send")
    settings: dict[str, Any] = {"allowed_types": types, "encryption_keys": KEY}
    key = SecretStr(AES_KEY.decode())
    return [
        OnceSerializer(strict_config(**settings), upstream_aes_key=key),
        OnceSerializer(strict_config(on_unavailable="opaque", **settings), upstream_aes_key=key),
        OnceSerializer(strict_config(max_decoded_bytes=1024, **settings)),
    ]


def row_of(seed: int) -> Row:
    """Return a damaged row of the corpus."""
    rng = random.Random(seed)
    tag, blob = rng.choice(CORPUS)
    if rng.random() < 0.1:
        tag = rng.choice(TAGS)
    other = rng.choice(CORPUS)[1]
    changed = mutate_tree(rng, tag, blob, other) if seed % 2 else blob
    return tag, mutate(rng, blob, other) if changed == blob else changed


def check(reader: OnceSerializer, row: Row) -> None:
    """Read `row` and hold it to the law."""
    results: list[Any] = []
    seconds = least_seconds(lambda: results.append(outcome(reader, row)), MAX_SECONDS)
    assert within(seconds, MAX_SECONDS)
    result = results[0]
    if isinstance(result, SerdeError):
        assert result.tag == row[0]
    elif sealed_by_us(row[0]):
        assert row in CORPUS, "a sealed row was changed and opened"


def sealed_by_us(tag: str) -> bool:
    return "aesgcm" in Tag.parse(tag).layers


def fuzz(seeds: range) -> None:
    kinds = readers()
    for seed in seeds:
        row = row_of(seed)
        try:
            check(kinds[seed % len(kinds)], row)
        except BaseException as error:
            error.add_note(f"seed {seed}, tag {row[0]}, {row[1]!r:.200}")
            raise


def foreign(names: set[str]) -> set[str]:
    # One letter: see `test_json_cannot_name_a_module_in_another_shape`, which will tell when
    # this condition may go.
    return {name for name in names if not name.startswith(SAFE_MODULES + DATA_MODULES)}


def test_damaged_rows_yield_a_value_or_our_error(imported: set[str]) -> None:
    fuzz(range(5_000))
    assert foreign(imported) == set()


def test_a_truncated_row_is_refused() -> None:
    reader = readers()[0]
    tag, whole = JsonPlusSerializer().dumps_typed({"a": [1, "text"], "b": {1, 2}})
    for size in range(len(whole)):
        with pytest.raises(SerdeError):
            reader.loads_typed((tag, whole[:size]))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000_000, 1_200_000, 100_000))
def test_many_damaged_rows_yield_a_value_or_our_error(start: int, imported: set[str]) -> None:
    fuzz(range(start, start + 100_000))
    assert foreign(imported) == set()


@pytest.mark.parametrize("row", [row for row in CORPUS if sealed_by_us(row[0])][:8])
def test_no_bit_of_a_sealed_row_can_be_flipped(row: Row) -> None:
    reader = readers()[0]
    for at in range(min(len(row[1]), 400)):
        for bit in range(8):
            changed = bytearray(row[1])
            changed[at] ^= 1 << bit
            with pytest.raises(SerdeError):
                reader.loads_typed((row[0], bytes(changed)))


def test_the_import_log_notices() -> None:
    log = ImportLog()
    sys.meta_path.insert(0, log)
    try:
        with pytest.raises(ModuleNotFoundError):
            __import__("no_such_module")
    finally:
        sys.meta_path.remove(log)
    assert log.names == {"no_such_module"}


def test_the_damage_is_the_same_each_time_and_reaches_every_tag() -> None:
    rows = [row_of(seed) for seed in range(3_000)]
    assert rows == [row_of(seed) for seed in range(3_000)]
    assert {tag for tag, _ in rows} == set(TAGS)
