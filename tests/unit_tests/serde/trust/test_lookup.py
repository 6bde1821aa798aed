"""What a name leads to, and that nothing of what is found runs."""

from __future__ import annotations

import re
import sys
from types import ModuleType
from typing import Any

import pytest

from langgraph_once.serde.trust.lookup import (
    declared,
    find,
    find_class,
    is_module_name,
    names_of,
    nested_classes,
)

RAN: list[str] = []


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        RAN.append(name)
        return super().__getattribute__(name)


class Watched(metaclass=Meta):
    class Inner:
        pass

    @staticmethod
    def work() -> None:
        """Do nothing."""


class Lazy(ModuleType):
    def __getattribute__(self, name: str) -> Any:
        RAN.append(name)
        return super().__getattribute__(name)


Alias = Watched
Pattern = re.Pattern
inner = sys.modules["re"]


def function() -> None:
    """Do nothing."""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("Watched",), Watched),
        (("Watched", "Inner"), Watched.Inner),
        (("Watched", "work"), Watched.work),
        (("function",), function),
        (("Alias",), None),
        (("Alias", "Inner"), None),
        (("Pattern",), None),
        (("inner", "Pattern"), None),
        (("inner", "compile"), None),
        (("sys", "modules"), None),
        (("RAN",), None),
        (("Watched", "__dict__"), None),
        (("Watched", "Missing"), None),
        ((), None),
    ],
)
def test_a_lookup_finds_the_class_or_function_that_the_name_says(path: Any, expected: Any) -> None:
    RAN.clear()
    found = find(__name__, path)
    assert (found is expected, RAN) == (True, [])


def test_what_is_imported_there_is_found_only_if_its_own_name_is_not_asked_for() -> None:
    assert find(__name__, ("Pattern",), own_name=False) is re.Pattern
    assert find(__name__, ("RAN",), own_name=False) is None


def test_the_compiler_is_not_found_through_the_modules_of_others() -> None:
    for path in (("enum", "bltns", "compile"), ("enum", "sys"), ("_compiler", "compile")):
        assert find("re", path) is None
        assert find("re", path, own_name=False) is None


def test_a_module_that_is_not_imported_is_not_imported() -> None:
    assert find("antigravity", ("fly",)) is None
    assert "antigravity" not in sys.modules


def test_a_module_that_answers_with_code_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = Lazy("lazy_module")
    monkeypatch.setitem(sys.modules, "lazy_module", lazy)
    RAN.clear()
    assert find("lazy_module", ("Anything",)) is None
    assert RAN == []


def test_a_function_is_no_class() -> None:
    assert find_class(__name__, ("function",)) is None
    assert find_class(__name__, ("Watched",)) is Watched


def test_nested_classes_are_found_by_their_last_name_and_nothing_runs() -> None:
    RAN.clear()
    assert nested_classes(__name__, "Inner") == [vars(Watched)["Inner"]]
    assert "Inner" not in RAN


def test_names_and_declarations_are_read_past_a_metaclass() -> None:
    RAN.clear()
    assert names_of(Watched) == (__name__, "Watched")
    assert type(declared(Watched, "work")) is staticmethod
    assert declared(Watched, "missing", 1) == 1
    assert RAN == []


@pytest.mark.parametrize("name", ["a", "a.b", "__src__agent", "a" * 252, f"a.{'b' * 252}"])
def test_is_module_name_accepts_names_that_a_module_can_have(name: str) -> None:
    assert is_module_name(name)


@pytest.mark.parametrize("name", ["", ".", "a.", "a..b", "a/b", "a" * 253, f"a.{'ä' * 127}"])
def test_is_module_name_refuses_names_that_no_module_can_have(name: str) -> None:
    assert not is_module_name(name)
