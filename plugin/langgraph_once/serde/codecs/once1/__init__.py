"""Codec `once1`: every value comes back equal and of the same types, or is not written."""

from langgraph_once.serde.codecs.once1.format.opaque import Opaque
from langgraph_once.serde.codecs.once1.read.class_loader import Loader
from langgraph_once.serde.codecs.once1.read.decoder import Decoder, decode
from langgraph_once.serde.codecs.once1.registry.registry import Extension, Registry
from langgraph_once.serde.codecs.once1.types.base.protocol import (
    Adapter,
    CyclicFamily,
    EditableFamily,
    Family,
    SubclassAdapter,
    UnreadableError,
    UnwritableError,
)
from langgraph_once.serde.codecs.once1.types.base.unstored import Unstored, UnstoredError
from langgraph_once.serde.codecs.once1.write.encoder import Encoder, encode, encode_slow
from langgraph_once.serde.codecs.once1.write.partial_exceptions import encode_error

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
