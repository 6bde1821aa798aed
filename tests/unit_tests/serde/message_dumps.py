"""What might be the dump of a message: usual ones, and ones with something odd in them."""

from __future__ import annotations

import copy
from enum import StrEnum
from typing import Any

import langchain_core.messages as lc
from hypothesis import strategies as st

from langgraph_once.serde.codecs.langgraph.read import messages as fast

from .msgpack_classes import Rank, Text, Word

CLASSES: list[type[lc.BaseMessage]] = [cls for cls, _, _ in fast._CLASSES]  # type: ignore[misc]  # its elements are tuples of three kinds
METHOD = "model_validate_json"


class Kind(StrEnum):
    HUMAN = "human"
    TOOL = "tool"


TEXT = st.text("abc\u00e9", max_size=3)
VALUES: list[Any] = [
    *(None, 0, 1.5, True, "", b"x", [], {}, [1], ["a"], [None], {"a": 1}, {1: 2}, (), set()),
    *(Word.YES, Rank.LOW, Text("x"), [{"type": "text"}], [[]], {"tool_calls": [{}]}, "other"),
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
        *([CALL | {"args": {key: 1}}] for key in (1, Text("x"), Word.YES, "a")),
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
