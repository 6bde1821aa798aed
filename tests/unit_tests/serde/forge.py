"""Blobs that are well-formed, and wrong in what they say: made of parts of real ones.

All lengths are right, so a reader takes them for real until it looks at what they mean. Parts
move to the table and are referred to, from before, from behind, and from within; kinds, heads,
trees, families and adapters get data of others; keys and items become what holds others.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import ormsgpack

from langgraph_once.serde.bounds.msgpack_headers import Kind, read_token
from langgraph_once.serde.codecs.once1.format.layout import VALUES_IN, Ext

if TYPE_CHECKING:
    from random import Random

__all__ = ["Node", "forged", "parsed", "written"]

_PACKED: Final = "packed"
_REF_BYTES: Final = 4
_MAX_ENTRIES: Final = 12
_WITH_KINDS: Final = frozenset({Ext.MODEL, Ext.MODELS, Ext.HEAD, Ext.TREE})
_KEYED: Final = (Ext.SET, Ext.FROZENSET, Ext.MAP)


@dataclass
class Node:
    """A value, or a `bin` that holds packed ones.

    Attributes:
        form: "scalar", "array", "map", "ext" or "packed".
        raw: All of a scalar; the content of an extension that holds no values.
        code: Of an extension.
        parts: What it holds.
    """

    form: str
    raw: bytes = b""
    code: int = -1
    parts: list[Node] = field(default_factory=list)


def scalar(value: object) -> Node:
    return Node("scalar", ormsgpack.packb(value))


def ref(index: int) -> Node:
    return Node("ext", index.to_bytes(_REF_BYTES, "big"), Ext.REF)


def ext(code: int, *parts: Node) -> Node:
    return Node("ext", code=code, parts=[*parts])


def parsed(data: bytes, *, nested: Collection[int]) -> list[Node]:
    """Return the values in `data`; extensions in `nested` hold such."""
    values, at = [], 0
    while at < len(data):
        node, at = _parsed(data, at, nested)
        values.append(node)
    return values


def _parsed(data: bytes, at: int, nested: Collection[int]) -> tuple[Node, int]:
    token = read_token(data, at)
    end = token.body + token.size
    if token.kind is Kind.SCALAR:
        return Node("scalar", data[at:end]), end
    if token.kind is Kind.EXT:
        content = data[token.body : end]
        if token.code == Ext.TABLE and Ext.TABLE in nested:
            entries = [_unpacked(part, nested) for part in parsed(content, nested=nested)]
            return Node("ext", code=token.code, parts=entries), end
        if token.code not in nested:
            return Node("ext", content, token.code), end
        parts = parsed(content, nested=nested)
        if Ext.TABLE in nested and token.code in _WITH_KINDS and parts[0].parts:
            parts[0].parts[0] = _unpacked(parts[0].parts[0], nested)
        return Node("ext", code=token.code, parts=parts), end
    node = Node("array" if token.kind is Kind.ARRAY else "map")
    at = token.body
    for _ in range(token.size * (1 if token.kind is Kind.ARRAY else 2)):
        part, at = _parsed(data, at, nested)
        node.parts.append(part)
    return node, at


def _unpacked(node: Node, nested: Collection[int]) -> Node:
    """Return a `bin` as what is packed in it."""
    token = read_token(node.raw, 0)
    return Node(_PACKED, parts=parsed(node.raw[token.body :], nested=nested))


def written(node: Node) -> bytes:
    """Return the bytes of a value."""
    inner = b"".join(map(written, node.parts))
    match node.form:
        case "scalar":
            return node.raw
        case "array":
            return b"\xdd" + len(node.parts).to_bytes(4, "big") + inner
        case "map":
            return b"\xdf" + (len(node.parts) // 2).to_bytes(4, "big") + inner
        case "packed":
            return ormsgpack.packb(inner)
    return ormsgpack.packb(ormsgpack.Ext(node.code, inner or node.raw))


_ODD: Final = (
    *(None, True, 0, 1, -1, 7, 2**31, 2**63, -(2**63), 1.5, float("nan"), "", "a", "slice"),
    *("container", "generic", "pattern", "enum", "record", "builtins:list", "re:RegexFlag"),
    *("builtins:int", "typing:Any", "x" * 300, b"", b"\x01", b"\x00\x01\x02", b"once"),
    *(b"\x90", b"\x91\x91\xa1a", b"\xff" * 9),
)


class _Forge:
    def __init__(self, rng: Random, root: Node, donors: list[Node], codes: Collection[int]) -> None:
        self.rng = rng
        self.donors = donors
        self.codes = [*codes]
        linked = root.form == "ext" and root.code == Ext.TABLE
        self.entries = root.parts if linked else [Node(_PACKED, parts=[root])]

    def places(self) -> list[tuple[list[Node], int]]:
        """Return where each value stands."""
        found: list[tuple[list[Node], int]] = []
        pending = [*self.entries]
        while pending:
            node = pending.pop()
            found += ((node.parts, number) for number in range(len(node.parts)))
            pending += node.parts
        return found

    def change(self) -> None:
        parts, at = self.rng.choice(self.places())
        ways: list[Callable[[Node], Node]] = [
            *(self.other, self.odd, self.wrapped, self.wrapped, self.doubled, self.listed),
            *(self.shared, self.shared, self.shared, self.referred, self.referred, self.referred),
            *(self.renumbered, self.shortened, self.keyed, self.keyed, self.deeper),
        ]
        parts[at] = self.rng.choice(ways)(parts[at])

    def donor(self) -> Node:
        pending, found = [self.rng.choice(self.donors)], []
        while pending:
            node = pending.pop()
            found.append(node)
            pending += node.parts
        return copy.deepcopy(self.rng.choice(found))

    def other(self, _node: Node) -> Node:
        return self.donor()

    def odd(self, _node: Node) -> Node:
        return scalar(self.rng.choice(_ODD))

    def wrapped(self, node: Node) -> Node:
        code = self.rng.choice(self.codes)
        if self.rng.random() < 0.5:
            node = Node("array", parts=[node])
        return ext(code, *[copy.deepcopy(node) for _ in range(self.rng.randint(1, 4))])

    def doubled(self, node: Node) -> Node:
        if node.parts:
            node.parts += copy.deepcopy(node.parts[: self.rng.randint(1, 4)])
        return node

    def listed(self, node: Node) -> Node:
        return Node("array", parts=[node, copy.deepcopy(node)])

    def shared(self, node: Node) -> Node:
        """Move a value to the table."""
        if len(self.entries) >= _MAX_ENTRIES:
            return node
        self.entries.insert(0, Node(_PACKED, parts=[node]))
        for parts, at in self.places():
            if parts[at].code == Ext.REF:
                parts[at] = ref((int.from_bytes(parts[at].raw, "big") + 1) & 0xFFFFFFFF)
        return ref(0)

    def referred(self, _node: Node) -> Node:
        return ref(self.rng.randint(0, len(self.entries)))

    def renumbered(self, node: Node) -> Node:
        return ext(self.rng.choice(self.codes), *node.parts) if node.parts else self.odd(node)

    def shortened(self, node: Node) -> Node:
        if node.parts:
            del node.parts[self.rng.randrange(len(node.parts))]
        return node

    def keyed(self, node: Node) -> Node:
        """Put a value where it is hashed."""
        items = [node, self.donor(), self.referred(node)][: self.rng.randint(1, 3)]
        return ext(self.rng.choice(_KEYED), Node("array", parts=items))

    def deeper(self, node: Node) -> Node:
        """Tie a value into a chain of the table: each entry holds the one before twice."""
        levels = self.rng.choice((3, 40, 700))
        first = len(self.entries) - 1
        chain = [Node(_PACKED, parts=[node])]
        wrap = self.rng.choice((Ext.TUPLE, Ext.FROZENSET, Ext.TUPLE))
        for number in range(levels):
            held = ref(first + number)
            parts = [held, copy.deepcopy(held)][: self.rng.randint(1, 2)]
            chain.append(Node(_PACKED, parts=[ext(wrap, Node("array", parts=parts))]))
        self.entries[-1:-1] = chain
        return ref(first + levels)


def forged(
    rng: Random, root: Node, donors: list[Node], codes: Collection[int] = VALUES_IN
) -> bytes:
    """Return a blob that is `root` with up to eight of its parts changed.

    Args:
        rng: Decides what is changed.
        root: A value, which is not changed itself.
        donors: Values of which parts are taken over.
        codes: The extensions to make.
    """
    forge = _Forge(rng, copy.deepcopy(root), donors, codes)
    for _ in range(rng.choice((1, 2, 3, 5, 8))):
        forge.change()
    if len(forge.entries) == 1 and forge.entries[0].parts:
        return written(forge.entries[0].parts[0])
    return written(ext(Ext.TABLE, *forge.entries))
