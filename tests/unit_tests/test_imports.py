"""What an import costs who has LangGraph: only what the name asked for needs."""

from __future__ import annotations

import functools
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import langgraph_once
from langgraph_once.lazy import lazily
from tests.forked import clean_environ

UPSTREAM = "import langgraph.graph, langgraph.func, langgraph.pregel, langgraph.checkpoint.base"
HEAVY = {"cryptography", "httpx", "langgraph_sdk", "pydantic_settings", "sqlite3", "starlette"}
ROOMS = {"checkpoint", "compare", "events", "platform", "remote", "serde", "store"}


def python(script: str) -> Any:
    """Run `script` in a new Python, and return the JSON that it prints."""
    command = [sys.executable, "-c", f"import json, sys\n{script}"]
    done = subprocess.run(
        command, env=clean_environ(), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@functools.cache
def loaded() -> set[str]:
    """The modules that the package loads beside those of LangGraph."""
    return set(
        python(
            f"{UPSTREAM}\nbefore = set(sys.modules)\nimport langgraph_once\n"
            "print(json.dumps(sorted(set(sys.modules) - before)))"
        )
    )


def test_the_package_loads_no_package_that_langgraph_does_not_load() -> None:
    packages = {name.partition(".")[0] for name in loaded()}
    assert not packages & HEAVY
    assert packages - sys.stdlib_module_names == {"langgraph_once"}


def test_the_package_loads_what_streams_need_and_no_other_room() -> None:
    assert "langgraph_once.stream.graph" in loaded()
    assert not loaded() & {f"langgraph_once.{room}" for room in ROOMS}


def test_cryptography_is_loaded_with_the_first_key() -> None:
    is_loaded = "is_loaded.append('cryptography' in sys.modules)"
    assert python(
        f"{UPSTREAM}\nis_loaded = []\n"
        "from langgraph_once import OnceSerializer, SerdeConfig\n"
        "from langgraph_once.checkpoint import open_saver\n"
        f"serde = OnceSerializer()\n{is_loaded}\n"
        f"OnceSerializer(SerdeConfig(encryption_keys={{'k': {'A' * 43 + '='!r}}}))\n{is_loaded}\n"
        "print(json.dumps(is_loaded))"
    ) == [False, True]


def test_each_public_name_can_be_had_and_is_listed() -> None:
    missing = python(
        "import langgraph_once\n"
        "listed = set(langgraph_once.__all__) - set(dir(langgraph_once))\n"
        "exec('from langgraph_once import *', here := {})\n"
        "print(json.dumps(sorted(listed | (set(langgraph_once.__all__) - here.keys()))))"
    )
    assert missing == []


def test_a_room_is_an_attribute_of_the_package_as_before() -> None:
    rooms = ["serde", "events", "remote"]  # none of which loads one after it
    assert python(
        "import langgraph_once\n"
        f"loaded = [vars(langgraph_once).keys() & {{room}} for room in {rooms}]\n"
        f"found = [getattr(langgraph_once, room).__name__ for room in {rooms}]\n"
        "print(json.dumps([*map(list, loaded), *found]))"
    ) == [[], [], [], *(f"langgraph_once.{room}" for room in rooms)]


def test_a_name_is_the_one_of_its_room_and_is_asked_for_once() -> None:
    events = importlib.import_module("langgraph_once.events")
    assert langgraph_once.Transcript is events.Transcript
    assert vars(langgraph_once)["Transcript"] is events.Transcript


def test_a_misspelt_name_is_told_as_python_tells_it() -> None:
    with pytest.raises(AttributeError, match="'langgraph_once' has no attribute 'ones'"):
        _ = langgraph_once.ones  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'ones'"):
        exec("from langgraph_once import ones")


def test_a_room_that_cannot_be_imported_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lacks_a_name.py").write_text("import json\njson.gone\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    find, _ = lazily(__name__, {"lacks_a_name": ("given",)})
    with pytest.raises(ImportError, match=r"lacks_a_name cannot be imported: .* 'gone'"):
        find("given")


def test_names_are_had_in_an_event_loop_that_must_not_block() -> None:
    assert (
        python(
            "import asyncio, langgraph_once\n"
            "from blockbuster import blockbuster_ctx\n"
            "async def serve():\n"
            "    with blockbuster_ctx():\n"
            "        for name in langgraph_once.__all__:\n"
            "            getattr(langgraph_once, name)\n"
            f"        keys = {{'k': {'A' * 43 + '='!r}}}\n"
            "        config = langgraph_once.SerdeConfig(encryption_keys=keys)\n"
            "        serde = langgraph_once.OnceSerializer(config)\n"
            "        return serde.loads_typed(serde.dumps_typed('said'))\n"
            "print(json.dumps(asyncio.run(serve())))"
        )
        == "said"
    )
