"""Codec `once1`: every value comes back equal and of the same types, or is not written."""

from langgraph_once.serde.once1.decode import decode
from langgraph_once.serde.once1.encode import encode, encode_slow
from langgraph_once.serde.once1.loader import Loader
from langgraph_once.serde.once1.opaque import Opaque
from langgraph_once.serde.once1.protocol import Adapter, CyclicFamily, Family
from langgraph_once.serde.once1.registry import Registry

__all__ = [
    "Adapter",
    "CyclicFamily",
    "Family",
    "Loader",
    "Opaque",
    "Registry",
    "decode",
    "encode",
    "encode_slow",
]
