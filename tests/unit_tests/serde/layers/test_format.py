from __future__ import annotations

import contextlib
import itertools
from typing import get_args

import pytest
from hypothesis import given, strategies as st

from langgraph_once.errors import UnknownTagError
from langgraph_once.serde.format import Codec, Layer, Tag

CODECS = get_args(Codec)
OURS = ["", ".zstd", ".aesgcm", ".zstd.aesgcm"]
"""What we write."""
FIRST = [layers.replace(".", "+") for layers in OURS]
"""What versions up to 0.1.0 wrote."""


@pytest.mark.parametrize("wrapper", ["", "+aes"])
def test_every_tag_of_the_grammar_is_spelt_as_it_was(wrapper: str) -> None:
    for codec, layers in itertools.product(CODECS, OURS + FIRST):
        tag = Tag.parse(codec + layers + wrapper)
        assert str(tag) == codec + layers + wrapper
        assert tag.inner == codec + layers
        assert [tag.codec, *tag.layers] == str(tag).replace("+", ".").split(".")
        assert tag.encrypted == ("aes" in str(tag))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("layers", [(), ("zstd",), ("aesgcm",), ("zstd", "aesgcm")])
def test_what_we_write_has_no_plus_for_wrappers_to_split_at(
    codec: Codec, layers: tuple[Layer, ...]
) -> None:
    tag = Tag.parse(codec)
    for layer in layers:
        tag = tag.under(layer)
    assert tag.text == ".".join((codec, *layers))
    assert tag == Tag(codec, layers) == Tag.parse("+".join((codec, *layers)))


@pytest.mark.parametrize(
    "text",
    [
        *("", "+", "+zstd", "msgpack+", "MSGPACK", " msgpack", "once3", "msgpack zstd", "empty"),
        *("msgpack+gzip", "msgpack+aesgcm+zstd", "msgpack+zstd+zstd", "msgpack.aes", ".zstd", "."),
        *("msgpack+aes+zstd", "msgpack+aes.zstd", "zstd", "msgpack+aes+aes", "msgpack..zstd"),
        *("msgpack.zstd+aesgcm", "msgpack+zstd.aesgcm", "msgpack.zstd.aes", "msgpack.aesgcm.zstd"),
    ],
)
def test_an_unknown_tag_is_refused_and_named(text: str) -> None:
    with pytest.raises(UnknownTagError) as caught:
        Tag.parse(text)
    assert caught.value.tag == text


@given(st.text("msgpack+.zstdae", max_size=20) | st.sampled_from(CODECS))
def test_a_tag_that_is_read_is_written_the_same(text: str) -> None:
    with contextlib.suppress(UnknownTagError):
        assert str(Tag.parse(text)) == text
