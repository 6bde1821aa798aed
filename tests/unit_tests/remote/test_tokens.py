"""Tokens: read the quick way, they are what the careful way makes of them."""

from __future__ import annotations

import json
import pickle
from typing import Any

import orjson
import pytest
from hypothesis import example, given, strategies as st
from langchain_core.messages import AIMessageChunk, BaseMessage

from langgraph_once.remote.connection import TokenReader
from langgraph_once.remote.shapes import local_parts
from langgraph_once.stream import Part
from tests.examples import examples

META: dict[str, Any] = {"langgraph_node": "a", "langgraph_path": ["__pregel_pull", "a"]}
USAGE = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
CALL = {"name": "f", "args": "{", "id": "c", "index": 0, "type": "tool_call_chunk"}
TOKEN: dict[str, Any] = AIMessageChunk(content="Ha", id="a").model_dump()
REST = '","additional_kwargs":'

texts = st.one_of(
    st.text(),
    st.sampled_from(["", '"', "\\", '",', '\\"', REST, '"},{"', "\n", "\r\n", "ß", "\u2028"]),
)
contents = st.one_of(
    texts,
    texts,
    st.sampled_from([[{"type": "text", "text": "Ha", "index": 0}], [], None, 5]),
)
varied = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["a", "b", None, 5]),
        "name": st.sampled_from([None, "Ada", "b"]),
        "response_metadata": st.sampled_from([{}, {"provider": "p"}, {"deep": {"er": []}}]),
        "additional_kwargs": st.sampled_from([{}, {"x": 1.0}, {"x": True}, {"tool_calls": []}]),
        "tool_call_chunks": st.sampled_from([[], [CALL]]),
        "usage_metadata": st.sampled_from([None, USAGE, {**USAGE, "input_token_details": {}}]),
        "chunk_position": st.sampled_from([None, "last"]),
        "type": st.sampled_from(["AIMessageChunk", "ai", "x"]),
    },
)
messages = st.builds(lambda text, more: {**TOKEN, **more, "content": text}, contents, varied)
metadata = st.sampled_from(
    [META, {**META, "langgraph_node": "b"}, {}, {**META, "t": [{}, {"x": 1}]}]
)
values = st.one_of(
    st.tuples(messages, metadata),
    st.tuples(st.builds(lambda text: {**TOKEN, "content": text}, texts), st.just(META)),
)
lines = st.builds(
    lambda value, is_loose: json.dumps(value).encode() if is_loose else orjson.dumps(value),
    values,
    st.integers(0, 9).map((0).__eq__),
)


def line_of(text: Any, meta: dict[str, Any] = META, **fields: Any) -> bytes:
    return orjson.dumps([{**TOKEN, "content": text, **fields}, meta])


def part_of(value: Any) -> Part:
    (part,) = local_parts(("messages", value, "1-0"))
    return part


def told(part: Part) -> tuple[Any, ...]:
    """All that can be told of a part; `==` takes 1 for True."""
    message = part.data
    fields = getattr(message, "model_fields_set", None)
    dumped = message.model_dump() if fields else message
    return type(message), repr(dumped), fields, repr(part.meta), part


def spoil(message: Any) -> None:
    """Change what a consumer may change of a message that is its own."""
    spoil_value(vars(message))
    message.model_fields_set.clear()


def spoil_value(value: Any) -> None:
    for held in value.values() if isinstance(value, dict) else value:
        if isinstance(held, dict | list):
            spoil_value(held)
    if isinstance(value, dict):
        value["spoiled"] = True
    else:
        value.append("spoiled")


@examples(50)
@given(st.lists(lines, max_size=8))
@example([line_of("a"), line_of("b").replace(b'"type"', b'"content":"c","type"')])
@example([line_of(text, response_metadata={"deep": {"er": []}}) for text in "abc"])
@example([line_of("a"), line_of("b").replace(b"content", b"contenT")])
@example([line_of("a"), line_of('",'), line_of(REST), line_of("\\"), line_of("x")])
@example([line_of("a"), line_of("a", {**META, "b": 1}), line_of("b"), line_of("c")])
def test_each_token_is_what_the_careful_way_makes_of_it(lines: list[bytes]) -> None:
    reader = TokenReader()
    for line in lines:
        try:
            careful = told(part_of(orjson.loads(line)))
        except Exception as error:  # the careful way's own, whichever
            with pytest.raises(type(error)):
                part_of(reader.read(line)[0])
            continue
        found = reader.read(line)[0]
        assert told(part_of(found)) == careful
        if isinstance(found, tuple):
            spoil(found[0])


@given(texts, st.integers(0, 40))
def test_what_is_no_json_is_not_taken_for_a_token(text: str, at: int) -> None:
    reader = TokenReader()
    reader.read(line_of("a"))
    begin = len(b'[{"content":')
    line = line_of(text)
    cut = line[:begin] + line[begin : begin + at] + b'"' + line[begin + at :]
    try:
        expected = orjson.loads(cut)
    except orjson.JSONDecodeError:
        with pytest.raises(ValueError, match="column"):
            reader.read(cut)
    else:
        assert told(part_of(reader.read(cut)[0])) == told(part_of(expected))


@pytest.mark.parametrize(
    "fields",
    [{}, {"response_metadata": {"provider": "p"}}, {"id": "b"}, {"usage_metadata": USAGE}],
    ids=str,
)
def test_of_a_token_after_another_only_the_text_is_read(
    fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, read = TokenReader(), []
    loads = orjson.loads

    def noted(data: bytes) -> Any:
        read.append(data)
        return loads(data)

    (first, meta), _ = reader.read(line_of("a", **fields))
    monkeypatch.setattr(orjson, "loads", noted)
    (second, same), _ = reader.read(line_of("b", **fields))
    assert read == [b'"b"']
    assert same is meta
    assert (first.content, second.content) == ("a", "b")


def test_of_messages_side_by_side_the_metadata_are_read_once_each() -> None:
    reader = TokenReader()
    sides = [{**META, "side": side} for side in "ab"]
    found = [reader.read(line_of(text, meta))[0][1] for text in "xyz" for meta in sides]
    assert len({id(meta) for meta in found}) == 2
    assert found[0]["langgraph_path"] == ("__pregel_pull", "a")


def test_metadata_that_never_comes_again_is_not_kept() -> None:
    reader, sizes = TokenReader(), []
    for at in range(1_000, 2_000):
        assert reader.read(line_of("a", {**META, "at": at}))[0][1]["at"] == at
        sizes.append(len(pickle.dumps(reader)))
    assert max(sizes[64:]) <= max(sizes[:64])


def test_metadata_of_any_length_are_read() -> None:
    reader, meta = TokenReader(), {"langgraph_node": "a" * 20_000}
    for text in "ab":
        assert told(part_of(reader.read(line_of(text, meta))[0])) == told(
            part_of(orjson.loads(line_of(text, meta)))
        )
    assert len(pickle.dumps(reader)) < 20_000


@pytest.mark.parametrize(
    "fields", [{"tool_call_chunks": [CALL]}, {"chunk_position": "last"}, {"type": "ai"}], ids=str
)
def test_what_is_no_plain_token_is_read_as_a_message_at_once(fields: dict[str, Any]) -> None:
    line = line_of("a", **fields)
    (message, meta), _ = TokenReader().read(line)
    assert isinstance(message, BaseMessage)
    assert told(part_of((message, meta))) == told(part_of(orjson.loads(line)))
