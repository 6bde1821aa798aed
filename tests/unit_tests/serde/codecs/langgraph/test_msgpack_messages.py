"""Messages rebuilt without validation are what validation makes of the same bytes."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

import langchain_core.messages as lc
import ormsgpack
import pydantic
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.errors import PayloadError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.langgraph.read import messages as fast
from langgraph_once.serde.codecs.langgraph.read.messages import fingerprint
from tests.examples import examples
from tests.unit_tests.serde.message_dumps import CALL, CLASSES, METHOD, PLENTY, VALUES, dumps


def exactly(one: Any, other: Any) -> bool:
    """Equal, of equal types, in equal order, all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return exactly([*one.items()], [*other.items()])
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(exactly, one, other))
    return bool(one == other)


def state(message: lc.BaseMessage) -> list[Any]:
    """All that pydantic keeps of a message."""
    return [
        message.__dict__,
        message.__pydantic_fields_set__,
        message.__pydantic_extra__,
        message.__pydantic_private__,
    ]


def write(value: Any) -> bytes:
    return ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)


def read(data: bytes) -> Any:
    return ormsgpack.unpackb(data, option=ormsgpack.OPT_NON_STR_KEYS)


def extension(cls: type, dump: Any) -> ormsgpack.Ext:
    return ormsgpack.Ext(5, write([cls.__module__, cls.__name__, dump, METHOD]))


def unvalidated(cls: type, dump: Any) -> Any:
    return fast.rebuild_message([cls.__module__, cls.__name__, copy.deepcopy(dump), METHOD])


def agrees(cls: type[lc.BaseMessage], dump: Any) -> bool:
    """Whether the short way gives up, or ends where the long way does."""
    message = unvalidated(cls, dump)
    if message is None:
        return True
    validated = cls(**copy.deepcopy(dump))
    return type(message) is cls and exactly(state(message), state(validated))


@examples(60, suppress_health_check=list(HealthCheck))
@given(dumps())
def test_what_is_rebuilt_without_validation_is_what_validation_makes(
    made: tuple[type[lc.BaseMessage], dict[str, Any]],
) -> None:
    assert agrees(*made)


@examples(30, suppress_health_check=list(HealthCheck))
@given(st.lists(dumps(), min_size=1, max_size=4), st.booleans())
def test_the_bytes_of_dumps_become_what_validation_makes(
    made: list[tuple[type[lc.BaseMessage], dict[str, Any]]],
    large: bool,
) -> None:
    if large:  # contents that are measured, before such as are not
        made = [(cls, dump | {"content": "x" * 3000}) for cls, dump in made] + made
    try:
        validated = [cls(**copy.deepcopy(read(write(dump)))) for cls, dump in made]
    except Exception:  # of whatever kind: such a dump is rebuilt unchecked
        return
    data = write([extension(cls, dump) for cls, dump in made])
    found = OnceSerializer().loads_typed(("msgpack", data))
    for message, expected in zip(found, validated, strict=True):
        assert type(message) is type(expected)
        assert exactly(state(message), state(expected))


def test_messages_share_nothing() -> None:
    data = JsonPlusSerializer().dumps_typed([lc.HumanMessage("a"), lc.HumanMessage("b")])
    one, other = OnceSerializer().loads_typed(data)
    one.more = 1
    one.additional_kwargs["x"] = 1
    assert "more" not in other.model_fields_set
    assert other == lc.HumanMessage("b")


def test_messages_with_objects_and_odd_keys_in_them_are_read_beside_others() -> None:
    now = datetime(2025, 1, 2, tzinfo=UTC)
    messages = [
        lc.HumanMessage("a", id="1"),
        lc.ToolMessage("b", tool_call_id="c", artifact={"when": now, "inner": lc.AIMessage("x")}),
        lc.AIMessage("c", tool_calls=[{"name": "f", "args": {}, "id": "c", "type": "tool_call"}]),
        lc.HumanMessage("d", additional_kwargs={1: 2, "m": {(1, 2): 3}}),
        lc.HumanMessage("e" * 5000),
        lc.AIMessage("f", response_metadata={"n": {None: 1}}),
    ]
    for order in (messages, messages[::-1], messages * 30):
        data = JsonPlusSerializer().dumps_typed(order)
        found, expected = OnceSerializer().loads_typed(data), JsonPlusSerializer().loads_typed(data)
        assert exactly([*map(state, found)], [*map(state, expected)])


@pytest.mark.parametrize("size", [10, 5000])
@pytest.mark.parametrize(
    "rest", [b"\xc0", b"\xb3model_validate_json", b"\x92", write(["x", METHOD])]
)
def test_bytes_after_a_message_are_refused(size: int, rest: bytes) -> None:
    name = [lc.HumanMessage.__module__, "HumanMessage"]
    content = write([*name, lc.HumanMessage("x" * size).model_dump(), METHOD])
    for odd in (content + rest, content[:-1], content[:-20]):
        with pytest.raises(PayloadError):
            OnceSerializer().loads_typed(("msgpack", write([ormsgpack.Ext(5, odd)])))


