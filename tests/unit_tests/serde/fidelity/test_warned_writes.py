"""What a new process may not read is written all the same, and one warning says what to set."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer
from tests.unit_tests.serde.fidelity import kinds as k

HERE = k.__name__
GENERICS = """
from typing import Generic, TypeVar
from pydantic import BaseModel

T = TypeVar("T")

class Quiet(BaseModel, Generic[T]):
    x: T

class Hooked(BaseModel, Generic[T]):
    x: T

    @classmethod
    def __pydantic_init_subclass__(cls, **given):
        pass
"""


class Hooked(dict[str, Any]):
    """A subclass of a builtin that wants to know what it is filled with."""

    def __del__(self) -> None:
        pass


class Client:
    """An object of no kind that is known to run nothing."""

    def __init__(self) -> None:
        self.url = "x"


def made_in_a_function() -> Any:
    @dataclass
    class Local:
        text: str

    return Local("x")


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that makes an instance of a class in a module that is imported only then."""

    def make() -> Any:
        module = ModuleType("late_module")
        monkeypatch.setitem(sys.modules, "late_module", module)
        exec("from dataclasses import dataclass\n@dataclass\nclass Late:\n    x: int", vars(module))
        return module.__dict__["Late"](1)

    return make


def warnings_of(
    caplog: pytest.LogCaptureFixture, *values: Any, serde: OnceSerializer | None = None
) -> list[str]:
    """Return what is logged when each of the values is written three times."""
    serde = serde or OnceSerializer(SerdeConfig())
    with caplog.at_level(logging.DEBUG):
        for _ in range(3):
            for value in values:
                serde.dumps_typed({"it": value() if callable(value) else [value]})
    assert all(record.levelno == logging.WARNING for record in caplog.records)
    return [record.getMessage() for record in caplog.records]


def setting(*names: str) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return f"ONCE_SERDE__ALLOWED_TYPES='[{listed}]'"


def test_a_class_that_is_made_in_a_function_has_no_setting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    (warning,) = warnings_of(caplog, made_in_a_function())
    assert warning.startswith(f"Stored {__name__}:made_in_a_function.<locals>.Local (of this ")
    assert "Opaque" in warning
    assert "ALLOWED_TYPES" not in warning


def test_a_module_that_is_imported_later(caplog: pytest.LogCaptureFixture, late: Any) -> None:
    serde = OnceSerializer(SerdeConfig())
    serde.dumps_typed({"first": 1})
    (warning,) = warnings_of(caplog, late(), serde=serde)
    assert warning.startswith("Stored late_module:Late: a new process")
    assert setting("late_module:Late") in warning


@pytest.mark.parametrize("value", [Client(), Hooked(a=1)], ids=["object", "hook"])
def test_a_class_whose_code_would_run(caplog: pytest.LogCaptureFixture, value: Any) -> None:
    (warning,) = warnings_of(caplog, value)
    name = f"{__name__}:{type(value).__qualname__}"
    assert warning.startswith(f"Stored {name} (of this project): rebuilding it runs code (")
    assert setting(name) in warning


def test_a_parametrised_class_whose_making_runs_code(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("of_no_project")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(GENERICS, vars(module))
    quiet, hooked = (vars(module)[name][int](x=1) for name in ("Quiet", "Hooked"))
    assert warnings_of(caplog, quiet) == []
    (warning,) = warnings_of(caplog, hooked)
    assert "rebuilding it runs code (__pydantic_init_subclass__)" in warning


@pytest.mark.parametrize("target", [k.Plain, partial(warnings_of)], ids=["class", "function"])
def test_a_class_or_function_by_itself(caplog: pytest.LogCaptureFixture, target: Any) -> None:
    (warning,) = warnings_of(caplog, lambda: [target])
    name = f"{HERE}:Plain" if target is k.Plain else f"{__name__}:warnings_of"
    assert warning.startswith(f"Stored {name} (of this project): a class or function by itself")
    assert setting(name) in warning


def test_the_setting_keeps_what_it_holds(caplog: pytest.LogCaptureFixture) -> None:
    serde = OnceSerializer(SerdeConfig(allowed_types=("app.state:Invoice",)))
    serde = serde.with_msgpack_allowlist([k.Point])  # as of a schema, which is not set by hand
    (warning,) = warnings_of(caplog, Client(), serde=serde)
    assert setting("app.state:Invoice", f"{__name__}:Client") in warning
    assert "Point" not in warning


def test_what_the_setting_does_not_take_is_to_be_marked(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("my-agent")  # as the server calls a graph's file
    monkeypatch.setitem(sys.modules, "my-agent", module)
    exec("class Step:\n    pass", {"__name__": "my-agent"}, vars(module))
    (warning,) = warnings_of(caplog, lambda: module.__dict__["Step"])
    assert "my-agent:Step" in warning
    assert warning.endswith("mark it `@storable`")


def test_ordinary_types_are_written_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    values = (k.Plain("x"), k.Colour.RED, k.Point(1, 2), HumanMessage("hi"), k.Outer.Part("x"))
    assert warnings_of(caplog, *values) == []
