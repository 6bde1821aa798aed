"""A path or an address goes in; a saver of threads comes out, which stores each thing once.

backend.py      what a database is to everything outside of its folder; its saver, opened and closed
by_url.py       which of them does a path or URL name?
saver.py        the methods that LangGraph calls
threads.py      what each of them does, as statements: the same for every database
found.py        what they read: checkpoints, decoded when somebody looks at them
tables.py       the statements that databases share; stored.py: what their rows say
all_rows.py     those that check, copy or rewrite a thread
metadata.py     metadata as rows have them: encrypted but for what servers filter by
database.py     who runs statements; workers.py: in which threads, for event loops
sqlite/, postgres/  what is each database's own
pieces/         long values, cut into pieces that are stored once
moving/         all threads of a database, rewritten, copied or looked at
"""

from typing import TYPE_CHECKING

from langgraph_once.checkpoint.by_url import backend_of, open_saver
from langgraph_once.checkpoint.sqlite.backend import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.checkpoint.sqlite.file import check_sqlite_path
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
