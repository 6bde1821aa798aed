"""The table of trust, cell by cell, and what finds the facts for it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.event_hooks import register_serde_event_listener
from langgraph.types import Send

from langgraph_once.errors import ConfigError, EncodeError, TypeNotAllowedError
from langgraph_once.serde.opaque import UnavailableError
from langgraph_once.serde.trust import TABLE, Enforcement, May, Standing, Trust
from tests.forked import run_python
from tests.unit_tests.serde.trust import places

HERE = places.__name__
ENFORCEMENTS: tuple[Enforcement, ...] = ("strict", "safe", "warn", "open")
MODULE = "from dataclasses import dataclass\n@dataclass\nclass Note:\n    text: str = ''\n"


@pytest.fixture
def events() -> Iterator[list[tuple[str, str]]]:
    heard: list[tuple[str, str]] = []
    stop = register_serde_event_listener(lambda event: heard.append((event["kind"], event["name"])))
    yield heard
    stop()


@pytest.fixture
def unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the name of a class in a module that nobody has imported."""
    (tmp_path / "unknown_of_this_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "unknown_of_this_test:Note"
    sys.modules.pop("unknown_of_this_test", None)


def may(trust: Trust, name: str, *, calls: bool = False) -> bool:
    """Whether instances of a class may be made."""
    try:
        trust.check(trust.find(name), calls=calls)
    except TypeNotAllowedError:
        return False
    return True


def test_the_table_is_that_of_the_documentation() -> None:
    nothing, data, everything = May
    assert {key: [*row.values()] for key, row in TABLE.items()} == {
        "strict": [everything, nothing, nothing],
        "safe": [everything, data, nothing],
        "warn": [everything, everything, everything],
        "open": [everything, everything, everything],
    }
    assert all([*row] == [*Standing] for row in TABLE.values())


@pytest.mark.parametrize("enforcement", ENFORCEMENTS)
@pytest.mark.parametrize("calls", [False, True])
def test_a_listed_class_may_be_made_whatever_it_is(enforcement: Enforcement, calls: bool) -> None:
    trust = Trust(enforcement, [f"{HERE}:Deleting", f"{HERE}:Ordinary"])
    assert may(trust, f"{HERE}:Deleting", calls=calls)
    assert may(trust, f"{HERE}:Ordinary", calls=calls)


@pytest.mark.parametrize("enforcement", ENFORCEMENTS)
@pytest.mark.parametrize("cls", [*places.DATA, places.Ordinary])
def test_a_known_class_may_be_made_as_data(enforcement: Enforcement, cls: type) -> None:
    name = f"{HERE}:{cls.__name__}"
    assert may(Trust(enforcement), name) is (enforcement != "strict")
    assert may(Trust(enforcement), name, calls=True) is (enforcement in ("warn", "open"))


@pytest.mark.parametrize("enforcement", ENFORCEMENTS)
@pytest.mark.parametrize("name", ["Deleting", "Called", "Hiding"])
def test_what_runs_code_by_itself_is_no_data(enforcement: Enforcement, name: str) -> None:
    assert may(Trust(enforcement), f"{HERE}:{name}") is (enforcement in ("warn", "open"))


@pytest.mark.parametrize("enforcement", ENFORCEMENTS)
def test_an_unknown_class_is_imported_only_by_open(enforcement: Enforcement, unknown: str) -> None:
    expected = enforcement in ("warn", "open")
    assert may(Trust(enforcement), unknown) is expected
    assert ("unknown_of_this_test" in sys.modules) is expected


@pytest.mark.parametrize("is_linked", [False, True])
def test_what_the_source_imports_in_a_function_is_known(
    unknown: str, tmp_path: Path, is_linked: bool
) -> None:
    source = tmp_path / "app"
    source.mkdir()
    (source / "graph.py").write_text("def node(state):\n    from unknown_of_this_test import Note")
    (tmp_path / "link").symlink_to("app")
    place = str(tmp_path / "link") if is_linked else str(source)
    assert may(Trust("safe", source=[place]), unknown)


def test_what_a_sealed_row_names_is_known(unknown: str) -> None:
    assert not may(Trust("strict").sealed(), unknown)
    assert may(Trust("safe").sealed(), unknown)
    assert not may(Trust("safe").sealed(), unknown, calls=True)


def test_a_module_of_an_imported_package_is_known() -> None:
    sys.modules.pop("tests.unit_tests.serde.trust.further", None)
    assert may(Trust("safe"), "tests.unit_tests.serde.trust.further:Further")


def test_a_listed_class_is_imported(unknown: str) -> None:
    assert may(Trust("strict", [unknown]), unknown)


@pytest.mark.parametrize("enforcement", ENFORCEMENTS)
def test_data_of_langchain_and_langgraph_and_values_are_listed(enforcement: Enforcement) -> None:
    trust = Trust(enforcement)
    for cls in (AIMessage, Send):
        assert trust.standing(cls) is Standing.LISTED
        assert may(trust, f"{cls.__module__}:{cls.__name__}", calls=True)
    assert may(trust, "collections:OrderedDict")
    assert may(trust, "langchain_core.prompts.prompt:PromptTemplate")


@pytest.mark.parametrize("name", ["subprocess:Popen", "threading:Thread", "functools:partial"])
def test_no_constructor_of_what_is_no_data_may_run(name: str) -> None:
    assert not may(Trust("safe"), name, calls=True)
    with pytest.raises(TypeNotAllowedError):
        Trust("safe").find_named(name)


@pytest.mark.parametrize(
    "name",
    [
        *("builtins:eval", "os:system", "langchain_core.prompts.loading:load_prompt"),
        *(f"{HERE}:function", f"{HERE}:Ordinary"),
        "langgraph.store.base.batch:AsyncBatchedBaseStore",
    ],
)
def test_what_may_do_anything_is_no_value(name: str) -> None:
    with pytest.raises(TypeNotAllowedError):
        Trust("safe").find_named(name)
    assert Trust("safe", [name]).find_named(name) is not None


@pytest.mark.parametrize(
    "name", ["builtins:list", "uuid:uuid4", f"{HERE}:Model", "builtins:ValueError"]
)
def test_classes_of_data_are_values(name: str) -> None:
    assert callable(Trust("safe").find_named(name))


@pytest.mark.parametrize("name", ["unittest.__main__:X", "a./b:X", "json.tool.:X"])
def test_what_is_no_module_is_never_imported(name: str) -> None:
    with pytest.raises((TypeNotAllowedError, UnavailableError)):
        Trust("open").find(name)


def test_an_import_that_ends_the_process_does_not(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "ending_of_this_test.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UnavailableError):
        Trust("open").find("ending_of_this_test:X")


@pytest.mark.parametrize("name", [f"{HERE}:Gone", "builtins:Gone", "no name", 7, None, "a:b:c"])
def test_what_leads_to_nothing_is_unavailable(name: Any) -> None:
    with pytest.raises(UnavailableError):
        Trust("safe").find(name)


def test_an_alias_leads_to_where_the_class_is_today() -> None:
    trust = Trust("safe", aliases={"old.place:Name": f"{HERE}:Record"})
    assert trust.find("old.place:Name") is places.Record
    assert trust.current_name("old.place:Name") == f"{HERE}:Record"


def test_a_renamed_class_is_found_under_the_name_that_was_kept() -> None:
    assert Trust("safe").find(f"{HERE}:Old") is places.Record
    assert may(Trust("strict", [f"{HERE}:Old"]), f"{HERE}:Old")


def test_langgraph_names_nested_classes_without_those_around_them() -> None:
    assert Trust("safe").find(f"{HERE}:Inner") is places.Ordinary.Inner
    strict = Trust("strict", [f"{HERE}:Ordinary.Inner"])
    assert strict.find(f"{HERE}:Inner") is places.Ordinary.Inner
    assert may(Trust("strict").extended([(HERE, "Inner")]), f"{HERE}:Ordinary.Inner")


def test_types_of_a_schema_are_listed() -> None:
    strict = Trust("strict")
    more = strict.extended([places.Record, (HERE, "Model"), f"{HERE}:Pair"])
    assert all(may(more, f"{HERE}:{name}") for name in ("Record", "Model", "Pair"))
    assert not may(strict, f"{HERE}:Record")
    assert more.extended([places.Record]) is more
    assert strict.extended(more.listed).listed == more.listed


@pytest.mark.parametrize("entries", ["text", 7, [7], [("only",)], [("a", 7)]])
def test_an_allowlist_of_something_else_is_an_error(entries: Any) -> None:
    with pytest.raises(ConfigError):
        Trust().extended(entries)


def test_a_refusal_is_told_each_time_and_logged_once(
    events: list[tuple[str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    trust = Trust("safe")
    for _ in range(2):
        assert not may(trust, f"{HERE}:Deleting")
    assert events == [("msgpack_blocked", "Deleting")] * 2
    (record,) = caplog.records
    assert f'add "{HERE}:Deleting" to `allowed_types`' in record.getMessage()


@pytest.mark.parametrize(("enforcement", "logged"), [("open", 0), ("warn", 1)])
def test_open_tells_of_what_is_not_listed(
    enforcement: Enforcement,
    logged: int,
    events: list[tuple[str, str]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    trust = Trust(enforcement)
    assert may(trust, f"{HERE}:Record")
    assert may(trust, f"{HERE}:Record")
    assert events == [("msgpack_unregistered_allowed", "Record")] * 2
    assert len(caplog.records) == logged


def test_the_warnings_of_a_process_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "langgraph_once.serde.trust")
    trust = Trust("safe")
    for number in range(1500):
        may(trust, f"gone_{number}:X")
    assert len(trust._warned) == 1000  # nothing else shows it


def test_strict_does_not_write_what_it_would_not_read() -> None:
    with pytest.raises(EncodeError, match="Record"):
        Trust("strict").check_written(places.Record, calls=False)
    Trust("strict", [f"{HERE}:Record"]).check_written(places.Record, calls=False)
    Trust("strict").check_written(dict, calls=False)


@pytest.mark.parametrize(
    ("cls", "calls", "told"),
    [
        (places.Record, False, ""),
        (places.Record, True, "its own way of being restored"),
        (places.Deleting, False, "__del__"),
        (type("Local", (), {"__qualname__": "f.<locals>.Local"}), False, "no reader finds"),
    ],
)
def test_safe_warns_of_what_a_new_process_may_not_load(
    cls: type, calls: bool, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    trust = Trust("safe")
    for _ in range(2):
        trust.check_written(cls, calls=calls)
    assert [told in record.getMessage() for record in caplog.records] == ([True] if told else [])


def test_safe_warns_of_a_package_that_was_imported_later(
    unknown: str, caplog: pytest.LogCaptureFixture
) -> None:
    trust = Trust("safe")
    trust.check_written(places.Record, calls=False)
    cls = Trust("open").find(unknown)
    trust.check_written(cls, calls=False)
    assert "nothing imports its package" in caplog.text


def test_nothing_is_imported_for_a_refused_row() -> None:
    code = (
        "import sys; from langgraph_once.serde.trust import Trust\n"
        "try: Trust('safe').find('antigravity:X')\n"
        "except Exception: pass\n"
        "print('antigravity' in sys.modules)"
    )
    assert run_python("-c", code).stdout == "False\n"
