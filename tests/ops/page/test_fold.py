"""The page folds view events as `View` does."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from langgraph_once.compare import (
    Began,
    Counts,
    CountsChanged,
    Ended,
    ItemChanged,
    ItemOpened,
    LaneOpened,
    TextAppended,
    View,
    ViewEvent,
    to_dict,
)
from langgraph_once_ops import page

VIEW = Path(page.__file__).parent / "static" / "view.js"

EVENTS: list[ViewEvent] = [
    Began(side="once", thread_id="t", run_id="r"),
    LaneOpened(side="once", lane=0, path=(), number=1),
    LaneOpened(side="once", lane=1, path=("a", "b"), number=2),
    ItemOpened(side="once", item=0, kind="message", lane=1, node="n", name="ai"),
    TextAppended(side="once", item=0, text="Hm. ", kind="reasoning"),
    TextAppended(side="once", item=0, text="Hel"),
    TextAppended(side="once", item=0, text="lo"),
    TextAppended(side="once", item=0, text="lo", mark="repeated"),
    ItemOpened(side="once", item=1, kind="tool_call", lane=0, name="search"),
    TextAppended(side="once", item=1, text="{}"),
    ItemChanged(side="once", item=1, status="completed", value={"args": {}}),
    ItemChanged(side="once", item=1, status="success", value={"result": "found"}),
    ItemOpened(side="once", item=2, kind="interrupt", lane=0, name="i", value="?"),
    ItemChanged(side="once", item=2, status="answered"),
    ItemChanged(side="once", item=0, mark="retracted"),
    CountsChanged(side="once", counts=Counts(repeated=1, bytes=7)),
    ItemOpened(side="once", item=3, kind="message", lane=0, name="ai"),
    TextAppended(side="once", item=3, text="Hm. ", kind="reasoning"),
    TextAppended(side="once", item=3, text="Ha \U0001f600", mark="kept"),
    TextAppended(side="once", item=3, text="!", mark="repaired"),
    ItemChanged(side="once", item=3, repeats=4),
    TextAppended(side="once", item=3, text=" More."),
    Ended(side="once", status="failed", error="no luck"),
    Began(side="stock"),
    ItemOpened(side="stock", item=0, kind="message", lane=0, mark="missing"),
]


def without_nothing(value: Any) -> Any:
    """Without what is None, which JSON of the page leaves out."""
    if isinstance(value, dict):
        return {key: without_nothing(held) for key, held in value.items() if held is not None}
    return [*map(without_nothing, value)] if isinstance(value, list | tuple) else value


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_page_folds_events_as_the_view_does() -> None:
    here = {side: asdict(seen) for side, seen in View(EVENTS).sides.items()}
    for seen in here.values():
        del seen["thread_id"], seen["run_ids"]  # which the page keeps in its address
    told = {"view": VIEW.as_uri(), "events": [to_dict(event) for event in EVENTS]}
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("fold.mjs"))],
        input=json.dumps(told),
        capture_output=True,
        text=True,
        check=True,
    )
    there = json.loads(done.stdout)
    there["stock"]["counts"] = here["stock"]["counts"]  # the page has none yet, and shows zeros
    assert without_nothing(there) == without_nothing(here)
