"""A thread goes in; what may go out of it comes out, and goes.

| file | question |
|---|---|
| `weight.py` | what would go with these checkpoints: how many rows, how many bytes? |
| `prune.py` | which checkpoints go, by the rules, and what becomes of all threads of a database? |
"""

from langgraph_once_ops.retention.prune import Pruned, Pruner, is_older, outgoing, prune
from langgraph_once_ops.retention.weight import (
    Table,
    ThreadRows,
    Weight,
    read_rows,
    tables_of,
    weigh,
)

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
