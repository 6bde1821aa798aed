"""Numbers of 80 bits lie in 16 bytes, of which six mean nothing and may hold anything."""

from __future__ import annotations

import numpy as np
import pytest

from langgraph_once.serde import OnceSerializer

pytestmark = pytest.mark.skipif(np.finfo("g").nmant != 63, reason="others are written whole")


@pytest.mark.parametrize("code", ["g", "G"])
def test_equal_ones_have_equal_bytes(code: str) -> None:
    clean = np.arange(4).astype(code)
    filled = np.frombuffer(clean.tobytes(), "u1").reshape(-1, 16).copy()
    filled[:, 10:] = 7
    other = np.frombuffer(filled.tobytes(), code)
    assert (clean == other).all()
    assert clean.tobytes() != other.tobytes()
    serde = OnceSerializer()
    assert serde.dumps_typed(clean) == serde.dumps_typed(other)
    assert (serde.loads_typed(serde.dumps_typed(other)) == clean).all()
