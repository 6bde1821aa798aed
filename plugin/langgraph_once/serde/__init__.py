"""ROOM 1: objects to tagged bytes and back."""

from langgraph_once.serde.codecs.langgraph.read.messages import rebuild_message
from langgraph_once.serde.codecs.once1 import (
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
from langgraph_once.serde.trust.audit import Audit
from langgraph_once.serde.trust.storable import storable

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
