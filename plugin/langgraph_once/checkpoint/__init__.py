"""A path goes in; a saver of threads comes out, which carries our serializer.

opening.py     opens a database, or says in one line why it cannot
sqlite.py      the saver, with rollback, copy and prune
statements.py  its SQL
lineage.py     which ancestors does a checkpoint need to be read?
lock.py        one transaction at a time, undone on error or cancellation
rows.py        every stored value, read without writing
failures.py    an error of SQLite, as one line with what to do
validate/      what is wrong with what LangGraph stores; a door of its own
"""

from langgraph_once.checkpoint.opening import check_sqlite_path, open_sqlite_saver
from langgraph_once.checkpoint.sqlite import OnceSqliteSaver

__all__ = ["OnceSqliteSaver", "check_sqlite_path", "open_sqlite_saver"]
