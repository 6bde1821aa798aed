"""A thread goes in; what may go out of it comes out, and goes.

| file | question |
|---|---|
| `decision.py` | which checkpoints of a thread go, by the rules? |
| `row_sizes.py` | what do the rows of a table take? |
| `weight.py` | what would go with these checkpoints: how many rows, how many bytes? |
| `prune.py` | what becomes of all threads of a database? |
"""

from langgraph_once_ops.retention.decision import is_older, outgoing
from langgraph_once_ops.retention.prune import Pruned, Pruner, prune
from langgraph_once_ops.retention.row_sizes import Table, tables_of
from langgraph_once_ops.retention.weight import ThreadRows, Weight, read_rows, weigh

__all__ = [
    "Pruned",
    "Pruner",
    "Table",
    "ThreadRows",
    "Weight",
    "is_older",
    "outgoing",
    "prune",
    "read_rows",
    "tables_of",
    "weigh",
]
