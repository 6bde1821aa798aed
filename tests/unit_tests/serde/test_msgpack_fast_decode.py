"""Messages rebuilt without validation are what validation makes of the same bytes."""

from __future__ import annotations

import copy
from typing import Any

import langchain_core.messages as lc
import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.serde import OnceSerializer
from langgraph_once.serde import messages as fast
from langgraph_once.serde.fingerprint import fingerprint

from .msgpack_values import Rank, Text, Word

CLASSES: list[type[lc.BaseMessage]] = [cls for cls, _, _ in fast._CLASSES]
METHOD = "model_validate_json"

TEXT = st.text("abc\u00e9", max_size=3)
ODD = st.sampled_from(
    [
        *(None, 0, 1.5, True, "", b"x", [], {}, [1], ["a"], [None], {"a": 1}, {1: 2}, (), set()),
        *(Word.YES, Rank.LOW, Text("x"), [{"type": "text"}], [[]], {"tool_calls": [{}]}, "tool"),
    ]
)
DICTS = st.dictionaries(TEXT | st.integers(0, 3), ODD | TEXT, max_size=2)
PLENTY: dict[str, list[Any]] = {
    "additional_kwargs": [
        {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
        {"tool_calls": []},
    ],
    "usage_metadata": [
        {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "extra": 4},
        {"output_tokens": 1, "input_tokens": 2, "total_tokens": 3},
        {"input_tokens": 1, "output_tokens": 2.0, "total_tokens": True},
        {"input_tokens": 1, "output_tokens": 2, "total_tokens": "3"},
    ],
    "tool_calls": [
        [{"args": {}, "name": "f", "id": None, "type": "tool_call"}],
        [{"name": "f", "args": {}, "id": "c"}],
        [{"name": "f", "args": {1: 2}, "id": "c", "type": "tool_call"}],
        [{"name": Text("f"), "args": {}, "id": 1, "type": "tool_call"}],
        [{"name": "f", "args": {}, "id": "c", "type": "tool_call", "extras": {}}],
        [{"name": "f", "args": {}, "id": "c", "type": "other"}],
    ],
    "tool_call_chunks": [[{"name": "f", "args": "{}", "id": "c", "index": 0, "type": "x"}]],
    "invalid_tool_calls": [
        [{"name": "f", "args": "{", "id": "c", "error": None, "type": "invalid_tool_call"}]
    ],
}
COUNTS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("audio", "cache_creation", "cache_read", "more"), st.integers())
)
USAGE = st.fixed_dictionaries(
    {name: st.integers() for name in ("input_tokens", "output_tokens", "total_tokens")},
    optional={"input_token_details": COUNTS | ODD, "output_token_details": COUNTS | ODD},
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "name": TEXT,
            "args": st.dictionaries(TEXT | ODD.filter(lambda v: isinstance(v, str)), ODD),
            "id": st.none() | TEXT,
            "type": st.just("tool_call"),
        }
    ),
    max_size=2,
)
USUAL: dict[str, st.SearchStrategy[Any]] = {
    "content": TEXT | st.lists(TEXT | DICTS, max_size=2),
    "additional_kwargs": DICTS,
    "response_metadata": DICTS,
    "name": st.none() | TEXT,
    "id": st.none() | TEXT,
    "tool_calls": CALLS,
    "invalid_tool_calls": st.just([]),
    "usage_metadata": st.none() | USAGE,
    "tool_call_id": TEXT,
    "artifact": ODD,
    "status": st.sampled_from(["success", "error"]),
    "role": TEXT,
    "tool_call_chunks": st.just([]),
    "chunk_position": st.none(),
}


@st.composite
def dumps(draw: Any) -> tuple[type[lc.BaseMessage], dict[str, Any]]:
    """A class, and what might be the dump of one of its messages."""
    cls = draw(st.sampled_from(CLASSES))
    dump = {
        name: copy.deepcopy(draw(USUAL.get(name, st.just(field.default))))
        for name, field in cls.model_fields.items()
    }
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2]))):
        name = draw(st.sampled_from([*dump, "content_blocks", "more"]))
        odd = draw(ODD | st.sampled_from(PLENTY.get(name, [None])))
        match draw(st.sampled_from(["set", "set", "set", "drop", "reorder"])):
            case "set":
                dump[name] = copy.deepcopy(odd)
            case "drop":
                dump.pop(name, None)
            case "reorder" if name in dump:
                dump[name] = dump.pop(name)
    return cls, dump


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


def unvalidated(cls: type, dump: Any) -> Any:
    return fast.rebuild_message([cls.__module__, cls.__name__, copy.deepcopy(dump), METHOD])


@settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=500)
@given(dumps())
def test_what_is_rebuilt_without_validation_is_what_validation_makes(
    made: tuple[type[lc.BaseMessage], dict[str, Any]],
) -> None:
    cls, dump = made
    message = unvalidated(cls, dump)
    if message is not None:
        validated = cls(**copy.deepcopy(dump))
        assert type(message) is cls
        assert exactly(state(message), state(validated))


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("content", ["", "text", ["a", {"type": "text"}]])
def test_ordinary_messages_need_no_validation(cls: type[lc.BaseMessage], content: Any) -> None:
    fields = {"content": content, "id": "1", "name": "f", "role": "r", "tool_call_id": "c"}
    if cls is lc.RemoveMessage:
        fields["content"] = ""
    dump = cls(**{k: v for k, v in fields.items() if k in cls.model_fields}).model_dump()
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
        name: int | None = None  # type: ignore[assignment]

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
