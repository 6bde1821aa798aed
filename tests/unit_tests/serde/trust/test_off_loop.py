"""Nothing is asked of the disk in an event loop, whatever is written or read there."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer, lookup, messages
from langgraph_once.serde.lookup import off_loop
from tests.forked import run_python

NOTE = "from dataclasses import dataclass, field\n@dataclass\nclass Note:\n    text: str\n"
FACTORY = f"{NOTE}    made: list = field(default_factory=lambda: [1])\n"
DELETED = f"{NOTE}    def __del__(self): pass\n"


@pytest.fixture(autouse=True)
def nothing_is_known() -> Iterator[None]:
    """Forget what the disk was asked before, as in a new process."""
    lookup._of_places.cache_clear()
    messages._messages.cache_clear()
    yield
    sys.modules.pop("linked_notes", None)


@pytest.fixture
def import_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Import `Note` from a folder behind a symbolic link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.syspath_prepend(str(tmp_path / "link"))
    monkeypatch.chdir(tmp_path)

    def import_note(source: str) -> Any:
        (tmp_path / "real" / "linked_notes.py").write_text(source)
        importlib.invalidate_caches()
        return importlib.import_module("linked_notes").Note

    return import_note


@pytest.mark.parametrize("source", [NOTE, FACTORY, DELETED], ids=["plain", "factory", "hook"])
@pytest.mark.parametrize("folders", [(), (".",), ("link",)], ids=["none", "here", "linked"])
@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("enforcement", ["safe", "warn", "open"])
async def test_a_class_behind_a_link_is_written_and_read(
    import_note: Callable[[str], Any],
    source: str,
    folders: tuple[str, ...],
    is_late: bool,
    enforcement: Any,
) -> None:
    with blockbuster_ctx():
        serde = OnceSerializer(SerdeConfig(enforcement=enforcement, source=folders))
        if is_late:
            serde.dumps_typed({"first": 1})
    cls = import_note(source)
    with blockbuster_ctx():
        found = serde.loads_typed(serde.dumps_typed(cls("x")))
        upstream = OnceSerializer(SerdeConfig(enforcement=enforcement, source=folders))
        old = upstream.loads_typed(JsonPlusSerializer().dumps_typed(cls("x")))
    kept = source is not DELETED or enforcement != "safe"
    assert isinstance(found, cls) == kept
    assert isinstance(old, cls) == kept


async def test_a_module_of_the_project_is_imported_for_a_row(
    import_note: Callable[[str], Any], tmp_path: Path
) -> None:
    row = OnceSerializer().dumps_typed(import_note(NOTE)("x"))
    (tmp_path / "real" / "graph.py").write_text("import linked_notes")
    del sys.modules["linked_notes"]
    with blockbuster_ctx():
        serde = OnceSerializer(SerdeConfig(source=(".", "link/graph.py")))
        assert serde.loads_typed(row).text == "x"


async def test_messages_of_langgraph_are_read_behind_linked_libraries(
    import_note: Callable[[str], Any],
) -> None:
    import_note(NOTE)  # the source of a message is looked for in all modules
    row = JsonPlusSerializer().dumps_typed([AIMessage("said", id="1")])
    with blockbuster_ctx():
        assert OnceSerializer().loads_typed(row) == [AIMessage("said", id="1")]


async def test_an_error_is_raised_where_it_was_asked() -> None:
    with pytest.raises(ZeroDivisionError):
        off_loop(lambda: 1 / 0)
    assert off_loop(str, 1) == "1"


def test_a_loop_that_runs_while_a_module_is_imported_does_not_wait_for_ever(tmp_path: Path) -> None:
    (tmp_path / "running.py").write_text(
        f"{NOTE}"
        "import asyncio\n"
        "from langgraph_once.serde import OnceSerializer\n"
        "async def main():\n"
        "    serde = OnceSerializer()\n"
        "    return serde.loads_typed(serde.dumps_typed(Note('x')))\n"
        "print(asyncio.run(main()))\n"
    )
    assert "Note(text='x')" in run_python("-c", "import running", cwd=tmp_path).stdout
