"""Rows of LangGraph's codec that are compressed and encrypted as ours are."""

from __future__ import annotations

from typing import Any

from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.format import Tag
from langgraph_once.serde.stock_writes import encode_stock


class LayeredStock(OnceSerializer):
    """Writes as version 0.2 with `codec="msgpack"` did, and as ours does as a last resort."""

    def encoded(self, obj: Any) -> tuple[Tag, bytes]:
        if obj is None or isinstance(obj, bytes | bytearray):
            return super().encoded(obj)
        return Tag("msgpack"), encode_stock(obj)

    def dumps_typed(self, obj: Any, *, bound_to: Any = ()) -> tuple[str, bytes]:
        return self.wrapped(*self.encoded(obj), bound_to)
