"""The commands of `langgraph-once`, and what they share with those of extensions.

They share `project.py`: the settings of the project, its database, how that is opened, and how
results are printed.
"""

from typing import TYPE_CHECKING

from langgraph_once.lazy import lazily

if TYPE_CHECKING:
    from langgraph_once.commands.project import (
        Database,
        config_option,
        database_of,
        database_option,
        json_option,
        load_if_there,
        sized,
        tell,
        tell_left,
        telling,
    )
else:  # each command loads what it needs
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "langgraph_once.commands.project": (
                *("Database", "database_of", "database_option", "sized", "tell_left", "telling"),
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
