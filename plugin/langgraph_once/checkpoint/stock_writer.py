"""Whether a saver of LangGraph's writes to a database beside ours, as during a rolling deploy."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from langgraph_once.checkpoint.checkpoint_ids import first_id_at, moment_of
from langgraph_once.checkpoint.database import Program
from langgraph_once.checkpoint.saver import OnceSaver
from langgraph_once.checkpoint.tables import Tables

_RECENTLY: Final = timedelta(days=1)


def stock_wrote(saver: OnceSaver) -> str | None:
    """When a saver of LangGraph's last wrote here, and what that means, if it was within a day.

    Args:
        saver: The database.

    Raises:
        StorageError: It cannot be read, or not in the time that this may take.
    """
    id_ = saver.engine.run(_newest(saver.threads.tables), writes=False)
    when = moment_of(id_) if id_ else None
    if when is None:
        return None
    return (
        f"LangGraph's saver, or ours up to 0.2.0, stored a checkpoint at {when:%Y-%m-%d %X} UTC. "
        "If that is after your last deploy, a replica still runs it, and cannot read what ours "
        "writes, unless ONCE_SERDE__COMPATIBLE=true"
    )


def _newest(tables: Tables) -> Program[str | None]:
    bound = first_id_at(datetime.now(UTC) - _RECENTLY)
    return (yield from tables.newest_of_others(bound))
