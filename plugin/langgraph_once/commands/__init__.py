"""The commands of `langgraph-once`, and what they share with those of extensions.

| file | question |
|---|---|
| `project_settings.py` | which settings does this project run with? |
| `opened_database.py` | which database, and how are its rows read? |
| `terminal.py` | how is it printed? |
"""

from typing import TYPE_CHECKING

from langgraph_once.lazy import lazily

if TYPE_CHECKING:
    from langgraph_once.commands.opened_database import (
        Database,
        database_of,
        database_option,
        sized,
        tell_left,
        telling,
    )
    from langgraph_once.commands.project_settings import (
        config_option,
        json_option,
        load_if_there,
    )
    from langgraph_once.commands.terminal import tell
else:  # each command loads what it needs
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "langgraph_once.commands.opened_database": (
                "Database",
                "database_of",
                "database_option",
                "sized",
                "tell_left",
                "telling",
            ),
            "langgraph_once.commands.project_settings": (
                "config_option",
                "json_option",
                "load_if_there",
            ),
            "langgraph_once.commands.terminal": ("tell",),
        },
    )

__all__ = [
    "Database",
    "config_option",
    "database_of",
    "database_option",
    "json_option",
    "load_if_there",
    "sized",
    "tell",
    "tell_left",
    "telling",
]
