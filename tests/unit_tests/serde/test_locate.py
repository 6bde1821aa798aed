"""Where in a value something is wrong is told; of values too large to look through, it is not."""

from __future__ import annotations

import ormsgpack
import pytest

from langgraph_once.errors import PayloadError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1.format.layout import Ext, pack
from tests.unit_tests.serde.strictly import strict_config

from .cpu import least_seconds, within

BROKEN = ormsgpack.Ext(Ext.ADAPTER, pack("fraction") + pack(1))


@pytest.mark.parametrize(("before", "path"), [(10, "[1]"), (150_000, "")])
def test_a_large_value_that_is_damaged_is_refused_as_a_small_one(before: int, path: str) -> None:
    row = "once1", pack([[None] * before, BROKEN])
    with pytest.raises(PayloadError, match="adapter 'fraction' could not be rebuilt") as caught:
        OnceSerializer(strict_config()).loads_typed(row)
    assert caught.value.path == path


MILLION = pack({"numbers": [*range(10**6)], "last": "text"})


@pytest.mark.parametrize("row", [MILLION[:-3], MILLION[:-5] + pack(BROKEN)], ids=["cut", "wrong"])
def test_a_million_values_are_refused_in_a_second(row: bytes) -> None:
    def read() -> None:
        with pytest.raises(PayloadError):
            OnceSerializer(strict_config()).loads_typed(("once1", row))

    assert within(least_seconds(read, 1.0), 1.0)
