"""ROOM 1: objects to tagged bytes and back.

In: any Python object. Out: `(tag, bytes)`, as a saver stores them. And back.

    serializer.py   the way of a value: codec, checks, compression, encryption
    writer.py       the codec and the checks, where a value is not an ordinary one
    small_rows.py   what a compressed row of a few bytes may hold
    codecs/         objects to bytes and back: our format, and LangGraph's
    layers/         bytes to bytes: the tag, zstd, AES-GCM, LangGraph's AES
    trust/          which classes a row may name, and whose code may run
    bounds/         what reading a row may take: time, memory, stack
    survey/         what stored rows name, for the command `types`; reads no values
"""

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
from langgraph_once.serde.trust.allowlist import storable
from langgraph_once.serde.trust.audit import Audit

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
