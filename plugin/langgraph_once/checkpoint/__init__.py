"""A path or an address goes in; a saver of threads comes out, which stores each thing once.

Who is outside this room imports from here: `__all__` lists what is public; names that are imported
`as` themselves are for the other rooms of this package, and for operations.

backend.py      what a database is to everything outside of its folder; its saver, opened and closed
by_url.py       which of them does a path or URL name?
saver.py        the methods that LangGraph calls
threads.py      what each of them does, as statements: the same for every database; what a prune
                deletes
stored.py       what rows say; what was read of threads, decoded when somebody looks at it
tables.py       the statements that databases share; all_rows.py: those on all rows of a thread
metadata.py     metadata as rows have them: encrypted but for what servers filter by
database.py     who runs statements, and in which threads for event loops
sqlite/, postgres/  what is each database's own
values.py       values to cells of rows, and back: whole, or cut
pieces.py       of which pieces a value consists, and how they are put together again
cut.py          where bytes are cut, how pieces are named, what a change leaves of them
copying.py      all threads of a database, read whole, or copied into another
rewriting.py    all rows of a database, rewritten in another form
"""

from typing import TYPE_CHECKING

from langgraph_once.checkpoint.backend import Backend as Backend, Claim as Claim, Opening as Opening
from langgraph_once.checkpoint.by_url import backend_of, kind_of as kind_of, open_saver
from langgraph_once.checkpoint.database import (
    EmptyDatabaseError as EmptyDatabaseError,
    Engine as Engine,
    Execute as Execute,
    Program as Program,
    Row as Row,
    Statement as Statement,
    batches as batches,
    close_in_thread as close_in_thread,
    drive as drive,
    open_in_thread as open_in_thread,
    run_all as run_all,
)
from langgraph_once.checkpoint.metadata import (
    COUNTERS as COUNTERS,
    opened_metadata as opened_metadata,
    sealed_in as sealed_in,
)
from langgraph_once.checkpoint.pieces import Cell as Cell, CutValue as CutValue
from langgraph_once.checkpoint.saver import OnceSaver as OnceSaver, stock_wrote as stock_wrote
from langgraph_once.checkpoint.sqlite.backend import OnceSqliteSaver, open_sqlite_saver
from langgraph_once.checkpoint.sqlite.engine import (
    BUSY_TIMEOUT_S as BUSY_TIMEOUT_S,
    check_sqlite_path,
    not_opened as not_opened,
    prepare as prepare,
)
from langgraph_once.checkpoint.stored import (
    CheckpointRef as CheckpointRef,
    FoundCheckpoints as FoundCheckpoints,
    StoredCheckpoint as StoredCheckpoint,
    moment_of as moment_of,
)
from langgraph_once.checkpoint.tables import Tables as Tables
from langgraph_once.checkpoint.threads import (
    CALL as CALL,
    drop_all as drop_all,
    dropped_of as dropped_of,
    settled_before as settled_before,
)
from langgraph_once.checkpoint.values import Values as Values
from langgraph_once.lazy import lazily

if TYPE_CHECKING:
    from langgraph_once.checkpoint.copying import (
        Progress as Progress,
        ReadCell as ReadCell,
        Source as Source,
        Trouble as Trouble,
        told as told,
        transfer as transfer,
        why as why,
    )
    from langgraph_once.checkpoint.postgres.saver import OncePostgresSaver, open_postgres_saver
    from langgraph_once.checkpoint.rewriting import (
        Entering as Entering,
        Leaving as Leaving,
        Migration as Migration,
        Rotating as Rotating,
        as_upstream as as_upstream,
        migrate as migrate,
        reading as reading,
    )
else:  # what commands alone ask for, and what needs the extra `postgres`
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "langgraph_once.checkpoint.copying": (
                "Progress",
                "ReadCell",
                "Source",
                "Trouble",
                "told",
                "transfer",
                "why",
            ),
            "langgraph_once.checkpoint.rewriting": (
                "Migration",
                "as_upstream",
                "Entering",
                "Leaving",
                "migrate",
                "reading",
                "Rotating",
            ),
            "langgraph_once.checkpoint.postgres.saver": (
                "OncePostgresSaver",
                "open_postgres_saver",
            ),
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
