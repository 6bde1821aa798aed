"""`Opaque`: what stands for an object that cannot be rebuilt here."""

from __future__ import annotations

from typing import Any, Final, Literal

from langgraph_once.serde.once1.scan import ref_positions
from langgraph_once.serde.once1.wire import Ext

__all__ = ["KINDS", "Opaque", "OpaqueKind", "ref_indices", "renumbered"]

OpaqueKind = Literal["adapter", "family", "class", "function", "unknown"]
"""What could not be rebuilt; `unknown` was of a type that its writer did not know either."""

KINDS: Final[dict[int, OpaqueKind]] = {
    Ext.ADAPTER: "adapter",
    Ext.FAMILY: "family",
    Ext.VERSIONED: "family",
    Ext.RECORD: "family",
    Ext.CLASS: "class",
    Ext.FUNCTION: "function",
    Ext.UNKNOWN: "unknown",
}


class Opaque:
    """An object whose class is gone, refused or unknown: its name and its raw bytes.

    It prints without the bytes, which may be private. It is written back as it was read.

    Attributes:
        type_name: The class as `module:Qual.Name`, or the name of an adapter.
        raw: The bytes, as `wire` describes the content of the extension. Where they refer to
            the table of the blob they come from, the numbers are those of `parts` instead.
        kind: What could not be rebuilt.
        parts: The values that `raw` refers to, in the order in which it does.
    """

    __slots__ = ("_code", "parts", "raw", "type_name")

    type_name: str
    raw: bytes
    parts: tuple[Any, ...]

    def __init__(
        self, type_name: str, raw: bytes, *, code: int, parts: tuple[Any, ...] = ()
    ) -> None:
        self.type_name = type_name
        self.raw = raw
        self.parts = parts
        self._code = code

    @property
    def kind(self) -> OpaqueKind:
        """What could not be rebuilt."""
        return KINDS[self._code]

    @property
    def code(self) -> int:
        """The extension that `raw` is the content of."""
        return self._code

    def __repr__(self) -> str:
        return f"<Opaque {self.kind} {self.type_name}, {len(self.raw)} bytes>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Opaque):
            return NotImplemented
        mine, others = (self.type_name, self._code, self.raw), (other.type_name, other._code)
        if mine != (*others, other.raw) or len(self.parts) != len(other.parts):
            return False
        return all(a is b or a == b for a, b in zip(self.parts, other.parts, strict=True))

    def __hash__(self) -> int:
        return hash((self.type_name, self.raw))


def renumbered(raw: bytes, indices: list[int]) -> bytes:
    """Return `raw` with the index of each `REF` replaced by the next of `indices`."""
    if not indices:
        return raw
    changed = bytearray(raw)
    for at, index in zip(ref_positions(raw), indices, strict=True):
        changed[at : at + 4] = index.to_bytes(4, "big")
    return bytes(changed)


def ref_indices(raw: bytes) -> list[int]:
    """Return the index of each `REF` in `raw`."""
    return [int.from_bytes(raw[at : at + 4], "big") for at in ref_positions(raw)]
