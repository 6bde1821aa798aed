"""What cannot be written exactly is written as LangGraph would: no run fails because of ours."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Any

import pytest
from pydantic import BaseModel

from langgraph_once.errors import EncodeError
from langgraph_once.serde import UnstoredError
from tests.unit_tests.serde.core.classes import Box, Knot, Locked, Point, Text, back, once


def test_a_model_with_a_lock_is_made_anew_of_its_fields(caplog: pytest.LogCaptureFixture) -> None:
    found = back({"m": [Locked(name="n"), (1, 2)]}, once())
    assert found["m"][0].name == "n"
    assert type(found["m"][0]) is Locked
    assert found["m"][0]._lock.acquire(blocking=False)
    assert found["m"][1] == (1, 2)
    (told,) = {record.getMessage() for record in caplog.records}
    assert "Locked without some of its parts" in told


def test_only_the_innermost_object_around_it_loses_something() -> None:
    found = back(Knot(label=(1,), links=[Locked(name="n"), {1: "\ud800"}]))
    assert (found.label, found.links[1]) == ((1,), {1: "\ud800"})


def test_a_default_dict_keeps_its_items_and_loses_a_factory_of_nobody() -> None:
    found = back(defaultdict(lambda: threading.Lock(), a=1))
    assert found == {"a": 1}


def test_a_text_that_holds_its_page_becomes_a_text() -> None:
    text = Text("hello")
    text.page = [text]  # type: ignore[attr-defined]
    assert back([text]) == ["hello"]


def test_a_subclass_of_a_list_or_dict_with_a_lock_becomes_one() -> None:
    class Rows(list[Any]):
        pass

    class Table(dict[str, Any]):
        pass

    rows, table = Rows([1, (2,)]), Table(a=1)
    rows.lock, table.lock = threading.Lock(), threading.Lock()  # type: ignore[attr-defined]
    assert back([rows, table]) == [[1, (2,)], {"a": 1}]


def test_an_exception_that_cannot_be_written_becomes_its_text() -> None:
    found = back(ValueError("told", threading.Lock()))
    assert isinstance(found, UnstoredError)
    assert found.type_name == "builtins:ValueError"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (threading.Lock(), ""),
        ({"a": [1, Box({"b": threading.Lock()})]}, "[key 0][1].content[key 0]"),
        ([Point(x=(threading.Lock(),))], "[0].x[0]"),
        ({"\ud800": {1: {threading.Thread}}, "b": threading.Lock()}, "[key 1]"),
    ],
)
def test_what_langgraph_cannot_write_either_is_an_error_with_its_place(
    value: Any, path: str
) -> None:
    with pytest.raises(EncodeError, match="lock") as caught:
        once().dumps_typed(value)
    assert caught.value.path == path


def test_what_contains_itself_and_a_lock_is_an_error_with_its_place() -> None:
    value: list[Any] = [[threading.Lock()]]
    value.append(value)
    with pytest.raises(EncodeError, match="lock") as caught:
        once().dumps_typed(value)
    assert caught.value.path == "[0][0]"


def test_the_path_to_what_stands_deep_leaves_out_its_middle() -> None:
    value = {"a": [frozenset({Box(threading.Lock())})]}
    with pytest.raises(EncodeError) as caught:
        once().dumps_typed(value)
    assert caught.value.path == "[key 0][0]{...}.content"
    deep: Any = threading.Lock()
    for _ in range(40):
        deep = [deep]
    with pytest.raises(EncodeError) as caught:
        once().dumps_typed(deep)
    assert caught.value.path == f"{'[0]' * 12}...{'[0]' * 12}"


def test_an_error_quotes_nothing_of_the_value() -> None:
    class Loud(BaseModel):
        value: Any

        def __getattribute__(self, name: str) -> Any:
            if name == "__dict__":
                raise ValueError("a secret")
            return super().__getattribute__(name)

    with pytest.raises(EncodeError) as caught:
        once().dumps_typed([Loud(value=threading.Lock())])
    assert "secret" not in str(caught.value)
