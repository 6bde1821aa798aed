"""docs/checkpoints.md: its examples run, on both databases."""

from __future__ import annotations

from pathlib import Path

from langgraph.graph import START, MessagesState, StateGraph

from tests.docs.snippets import run


async def test_the_examples_of_the_page_on_checkpoints_run(database: str, tmp_path: Path) -> None:
    builder = StateGraph(MessagesState).add_node("n", lambda _: {"messages": "hi"})
    here = {
        "threads.sqlite": str(tmp_path / "threads.sqlite"),
        "postgresql://user@host/database": database,
    }
    scope = {"builder": builder.add_edge(START, "n")}
    names = await run("docs/checkpoints.md", scope, replaced=here)
    assert names["graph"].checkpointer is names["saver"]
