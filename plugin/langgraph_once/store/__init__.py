"""Long-term memory: upstream's store for SQLite and PostgreSQL, its values encrypted at rest.

In: the operations of a `BaseStore`. Out: rows of upstream's tables. `__all__` lists what is public.

once_store.py what LangGraph calls, and from a path or a URL to it
sqlite.py, postgres.py  upstream's stores, opened
sealing.py    a value to a row and back; what upstream's stores lack: also filters on sealed values
"""

from langgraph_once.store.once_store import (
    OnceStore,
    check_index,
    check_place,
    default_database,
    open_store,
)
from langgraph_once.store.sealing import Sealing as Sealing

__all__ = [
    "OnceStore",
    "check_index",
    "check_place",
    "default_database",
    "open_store",
]
