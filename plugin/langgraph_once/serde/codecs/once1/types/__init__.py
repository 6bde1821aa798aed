"""The types that codec `once1` knows besides Python's plainest ones.

In: an instance. Out: data of simpler types, which the codec writes in turn; and back.

    catalogue.py     all that is built in, in the order in which it is asked
    safe_classes.py  the classes that bytes may name without any configuration
    base/            the interface, attributes, checks
    python/          the standard library
    models/          classes with fields: pydantic, dataclasses, attrs, other objects
    data/            numpy, pandas, polars, pyarrow
"""

from langgraph_once.serde.codecs.once1.types.catalogue import BUILTIN_ADAPTERS, BUILTIN_FAMILIES
from langgraph_once.serde.codecs.once1.types.safe_classes import SAFE_CLASSES

__all__ = ["BUILTIN_ADAPTERS", "BUILTIN_FAMILIES", "SAFE_CLASSES"]
