"""What LangGraph stores goes in; everything that is wrong with it comes out, each with its place.

checkpoint.py  a `Checkpoint`; which of two versions of a channel is the newer one?
thread.py      what stands around it: `CheckpointMetadata`, `CheckpointTuple`, stored writes
item.py        an `Item` or `SearchItem` of a store
finding.py     what is wrong, and where; also with ids and times, by which history is ordered

Nothing raises for what it is given to check, and no finding quotes a payload.
"""

from langgraph_once_ops.validate.checkpoint import compare_versions, validate_checkpoint
from langgraph_once_ops.validate.finding import Finding
from langgraph_once_ops.validate.item import validate_item
from langgraph_once_ops.validate.thread import (
    validate_metadata,
    validate_tuple,
    validate_write,
)

__all__ = [
    "Finding",
    "compare_versions",
    "validate_checkpoint",
    "validate_item",
    "validate_metadata",
    "validate_tuple",
    "validate_write",
]
