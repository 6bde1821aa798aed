"""Threads in a database, carrying our serializer."""

from langgraph_once.checkpoint.opening import check_sqlite_path, open_sqlite_saver
from langgraph_once.checkpoint.sqlite import OnceSqliteSaver

__all__ = ["OnceSqliteSaver", "check_sqlite_path", "open_sqlite_saver"]
