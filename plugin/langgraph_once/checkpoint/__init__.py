"""A path goes in; a saver of threads comes out, which stores each thing once.

by_url.py         which database does a path or URL name?
sqlite.py         the saver for SQLite, and how it is opened; sqlite_file.py: is the path good?
sqlite_engine.py  runs its statements, and makes its tables
saver.py          the methods that LangGraph calls
threads.py        what each of them does, as statements: the same for every database
tables.py         the statements, and sqlite_tables.py those that only SQLite has
pieces/           long values, cut into pieces that are stored once
lazy_values.py    channels that are decoded when they are looked at
failures.py       what a database cannot do, in words
rows.py           every stored value, read without writing
"""

from langgraph_once.checkpoint.by_url import check_database, open_saver
from langgraph_once.checkpoint.sqlite import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.checkpoint.sqlite_file import check_sqlite_path

__all__ = [
    "OnceSqliteSaver",
    "check_database",
    "check_sqlite_path",
    "open_saver",
    "open_sqlite_saver",
]
