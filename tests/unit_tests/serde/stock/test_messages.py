"""Messages rebuilt without validation are what validation makes of the same bytes."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import langchain_core.messages as lc
import ormsgpack
import pydantic
import pytest
from hypothesis import HealthCheck, given, strategies as st
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.errors import PayloadError
from langgraph_once.serde import OnceSerializer, messages as fast
from tests.examples import examples
from tests.unit_tests.serde.fidelity.kinds import Level
from tests.unit_tests.serde.law.values import Mode, Text

CLASSES: list[type[lc.BaseMessage]] = [cls for cls, _, _ in fast._CLASSES]
METHOD = "model_validate_json"


class Kind(StrEnum):
    HUMAN = "human"
    TOOL = "tool"


TEXT = st.text("abc\u00e9", max_size=3)
VALUES: list[Any] = [
    *(None, 0, 1.5, True, "", b"x", [], {}, [1], ["a"], [None], {"a": 1}, {1: 2}, (), set()),
    *(Mode.FAST, Level.LOW, Text("x"), [{"type": "text"}], [[]], {"tool_calls": [{}]}, "other"),
    *(
        *(Text(kind) for kind in ("human", "ai", "tool", "remove", "success")),
        Kind.HUMAN,
        Kind.TOOL,
    ),
]
CALL = {"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}
USAGE = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
DETAILS = {"audio": 1, "cache_creation": 2, "cache_read": 3}
RAW = {"id": "c", "function": {"name": "f", "arguments": '{"a": 1}'}}
PLENTY: dict[str, list[Any]] = {
    "additional_kwargs": [{"tool_calls": [RAW]}, {"tool_calls": []}, {"tool_calls": None}],
    "tool_calls": [
        *([CALL | {key: value}] for key in CALL for value in VALUES),
        *([CALL | {"args": {key: 1}}] for key in (1, Text("x"), Mode.FAST, "a")),
        *([{k: v for k, v in CALL.items() if k != gone}] for gone in CALL),
        *([dict(reversed(CALL.items()))], [CALL | {"extras": {}}], [CALL, None], (CALL,), [CALL]),
    ],
    "usage_metadata": [
        *(USAGE | {key: value} for key in (*USAGE, "more") for value in (*VALUES, "3", 2.0)),
        *({k: v for k, v in USAGE.items() if k != gone} for gone in USAGE),
        dict(reversed(USAGE.items())),
        *(
            USAGE | {key: value}
            for key in ("input_token_details", "output_token_details")
            for value in (*VALUES, DETAILS, dict(reversed(DETAILS.items())), DETAILS | {"b": 1})
        ),
        *(USAGE | {"input_token_details": DETAILS | {k: v}} for k in DETAILS for v in VALUES),
        USAGE | {"output_token_details": {}, "input_token_details": {}},
        USAGE | {"input_token_details": {}, "output_token_details": {"reasoning": 1}},
        {"input_token_details": {}} | USAGE,
        dict(reversed(USAGE.items())) | {"input_token_details": {}},
    ],
    "tool_call_chunks": [
        [{"name": "f", "args": "{}", "id": "c", "index": 0, "type": "tool_call_chunk"}]
    ],
    "invalid_tool_calls": [
        [{"name": "f", "args": "{", "id": "c", "error": None, "type": "invalid_tool_call"}]
    ],
    "chunk_position": ["last"],
    "status": ["error", "success"],
}
ODD = st.sampled_from(VALUES)
DICTS = st.dictionaries(TEXT | st.integers(0, 3), ODD | TEXT, max_size=2)
COUNTS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("audio", "cache_creation", "cache_read", "more"), st.integers())
)
USAGES = st.fixed_dictionaries(
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
    "usage_metadata": st.none() | USAGES,
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
def test_a_message_that_is_cut_off_is_refused(size: int) -> None:
    name = [lc.HumanMessage.__module__, "HumanMessage"]
    content = write([*name, lc.HumanMessage("x" * size).model_dump(), METHOD])
    for odd in (content[:-1], content[:-20]):
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


def test_an_extension_of_another_form_is_left_to_the_long_way() -> None:
    dump = lc.HumanMessage("x").model_dump()
    name = [lc.HumanMessage.__module__, "HumanMessage"]
    assert fast.rebuild_message([*name, dump, METHOD]) is not None
    for content in ([*name, dump], (*name, dump, METHOD), [*name, [], METHOD], [[], [], {}, 1]):
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


def test_all_classes_are_rebuilt_that_validate_as_was_found() -> None:
    assert {cls.__name__ for cls in CLASSES} == fast._messages().keys()


def test_a_class_that_validates_otherwise_is_validated(monkeypatch: pytest.MonkeyPatch) -> None:
    class Louder(lc.HumanMessage):
        @pydantic.field_validator("id")
        @classmethod
        def louder(cls, text: str) -> str:
            return f"{text}!"

    monkeypatch.setattr(fast, "_CLASSES", ((Louder, {}, None),))
    fast._messages.cache_clear()
    try:
        assert fast._messages() == {}
        serde = OnceSerializer()
        message = lc.HumanMessage("x")
        assert serde.loads_typed(JsonPlusSerializer().dumps_typed(message)) == message
    finally:
        fast._messages.cache_clear()
