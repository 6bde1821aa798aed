"""Bytes to objects: ormsgpack reads, and hands each extension to `Reader.hook`.

Objects are made from the innermost outwards. What goes wrong in a hook is hidden by ormsgpack, so
the first error is kept aside.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from ormsgpack import unpackb

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError, TypeNotAllowedError
from langgraph_once.serde.format import (
    CHANNELS,
    MAX_LEVELS,
    Code,
    Held,
    head_bytes,
    head_parts,
    holder_parts,
    is_holder,
)
from langgraph_once.serde.graph import read_graph
from langgraph_once.serde.limits import Budget, check_levels
from langgraph_once.serde.opaque import Opaque, Source, UnavailableError, shown_name, stand_in
from langgraph_once.serde.plans.base import check, parts
from langgraph_once.serde.plans.values import BY_NUMBER, BY_TYPE

if TYPE_CHECKING:
    from langgraph_once.serde.graph import Graph
    from langgraph_once.serde.plans.base import Maker
    from langgraph_once.serde.registry import Plans

_OBJECT: Final = int(Code.OBJECT)
_VALUE: Final = int(Code.VALUE)
_COLLECTIONS: Final[dict[int, Callable[[Any], Any]]] = {
    int(Code.TUPLE): tuple,
    int(Code.SET): set,
    int(Code.FROZENSET): frozenset,
}
_PATTERN: Final = BY_TYPE[re.Pattern].number
# Of smaller ones it does not matter how many are open at once.
_LARGE: Final = 1 << 20
_FEW_LEVELS: Final = 3
"""So many extensions in each other may hold 1,022 native levels each; see `check_levels`."""
_LONG_HEAD: Final = 2048
_MAX_NEW_TYPES: Final = 256
"""So many types with parameters may one value make known. Pydantic takes a millisecond for each."""
_OPEN: Final = object()
"""Stands for a shared value that is being read."""


class _Many(NamedTuple):
    """Stands first in a list until the whole value is read."""

    heads: list[bytes]
    numbers: bytes


def quick_hook(plans: Plans, levels: int = _FEW_LEVELS) -> Callable[[int, bytes], Any]:
    """Return a hook for rows of few bytes, whose objects are made as others were before.

    It takes no `Reader`, which costs more than most small values: so few bytes exceed no bound. Of
    what it does not know it makes an error: a `Reader` reads that, or tells what is wrong with it.

    Args:
        plans: What makes objects.
        levels: How deep extensions may stand in each other.
    """
    current = plans.makers.current
    inner = quick_hook(plans, levels - 1) if levels > 1 else None

    def hook(code: int, content: bytes) -> Any:
        if code == _OBJECT:
            head, data = unpackb(content, ext_hook=inner)
            if (make := current(head)) is not None:
                return make(data)
        elif code == _VALUE and content[0] != _PATTERN:
            return BY_NUMBER[content[0]](unpackb(content[1:], ext_hook=inner))
        elif code in _COLLECTIONS:
            items = check(unpackb(content, ext_hook=inner), list)
            made = _COLLECTIONS[code](items)
            if len(made) == len(items):
                return made
        raise ValueError("it takes a `Reader`")

    return hook


class Reader:
    """Reads one value, once.

    Attributes:
        plans: What makes objects.
        tag: Of the row, for errors.
        graph: The nodes, where the value is a `GRAPH`.
        error: The first one.
    """

    graph: Graph | None = None
    error: BaseException | None = None
    _level = 0
    _threads = 0
    _new_types = 0

    def __init__(self, plans: Plans, size: int, *, tag: str, keeps: bool) -> None:
        """Take what one value needs.

        Args:
            plans: What makes objects.
            size: Of the row, in bytes.
            tag: Of the row, for errors.
            keeps: Whether a stand-in is handed on for what cannot be made.
        """
        self.plans = plans
        self.tag = tag
        self._keeps = keeps
        self.budget = Budget(size, tag)
        self._shared: list[Any] = []
        self._seen: dict[bytes, Maker] = {}

    def read(self, data: bytes) -> Any:
        """Return the value.

        Raises:
            SerdeError: The bytes are damaged, take too much, or name what may not be loaded.
        """
        try:
            value = unpackb(data, ext_hook=self.hook)
            if self._threads:
                value = self._placed(value)
                if self._threads:
                    raise ValueError("a `MANY` where none is written")
            return value
        except Exception as error:
            self._raise(error)

    def hook(self, code: int, content: bytes) -> Any:
        """Return the value of an extension. Called by ormsgpack."""
        try:
            if code == _OBJECT:
                head, data = self.nested(content)
                if type(head) is not bytes:
                    raise ValueError("no head where one belongs")
                return self.made(head, data)
            return _READERS[code](self, content)
        except BaseException as error:
            self.error = self.error or error
            raise

    def nested(self, content: bytes) -> Any:
        """Return the value of what an extension holds. It is a copy, so it counts again."""
        size = len(content)
        self.budget.take_copies(size)
        if size > _LARGE:
            self.budget.open(size)
        self._level += 1
        if self._level > _FEW_LEVELS:
            check_levels(content)
        if self._level > MAX_LEVELS:
            raise PayloadError("extensions stand in each other too deep", tag=self.tag)
        value = unpackb(content, ext_hook=self.hook)
        self._level -= 1
        if size > _LARGE:
            self.budget.open(-size)
        return value

    def made(self, head: bytes, data: Any) -> Any:
        """Return the object of a head and data, or what stands for it."""
        try:
            return (self._seen.get(head) or self._maker(head))(data)
        except (UnavailableError, TypeNotAllowedError) as error:
            return self._instead(head, data, error)
        except SerdeError:
            raise
        except Exception as error:
            raise PayloadError(f"damaged ({type(error).__name__})", tag=self.tag) from error

    def blank(self, head: bytes) -> Any:
        """Return an object without content, or what is to stand for it: `Opaque`, of any class.

        LangGraph writes nothing that contains itself, so there is no other stand-in.
        """
        try:
            return self.plans.blank(head)
        except (UnavailableError, TypeNotAllowedError) as error:
            return Opaque(Source(head, None)) if self._keeps else self._instead(head, None, error)

    def fill(self, head: bytes, obj: Any, data: Any) -> None:
        """Give what `blank` made its content."""
        if type(obj) is Opaque:
            Opaque.__init__(obj, Source(head, data))
            return
        try:
            self.plans.fill(head, obj, data)
        except UnavailableError as error:  # others hold it by now: nothing can stand for it
            raise self._lost(head, error) from error

    def _instead(self, head: bytes, data: Any, error: Exception) -> Any:
        if not self._keeps:
            if isinstance(error, SerdeError):
                raise error
            raise self._lost(head, error) from error
        return stand_in(head, data, self.plans.showing(head)(data))

    def _lost(self, head: bytes, why: Exception) -> PayloadError:
        name = shown_name(head_parts(head).name)
        return PayloadError(f"{name} could not be rebuilt: {why}", tag=self.tag)

    def _many(self, content: bytes) -> _Many:
        self._threads += 1
        return _Many(*parts(unpackb(content), list, bytes))

    def _holder_maker(self, head: bytes) -> Maker:
        """Return what makes the objects that an object holds, and then this."""
        inner, holdings = holder_parts(head)
        made = [(name, self._held_maker(held, heads)) for name, held, heads in holdings]

        def make(data: Any) -> Any:
            if type(data) is not dict:
                raise ValueError("a holder without attributes")
            for name, make_held in made:
                data[name] = make_held(data[name])
            return self.made(inner, data)

        return make

    def _held_maker(self, held: int, heads: list[bytes]) -> Maker:
        """Return what makes the objects in an attribute of a holder."""
        if held == Held.ONE:
            return partial(self.made, *heads)
        if held == Held.ALIKE:
            return partial(self._alike, *heads)
        return partial(self._mixed, heads)

    def _alike(self, head: bytes, data: Any) -> Any:
        make = self._seen.get(head) or self._maker(head)
        try:
            if type(data) is list:
                return [*map(make, data)]
            return {name: make(each) for name, each in check(data, dict).items()}
        except (UnavailableError, TypeNotAllowedError):
            return self._mixed([head], [b"\1" * len(data), data])

    def _mixed(self, heads: list[bytes], data: Any) -> Any:
        numbers, items = parts(data, bytes, object)
        if type(items) is list:
            return self._made_of(heads, numbers, items)
        made = self._made_of(heads, numbers, [*check(items, dict).values()])
        return dict(zip(items, made, strict=True))

    def _new_maker(self, head: bytes) -> Maker:
        """Return what makes the objects of a head that is not known, or refuses to."""
        if len(head) > _LONG_HEAD or type(head_parts(head).name) is list:
            self._new_types += 1
            if self._new_types > _MAX_NEW_TYPES:
                raise SizeLimitError("too many parametrised classes", tag=self.tag)
        if not self.budget.may_look():
            error: Exception = UnavailableError("too many names of the row lead nowhere")
            return self._refusing(head, error)
        try:
            return self.plans.maker(head, self.budget)
        except (UnavailableError, TypeNotAllowedError) as refusal:
            self.budget.note_refusal()
            return self._refusing(head, refusal)

    def _refusing(self, head: bytes, error: Exception) -> Maker:
        """Return what makes the stand-ins of a head, or raises where none are wanted.

        An error that is raised for each of many objects grows with each.
        """
        if not self._keeps:
            return partial(_refused, error)
        show = self.plans.showing(head)
        return lambda data: stand_in(head, data, show(data))

    def _maker(self, head: bytes) -> Maker:
        """Return what makes the objects of a head that this value has not shown yet."""
        if is_holder(head):
            make = self._holder_maker(head)
        else:
            make = self.plans.makers.current(head) or self._new_maker(head)
        self._seen[head] = make
        return make

    def _placed(self, value: Any) -> Any:
        """Return the value with the objects that each `MANY` tells of."""
        if type(value) is list:
            return self._thread(value)
        if type(value) is dict:
            for key, item in value.items():
                if type(item) is list and item and type(item[0]) is _Many:
                    value[key] = self._thread(item)
            channels = value.get(CHANNELS)
            if type(channels) is dict:
                self._placed(channels)
        return value

    def _thread(self, items: list[Any]) -> list[Any]:
        self._threads -= 1
        heads, numbers = check(items.pop(0), _Many)
        return self._made_of(heads, numbers, items)

    def _made_of(self, heads: list[bytes], numbers: bytes, items: list[Any]) -> list[Any]:
        if len(numbers) != len(items):
            raise ValueError("another number of items than of kinds")
        makers = [_as_it_is, *(self._seen.get(head) or self._maker(head) for head in heads)]
        made = []
        for number, item in zip(numbers, items, strict=True):
            if number and type(item) is not dict:
                raise ValueError("no attributes where some belong")
            try:
                made.append(makers[number](item))
            except (UnavailableError, TypeNotAllowedError) as error:
                made.append(self._instead(heads[number - 1], item, error))
        return made

    def _array(self, content: bytes) -> list[Any]:
        items = self.nested(content)
        if type(items) is not list:
            raise ValueError("no array where one belongs")
        return items

    def _hashed(self, content: bytes, kind: str) -> Any:
        """Return a set or dictionary; a stand-in where one of its items cannot be hashed."""
        items = self._array(content)
        if self.graph is not None:
            self.graph.take_hashes(items[1::2] if kind == "dict" else [])
        self.budget.size_of_items = len(content)
        made = self.made(_HASHED[kind], items)
        self.budget.size_of_items = 0
        return made

    def _value(self, content: bytes) -> Any:
        make, data = BY_NUMBER[content[0]], self.nested(content[1:])
        if content[0] == _PATTERN:
            self.budget.take_pattern(*parts(data, object, int))  # a network never ends
        return make(data)

    def _begun(self, content: bytes) -> Any:
        number = len(self._shared)
        self._shared.append(_OPEN)
        before = self.budget.of_written_out
        value = self.nested(content)
        if type(value) is bytes:  # it may be the head of many objects
            raise ValueError("bytes that are shared")
        self._shared[number] = value, len(content) + self.budget.of_written_out - before
        return value

    def _again(self, content: bytes) -> Any:
        value, size = self._shared[int.from_bytes(content, "big")]
        self.budget.write_out(size)
        return value

    def _node(self, content: bytes) -> Any:
        if self.graph is None:
            raise ValueError("a node without a graph")
        return self.graph.node(int.from_bytes(content, "big"))

    def _raise(self, error: BaseException) -> NoReturn:
        first = self.error or error
        if isinstance(first, SerdeError):
            first.tag = first.tag or self.tag
        if isinstance(first, SerdeError) or not isinstance(first, Exception):
            raise first
        raise PayloadError(f"damaged ({type(first).__name__})", tag=self.tag) from first


def _as_it_is(value: Any) -> Any:
    return value


def _refused(error: Exception, _data: Any) -> NoReturn:
    raise error


_HASHED: Final = {kind: head_bytes("hashed", kind) for kind in ("set", "frozenset", "dict")}

_READERS: Final[dict[int, Callable[[Reader, bytes], Any]]] = {
    int(code): read
    for code, read in {
        Code.TUPLE: lambda self, content: tuple(self._array(content)),
        Code.SET: lambda self, content: self._hashed(content, "set"),
        Code.FROZENSET: lambda self, content: self._hashed(content, "frozenset"),
        Code.MAP: lambda self, content: self._hashed(content, "dict"),
        Code.INT: lambda _, content: int.from_bytes(content, "big", signed=True),
        Code.TEXT: lambda _, content: content.decode("utf-8", "surrogatepass"),
        Code.VALUE: Reader._value,  # noqa: SLF001  # of this file
        Code.MANY: Reader._many,  # noqa: SLF001  # of this file
        Code.SHARED: Reader._begun,  # noqa: SLF001  # of this file
        Code.AGAIN: Reader._again,  # noqa: SLF001  # of this file
        Code.GRAPH: read_graph,
        Code.NODE: Reader._node,  # noqa: SLF001  # of this file
    }.items()
}
