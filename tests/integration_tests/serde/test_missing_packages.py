"""Packages that are not there are not needed, in a process that has not imported them."""

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow has no types
import pytest

from tests.forked import run_python
from tests.unit_tests.serde.fidelity.table import once2

SCRIPT = """
import sys
assert not {{"pandas", "pyarrow", "polars"}} & {{*sys.modules}}
for name in {missing!r}:
    sys.modules[name] = None
import pandas as pd
from langgraph_once import OnceSerializer, SerdeConfig
serde = OnceSerializer()
frame = pd.DataFrame({{"s": ["a", None], "n": [1, 2]}}, index=pd.Index(["x", "y"], name="i"))
back = serde.loads_typed(serde.dumps_typed([frame, frame["s"], frame.columns]))
pd.testing.assert_frame_equal(back[0], frame)
pd.testing.assert_series_equal(back[1], frame["s"])
pd.testing.assert_index_equal(back[2], frame.columns)
there = [name for name in ("pyarrow", "polars") if sys.modules.get(name)]
print(frame.columns.dtype.storage, *there)
"""


@pytest.mark.parametrize(
    ("missing", "printed"),
    [(["pyarrow", "polars"], "python"), ([], "pyarrow pyarrow")],
    ids=["without pyarrow", "with pyarrow"],
)
def test_frames_need_nothing_that_is_not_there(missing: list[str], printed: str) -> None:
    done = run_python("-c", SCRIPT.format(missing=missing))
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == printed


READER = """
import sys
assert not {{"pyarrow", "polars"}} & {{*sys.modules}}
for name in ("pyarrow", "polars"):
    sys.modules[name] = None
from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.errors import SerdeError
row = ("once2", bytes.fromhex({data!r}))
for policy in ("raise", "opaque"):
    serde = OnceSerializer(SerdeConfig(on_unavailable=policy))
    try:
        print(*(type(part).__name__ for part in serde.loads_typed(row)))
    except SerdeError as error:
        print("refused", "cannot be imported" in str(error))
"""


def test_without_the_package_a_row_is_refused_or_opaque() -> None:
    row = once2().dumps_typed([pa.array([1]), pl.Series([1]), 7])
    done = run_python("-c", READER.format(data=row[1].hex()))
    assert done.stdout.splitlines() == ["refused True", "Opaque Opaque int"], done.stderr[-2000:]
