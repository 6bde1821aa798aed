"""Savers beside a model, through random lives of threads; every value is cut."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.checkpoint import OncePostgresSaver, OnceSqliteSaver, values
from langgraph_once.checkpoint.saver import OnceSaver
from tests.unit_tests.checkpoint.lives import KEYS, TABLES, Lives

if find_spec("langgraph_once_ops") is not None:
    import_module("tests.ops.retention.retained")  # then lives are pruned by policies, too


@pytest.fixture(autouse=True)
def cut_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MIN_CUT_BYTES", 64)


class Of(Lives):
    """Lives on one connection."""

    conn: Any

    def serde(self, *, is_encrypted: bool) -> OnceSerializer:
        return OnceSerializer(SerdeConfig(encryption_keys=KEYS if is_encrypted else {}))

    def rows(self, sql: str) -> list[Any]:
        return list(self.conn.execute(sql).fetchall())


class SqliteLives(Of):
    """Lives in SQLite."""

    def open(self, serde: OnceSerializer) -> list[OnceSaver]:
        self.conn = sqlite3.connect(":memory:", check_same_thread=False)
        return [OnceSqliteSaver(self.conn, serde=serde, store_once=on) for on in (True, False)]

    def teardown(self) -> None:
        if hasattr(self, "conn"):
            for saver in self.savers:
                saver.engine.close()


class PostgresLives(Of):
    """Lives in PostgreSQL."""

    versions_tell = True

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        super().__init__()
        self.conn = conn

    def open(self, serde: OnceSerializer) -> list[OnceSaver]:
        savers: list[OnceSaver] = [
            OncePostgresSaver(self.conn, serde=serde, store_once=on) for on in (True, False)
        ]
        savers[0].engine.set_up()
        for table in TABLES:
            self.conn.execute(f"DELETE FROM {table}")
        return savers


@pytest.fixture
def conn(database: str) -> Iterator[psycopg.Connection[Any]]:
    options = "-c synchronous_commit=off"
    with psycopg.connect(database, autocommit=True, options=options) as opened:
        yield opened


def lives(machine: Any, examples: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_lives_in_sqlite() -> None:
    lives(SqliteLives, 40, 30)


@pytest.mark.slow
def test_many_lives_in_sqlite() -> None:
    lives(SqliteLives, 300, 50)


def test_lives_in_postgres(conn: psycopg.Connection[Any]) -> None:
    lives(lambda: PostgresLives(conn), 30, 30)


@pytest.mark.slow
def test_many_lives_in_postgres(conn: psycopg.Connection[Any]) -> None:
    lives(lambda: PostgresLives(conn), 150, 40)
