"""A database of threads goes in; what is in it, and what it could be without, comes out.

snapshot.py  the database at one moment, read only
sizes.py     how much each thread takes, counted without reading a value
thread.py    one thread read whole, and encoded anew
kinds.py     of which channels a row consists, and what kinds of values these are
store.py     what the store takes, if it is in the same database
estimate.py  what a sample of threads says of all
report.py    all of it together
show.py      the report as text and as JSON
"""

from langgraph_once_ops.survey.report import Survey, survey
from langgraph_once_ops.survey.show import as_json, as_text
from langgraph_once_ops.survey.snapshot import Snapshot, open_snapshot

__all__ = ["Snapshot", "Survey", "as_json", "as_text", "open_snapshot", "survey"]
