"""The types that codec `once1` knows besides Python's plainest ones."""

from langgraph_once.serde.once1.adapters.catalogue import BUILTIN_ADAPTERS, BUILTIN_FAMILIES
from langgraph_once.serde.once1.adapters.safe import SAFE_CLASSES

__all__ = ["BUILTIN_ADAPTERS", "BUILTIN_FAMILIES", "SAFE_CLASSES"]
