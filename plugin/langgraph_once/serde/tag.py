"""The tag stored beside every blob: `<codec>[.zstd][.aesgcm]`. Parsed and written only here.

There is no `+` in what we write: serializers that wrap others, such as upstream's
`EncryptedSerializer`, append `+<cipher>` and split at the first one. Versions up to 0.1.0 joined
with `+`; those tags are read for ever.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from langgraph_once.errors import UnknownTagError

Codec = Literal[
    "null", "bytes", "bytearray", "once2", "msgpack", "json", "pickle", "channels", "pieces"
]
"""How a value became bytes. `channels` and `pieces` are of savers: a checkpoint whose channels can
be read one by one, and a value whose pieces are rows of another table."""

Layer = Literal["zstd", "aesgcm", "aes"]
"""What was done to those bytes; `aes` is upstream's `EncryptedSerializer`, read only."""

_ORDERS: Final[tuple[tuple[Layer, ...], ...]] = ((), ("zstd",), ("aesgcm",), ("zstd", "aesgcm"))
"""The layers that we put around a value."""

_WRAPPER: Final = "+aes"
"""What upstream's serializer appends to the tag of the one that it wraps, which may be ours."""

_OLD_CODEC: Final = "once1"
_OF_OLD_CODEC: Final = (
    "a row of codec once1, which this version does not read; the version that wrote it rewrites "
    "all rows with `langgraph-once migrate --to msgpack`, and this one reads those"
)

_CIPHERS: Final = frozenset({"aesgcm", "aes"})


@dataclass(frozen=True, slots=True)
class Tag:
    """A codec and the layers around it, in the order in which they were applied."""

    codec: Codec
    layers: tuple[Layer, ...] = ()
    text: str = field(default="", repr=False, compare=False)
    """How the tag is spelt; by default as we write it."""
    inner: str = field(init=False, repr=False, compare=False)
    """How it was spelt before another serializer wrapped it; what our own cipher is bound to."""
    encrypted: bool = field(init=False, repr=False, compare=False)
    """Whether one of the layers is a cipher."""

    def __post_init__(self) -> None:
        # Each blob asks for these, and there are few tags.
        object.__setattr__(self, "text", self.text or ".".join((self.codec, *self.layers)))
        object.__setattr__(self, "inner", self.text.removesuffix(_WRAPPER))
        object.__setattr__(self, "encrypted", not _CIPHERS.isdisjoint(self.layers))

    def under(self, layer: Layer) -> Tag:
        """Return this tag with one more layer around it."""
        return _TAGS[f"{self.text}.{layer}"]

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(cls, text: str) -> Tag:
        """Return the tag that `text` spells.

        Raises:
            UnknownTagError: A codec or layer that we do not know, or layers out of order.
        """
        try:
            return _TAGS[text]
        except KeyError:
            if str(text).startswith(_OLD_CODEC):
                raise UnknownTagError(_OF_OLD_CODEC, tag=text) from None
            raise UnknownTagError(
                "not a tag that this version reads; it knows `<codec>[.zstd][.aesgcm][+aes]` with "
                f"the codecs {', '.join(get_args(Codec))}",
                tag=text,
            ) from None


def may_be_bound(text: str | None) -> bool:
    """Whether a tag, which may be any, is that of what our cipher may have bound to its place."""
    tag = _TAGS.get(text or "")
    return tag is not None and tag.layers[-1:] == ("aesgcm",)


def _spellings() -> dict[str, Tag]:
    tags: dict[str, Tag] = {}
    for codec in get_args(Codec):
        for layers in _ORDERS:
            for separator in (".", "+"):
                text = separator.join((codec, *layers))
                tags[text] = Tag(codec, layers, text)
                tags[text + _WRAPPER] = Tag(codec, (*layers, "aes"), text + _WRAPPER)
    return tags


# The grammar is finite, so it is written out: nothing outside this table is ever guessed.
_TAGS: Final = _spellings()

PLAIN_TAGS: Final = frozenset(text for text, tag in _TAGS.items() if not tag.encrypted)
"""Of what no cipher is around."""
