"""Codec `once1`: every value comes back equal and of the same types, or is not written.

In: an object. Out: the bytes that `format/layout.py` describes. And back.

    format/    what the bytes are: extensions, tables, headers. No class is known here
    types/     what each type is made of, and how it is made again: one file for a kind of type
    registry/  which type is written and read by whom, and under which name
    write/     objects to bytes; start at `encoder.py`
    read/      bytes to objects; start at `decoder.py`
"""

from langgraph_once.serde.codecs.once1.format.opaque import Opaque
from langgraph_once.serde.codecs.once1.read.class_loader import Loader
from langgraph_once.serde.codecs.once1.read.decoder import Decoder
from langgraph_once.serde.codecs.once1.registry.registry import Extension, Registry
from langgraph_once.serde.codecs.once1.types.base.protocol import (
    Adapter,
    CyclicFamily,
    EditableFamily,
    Family,
    SubclassAdapter,
    UnreadableError,
    Unstored,
    UnstoredError,
    UnwritableError,
)
from langgraph_once.serde.codecs.once1.write.encoder import Encoder, encode_slow
from langgraph_once.serde.codecs.once1.write.odd_parts import NotPlain, bytes_in
from langgraph_once.serde.codecs.once1.write.partial_exceptions import encode_error
from langgraph_once.serde.codecs.once1.write.threads import QuickEncode

__all__ = [
    "Adapter",
    "CyclicFamily",
    "Decoder",
    "EditableFamily",
    "Encoder",
    "Extension",
    "Family",
    "Loader",
    "NotPlain",
    "Opaque",
    "QuickEncode",
    "Registry",
    "SubclassAdapter",
    "UnreadableError",
    "Unstored",
    "UnstoredError",
    "UnwritableError",
    "bytes_in",
    "encode_error",
    "encode_slow",
]
