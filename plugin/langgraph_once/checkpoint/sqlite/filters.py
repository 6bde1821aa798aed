"""Which checkpoints `list` lists: by their rows, and by metadata that were decrypted."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from langgraph.checkpoint.sqlite.utils import search_where

from langgraph_once.checkpoint.metadata import SEALED
from langgraph_once.checkpoint.sqlite.json_text import json_text
from langgraph_once.checkpoint.tables import Query

__all__ = ["conditions", "matches"]

_WHERE: Final = "WHERE "
_TYPE: Final = "json_type(CAST(metadata AS TEXT), '$.{}') IS {}NULL"


def conditions(query: Query, *, may_be_sealed: bool) -> tuple[list[str], list[Any]]:
    """Conditions on rows, and what they take; names of metadata are paths.

    Args:
        query: Which checkpoints.
        may_be_sealed: Whether rows count that may match once their metadata are decrypted.

    Raises:
        ValueError: A name that is no path.
    """
    here, values = search_where(query.config, None, query.before)
    where = [here.removeprefix(_WHERE)] if here else []
    found = [*values]
    for name, wanted in (query.filter or {}).items():
        condition, more = search_where(None, {name: wanted})
        condition = condition.removeprefix(_WHERE)
        if may_be_sealed:
            is_not_there = _TYPE.format(name.partition(".")[0], "")
            condition += f" OR ({is_not_there} AND {_TYPE.format(SEALED, 'NOT ')})"
        where.append(condition)
        found += more
    return where, found


def matches(metadata: Mapping[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether metadata hold what is wanted, as SQLite would say of a row."""
    where, values = search_where(None, wanted)
    sql = f"SELECT 1 FROM (SELECT ? AS metadata) {where}"
    with contextlib.closing(sqlite3.connect(":memory:")) as conn:
        return conn.execute(sql, [json_text(metadata), *values]).fetchone() is not None
