"""ROOM 1: objects to tagged bytes and back."""

from langgraph_once.serde.audit import Audit
from langgraph_once.serde.messages import rebuild_message
from langgraph_once.serde.once1 import (
    Adapter,
    CyclicFamily,
    Family,
    Opaque,
    Unstored,
    UnstoredError,
)
from langgraph_once.serde.serializer import OnceSerializer
from langgraph_once.serde.storable import storable

__all__ = [
    "Adapter",
    "Audit",
    "CyclicFamily",
    "Family",
    "OnceSerializer",
    "Opaque",
    "Unstored",
    "UnstoredError",
    "rebuild_message",
    "storable",
]
