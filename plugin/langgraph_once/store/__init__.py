"""Long-term memory: upstream's store for SQLite and PostgreSQL, its values encrypted at rest.

In: the operations of a `BaseStore`. Out: rows of upstream's tables.

by_url.py     from a path or a URL to a store
once_store.py what LangGraph calls
matching.py   which values a filter means, where the database cannot read them
sqlite.py, postgres.py  upstream's stores, opened; upstream_gaps.py: what both lack
sealing.py    a value to a row and back
"""

from langgraph_once.store.by_url import check_index, check_place, default_database, open_store
from langgraph_once.store.once_store import OnceStore

__all__ = [
    "OnceStore",
    "check_index",
    "check_place",
    "default_database",
    "open_store",
]
