"""A path or an address goes in; a saver of threads comes out, which stores each thing once.

by_url.py         which database does a path or URL name?
sqlite.py         the saver for SQLite, and how it is opened; sqlite_file.py: is the path good?
sqlite_engine.py  runs its statements, and makes its tables
postgres.py       the saver for PostgreSQL, and how it is opened; postgres_engine.py runs its
                  statements, postgres_schema.py makes its tables, postgres_driver.py is psycopg
saver.py          the methods that LangGraph calls
threads.py        what each of them does, as statements: the same for every database
tables.py         the statements; sqlite_tables.py and postgres_tables.py: those of one database
pieces/           long values, cut into pieces that are stored once
lazy_values.py    channels that are decoded when they are looked at
failures.py       what a database cannot do, in words
rows.py           every stored value, read without writing
"""

from typing import TYPE_CHECKING, Any

from langgraph_once.checkpoint.by_url import ask_database, check_database, open_saver
from langgraph_once.checkpoint.sqlite import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.checkpoint.sqlite_file import check_sqlite_path

if TYPE_CHECKING:
    from langgraph_once.checkpoint.postgres import OncePostgresSaver, open_postgres_saver

__all__ = [
    "OncePostgresSaver",
    "OnceSqliteSaver",
    "ask_database",
    "check_database",
    "check_sqlite_path",
    "open_postgres_saver",
    "open_saver",
    "open_sqlite_saver",
]


def __getattr__(name: str) -> Any:
    """What needs the extra `postgres`, imported when it is asked for."""
    if name in __all__:
        from langgraph_once.checkpoint import postgres

        return getattr(postgres, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