@pytest.mark.parametrize("cls", CLASSES)
def test_no_odd_value_passes_without_validation(cls: type[lc.BaseMessage]) -> None:
    usual = ordinary(cls, "x").model_dump()
    assert unvalidated(cls, usual) is not None
    for name in usual:
        for value in (*VALUES, *PLENTY.get(name, ())):
            assert agrees(cls, usual | {name: value}), (name, value)
        rest = {k: v for k, v in usual.items() if k != name}
        assert agrees(cls, rest), name
        assert agrees(cls, rest | {name: usual[name]}), name
    assert agrees(cls, usual | {"more": 1})


def test_no_odd_value_passes_beside_calls_either() -> None:
    usual = lc.AIMessage("x", tool_calls=[CALL]).model_dump()
    for cls in (lc.AIMessage, lc.AIMessageChunk):
        fields = cls(content="x").model_dump()
        for raw in PLENTY["additional_kwargs"]:
            assert agrees(
                cls, fields | {"tool_calls": usual["tool_calls"], "additional_kwargs": raw}
            )
        for invalid in PLENTY["invalid_tool_calls"]:
            assert agrees(cls, fields | {"invalid_tool_calls": invalid})


@pytest.mark.parametrize("method", ["", "construct", b"model_validate_json", None])
def test_an_extension_of_another_form_is_left_to_the_long_way(method: Any) -> None:
    dump = lc.HumanMessage("x").model_dump()
    name = [lc.HumanMessage.__module__, "HumanMessage"]
    assert fast.rebuild_message([*name, dump, METHOD]) is not None
    for content in (
        [*name, dump, method],
        [*name, dump],
        (*name, dump, METHOD),
        [*name, [], METHOD],
    ):
        assert fast.rebuild_message(content) is None


def ordinary(cls: type[lc.BaseMessage], content: Any) -> lc.BaseMessage:
    fields = {"content": content, "id": "1", "name": "f", "role": "r", "tool_call_id": "c"}
    if cls is lc.RemoveMessage:
        fields["content"] = ""
    return cls(**{k: v for k, v in fields.items() if k in cls.model_fields})


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("content", ["", "text", ["a", {"type": "text"}]])
def test_ordinary_messages_need_no_validation(cls: type[lc.BaseMessage], content: Any) -> None:
    dump = ordinary(cls, content).model_dump()
    assert exactly(state(unvalidated(cls, dump)), state(cls(**copy.deepcopy(dump))))


def test_calls_and_usage_need_no_validation_either() -> None:
    usage: Any = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    usage["input_token_details"] = {"cache_read": 1}
    call: Any = {"name": "f", "args": {"a": [1]}, "id": "c"}
    message = lc.AIMessage([{"type": "text"}], tool_calls=[call], usage_metadata=usage)
    assert unvalidated(lc.AIMessage, message.model_dump()) == message


@pytest.mark.parametrize("cls", CLASSES)
def test_the_installed_classes_are_the_known_ones(cls: type[lc.BaseMessage]) -> None:
    assert fingerprint(cls) in fast._FINGERPRINTS


def test_a_class_that_validates_otherwise_has_another_fingerprint() -> None:
    class Same(lc.HumanMessage):
        pass

    class Checked(lc.HumanMessage):
        @pydantic.model_validator(mode="after")
        def _check(self) -> Any:
            return self

    class Initialised(lc.HumanMessage):
        def __init__(self, content: Any = None, **kwargs: Any) -> None:
            super().__init__(content, **kwargs)

    class Typed(lc.HumanMessage):
        name: int | None = None  # type: ignore[assignment]  # another type is what is tested

    found = {fingerprint(cls) for cls in (Same, Checked, Initialised, Typed)}
    assert len(found) == 4


def test_a_class_with_an_unknown_fingerprint_is_validated(monkeypatch: pytest.MonkeyPatch) -> None:
    message = lc.HumanMessage("x")
    monkeypatch.setattr(fast, "_FINGERPRINTS", frozenset())
    fast._known.cache_clear()
    try:
        assert unvalidated(lc.HumanMessage, message.model_dump()) is None
        serde = OnceSerializer()
        assert serde.loads_typed(JsonPlusSerializer().dumps_typed(message)) == message
    finally:
        fast._known.cache_clear()


def test_a_class_without_source_has_no_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_source(_: Any) -> str:
        raise OSError

    monkeypatch.setattr("inspect.getsource", no_source)
    assert fingerprint(lc.HumanMessage) == ""
