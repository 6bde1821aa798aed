"""`Opaque`: what stands for an object that cannot be rebuilt here."""

from __future__ import annotations

from typing import Any, Final, Literal

from langgraph_once.serde.codecs.once1.format.layout import Ext, pack, unpack
from langgraph_once.serde.codecs.once1.format.scan import ref_positions

__all__ = [
    "KINDS",
    "Opaque",
    "OpaqueKind",
    "ref_indices",
    "renumbered",
    "upstream_extension",
    "upstream_opaque",
]

OpaqueKind = Literal["adapter", "family", "class", "function", "unknown", "upstream"]
"""What could not be rebuilt; `unknown` was of a type that its writer did not know either, and
`upstream` was written by upstream's serializer, or in codec `msgpack`."""

KINDS: Final[dict[int, OpaqueKind]] = {
    Ext.ADAPTER: "adapter",
    Ext.FAMILY: "family",
    Ext.VERSIONED: "family",
    Ext.RECORD: "family",
    Ext.CLASS: "class",
    Ext.FUNCTION: "function",
    Ext.UNKNOWN: "unknown",
    Ext.UPSTREAM: "upstream",
}


class Opaque:
    """An object whose class is gone, refused or unknown: its name, its raw bytes, what it held.

    It prints without what it held, which may be private. It is written back as it was read.

    Attributes:
        type_name: The class as `module:Qual.Name`, or the name of an adapter.
        raw: The bytes, as `layout` describes the content of the extension. Where they refer to
            the table of the blob they come from, the numbers are those of `parts` instead.
        kind: What could not be rebuilt.
        parts: The values that `raw` refers to, in the order in which it does.
        payload: What the object held: of dataclasses, models and the like a dictionary of the
            attributes by name, else what the bytes have in its place. A copy: what is changed in
            it is not written.
    """

    __slots__ = ("_code", "parts", "payload", "raw", "type_name")

    type_name: str
    raw: bytes
    parts: tuple[Any, ...]
    payload: Any

    def __init__(
        self,
        type_name: str,
        raw: bytes,
        *,
        code: int,
        parts: tuple[Any, ...] = (),
        payload: Any = None,
    ) -> None:
        self.type_name = type_name
        self.raw = raw
        self.parts = parts
        self.payload = payload
        self._code = code

    @property
    def kind(self) -> OpaqueKind:
        """What could not be rebuilt."""
        return KINDS[self._code]

    @property
    def code(self) -> int:
        """The extension that `raw` is the content of."""
        return self._code

    def _asdict(self) -> Any:
        # What LangGraph's server and serializer ask for what they do not know: so a client is
        # shown the content, as it is for an object whose class is there.
        return self.payload

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        # A `defaultdict` takes nothing for its factory that cannot be called.
        raise TypeError(f"{self.type_name} cannot be called: it was read as an `Opaque`")

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


def upstream_opaque(type_name: str, code: int, data: bytes, payload: Any) -> Opaque:
    """Return what stands for an extension of codec `msgpack`."""
    return Opaque(type_name, pack(code) + pack(data), code=Ext.UPSTREAM, payload=payload)


def upstream_extension(raw: bytes) -> tuple[int, bytes]:
    """Return the code and the content of the extension that `upstream_opaque` took.

    Raises:
        ValueError: These are the bytes of something else.
    """
    code, data, _ = unpack(raw, 2)
    if type(code) is not int or not 0 <= code < 128 or type(data) is not bytes:
        raise ValueError("no extension of codec `msgpack` where one belongs")
    return code, data


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
