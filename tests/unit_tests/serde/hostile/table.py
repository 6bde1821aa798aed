"""All hostile rows, by what they are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tests.unit_tests.serde.hostile.costs import COSTS, PRESSED
from tests.unit_tests.serde.hostile.data import DATA
from tests.unit_tests.serde.hostile.named import CALLS, NAMED
from tests.unit_tests.serde.hostile.shapes import SHAPES
from tests.unit_tests.serde.hostile.upstream import LANGGRAPH, LANGGRAPH_COSTS, LANGGRAPH_JSON

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class Hostile(NamedTuple):
    """A row that somebody made to do harm."""

    tag: str
    make: Callable[[], bytes] | bytes
    settings: dict[str, Any] | None = None

    def row(self) -> bytes:
        """Return its bytes."""
        data = self.make if isinstance(self.make, bytes) else self.make()
        return squeezed(data) if self.tag.endswith("zstd") else data


def squeezed(data: bytes) -> bytes:
    """Return data as our rows are compressed."""
    return zstd.compress(data, 3)


def _of(tag: str, rows: dict[str, Any], prefix: str = "") -> dict[str, Hostile]:
    return {f"{prefix}{name}": Hostile(tag, make) for name, make in rows.items()}


HOSTILE: Final[dict[str, Hostile]] = {
    **_of("once2", SHAPES),
    **_of("once2", NAMED),
    **_of("once2", CALLS),
    **_of("once2", DATA),
    **_of("once2", COSTS),
    **_of("once2.zstd", PRESSED, "compressed: "),
    **_of("msgpack", LANGGRAPH, "LangGraph: "),
    **_of("msgpack", LANGGRAPH_COSTS, "LangGraph: "),
    **_of("msgpack.zstd", LANGGRAPH_COSTS, "LangGraph, compressed: "),
    **_of("json", LANGGRAPH_JSON, "JSON: "),
}
