"""The tag stored beside every blob: `<codec>[+zstd][+aesgcm]`. Parsed and written only here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from langgraph_once.errors import UnknownTagError

__all__ = ["Codec", "Layer", "Tag"]

Codec = Literal["null", "bytes", "bytearray", "once1", "msgpack", "json", "pickle"]
"""How a value became bytes."""

Layer = Literal["zstd", "aesgcm", "aes"]
"""What was done to those bytes; `aes` is upstream's `EncryptedSerializer`, read only."""

_ORDERS: Final[tuple[tuple[Layer, ...], ...]] = (
    (),
    ("zstd",),
    ("aesgcm",),
    ("zstd", "aesgcm"),
    ("aes",),
)


_CIPHERS: Final = frozenset({"aesgcm", "aes"})


@dataclass(frozen=True, slots=True)
class Tag:
    """A codec and the layers around it, in the order in which they were applied."""

    codec: Codec
    layers: tuple[Layer, ...] = ()
    text: str = field(init=False, repr=False, compare=False)
    """How the tag is spelt."""
    encrypted: bool = field(init=False, repr=False, compare=False)
    """Whether one of the layers is a cipher."""

    def __post_init__(self) -> None:
        # Each blob asks for these, and there are few tags.
        object.__setattr__(self, "text", "+".join((self.codec, *self.layers)))
        object.__setattr__(self, "encrypted", not _CIPHERS.isdisjoint(self.layers))

    def under(self, layer: Layer) -> Tag:
        """Return this tag with one more layer around it."""
        return _TAGS.get(f"{self.text}+{layer}") or Tag(self.codec, (*self.layers, layer))

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
            raise UnknownTagError(
                "not a tag that this version reads; it knows `<codec>[+zstd][+aesgcm]` and "
                f"`<codec>+aes` with the codecs {', '.join(get_args(Codec))}",
                tag=text,
            ) from None


# The grammar is finite, so it is written out: nothing outside this table is ever guessed.
_TAGS: Final = {
    str(tag): tag for codec in get_args(Codec) for tag in (Tag(codec, o) for o in _ORDERS)
}
