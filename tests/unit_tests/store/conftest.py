"""A store in either database, and what lies in its rows."""

from __future__ import annotations

import importlib
import itertools
import sqlite3
from base64 import b64encode
from contextlib import AbstractAsyncContextManager, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.sqlite.aio import AsyncSqliteStore
from pydantic import SecretStr

from langgraph_once.config import CheckpointConfig, SerdeConfig
from langgraph_once.serde import OnceSerializer
from langgraph_once.store import OnceStore, open_store
from tests.postgres_server import has_vectors

_numbers = itertools.count()

KEYS = {name: SecretStr(b64encode(name.encode() * 8).decode()) for name in ("2025", "2026")}
OLD = {"2025": KEYS["2025"]}


def serializer(keys: dict[str, SecretStr] = KEYS, **settings: Any) -> OnceSerializer:
    return OnceSerializer(SerdeConfig(encryption_keys=keys, **settings))


@dataclass
class Place:
    """A database of its own."""

    database: str
    config: CheckpointConfig

    def opened(
        self, keys: dict[str, SecretStr] = KEYS, *, index: Any = None, ttl: Any = None, **serde: Any
    ) -> AbstractAsyncContextManager[OnceStore]:
        """Open the store."""
        serde = {"serde": serializer(keys, **serde)}
        return open_store(self.database, config=self.config, index=index, ttl=ttl, **serde)

    def stock(self) -> AbstractAsyncContextManager[BaseStore]:
        """Open upstream's own store."""
        if not self.config.schema:
            return AsyncSqliteStore.from_conn_string(self.database)
        aio = importlib.import_module("langgraph.store.postgres.aio")
        mark = "&" if "?" in self.database else "?"
        url = f"{self.database}{mark}options=-csearch_path%3D{self.config.schema}"
        opened: AbstractAsyncContextManager[BaseStore] = aio.AsyncPostgresStore.from_conn_string(
            url
        )
        return opened

    def execute(self, sql: str, *values: Any) -> list[Any]:
        """Ask the database past the store."""
        if self.config.schema:
            psycopg = importlib.import_module("psycopg")
            with psycopg.connect(self.database) as conn:
                conn.execute(f"SET search_path = {self.config.schema}")
                done = conn.execute(sql.replace("?", "%s"), values)
                return [*done.fetchall()] if done.description else []
        with closing(sqlite3.connect(self.database)) as conn, conn:
            return conn.execute(sql, values).fetchall()

    def rows(self) -> str:
        """All that is stored, vectors too, as text."""
        tables = ["store", *(["store_vectors"] if self._has_vectors() else [])]
        return repr([self.execute(f"SELECT * FROM {table}") for table in tables])

    def _has_vectors(self) -> bool:
        try:
            self.execute("SELECT 1 FROM store_vectors")
        except Exception:
            return False
        return True


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return Place(str(tmp_path / "store.sqlite"), CheckpointConfig())
    schema = f"store_{next(_numbers)}"
    return Place(request.getfixturevalue("postgres"), CheckpointConfig(schema=schema))


@pytest.fixture
def index(request: pytest.FixtureRequest) -> dict[str, Any] | None:
    """Vectors that count the letters a, b and c; none where the database can have none."""
    if "place" in request.fixturenames:
        place: Place = request.getfixturevalue("place")
        is_postgres = bool(place.config.schema)
        loads = hasattr(sqlite3.Connection, "enable_load_extension")
        if not (has_vectors(place.database) if is_postgres else loads):
            return None
        with suppress(Exception):
            place.execute("CREATE EXTENSION vector SCHEMA public")

    def embed(texts: list[str]) -> list[list[float]]:
        return [[1.0 + text.count(letter) for letter in "abc"] for text in texts]

    return {"dims": 3, "embed": embed, "fields": ["text"]}
