"""A path or an address goes in; a saver of threads comes out, which stores each thing once.

backend.py      what a database is to everything outside of its folder
by_url.py       which of them does a path or URL name?
opening.py      a saver that is opened and closed, with and without an event loop
saver.py        the methods that LangGraph calls
threads.py      what each of them does, as statements: the same for every database
found.py        what they read: checkpoints, and the pieces that these share
tables.py       the statements that databases share; stored.py: what their rows say
all_rows.py     those that check, copy or rewrite a thread
metadata.py     metadata as rows have them: encrypted but for what servers filter by
task_errors.py  errors of tasks, which are text
database.py     who runs statements; workers.py: in which threads, for event loops
lazy_values.py  values that are decoded when they are looked at
sqlite/, postgres/  what is each database's own
due.py          what a checkpoint says is to be run next
stock_writer.py  whether a saver of LangGraph's writes beside ours
pieces/         long values, cut into pieces that are stored once
moving/         all threads of a database, rewritten, copied or looked at
validate/       what is wrong with what LangGraph stores; a door of its own
"""

from typing import TYPE_CHECKING

from langgraph_once.checkpoint.by_url import backend_of, open_saver
from langgraph_once.checkpoint.sqlite.file import check_sqlite_path
from langgraph_once.checkpoint.sqlite.saver import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.lazy import lazily

if TYPE_CHECKING:
    from langgraph_once.checkpoint.postgres.saver import OncePostgresSaver, open_postgres_saver
else:  # what needs the extra `postgres`
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "langgraph_once.checkpoint.postgres.saver": (
                "OncePostgresSaver",
                "open_postgres_saver",
            )
        },
    )

__all__ = [
    "OncePostgresSaver",
    "OnceSqliteSaver",
    "backend_of",
    "check_sqlite_path",
    "open_postgres_saver",
    "open_saver",
    "open_sqlite_saver",
]
