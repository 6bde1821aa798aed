"""Values that contain themselves, or are deeper than extensions may stand in each other.

Such a value is written flat, as a `GRAPH`: an array of nodes, of which the last is the value. A
node is one container or object, and a `NODE` stands in it for each of those that it holds. A node
comes after those that it holds, so a reader makes one after the other. Where a node holds a later
one, the value contains itself: the later one is made empty, and filled when its turn comes.

What is one object stays one here, lists and dictionaries too.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Protocol

from ormsgpack import Ext, packb, unpackb

from langgraph_once.errors import PayloadError, SizeLimitError
from langgraph_once.serde.format import EXTENSION_STARTS, OPTIONS, Code, pack
from langgraph_once.serde.limits import MAX_EXPANDED, MAX_HASH_LEVELS
from langgraph_once.serde.opaque import STAND_INS, Opaque, UnwritableError, bare, source_of
from langgraph_once.serde.writer import Writer

if TYPE_CHECKING:
    from langgraph_once.serde.limits import Budget
    from langgraph_once.serde.registry import Plans

_CODES: Final[dict[type, Code]] = {
    tuple: Code.TUPLE,
    set: Code.SET,
    frozenset: Code.FROZENSET,
}
_BLANKS: Final[dict[int, type[Any]]] = {Code.MAP: dict, Code.SET: set}
_FILLABLE: Final = (list, dict, set, Opaque)
_FIXED: Final = (tuple, frozenset)
# Each is an object of ours for as long as the value is written.
_MAX_NODES: Final = 1 << 20
_UNROLLED: Final = (list, dict, set, tuple, frozenset, deque, OrderedDict)
# `Py_TPFLAGS_HEAPTYPE`, which a class has that a `class` statement made.
_HEAP_TYPE: Final = 1 << 9
_MAX_LEVELS_IN_C: Final = 5000
"""How deep others than these and classes made in Python may stand in each other: Python frees them
recursively on the C stack."""


def _levels_in_c(value: Any) -> int:
    """Return how many levels an object takes. One of numpy takes 1.6 KB of the stack (2.4)."""
    kind = type(value)
    if kind in _UNROLLED or kind.__flags__ & _HEAP_TYPE:
        return 0
    return 3 if kind.__module__ == "numpy" else 1


class _Sizes:
    """What each node takes with those that it holds written out. Asked by writer and reader.

    Attributes:
        held: The nodes that the current one holds.
    """

    def __init__(self) -> None:
        self.held: set[int] = set()
        self._units: list[int] = []
        self._levels: list[int] = []
        self._in_c: list[int] = []
        self._sum = self._deepest = self._deepest_in_c = self._taken = self._hashed = 0
        self._first: dict[int, int] = {}
        """The first node that holds a later one, by the later one."""
        self._trees: list[tuple[int, int, int]] = []
        """Of nodes that no other has held yet: the node, the first of those in it, and how many in
        it Python frees recursively, without those that hold nothing."""

    def add(self, number: int) -> None:
        """Note that the current node holds this one, which may come later."""
        self.held.add(number)
        if number >= len(self._units):
            self._first.setdefault(number, len(self._units))
            return
        self._sum += self._units[number]
        self._deepest = max(self._deepest, self._levels[number])
        self._deepest_in_c = max(self._deepest_in_c, self._in_c[number])

    def take_hashes(self, unhashed: Iterable[int] = ()) -> None:
        """Note that all parts of the current node are hashed now. Python keeps no hash of a tuple.

        Args:
            unhashed: Nodes that are not: the values of a dictionary.

        Raises:
            SizeLimitError: All together, it takes too long.
        """
        self._hashed += self._sum - self._taken - sum(self._units[number] for number in unhashed)
        self._taken = self._sum
        if self._hashed > MAX_EXPANDED:
            raise SizeLimitError("its parts are hashed too often")

    def end(self, size: int, value: Any) -> None:
        """Note the size of the current node, which ends here.

        Raises:
            SizeLimitError: Written out, it takes too much; or it is nested too deep for Python.
            ValueError: One that holds it is not in it.
        """
        self._units.append(self._sum + size)
        self._levels.append(self._deepest + 1 if isinstance(value, _FIXED) else 0)
        in_c = _levels_in_c(value)
        self._in_c.append(self._deepest_in_c + in_c if in_c else 0)
        if self._units[-1] > MAX_EXPANDED:
            raise SizeLimitError("its parts are repeated too often")
        if self._levels[-1] > MAX_HASH_LEVELS or self._in_c[-1] > _MAX_LEVELS_IN_C:
            raise SizeLimitError("it is nested too deep")
        self._close(len(self._units) - 1, in_c if self.held else 0)
        self._sum = self._taken = self._deepest = self._deepest_in_c = 0
        self.held.clear()

    def _close(self, number: int, in_c: int) -> None:
        """Check that those that hold the current node are in it."""
        start = number
        while self._trees and self._trees[-1][0] in self.held:
            _, start, more = self._trees.pop()
            in_c += more
        self._trees.append((number, start, in_c))
        if self._first.get(number, number) < start:
            raise ValueError("a node before the one that holds it")
        if number in self._first and in_c > _MAX_LEVELS_IN_C:
            raise SizeLimitError("it is nested too deep")


class _Node:
    """One container or object while a value is written."""

    __slots__ = ("data", "head", "held", "number", "value")

    def __init__(self, value: Any, head: bytes = b"", data: Any = None) -> None:
        self.value = value
        self.head = head
        self.data = data
        self.held = self.parts()
        self.number = -1

    def parts(self) -> list[Any]:
        """Return what it holds."""
        content = self.data if self.head else self.value
        if type(content) is dict:
            is_text = self.head or all(type(key) is str for key in content)
            return [*content.values()] if is_text else [*chain.from_iterable(content.items())]
        return [*content] if type(content) is list or not self.head else [content]


def write_graph(value: Any, plans: Plans) -> bytes:
    """Return the bytes of a value.

    Raises:
        UnwritableError: Some part cannot be written.
        SizeLimitError: Reading would refuse it.
    """
    as_langgraph: set[type] = set()
    first: UnwritableError | None = None
    while True:
        writer = _GraphWriter(plans, as_langgraph)
        try:
            if type(value) in as_langgraph:
                return writer.pack(value)
            writer.walk(value)
            nodes = [*map(writer.packed, writer.order)]
            writer.check_patterns()
            return pack(Ext(Code.GRAPH, pack(nodes)))
        except UnwritableError as error:
            first = first or error
            if writer.failed is None or writer.failed in as_langgraph:
                raise first from None
            as_langgraph.add(writer.failed)  # and all begins anew


class _GraphWriter(Writer):
    """Finds the nodes of a value, puts them in order, and writes each.

    Attributes:
        order: The nodes, each after those that it holds.
        failed: The class of an object that cannot be a node: it is to be written as LangGraph does.
    """

    def __init__(self, plans: Plans, as_langgraph: set[type]) -> None:
        super().__init__(plans, holds=False)
        self.order: list[_Node] = []
        self.failed: type | None = None
        self._as_langgraph = as_langgraph
        self._nodes: dict[int, _Node] = {}
        self._sizes = _Sizes()

    def hook(self, obj: Any) -> Any:
        """Return what stands for what is no node."""
        if type(obj) not in self._as_langgraph:
            return super().hook(obj)
        self.error = self.error or UnwritableError("some part of it cannot be written", obj)
        return self._instead(obj, self._level, len(self.met))

    def walk(self, value: Any) -> None:
        """Put the nodes in order, each after those that it holds."""
        first = self._node(value)
        if first is None:
            raise UnwritableError(f"a {type(value).__qualname__} is nested too deep", value)
        stack = [first]
        while stack:
            node = stack[-1]
            inner = self._next(node)
            if inner is not None:
                stack.append(inner)
                continue
            node.number = len(self.order)
            self.order.append(node)
            stack.pop()
        if len(self.order) > _MAX_NODES:
            raise UnwritableError("it is too large to be written flat", value)

    def _next(self, node: _Node) -> _Node | None:
        """Return the next node that a node holds and that was not met before; None at its end."""
        while node.held:
            part = node.held.pop()
            known = self._nodes.get(id(part))
            if known is None:
                if (found := self._node(part)) is not None:
                    return found
            elif known.number < 0 and not self._is_fillable(known.value):
                self.failed = type(known.value) if known.head else None
                raise UnwritableError("what cannot be changed contains itself", known.value)
        return None

    def packed(self, node: _Node) -> bytes:
        """Return the bytes of a node."""
        try:
            data = self._packed(node)
        except UnwritableError:
            self.failed = self._holder_of(node)
            raise
        self._sizes.end(len(data), node.value)
        return data

    def _holder_of(self, node: _Node) -> type | None:
        """Return the class of a node, or of the first object that holds it."""
        held = {id(node.value)}
        for each in self.order[node.number :]:
            if each is node or not held.isdisjoint(map(id, each.parts())):
                if each.head:
                    return type(each.value)
                held.add(id(each.value))
        return None

    def _packed(self, node: _Node) -> bytes:
        value, kind = node.value, type(node.value)
        if node.head:
            return pack(Ext(Code.OBJECT, self._shallow([node.head, self._flat(node.data)])))
        if kind in _CODES:
            parts = [*map(self._part, value)]
            if kind is not tuple:
                self._sizes.take_hashes()
            return pack(Ext(_CODES[kind], self._shallow(parts)))
        if kind is list or all(type(key) is str for key in value):
            return self._shallow(self._flat(value))
        keys = [*map(self._part, value)]
        self._sizes.take_hashes()
        pairs = zip(keys, map(self._part, value.values()), strict=True)
        return pack(Ext(Code.MAP, self._shallow([*chain.from_iterable(pairs)])))

    def _flat(self, value: Any) -> Any:
        """Return a value whose parts are what stands for them."""
        if type(value) is dict:
            return {key: self._part(item) for key, item in value.items()}
        return [*map(self._part, value)] if type(value) is list else self._part(value)

    def _shallow(self, data: Any) -> bytes:
        try:
            return packb(data, self.hook, OPTIONS)
        except TypeError as error:
            raise self.error or error from None

    def _part(self, value: Any) -> Any:
        """Return what stands for a part of a node."""
        node = self._nodes.get(id(value))
        if node is None:
            return self._mended(value)
        self._sizes.add(node.number)
        return Ext(Code.NODE, node.number.to_bytes(4, "big"))

    def _node(self, value: Any) -> _Node | None:
        """Return a new node for a container or object; None for all else."""
        content = value
        if type(value) in STAND_INS and source_of(value) is None:
            content = bare(value)  # it was changed, and is what it holds
        if type(content) in (list, dict, *_CODES):
            made = _Node(content)
        elif (taken := self._taken(content)) is None:
            return None
        else:
            made = _Node(content, *taken)
        self.kept.append(made)
        self._nodes[id(value)] = made
        return made

    def _taken(self, value: Any) -> tuple[bytes, Any] | None:
        """Return head and data of an object; None where it is no node of its own.

        An object that cannot be written exactly is none: the hook is asked for it.
        """
        kind = type(value)
        if kind in STAND_INS:
            return source_of(value)
        if kind is bytearray:  # `bytes`, as where there is no graph
            return None
        if kind in self._as_langgraph or self.plans[kind].form is None:
            return None
        try:
            return self.plans.taken(value)
        except UnwritableError:
            return None

    def _is_fillable(self, value: Any) -> bool:
        kind = type(value)
        form = None if kind in STAND_INS else self.plans[kind].form
        return kind in _FILLABLE or (form is not None and form.is_fillable(kind))


class Opened(Protocol):
    """What a graph is read with: a `reader.Reader`."""

    graph: Graph | None
    tag: str
    budget: Budget

    def hook(self, code: int, content: bytes) -> Any:
        """Return the value of an extension."""

    def nested(self, content: bytes) -> Any:
        """Return the value of what an extension holds."""

    def made(self, head: bytes, data: Any) -> Any:
        """Return the object of a head and data, or what stands for it."""

    def blank(self, head: bytes) -> Any:
        """Return an object without content, or what is to stand for it."""

    def fill(self, head: bytes, obj: Any, data: Any) -> None:
        """Give what `blank` made its content."""


class Graph:
    """The nodes of one value, while it is read.

    A node may hold a later one that holds it in turn, and no other later one. So what each node
    takes is known when its turn comes: nobody writes out what contains itself.
    """

    def __init__(self, reader: Opened, entries: list[bytes]) -> None:
        self._reader = reader
        self._entries = entries
        self._made: list[Any] = []
        self._blank: dict[int, Any] = {}
        self._sizes = _Sizes()

    def read(self) -> Any:
        """Return the value."""
        for number, entry in enumerate(self._entries):
            value = self._value(entry, number)
            self._made.append(value)
            self._sizes.end(len(entry), value)
        return self._made[-1]

    def take_hashes(self, unhashed: list[Any]) -> None:
        """Take what it takes to hash what the current node holds so far, but for some of it."""
        made = self._made
        numbers = {id(made[number]): number for number in self._sizes.held if number < len(made)}
        self._sizes.take_hashes(numbers[id(part)] for part in unhashed if id(part) in numbers)

    def node(self, number: int) -> Any:
        """Return what a `NODE` stands for."""
        self._sizes.add(number)
        if number < len(self._made):
            if type(self._made[number]) is bytes:  # it may be the head of many objects
                raise ValueError("bytes that are a node")
            return self._made[number]
        if number not in self._blank:
            self._blank[number] = self._new(self._entries[number])
        return self._blank[number]

    def _value(self, entry: bytes, number: int) -> Any:
        code, content = _opened(entry)
        if code != Code.OBJECT:
            value = unpackb(entry, ext_hook=self._reader.hook)
            blank = self._blank.get(number)
            if blank is None:
                return value
            if type(blank) is not type(value):
                raise ValueError("it is made empty as something else")
            blank.extend(value) if type(blank) is list else blank.update(value)
            return blank
        head, data = self._reader.nested(content)
        blank = self._blank.get(number)
        if blank is None:
            return self._reader.made(head, data)
        self._reader.fill(head, blank, data)
        return blank

    def _new(self, entry: bytes) -> Any:
        code, content = _opened(entry)
        if code == Code.OBJECT:
            head, _ = unpackb(content, ext_hook=_unread)
            return self._reader.blank(head)
        first = entry[0]
        if 0x80 <= first <= 0x8F or first in (0xDE, 0xDF):
            return {}
        if 0x90 <= first <= 0x9F or first in (0xDC, 0xDD):
            return []
        return _BLANKS[code]()


def _opened(entry: bytes) -> tuple[int, bytes]:
    """Return code and content of an extension; -1 for another value."""
    if entry[0] not in EXTENSION_STARTS:
        return -1, b""
    found: list[tuple[int, bytes]] = []
    unpackb(entry, ext_hook=lambda code, content: found.append((code, content)))
    return found[0]


def _unread(_code: int, _content: bytes) -> None:
    return None


def read_graph(reader: Opened, content: bytes) -> Any:
    """Return the value of a `GRAPH`.

    Raises:
        PayloadError: It stands in something else.
        ValueError: It is damaged.
    """
    if reader.graph is not None:
        raise PayloadError("a graph in a graph", tag=reader.tag)
    if not reader.budget.is_all(content):
        raise PayloadError("a graph in a value", tag=reader.tag)
    entries = unpackb(content)
    if type(entries) is not list or {*map(type, entries)} != {bytes}:
        raise ValueError("no nodes where some belong")
    reader.graph = Graph(reader, entries)
    return reader.graph.read()
