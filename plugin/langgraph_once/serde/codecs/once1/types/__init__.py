"""The types that codec `once1` knows besides Python's plainest ones."""

from langgraph_once.serde.codecs.once1.types.catalogue import BUILTIN_ADAPTERS, BUILTIN_FAMILIES
from langgraph_once.serde.codecs.once1.types.safe_classes import SAFE_CLASSES

__all__ = ["BUILTIN_ADAPTERS", "BUILTIN_FAMILIES", "SAFE_CLASSES"]
