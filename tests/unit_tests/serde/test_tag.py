from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_once.errors import UnknownTagError
from langgraph_once.serde.tag import Tag

WRITTEN = ["null", "bytes", "bytearray", "msgpack", "json", "pickle"]


@pytest.mark.parametrize("codec", WRITTEN)
@pytest.mark.parametrize("layers", ["", "+zstd", "+aesgcm", "+zstd+aesgcm", "+aes"])
def test_every_tag_of_the_grammar_is_written_as_it_is_read(codec: str, layers: str) -> None:
    tag = Tag.parse(codec + layers)
    assert str(tag) == codec + layers
    assert tag.codec == codec
    assert tag.encrypted == ("aes" in layers)


@pytest.mark.parametrize(
    "text",
    [
        *("", "+", "+zstd", "msgpack+", "MSGPACK", " msgpack", "once2", "msgpack zstd", "empty"),
        *("msgpack+gzip", "msgpack+aesgcm+zstd", "msgpack+zstd+zstd", "msgpack+zstd+aes"),
        *("msgpack+aes+zstd", "msgpack+aesgcm+aes", "zstd", "msgpack+aes+aes"),
    ],
)
def test_an_unknown_tag_is_refused_and_named(text: str) -> None:
    with pytest.raises(UnknownTagError) as caught:
        Tag.parse(text)
    assert caught.value.tag == text


@given(st.text("msgpack+zstdae", max_size=20) | st.sampled_from(WRITTEN))
def test_nothing_is_guessed(text: str) -> None:
    with contextlib.suppress(UnknownTagError):
        assert str(Tag.parse(text)) == text
