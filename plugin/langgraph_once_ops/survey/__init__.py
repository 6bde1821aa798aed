"""A database of threads goes in; what is in it, and how much of it is redundant, comes out.

sizes.py     the database at one moment: how much each thread takes, and the store, without a value
thread.py    one thread read whole, and encoded anew: its channels, and kinds of values
report.py    all of it together, and what a sample of threads says of all
command.py   the report as text and as JSON
"""

from langgraph_once_ops.survey.command import as_json, as_text
from langgraph_once_ops.survey.report import Survey, survey
from langgraph_once_ops.survey.sizes import Snapshot, open_snapshot, tables_in
from langgraph_once_ops.survey.thread import kind_of

__all__ = [
    "Snapshot",
    "Survey",
    "as_json",
    "as_text",
    "kind_of",
    "open_snapshot",
    "survey",
    "tables_in",
]
