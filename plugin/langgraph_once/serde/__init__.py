"""ROOM 1: objects to tagged bytes and back."""

from langgraph_once.serde.audit import Audit
from langgraph_once.serde.messages import rebuild_message
from langgraph_once.serde.once1 import (
    Adapter,
    CyclicFamily,
    EditableFamily,
    Family,
    Opaque,
    SubclassAdapter,
    UnreadableError,
    Unstored,
    UnstoredError,
    UnwritableError,
)
from langgraph_once.serde.serializer import OnceSerializer
from langgraph_once.serde.storable import storable

__all__ = [
    "Adapter",
    "Audit",
    "CyclicFamily",
    "EditableFamily",
    "Family",
    "OnceSerializer",
    "Opaque",
    "SubclassAdapter",
    "UnreadableError",
    "Unstored",
    "UnstoredError",
    "UnwritableError",
    "rebuild_message",
    "storable",
]
