"""An exception is stored, whatever it holds, and says what it lacks."""

from __future__ import annotations

import logging
import threading
from typing import Any

import httpx
import pytest
from langgraph_sdk.errors import NotFoundError

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError
from langgraph_once.serde import OnceSerializer, Unstored, UnstoredError
from langgraph_once.serde.codecs.once1.types.python import exceptions
from tests.unit_tests.serde.strictly import strict_config

HTTP_ERROR = "httpx:HTTPStatusError"
LOCK = threading.Lock()
HERE = __name__


class LockedError(Exception):
    """Holds what nobody can store."""

    def __init__(self, message: str, **attributes: Any) -> None:
        super().__init__(message)
        self.lock = LOCK
        self.__dict__.update(attributes)


class TalkativeError(Exception):
    """Says what a part of it says."""

    def __init__(self, part: Any) -> None:
        super().__init__("no")
        self.part = part

    def __str__(self) -> str:
        return f"the lock is {self.part.locked()}"


class BrokenError(LockedError):
    def __str__(self) -> str:
        raise KeyError("secret")


class HidingError(LockedError):
    def __init__(self) -> None:
        super().__init__("hiding")
        self.__dict__["with_traceback"] = 1


NAMES = ("LockedError", "TalkativeError", "BrokenError", "HidingError")


def serde(**settings: Any) -> OnceSerializer:
    allowed = (HTTP_ERROR, *(f"{HERE}:{name}" for name in NAMES))
    return OnceSerializer(strict_config(codec="once1", **({"allowed_types": allowed} | settings)))


def back(error: BaseException, **settings: Any) -> Any:
    reader = serde(**settings)
    return reader.loads_typed(reader.dumps_typed(error))


def get_failing_page() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(500, text="secret page"))
    with httpx.Client(transport=transport) as client:
        client.get("http://example.org/page").raise_for_status()


def http_error() -> httpx.HTTPStatusError:
    with pytest.raises(httpx.HTTPStatusError) as caught:
        get_failing_page()
    return caught.value


def test_the_class_the_text_and_the_other_parts_stay() -> None:
    error = http_error()
    error.add_note("seen twice")
    again = back(error)
    assert type(again) is httpx.HTTPStatusError
    assert (str(again), again.args) == (str(error), error.args)
    assert again.__notes__ == ["seen twice"]
    assert vars(again)["response"] == Unstored("httpx:Response")
    assert repr(again.response) == "<Unstored httpx:Response>"
    assert error.__notes__ == ["seen twice"]
    assert isinstance(error.response, httpx.Response)


def test_what_can_be_written_comes_back_as_if_nothing_had_happened() -> None:
    details = {"code": 3, "steps": [(1, LOCK), {"lock": LOCK, "name": "n"}]}
    again = back(LockedError("no", details=details, tags={1, 2}))
    lock = Unstored("_thread:lock")
    assert again.details == {"code": 3, "steps": [(1, lock), {"lock": lock, "name": "n"}]}
    assert (again.tags, again.lock) == ({1, 2}, lock)
    assert details["steps"] == [(1, LOCK), {"lock": LOCK, "name": "n"}]


