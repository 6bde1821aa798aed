"""What LangGraph stores goes in; everything that is wrong with it comes out, each with its place.

checkpoint.py  a `Checkpoint`
thread.py      what stands around it: `CheckpointMetadata`, `CheckpointTuple`, stored writes
item.py        an `Item` or `SearchItem` of a store
versions.py    which of two versions of a channel is the newer one?
moments.py     what history is ordered by: ids and times
finding.py     what is wrong, and where

Nothing raises for what it is given to check, and no finding quotes a payload.
"""

from langgraph_once_ops.validate.checkpoint import validate_checkpoint
from langgraph_once_ops.validate.finding import Finding
from langgraph_once_ops.validate.item import validate_item
from langgraph_once_ops.validate.thread import (
    validate_metadata,
    validate_tuple,
    validate_write,
)
from langgraph_once_ops.validate.versions import compare_versions

__all__ = [
    "Finding",
    "compare_versions",
    "validate_checkpoint",
    "validate_item",
    "validate_metadata",
    "validate_tuple",
    "validate_write",
]
