"""What is written of an object that cannot be written exactly: what LangGraph leaves of it.

1. LangGraph's form of it, which is read by LangGraph's rules; an exception becomes class and text.
2. The native value that its class is derived from: a text, a number, a list, a dictionary.
3. Nothing: then what holds it is tried in the same way, and in the end the whole value is refused.
   LangGraph refuses such a value, too.
"""

from __future__ import annotations

from typing import Any

from langgraph_once.serde.format import head_bytes, object_of
from langgraph_once.serde.plans.exceptions import UnstoredError, as_text
from langgraph_once.serde.stock import stock_form
from langgraph_once.serde.stock_writes import native_base

__all__ = ["instead_of"]


def instead_of(obj: Any) -> Any:
    """Return what is written for an object; None if LangGraph cannot write it, either.

    The result is native, an extension, or an object that can be written.
    """
    if isinstance(obj, BaseException):
        return None if isinstance(obj, UnstoredError) else as_text(obj)
    found = stock_form(obj)
    if found is None:
        return native_base(obj)
    code, content = found
    cls = type(obj)
    head = head_bytes("stock", f"{cls.__module__}:{cls.__qualname__}", 0, code)
    return object_of(head, content)