def test_an_exception_without_such_parts_is_written_exactly(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = ValueError("no", 3)
    assert back(error).args == ("no", 3)
    assert caplog.records == []


def test_what_it_was_raised_from_stays_linked() -> None:
    error, cause = LockedError("outer"), LockedError("inner")
    error.__cause__, error.__context__ = cause, cause
    cause.__context__ = ValueError("first")
    again: Any = back(error)
    assert again.__cause__ is again.__context__
    assert (str(again.__cause__), type(again.__cause__)) == ("inner", LockedError)
    assert again.__cause__.__context__.args == ("first",)
    assert again.__suppress_context__


def test_a_local_class_is_named_and_keeps_its_text_notes_and_cause() -> None:
    class LocalError(Exception):
        pass

    error = LocalError("no luck")
    error.add_note("again")
    error.__cause__ = ValueError(1)
    again = back(error)
    assert type(again) is UnstoredError
    assert again.type_name == f"{HERE}:{LocalError.__qualname__}"
    assert (again.text, str(again)) == ("no luck", f"{again.type_name}: no luck")
    assert again.__notes__ == ["again"]
    assert repr(again.__cause__) == "ValueError(1)"
    twice = back(again)
    assert (twice.args, vars(twice)) == (again.args, vars(again))


def test_a_group_keeps_its_members() -> None:
    class LocalError(Exception):
        pass

    group = ExceptionGroup("several", [ValueError(1), LockedError("a"), LocalError("b")])
    again = back(group)
    assert type(again) is ExceptionGroup
    assert again.message == "several"
    assert [type(part) for part in again.exceptions] == [ValueError, LockedError, UnstoredError]


def test_a_member_raised_out_of_its_group_is_stored() -> None:
    group = ExceptionGroup("several", [LockedError("a")])
    member = group.exceptions[0]
    member.__context__ = group  # as `raise group.exceptions[0]` in an `except` does
    again = back(member)
    assert str(again).endswith("a")


@pytest.mark.parametrize("attribute", ["__cause__", "__context__"])
def test_exceptions_that_lead_back_to_themselves_are_stored(attribute: str) -> None:
    first, second = LockedError("first"), LockedError("second")
    first.__dict__.update(self=first, all=[first, second])
    setattr(first, attribute, second)
    setattr(second, attribute, first)
    again = back(first)
    assert again.self is again
    assert getattr(getattr(again, attribute), attribute) is again
    assert again.all[0] is again


def test_a_text_that_would_change_is_noted() -> None:
    error = ValueError(LOCK)
    again = back(error)
    assert type(again) is ValueError
    assert again.args == (Unstored("_thread:lock"),)
    assert again.__notes__ == [f"Its text was: {error}"]


def test_a_text_that_its_class_can_no_longer_tell_is_kept_for_it() -> None:
    again = back(TalkativeError(LOCK))
    assert (type(again), again.text) == (UnstoredError, "the lock is False")


@pytest.mark.parametrize("error", [BrokenError("no"), HidingError()], ids=repr)
def test_classes_that_misbehave_are_stored(error: Exception) -> None:
    assert isinstance(back(error), (BrokenError, UnstoredError))


def test_no_exception_is_too_long_or_too_deep() -> None:
    first = error = LockedError("x" * 100_000)
    for number in range(2_000):
        error.__context__ = LockedError(str(number), many=[LOCK] * 100)
        error = error.__context__
    nested: Any = LOCK
    for _ in range(5_000):
        nested = [nested]
    first.nested = nested  # type: ignore[attr-defined]  # exceptions take any attribute
    again = back(first)
    assert str(again) == str(first)
    assert type(again.__context__) is LockedError
    for _ in range(33):
        again = again.__context__
    assert type(again) is UnstoredError
    assert again.__context__ is None


def test_only_so_many_parts_are_tried() -> None:
    many = ["a", 1] * 2000 + [{number} for number in range(2000)] + [LOCK]
    items = back(LockedError("no", many=many)).many
    assert items[:4001] == many[:4001]
    assert items[5999] == Unstored("builtins:set")


def test_a_list_that_holds_itself_is_stored() -> None:
    tangled: list[Any] = [LOCK]
    tangled += [tangled] * 20
    assert type(back(LockedError("no", tangled=tangled)).tangled) is list


def test_an_exception_in_a_larger_value_is_not_replaced() -> None:
    with pytest.raises(EncodeError, match="httpx:Request") as caught:
        serde().dumps_typed({"errors": [http_error()]})
    assert caught.value.path == '["errors"][0]._request'


def test_the_log_names_the_part_and_quotes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        back(http_error())
    (record,) = caplog.records
    assert "httpx:Request" in record.getMessage()
    assert "example.org" not in record.getMessage()
    assert "secret" not in record.getMessage()


def test_errors_of_the_sdk_are_stored() -> None:
    response = httpx.Response(404, request=httpx.Request("GET", "http://example.org"))
    error = NotFoundError("gone", response=response, body={"detail": "x"})
    again = back(error, enforcement="open")
    assert isinstance(again, NotFoundError)
    assert again.body == {"detail": "x"}
    assert vars(again)["response"] == Unstored("httpx:Response")


@pytest.mark.parametrize("data", [3, ("a",), {"type_name": 3}])
def test_a_stand_in_is_read_from_its_own_shape_only(data: Any) -> None:
    made = serde().dumps_typed(UnstoredError("m:C", "text"))
    assert b"unstorederror" in made[1]
    [adapter] = [each for each in exceptions.ADAPTERS if each.name == "unstorederror"]
    with pytest.raises(ValueError, match="expected"):
        adapter.decode(data)


@pytest.mark.parametrize("enforcement", ["safe", "open"])
def test_rows_name_what_could_not_be_stored_by_a_name_that_stays(enforcement: Any) -> None:
    reader = OnceSerializer(
        SerdeConfig(codec="msgpack", compression="none", enforcement=enforcement)
    )
    tag, data = reader.dumps_typed(Unstored("a:b"))
    assert b"\xb4langgraph_once.serde\xa8Unstored" in data
    assert reader.loads_typed((tag, data)) == Unstored("a:b")
    # As versions up to 0.1.0 wrote it, in whose package the class was elsewhere.
    old = (
        b"\xc7>\x02\x93\xd9#langgraph_once.serde.once1.unstored\xa8Unstored\x81\xa9type_name\xa3a:b"
    )
    assert reader.loads_typed(("msgpack", old)) == Unstored("a:b")
