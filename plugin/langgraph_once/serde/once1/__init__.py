"""Codec `once1`: every value comes back equal and of the same types, or is not written."""

from langgraph_once.serde.once1.decode import Decoder, decode
from langgraph_once.serde.once1.encode import Encoder, encode, encode_slow
from langgraph_once.serde.once1.loader import Loader
from langgraph_once.serde.once1.opaque import Opaque
from langgraph_once.serde.once1.protocol import (
    Adapter,
    CyclicFamily,
    EditableFamily,
    Family,
    SubclassAdapter,
    UnreadableError,
    UnwritableError,
)
from langgraph_once.serde.once1.registry import Extension, Registry
from langgraph_once.serde.once1.salvage import encode_error
from langgraph_once.serde.once1.unstored import Unstored, UnstoredError

__all__ = [
    "Adapter",
    "CyclicFamily",
    "Decoder",
    "EditableFamily",
    "Encoder",
    "Extension",
    "Family",
    "Loader",
    "Opaque",
    "Registry",
    "SubclassAdapter",
    "UnreadableError",
    "Unstored",
    "UnstoredError",
    "UnwritableError",
    "decode",
    "encode",
    "encode_error",
    "encode_slow",
]
