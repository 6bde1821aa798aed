"""PostgreSQL as a `Backend`. The driver is imported when a database is used."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol

from langgraph_once.checkpoint.backend import Backend, Claim, Opening
from langgraph_once.checkpoint.database import Execute
from langgraph_once.checkpoint.tables import Tables
from langgraph_once.config import CheckpointConfig


class PostgresBackend(Backend):
    """A database of PostgreSQL, by its URL."""

    kind = "PostgreSQL"
    package = "psycopg"
    extra = "postgres"
    store_module = "langgraph_once.store.postgres"
    takes_nan = False
    as_json = "::jsonb"
    as_text = "::text"
    item_label = "split_part(prefix, '.', 1)"
    item_bytes = "pg_column_size(value)"

    @classmethod
    def takes(cls, database: str) -> bool:
        """Whether it is a URL of PostgreSQL."""
        return database.startswith(("postgresql://", "postgres://"))

    @property
    def name(self) -> str:
        """Its server and database."""
        from langgraph_once.checkpoint.postgres.saver import address_of

        return address_of(self.database)

    @property
    def tables(self) -> type[Tables]:
        """The statements on its tables."""
        from langgraph_once.checkpoint.postgres.tables import PostgresTables

        return PostgresTables

    def open(
        self, *, config: CheckpointConfig, serde: SerializerProtocol | None, makes_tables: bool
    ) -> Opening[Any]:
        """Open a pool of connections, and close it at the end."""
        from langgraph_once.checkpoint.postgres.saver import open_postgres_saver

        return open_postgres_saver(
            self.database,
            serde=serde,
            store_once=config.store_once,
            max_size=config.pool_max_size,
            schema=config.schema or None,
            is_pooler=config.transaction_pooler,
            makes_tables=makes_tables,
        )

    def open_to_read(self, *, config: CheckpointConfig, serde: SerializerProtocol) -> Opening[Any]:
        """Open one connection that changes nothing."""
        from langgraph_once.checkpoint.postgres.saver import open_postgres_to_read

        return open_postgres_to_read(self.database, serde=serde, schema=config.schema or None)

    def snapshot(self, schema: str) -> AbstractContextManager[Execute]:
        """Open one connection, in one transaction that only reads."""
        from langgraph_once.checkpoint.postgres.saver import postgres_snapshot

        return postgres_snapshot(self.database, schema or None)

    def connect(self, schema: str) -> AbstractContextManager[Callable[..., Any]]:
        """Open one connection. Each statement on it is a transaction of its own."""
        from langgraph_once.checkpoint.postgres.saver import connect_to_postgres

        return connect_to_postgres(self.database, schema or None)

    def check(self) -> None:
        """Ask it; what the saver may do there, it finds out when it is opened."""
        self.ask()

    def ask(self) -> None:
        """Ask whether it answers."""
        from langgraph_once.checkpoint.postgres.saver import ask_postgres

        ask_postgres(self.database)

    def claim(self, schema: str) -> Claim | None:
        """Claim a schema of it."""
        from langgraph_once.checkpoint.postgres.saver import claim_postgres

        return claim_postgres(self.database, schema or None)
