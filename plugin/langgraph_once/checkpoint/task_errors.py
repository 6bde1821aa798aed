"""The errors of tasks: text, as LangGraph's own savers give it back."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.serde.types import ERROR

from langgraph_once.serde import OpaqueStr, UnstoredError


def as_stored(channel: str, value: Any) -> Any:
    """Return a write as it is stored and read: an exception a task failed with becomes text.

    LangGraph's serializer writes the `repr` of exceptions. `StateSnapshot.tasks[].error` and the
    API's threads hold what a saver returns, and their readers expect text. Rows that hold an
    exception were written by versions up to 0.2. An exception in another channel stays one.

    Args:
        channel: What was written to.
        value: What was written, or read.
    """
    if channel != ERROR:
        return value
    match value:
        case UnstoredError(type_name=name, text=text):
            return f"{_class_name(name)}({text!r})"
        case BaseException():
            return _text(value)
        case OpaqueStr():  # an exception whose class is gone
            return str(value)
    return value


def _class_name(type_name: str) -> str:
    return type_name.rpartition(":")[2].rpartition(".")[2]


def _text(error: BaseException) -> str:
    try:
        return repr(error)
    except Exception:  # code of the exception's class
        return f"{type(error).__name__}()"
