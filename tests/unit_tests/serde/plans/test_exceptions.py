"""Exceptions come back whole, but for tracebacks; or as class and text."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt
from pydantic import BaseModel, ValidationError

from langgraph_once.serde import OpaqueStr, UnstoredError
from langgraph_once.serde.opaque import UnwritableError
from langgraph_once.serde.plans.exceptions import as_text
from tests.unit_tests.serde.labels import label
from tests.unit_tests.serde.plans.forms import (
    assert_comes_back,
    back,
    each,
    make,
    moved,
    name_of,
    shown,
    stock_shown,
    take,
)


class AppError(Exception):
    """Takes other arguments than it passes on."""

    def __init__(self, code: int, *, hint: str = "") -> None:
        super().__init__(f"failed with {code}")
        self.code = code
        self.hint = hint


class SlottedError(AppError):
    __slots__ = ("size",)
    size: int


@dataclass
class DeclaredError(Exception):
    code: int


class DiskError(OSError):
    pass


class AppGroup(ExceptionGroup[Exception]):
    pass


class GoneError(Exception):
    pass


class BrokenError(Exception):
    def __str__(self) -> str:
        raise KeyError("secret")


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        try:
            raise KeyError("first")
        except KeyError:
            raise error from cause
    except BaseException as caught:
        for one in (caught, caught.__context__):
            if one is not None:
                one.__traceback__ = None
        return caught


def noted(error: BaseException, *notes: str) -> BaseException:
    for note in notes:
        error.add_note(note)
    return error


def sized() -> SlottedError:
    made = SlottedError(5)
    made.size = 2
    return made


SAMPLES: dict[str, BaseException] = {
    "with arguments": ValueError("no", 3, (1, {2})),
    "without arguments": KeyError(),
    "with notes": noted(ValueError("no"), "first", "second"),
    "with a cause": raised(ValueError("no"), TypeError("because")),
    "with a context": raised(ValueError("no")),
    "own __init__": AppError(3, hint="try again"),
    "with slots": sized(),
    "dataclass": DeclaredError(7),
    "OSError": FileNotFoundError(2, "missing", "/tmp/x"),
    "OSError with two files": OSError(2, "no", "a", None, "b"),
    "BlockingIOError": BlockingIOError(11, "no", 5),
    "subclass of OSError": DiskError(28, "full"),
    "UnicodeDecodeError": UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"),
    "UnicodeEncodeError": UnicodeEncodeError("ascii", "☃", 0, 1, "invalid"),
    "UnicodeTranslateError": UnicodeTranslateError("☃", 0, 1, "invalid"),
    "ImportError": ImportError("no", name="n", path="p"),
    "NameError": NameError("no", name="n"),
    "SyntaxError": SyntaxError("bad", ("f.py", 1, 2, "x y")),
    "StopIteration": StopIteration(3),
    "SystemExit": SystemExit(2),
    "group": ExceptionGroup("several", [ValueError(1), AppError(2)]),
    "group of a group": ExceptionGroup("a", [ExceptionGroup("b", [ValueError(1)])]),
    "BaseExceptionGroup": BaseExceptionGroup("a", [KeyboardInterrupt()]),
    "subclass of a group": AppGroup("several", [ValueError(1)]),
    "interrupt": GraphInterrupt((Interrupt(value=(1,), id="i"),)),
    "stand-in": UnstoredError("m:C", "text"),
}


@pytest.mark.parametrize("error", [*SAMPLES.values()], ids=[*SAMPLES])
def test_an_exception_comes_back_as_it_was(error: BaseException) -> None:
    assert_comes_back(error)
    (again,) = back([error])
    assert (str(again), repr(again.args)) == (str(error), repr(error.args))


@pytest.mark.parametrize("attribute", ["__cause__", "__context__"])
def test_exceptions_that_lead_back_to_themselves_come_back_so(attribute: str) -> None:
    first, second = AppError(1), AppError(2)
    setattr(first, attribute, second)
    setattr(second, attribute, first)
    first.__dict__["all"] = [first, second]
    again = back(first)
    assert getattr(getattr(again, attribute), attribute) is again
    assert again.all[0] is again


def test_a_traceback_is_left_out() -> None:
    with pytest.raises(ValueError) as caught:
        make(ValueError, [])
    assert caught.value.__traceback__ is not None
    assert back([caught.value])[0].__traceback__ is None


def test_without_its_class_it_is_the_text_that_langgraph_writes() -> None:
    for error in (GoneError(), GoneError("a"), GoneError("a", (1, 2)), AppGroup("a", [OSError(2)])):
        found = shown(error)
        assert (type(found), found) == (OpaqueStr, stock_shown(error))


def test_what_it_was_raised_from_may_be_of_a_class_that_is_gone() -> None:
    error = ValueError("no")
    error.__cause__ = GoneError("because")
    again = moved_away(error)
    assert (type(again), type(again.__cause__)) == (ValueError, UnstoredError)
    assert again.__cause__.type_name == name_of(GoneError)
    assert "because" in str(again.__cause__)
    group = moved_away(ExceptionGroup("several", [GoneError("a"), ValueError(1)]))
    assert [type(each) for each in group.exceptions] == [UnstoredError, ValueError]


def moved_away(error: BaseException) -> Any:
    """Return what an exception comes back as where `GoneError` is gone."""
    from langgraph_once import OnceSerializer, SerdeConfig

    aliases = {name_of(GoneError): "gone_for_ever:Gone"}
    reader = OnceSerializer(SerdeConfig(compression="none", aliases=aliases))
    return reader.loads_typed(reader.dumps_typed([error]))[0]


def test_what_cannot_be_written_whole_becomes_class_and_text() -> None:
    class Wanting(BaseModel):
        name: str

    with pytest.raises(ValidationError) as caught:
        Wanting(name=3)  # type: ignore[arg-type]  # refused is what it shall be
    with pytest.raises(UnwritableError):
        take(caught.value)
    for error in (caught.value, noted(ValueError("no", threading.Lock()), "note")):
        again = back([error])[0]
        assert (type(again), again.text) == (UnstoredError, str(error))
    assert again.__notes__ == ["note"]


def test_the_text_is_cut_short_and_may_be_unknown() -> None:
    assert len(as_text(ValueError("x" * 100_000)).text) == 20_000
    broken = as_text(BrokenError("no"))
    assert (broken.text, str(broken)) == ("", name_of(BrokenError))
    odd = ValueError("no")
    odd.__notes__ = 3  # type: ignore[assignment]  # that is what is tested
    assert str(as_text(odd)) == "builtins:ValueError: no"


def test_the_stand_in_has_a_name_that_stays() -> None:
    assert name_of(UnstoredError) == "langgraph_once.serde:UnstoredError"


class LaterError(Exception):
    extra: str = "new"


def test_an_exception_moves_with_its_class() -> None:
    assert moved(GoneError("a"), LaterError).args == ("a",)
    assert moved(GoneError("a"), AppGroup) == "GoneError('a')"


NO_LINKS = [None, None, False]
BAD_LINKS: list[Any] = [[], [1, None, False], [None, None, 0]]
NO_EXCEPTIONS: list[Any] = [[], [1], ["a"]]


@pytest.mark.parametrize(
    ("cls", "data"),
    [
        *each(ValueError, [], {}, [[], {}, {}], [(), {}, {}, NO_LINKS]),
        *((ValueError, [[], {}, {}, links]) for links in BAD_LINKS),
        (ValueError, [[], {"errno": 1}, {}, NO_LINKS]),
        (ValueError, [[], {}, {1: 2}, NO_LINKS]),
        (OSError, [[], {"characters_written": "a"}, {}, NO_LINKS]),
        (UnicodeDecodeError, [[], {}, {}, NO_LINKS]),
        (UnicodeDecodeError, [[], dict.fromkeys(("encoding", "reason"), "a"), {}, NO_LINKS]),
        *((ExceptionGroup, ["a", items, [], {}, NO_LINKS]) for items in NO_EXCEPTIONS),
        (ExceptionGroup, ["a", [KeyboardInterrupt()], [], {}, NO_LINKS]),
        (BaseExceptionGroup, ["a", [ValueError()], [], {}, NO_LINKS]),
    ],
    ids=label,
)
def test_data_of_another_shape_are_refused(cls: type, data: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        make(cls, data, cls.__name__)
