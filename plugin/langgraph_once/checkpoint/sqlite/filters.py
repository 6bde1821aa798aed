"""Metadata as SQLite has them, and which checkpoints `list` lists by them."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from langgraph.checkpoint.sqlite.utils import search_where

from langgraph_once.checkpoint.metadata import SEALED
from langgraph_once.checkpoint.tables import Query

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
_WHERE: Final = "WHERE "
_TEXT: Final = "CAST(metadata AS TEXT)"
_NO_NAN: Final = "replace(replace(metadata, 'NaN', 'null'), 'Infinity', '9e999')"
# Python writes NaN and Infinity, which JSON does not have, and one such row would fail the
# statement for every thread. A text in such a row, and only there, that holds one of the two words
# is compared without it.
_JSON: Final = (
    f"(CASE WHEN json_valid({_TEXT}) THEN {_TEXT} "
    f"WHEN json_valid({_NO_NAN}) THEN {_NO_NAN} ELSE 'null' END)"
)
_TYPE: Final = f"json_type({_JSON}, '$.{{}}') IS {{}}NULL"


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
        condition = _of_json(condition.removeprefix(_WHERE))
        if may_be_sealed:
            is_not_there = _TYPE.format(name.partition(".")[0], "")
            condition += f" OR ({is_not_there} AND {_TYPE.format(SEALED, 'NOT ')})"
        where.append(condition)
        found += more
    return where, found


def matches(metadata: Mapping[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether metadata hold what is wanted, as SQLite would say of a row."""
    where, values = search_where(None, wanted)
    sql = f"SELECT 1 FROM (SELECT ? AS metadata) {_of_json(where)}"
    with contextlib.closing(sqlite3.connect(":memory:")) as conn:
        return conn.execute(sql, [json_text(metadata), *values]).fetchone() is not None


def _of_json(condition: str) -> str:
    return condition.replace(_TEXT, _JSON)


def json_text(metadata: Mapping[str, Any]) -> bytes:
    """What Python takes for JSON. Lone surrogates, which upstream drops, are escaped."""
    try:
        return _ENCODER.encode(metadata).encode()
    except UnicodeEncodeError:
        return json.dumps(metadata).encode()
