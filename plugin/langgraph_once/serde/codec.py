"""Codec `once2`: any value to bytes, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langgraph_once.serde.graph import write_graph
from langgraph_once.serde.reader import Reader
from langgraph_once.serde.refused import TooDeepError
from langgraph_once.serde.writer import leads_deep, write

if TYPE_CHECKING:
    from langgraph_once.serde.registry import Plans

__all__ = ["dumps", "loads"]


def dumps(value: Any, plans: Plans) -> bytes:
    """Return the bytes of a value.

    Raises:
        UnwritableError: Some part cannot be written, neither exactly nor as LangGraph does.
        EncodeError: Some part may not be written.
    """
    if not leads_deep(value):
        try:
            return write(value, plans)
        except (TooDeepError, RecursionError):
            pass
    return write_graph(value, plans)


def loads(data: bytes, plans: Plans, *, tag: str = "once2", keeps: bool = True) -> Any:
    """Return the value of what `dumps` returned, which may be anybody's bytes.

    Args:
        data: The bytes.
        plans: What makes objects.
        tag: Of the row, for errors.
        keeps: Whether a stand-in is handed on for what cannot be made here.

    Raises:
        SerdeError: They are damaged, take too much, or name what may not be loaded.
    """
    return Reader(plans, len(data), tag=tag, keeps=keeps).read(data)
