"""Objects that are their attributes and nothing else: dataclasses, attrs classes, ordinary ones.

They are rebuilt without `__init__`: `__post_init__`, validators and converters ran when the object
was made, and would change values that they have changed already. Fields that are not arguments and
attributes that were added later come back too. Nothing of an ordinary class runs; one that says by
`__reduce__`, `__getstate__` and the like that its attributes are not the whole of it is refused; so
is one that has something to clean up, and one made in C.
"""

from __future__ import annotations

import copyreg
from collections import UserString
from types import SimpleNamespace
from typing import Any, Final

from langgraph_once.serde.codecs.once1.types.base.attributes import (
    AttributesFamily,
    is_dataclass,
    is_plain_subclass,
    is_python_class,
)
from langgraph_once.serde.trust.lookup import declared

__all__ = ["ObjectFamily", "RecordFamily"]

_HOOKS: Final = (
    *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
    *("__getnewargs__", "__getnewargs_ex__", "__del__"),
)
_NO_MORE_THAN_ATTRIBUTES: Final = (object, SimpleNamespace, UserString)
"""Have hooks, which say nothing that their attributes do not."""


class RecordFamily(AttributesFamily):
    """Classes with `__dataclass_fields__` or `__attrs_attrs__`."""

    name = "record"

    def matches(self, cls: type) -> bool:
        is_record = is_dataclass(cls) or isinstance(declared(cls, "__attrs_attrs__"), tuple)
        return is_record and is_plain_subclass(cls, object)


class ObjectFamily(AttributesFamily):
    """What no other family knows. Asked last."""

    name = "object"

    def matches(self, cls: type) -> bool:
        return (
            cls is not object
            and is_python_class(cls, _root(cls))
            and cls not in copyreg.dispatch_table
            and not any(
                hook in vars(part)
                for part in cls.__mro__
                if part not in _NO_MORE_THAN_ATTRIBUTES
                for hook in _HOOKS
            )
        )

    def blank(self, cls: type) -> Any:
        return _root(cls).__new__(cls)


def _root(cls: type) -> Any:
    return SimpleNamespace if SimpleNamespace in cls.__mro__ else object
