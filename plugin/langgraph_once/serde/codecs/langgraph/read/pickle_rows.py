"""Rows that LangGraph pickled: refused."""

from __future__ import annotations

from langgraph_once.errors import PayloadError

__all__ = ["pickle_refusal"]


def pickle_refusal(tag: str) -> PayloadError:
    """Return the error that says why, and what to do instead."""
    return PayloadError(
        "pickle is refused: loading it can run any code that whoever wrote to the database "
        "wishes. If you trust every row, read them once with "
        "`JsonPlusSerializer(pickle_fallback=True)` and write them back with `OnceSerializer`",
        tag=tag,
    )
