"""Damages Arrow streams: `python -m tests.integration_tests.serde.stream_fuzz`.

Run as a process of its own, with little memory: where a library trusts a stream too much, the
process dies. Prints how many were read and how many refused.
"""

from __future__ import annotations

import contextlib
import random
import resource
import sys
import time
from collections import Counter
from typing import Any

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow has no types

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.errors import EncodeError, SerdeError
from tests.unit_tests.serde.fidelity.rows_packages import ROWS

_MAX_BYTES = 4 << 30
_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF)
_WORDS = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)


def damaged(stream: bytes, chance: random.Random) -> bytes:
    """Return `stream` with a few bytes, numbers or parts changed."""
    data = bytearray(stream)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data))
        what = chance.randrange(5)
        if what == 0:
            data[at] = chance.choice(_NUMBERS)
        elif what == 1:
            data[at] = chance.randrange(256)
        elif what == 2:
            size = chance.choice((2, 4, 8))
            data[at : at + size] = chance.choice(_WORDS).to_bytes(8, "little")[:size]
        elif what == 3:
            size = chance.choice((4, 8, 16))
            source = chance.randrange(len(data))
            data[at : at + size] = data[source : source + size]
        else:
            at -= at % 4
            number = int.from_bytes(data[at : at + 4], "little") + chance.choice((-8, -4, 4, 8))
            data[at : at + 4] = (number % 2**32).to_bytes(4, "little")
    return bytes(data)


def main(count: int, seed: int) -> None:
    """Read `count` damaged streams."""
    chance = random.Random(seed)
    serde = OnceSerializer(SerdeConfig(compression="none", on_unavailable="raise"))
    rows = []
    for value in (*ROWS["pyarrow"].values(), *ROWS["polars"].values()):
        with contextlib.suppress(EncodeError):  # of a few, which LangGraph does not write either
            rows.append(serde.dumps_typed(value)[1])
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_BYTES, _MAX_BYTES))
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    for _ in range(count):
        row = chance.choice(rows)
        at = row.find(b"\xff\xff\xff\xff")
        started = time.process_time()
        try:
            made = serde.loads_typed(("once2", row[:at] + damaged(row[at:], chance)))
            outcomes["read"] += 1
            with contextlib.suppress(
                Exception, pl.exceptions.PanicException
            ):  # of a date that is none
                _looked_at(made)
        except SerdeError:
            outcomes["refused"] += 1
        slowest = max(slowest, time.process_time() - started)
    sys.stdout.write(f"{dict(outcomes)}, the slowest in {slowest:.2f} s\n")


def _looked_at(made: Any) -> None:
    """Go through all that was read: what it says of itself must not lead out of its memory."""
    if isinstance(made, (pl.DataFrame, pl.Series)):
        repr(made)
        made.rows() if isinstance(made, pl.DataFrame) else made.to_list()
    elif isinstance(made, pa.Scalar):
        made.as_py()
    elif isinstance(made, (pa.Table, pa.RecordBatch, pa.Array, pa.ChunkedArray)):
        repr(made)
        if len(made) < 100_000:  # of nulls there may be many
            made.to_pylist()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
