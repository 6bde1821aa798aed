"""Values that reading imports something for, once."""

from __future__ import annotations

import decimal
import re
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # pandas has no types
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow has no types
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import PromptTemplate
from langgraph.types import Command, Send

from tests.unit_tests.serde.hostile import classes as c

ORDINARY: list[Any] = [
    [HumanMessage("a"), AIMessage("b"), Document("c")],
    [PromptTemplate.from_template("{a}"), Send("a", 1), Command(goto="a")],
    [c.Record(1), c.Key(1), c.Model(name=1), c.Wide[int](content=1), c.Pair(1), c.Colour.RED],
    [c.Access.READ, c.FailureError(1, "a"), c.Words([1]), c.Names(a=1), c.Bag({1}), c.Text("a")],
    [datetime.now(UTC), ZoneInfo("Europe/Berlin"), uuid.UUID(int=1), decimal.Decimal(1)],
    [re.compile("a"), Path("a"), {1, 2}, {(1,): 2}, (1, 2), 2**70, "\ud800", bytearray(b"a")],
    [np.arange(3), np.array([None]), pd.DataFrame({"a": [1]}), pd.Timestamp("2025")],
    [pl.DataFrame({"a": [1]}), pa.table({"a": [1]})],
]
