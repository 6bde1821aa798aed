"""The commands of `langgraph-once`, and what they share with those of extensions.

They share `project.py` (which settings does this project run with, how is it printed?), and those
with a database `opened_database.py` (which one, and how are its rows read?).
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
    from langgraph_once.commands.project import config_option, json_option, load_if_there, tell
else:  # each command loads what it needs
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "langgraph_once.commands.opened_database": (
                *("Database", "database_of", "database_option", "sized", "tell_left", "telling"),
            ),
            "langgraph_once.commands.project": (
                *("config_option", "json_option", "load_if_there", "tell"),
            ),
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
