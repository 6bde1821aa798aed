"""`once` for a reader that understands removals and edits, as `ChannelStreamingProcessor` does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from langgraph.pregel import Pregel

from langgraph_once import DedupConfig, once

G = TypeVar("G", bound=Pregel[Any, Any, Any, Any])


def exactly(graph: G, config: DedupConfig | None = None, **options: Any) -> G:
    """`once(graph)` whose streams are exact; the arguments are the same."""
    config = config or DedupConfig()
    return once(
        graph, replace(config, form="exact") if config.form == "auto" else config, **options
    )
