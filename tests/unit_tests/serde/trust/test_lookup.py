"""Names are looked up without running code of what is found."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.lookup import (
    find,
    hook_of,
    imported,
    is_data,
    is_module_name,
    names_of,
)
from tests.unit_tests.serde.trust import places

HERE = places.__name__


class _Lazy(ModuleType):
    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"asked for {name}")

    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # a property hides it
        raise AssertionError("asked for its names")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Record", places.Record),
        ("Old", places.Record),
        ("Ordinary.Inner", places.Ordinary.Inner),
        ("function", places.function),
        ("Called.mro", None),
        ("collections.OrderedDict", None),
        ("enum", None),
        ("HOOKS", None),
        ("Gone", None),
        ("Record.Gone.more", None),
        ("", None),
    ],
)
def test_a_name_leads_to_a_class_or_function_of_the_module(path: str, expected: Any) -> None:
    assert find(HERE, path) is expected
    assert find(HERE, "Called") is places.Called
    assert find("not_imported_by_anybody", path) is None


def test_a_lazy_module_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lazy_of_this_test", _Lazy("lazy_of_this_test"))
    monkeypatch.setitem(sys.modules, "odd_of_this_test", places.Record)
    assert find("lazy_of_this_test", "Record") is None
    assert find("odd_of_this_test", "text") is None


def test_a_nested_class_is_found_by_its_last_name_if_there_is_one() -> None:
    assert find(HERE, "Inner") is places.Ordinary.Inner
    assert find(HERE, "not a name") is None


def test_two_nested_classes_of_one_name_are_not_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("twice_of_this_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec("class A:\n class In: pass\nclass B:\n class In: pass", vars(module))
    assert find(module.__name__, "In") is None


def test_names_are_those_that_the_class_itself_has() -> None:
    assert names_of(places.Called) == (HERE, "Called")
    assert names_of(places.function) == (HERE, "function")
    assert names_of(places.Record()) == (None, None)


@pytest.mark.parametrize("cls", places.DATA)
def test_what_is_data(cls: type) -> None:
    assert is_data(cls)
    assert hook_of(cls) is None


def test_what_is_no_data() -> None:
    for cls in (places.Ordinary, places.Called, threading.Thread, type, object):
        assert not is_data(cls)


def test_hooks_that_run_without_being_asked_are_found() -> None:
    found = [hook_of(cls) for cls in places.HOOKS]
    assert found == ["__del__", "__call__ of its metaclass", "__dict__"]
    assert hook_of(places.Registered) is None
    assert hook_of(places.Ordinary) is None


@pytest.mark.parametrize("value", places.NOTED)
def test_a_metaclass_that_only_takes_part_in_making_classes_is_no_hook(value: Any) -> None:
    """What Python's own `object` has is no code of the class."""
    serde = OnceSerializer()
    assert hook_of(type(value)) is None
    for writer in (serde, JsonPlusSerializer()):
        found = serde.loads_typed(writer.dumps_typed(value))
        assert type(found) is type(value)
        assert found == value


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.b_c.d1", True),
        ("größe", True),
        ("", False),
        ("a..b", False),
        ("a./b", False),
        ("a.b\0", False),
        (".a", False),
        ("1a", False),
        ("unittest.__main__", False),
        ("a" * 300, False),
    ],
)
def test_only_names_of_modules_are_imported(name: str, expected: bool) -> None:
    assert is_module_name(name) is expected


def test_a_module_that_another_thread_fails_to_import_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "failing_of_this_test"
    (tmp_path / f"{name}.py").write_text("import time\ntime.sleep(.3)\nclass Late: pass\n1 / 0")
    monkeypatch.syspath_prepend(str(tmp_path))

    def load() -> None:
        with suppress(ZeroDivisionError):
            importlib.import_module(name)

    thread = threading.Thread(target=load)
    thread.start()
    while name not in sys.modules:
        time.sleep(0.01)
    assert find(name, "Late") is None
    thread.join()
    assert imported(name) is None


def test_a_module_that_another_thread_imports_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_of_this_test.py").write_text("import time\ntime.sleep(.3)\nclass Late: pass")
    monkeypatch.syspath_prepend(str(tmp_path))
    thread = threading.Thread(target=__import__, args=("slow_of_this_test",))
    thread.start()
    while "slow_of_this_test" not in sys.modules:
        time.sleep(0.01)
    assert find("slow_of_this_test", "Late") is not None
    assert imported("slow_of_this_test") is sys.modules.pop("slow_of_this_test")
    thread.join()
