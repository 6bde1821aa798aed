"""The fidelity table: every row, and the serializers that it is read through."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any, Final, NamedTuple

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer
from tests.unit_tests.serde.fidelity import (
    kinds,
    model_kinds,
    object_kinds,
    rows_classes,
    rows_langchain,
    rows_objects,
    rows_packages,
    rows_python,
)


class Row(NamedTuple):
    """A value and what users call it."""

    group: str
    name: str
    value: Any

    @property
    def id(self) -> str:
        """Return the name of the row, unique in the table."""
        return f"{self.group}: {self.name}"


ROWS: Final = [
    Row(group, name, value)
    for part in (rows_python, rows_classes, rows_objects, rows_packages, rows_langchain)
    for group, rows in part.ROWS.items()
    for name, value in rows.items()
]

_GROUPS: Final = ("Refused", "Tuples in themselves")
_NAMES: Final = (
    *("Plain values: bytearray", "Plain values: memoryview"),
    *(
        "Exceptions: pydantic.ValidationError",
        "Exceptions: pydantic.ValidationError with own messages",
    ),
    *("pyarrow: scalar", "pyarrow: scalar null", "pyarrow: scalar of text"),
    *("pyarrow: scalar of a structure", "pyarrow: simple type", "pyarrow: type"),
)

DROPPED: Final = {row.id for row in ROWS if row.group in _GROUPS or row.id in _NAMES}
"""Rows that do not come back exactly: as LangGraph leaves them, or refused as by LangGraph."""


def once2(**settings: Any) -> OnceSerializer:
    """Return our serializer with codec `once2`, which may load the classes of the table."""
    serde = OnceSerializer(SerdeConfig(compression="none", **settings))
    own = [*_own(kinds), *_own(model_kinds), *_own(object_kinds), ("re", "escape")]
    return serde.with_msgpack_allowlist(own)


def _own(module: ModuleType) -> list[tuple[str, str]]:
    found = [value for value in vars(module).values() if hasattr(value, "__qualname__")]
    found += [value for cls in found for value in vars(cls).values() if inspect.isclass(value)]
    return [
        (m, value.__qualname__) for value in found if (m := value.__module__) == module.__name__
    ]
