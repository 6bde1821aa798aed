"""Objects to bytes: ormsgpack walks, and asks `Writer.hook` about what is not native.

The hook looks up how instances of the class are written, and notes which objects it met. Where one
was met twice, the value is written a second time: the object is a `SHARED` where it stands first
and an `AGAIN` further on. Lists and dictionaries are not tracked, since to look at each of them
takes seven times as long as to write them. Two references to one list become two equal lists, as
they do in LangGraph.

What cannot be written exactly takes the next step of a ladder, object by object: LangGraph's form
of it, which is read by LangGraph's rules (an exception becomes class and text); then the native
value that it is derived from; then whatever holds it is tried in the same way. In the end the value
is refused. LangGraph refuses such a value, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ormsgpack import Ext, Fragment, packb

from langgraph_once.errors import EncodeError
from langgraph_once.serde.format import (
    CHANNELS,
    MAX_HOLDER_BYTES,
    MAX_LEVELS,
    NATIVE,
    OPTIONS,
    Code,
    Held,
    Holding,
    head_bytes,
    object_of,
    pack,
)
from langgraph_once.serde.limits import Budget, most_opened, most_written_out, pattern_units
from langgraph_once.serde.opaque import TooDeepError, UnwritableError
from langgraph_once.serde.plans.exceptions import UnstoredError, as_text
from langgraph_once.serde.stock_writes import native_base, stock_form

if TYPE_CHECKING:
    from langgraph_once.serde.plans.base import Plan
    from langgraph_once.serde.registry import Plans

# Members of an enum and attributes of a class cost more to look up, for each message.
_MANY: Final = int(Code.MANY)
_OBJECT: Final = int(Code.OBJECT)
_ONE, _ALIKE, _MIXED = map(int, Held)

_MAX_HEADS: Final = 255
"""A byte counts them."""
# The holder's head repeats these, and an object holds messages of few kinds.
_MAX_HELD_HEADS: Final = 8
# 2 ** 24 writes are too many to wait for.
_PROBED_LEVELS: Final = 24
_MANY_ARRAYS: Final = 1 << 14
_LARGE_BYTES: Final = 1 << 20


def write(value: Any, plans: Plans) -> bytes:
    """Return the bytes of a value.

    Raises:
        TooDeepError: It takes a `GRAPH`.
        UnwritableError: Some part cannot be written.
        EncodeError: Some part may not be written.
        SizeLimitError: Compiling its patterns takes too long.
    """
    kind = type(value)
    if kind is not dict:
        if _leads_deep(value):
            raise TooDeepError
        data = write_around(value, value if kind is list else [value], plans)
        if data is not None:
            return data
    first = Writer(plans)
    try:
        data = first.whole(value)
    except Exception as error:
        if not first.has_held or isinstance(first.error or error, _FINAL):
            raise
        # So that what cannot be written concerns no object that holds it.
        first = Writer(plans, holds=False)
        data = first.whole(value)
    met = first.met
    first.check_patterns()
    if len(met) < 2 or len({*met}) == len(met):
        return data
    seen: set[int] = set()
    twice = {each for each in met if each in seen or seen.add(each)}  # type: ignore[func-returns-value]
    again = Writer(plans, twice, holds=first.has_held)
    found = again.whole(value)
    # Where reading would refuse so much that is repeated, what is one object becomes several.
    return found if again.written_out <= most_written_out(len(found)) else data


def write_around(value: Any, met: list[Any], plans: Plans) -> bytes | None:
    """Return the bytes of a value that holds one object of native values, as a new message is.

    None for any other. Counting the objects costs less than a `Writer` does.

    Args:
        value: The value.
        met: The objects that ormsgpack asks about.
        plans: How instances of a class are written.
    """
    if len(met) != 1 or (plain_head := plans[type(met[0])].plain_head) is None:
        return None
    try:
        head = plain_head(met[0])
        if head is None:
            return None
        made = object_of(head, met[0].__dict__)
    except Exception:  # a `Writer` tells why
        return None
    return packb(value, lambda _: made, OPTIONS)


def _leads_deep(value: Any) -> bool:
    """Whether the first items lead deep: to write `v = [v, v]` takes twice as long each time."""
    for _ in range(_PROBED_LEVELS):
        if type(value) is not list or not value:
            return False
        value = value[0]
    return True


class Later(NamedTuple):
    """What is written when its turn comes: a `SHARED` counts those before it in the bytes."""

    write: Callable[[Writer, Any], Any]
    value: Any


class Writer:
    """Writes one value, once.

    Attributes:
        plans: How instances of a class are written.
        met: The ids of the objects that were met, in order.
        kept: What was made on the way: as long as it lives, no other object gets its id.
        error: The first one. ormsgpack hides what a hook raises.
        has_held: Whether some object may hold the data of others. If anything fails then, all is
            written once more without that.
        written_out: How many bytes whoever walks through the value meets again, as the reader
            counts them.
    """

    error: Exception | None = None
    written_out = 0
    _level = 0
    has_held = False
    _held_levels = 0
    _arrays = 0
    _shared: Collection[int] = ()
    _numbers: dict[int, int | None]

    def __init__(self, plans: Plans, shared: Collection[int] = (), *, holds: bool = True) -> None:
        """Take what it needs.

        Args:
            plans: How instances of a class are written.
            shared: The ids of objects that are met twice, where known.
            holds: Whether objects may hold the data of others.
        """
        self.plans = plans
        self._holds = holds
        self.met: list[int] = []
        self.kept: list[Any] = []
        self._pattern_units: dict[int, int] = {}
        """By id: what compiling a pattern takes."""
        self._largest: dict[int, int] = {}
        """By level: how many bytes the largest extension there holds, if they are many."""
        if shared:
            self._shared = shared
            self._numbers = {}
            self._repeated: dict[int, int] = {}

    def whole(self, value: Any) -> bytes:
        """Return the bytes of the value.

        Raises:
            TooDeepError: It takes a `GRAPH`.
        """
        if type(value) is dict:
            value = self._with_threads(value)
        elif type(value) is list:
            value = self._thread(value)
        data = self.pack(value)
        if self._largest:
            opened = sum(self._largest.values()) * (2 if self._shared else 1)
            if opened > most_opened(len(data)):  # the reader would hold all of these at once
                raise TooDeepError
        return data

    def pack(self, data: Any) -> bytes:
        """Return the msgpack of any value."""
        met = len(self.met)
        try:
            return packb(data, self.hook, OPTIONS)
        except TypeError as error:
            return self._pack_mended(data, met, error)

    def _pack_mended(self, data: Any, met: int, error: TypeError) -> bytes:
        self._retreat(met, error)
        try:
            return packb(self._mended(data), self.hook, OPTIONS)
        except TypeError as again:
            raise self.error or again from None

    def hook(self, obj: Any) -> Any:
        """Return what stands for what is not native. Called by ormsgpack."""
        level, met = self._level, len(self.met)
        try:
            if type(obj) is Later:
                return obj.write(self, obj.value)
            plan = self.plans[type(obj)]
            if self._shared and id(obj) in self._shared:
                return self._once(obj, plan)
            return self._written(obj, plan)
        except Exception as error:
            if self.error is None:
                self.error = _placed(error, obj)
            if type(obj) is Later or self.has_held or isinstance(self.error, _FINAL):
                raise
            return self._instead(obj, level, met)

    def _instead(self, obj: Any, level: int, met: int) -> Any:
        """Return what LangGraph leaves of an object that cannot be written exactly.

        LangGraph leaves out private attributes, excluded fields and the factory of a `defaultdict`.
        No run may fail because one of these holds a lock.
        """
        failed = self.error
        made = _instead_of(obj)
        if made is None:
            raise failed  # type: ignore[misc]  # whoever holds it may be written without it
        name = f"{type(obj).__module__}:{type(obj).__qualname__}"
        text = "Stored %s without some of its parts, as LangGraph does: %s"
        self.plans.trust.warn(name, text, name, failed)
        self._level, self.error = level, None
        self._forget(met)
        self.kept.append(made)
        return made

    def _written(self, obj: Any, plan: Plan) -> Any:
        found = self._plain(obj, plan) if plan.plain_head is not None else None
        return plan.write(self, obj) if found is None else Ext(_OBJECT, self.nested([*found]))

    def _plain(self, obj: Any, plan: Plan) -> tuple[bytes, dict[str, Any]] | None:
        """Return head and data of an object that is its `__dict__`; None for another."""
        head = plan.plain_head(obj)  # type: ignore[misc]  # it was looked at
        if head is None:
            return None
        self.met.append(id(obj))
        data = obj.__dict__
        return self._with_held(head, data, plan.holding) if plan.holding else (head, data)

    def object(self, obj: Any, head: bytes, data: Any) -> Ext:
        """Return what stands for an object of this head and these data."""
        self.met.append(id(obj))
        return Ext(_OBJECT, self.nested([head, data]))

    def nested(self, data: Any) -> bytes:
        """Return the msgpack of what an extension holds."""
        self._level += 1
        if self._level > MAX_LEVELS:
            raise TooDeepError
        met = len(self.met)
        try:
            packed = packb(data, self.hook, OPTIONS)  # as `pack`, for each object
        except TypeError as error:
            packed = self._pack_mended(data, met, error)
        if len(packed) > _LARGE_BYTES:
            self._largest[self._level] = max(len(packed), self._largest.get(self._level, 0))
        self._level -= 1
        return packed

    def _with_held(
        self, head: bytes, data: dict[str, Any], names: tuple[str, ...]
    ) -> tuple[bytes, dict[str, Any]]:
        """Return head and data of an object, with the data of the objects that it holds."""
        if not self._holds:
            return head, data
        met, made = len(self.met), data
        holdings: list[Holding] = []
        for name in names:
            value = data.get(name)
            if type(value) in NATIVE:
                continue
            self.has_held = True
            self._held_levels += 1
            if self._held_levels > MAX_LEVELS:
                raise TooDeepError
            found = self._held(name, value)
            self._held_levels -= 1
            if found is not None:
                made = {**data} if made is data else made
                holding, made[name] = found
                holdings.append(holding)
        if not holdings:
            return head, data
        holder = self.plans.holder(head, holdings)
        if len(holder) > MAX_HOLDER_BYTES:
            del self.met[met:]
            return head, data
        return holder, made

    def _held(self, name: str, value: Any) -> tuple[Holding, Any] | None:
        """Return what an attribute holds, and what is written of it; None where it is no object."""
        kind = type(value)
        if kind is not list and kind is not dict:
            return self._held_one(name, value)
        items = value if kind is list else [*value.values()]
        plan = self.plans[type(items[0])] if items else None
        if plan is None or plan.plain_head is None or (kind is dict and not _has_text_keys(value)):
            return None
        alike = plan.plain_run(items) if plan.plain_run and not self._shared else None
        if alike is not None:
            self.met += map(id, items)
            content = alike[1] if kind is list else dict(zip(value, alike[1], strict=True))
            return (name, _ALIKE, alike[:1]), content
        found = self._one_by_one(items, _MAX_HELD_HEADS)
        if found is None:
            return None
        heads, numbers, items = found
        content = items if kind is list else dict(zip(value, items, strict=True))
        if len(heads) > 1 or 0 in numbers:
            return (name, _MIXED, heads), [numbers, content]
        return (name, _ALIKE, heads), content

    def _held_one(self, name: str, value: Any) -> tuple[Holding, Any] | None:
        plan = self.plans[type(value)]
        if plan.plain_head is None or (self._shared and id(value) in self._shared):
            return None
        found = self._plain(value, plan)
        return None if found is None else ((name, _ONE, found[:1]), found[1])

    def array(self, value: Collection[Any]) -> bytes:
        """Return the msgpack of the items of a tuple or frozenset.

        Raises:
            TooDeepError: It stands here twice, and holds very many others. A `GRAPH` has it once.
        """
        before = self._arrays
        self._arrays += 1
        packed = self.nested([*value])
        if self._arrays - before > _MANY_ARRAYS:
            if id(value) in self.met:
                raise TooDeepError
            self.met.append(id(value))
            self.kept.append(value)
        return packed

    def note_pattern(self, value: re.Pattern[Any]) -> None:
        """Note that a pattern is written, which reading compiles."""
        self.met.append(id(value))
        self.kept.append(value)
        self._pattern_units[id(value)] = pattern_units(value.pattern, value.flags)

    def check_patterns(self) -> None:
        """Check that reading compiles all patterns that were written.

        Raises:
            SizeLimitError: It would refuse to.
        """
        if self._pattern_units:
            units = sum(self._pattern_units.get(each, 0) for each in self.met)
            Budget(0, "once2").take_pattern_units(units)

    def _with_threads(self, value: dict[Any, Any]) -> dict[Any, Any]:
        """Return a dictionary whose threads are written as such; of a checkpoint, too."""
        made: dict[Any, Any] = {}
        for key, item in value.items():
            if type(item) is not list:
                continue
            if self._shared:
                made[key] = Later(Writer._thread, item)
            elif (thread := self._thread(item)) is not item:
                made[key] = thread
        channels = value.get(CHANNELS)
        if type(channels) is dict:
            made[CHANNELS] = self._with_threads(channels)
        return value | made if made else value

    def _thread(self, items: list[Any]) -> Any:
        """Return what is written for a list: where it begins with an object, a `MANY` first."""
        if len(items) < 2 or (plan := self.plans[type(items[0])]).plain_head is None:
            return items
        alike = plan.plain_run(items) if plan.plain_run and not self._shared else None
        if alike is not None:
            self.met += map(id, items)
            return [Ext(_MANY, pack([[alike[0]], b"\1" * len(items)])), *alike[1]]
        found = self._one_by_one(items, _MAX_HEADS)
        if found is None:
            return items
        heads, numbers, contents = found
        return [Ext(_MANY, pack([[*heads], numbers])), *contents]

    def _one_by_one(
        self, items: list[Any], most: int
    ) -> tuple[tuple[bytes, ...], bytes, list[Any]] | None:
        plans, shared, heads = self.plans, self._shared, _Numbered()
        met, before = self.met, len(self.met)
        numbers: list[int] = []
        contents: list[Any] = []
        for item in items:
            plan = plans[type(item)]
            plain_head, holding = plan.plain_head, plan.holding
            head = plain_head(item) if plain_head is not None else None
            if head is None or (shared and id(item) in shared):
                numbers.append(0)
                contents.append(item)
                continue
            data = item.__dict__  # as `_plain`: a thread is long
            if holding:
                head, data = self._with_held(head, data, holding)
            numbers.append(heads[head])
            contents.append(data)
            met.append(id(item))
        if not 0 < len(heads) <= most:
            del met[before:]
            return None
        return (*heads,), bytes(numbers), contents

    def _once(self, obj: Any, plan: Plan) -> Any:
        """Return what stands for an object that was met twice."""
        if not plan.has_identity:
            return plan.write(self, obj)
        number = self._numbers.get(id(obj), -1)
        if number is None:  # it is being written: it contains itself
            raise TooDeepError
        if number >= 0:
            self.written_out += self._repeated[number]
            return Ext(Code.AGAIN, number.to_bytes(4, "big"))
        number, before = len(self._numbers), self.written_out
        self._numbers[id(obj)] = None
        try:
            packed = pack(self._written(obj, plan))
        except BaseException:  # who writes it in another way meets it again
            del self._numbers[id(obj)]
            raise
        self._numbers[id(obj)] = number
        self._repeated[number] = len(packed) + self.written_out - before
        return Ext(Code.SHARED, packed)

    def _retreat(self, met: int, error: TypeError) -> None:
        """Forget what was met since; raise what cannot be mended."""
        if self.error is None and "ecursion" in str(error):
            self.error = TooDeepError()
        if self.error is not None:
            raise self.error
        self._forget(met)

    def _forget(self, met: int) -> None:
        """Forget all objects but those that were met first."""
        if self._shared:
            for each in {*self.met[met:]}.difference(self.met[:met]):
                self._numbers.pop(each, None)
        del self.met[met:]

    def _mended(self, value: Any) -> Any:
        """Return a value in which extensions stand for what msgpack cannot write.

        Only this container is looked at. Those in it are tried again as they are.
        """
        kind = type(value)
        if kind is str:
            return _text(value)
        if kind is list:
            return [*map(_tried_again, value)]
        if kind is dict:
            if all(type(key) is str and _text(key) is key for key in value):
                return {key: _tried_again(item) for key, item in value.items()}
            return Later(Writer.mapping, value)
        return value

    def mapping(self, value: dict[Any, Any]) -> Ext:
        """Return what stands for a dictionary with keys that are not all text."""
        return Ext(Code.MAP, self.nested([each for pair in value.items() for each in pair]))


def _instead_of(obj: Any) -> Any:
    """Return what LangGraph leaves of an object; None if it cannot write it, either.

    The result is native, an extension, or an object that can be written.
    """
    if isinstance(obj, BaseException):
        return None if isinstance(obj, UnstoredError) else as_text(obj)
    found = stock_form(obj)
    if found is None:
        return native_base(obj)
    code, content = found
    name = f"{type(obj).__module__}:{type(obj).__qualname__}"
    return object_of(head_bytes("stock", name, 0, code), content)


_FINAL: Final = (TooDeepError, RecursionError, EncodeError)
"""Errors that concern the whole value."""


def _placed(error: Exception, obj: Any) -> Exception:
    """Return an error that knows the object that it is about, and quotes nothing of it."""
    if isinstance(error, UnwritableError):
        error.value = obj if error.value is None else error.value
    elif isinstance(error, EncodeError):
        vars(error).setdefault("value", obj)
    elif not isinstance(error, _FINAL):
        return UnwritableError(f"{type(error).__name__} where it was taken apart", obj)
    return error


class _Numbered(dict[bytes, int]):
    """Numbers by head, counted from one."""

    def __missing__(self, head: bytes) -> int:
        return self.setdefault(head, len(self) + 1)


_TEXT: Final = {str}


def _has_text_keys(value: dict[Any, Any]) -> bool:
    return {*map(type, value)} == _TEXT


def _tried_again(value: Any) -> Any:
    if type(value) is Later:
        value = value.value
    kind = type(value)
    if kind is dict and value and not _has_text_keys(value):
        return Later(Writer.mapping, value)  # to try it would fail, and take three times as long
    if kind is list or kind is dict:
        return Later(_packed, value)
    return _text(value) if kind is str else value


def _packed(out: Writer, value: Any) -> Fragment:
    return Fragment(out.pack(value))


def _text(value: str) -> str | Ext:
    """Return what is written for a text: the text itself, unless it has lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return Ext(Code.TEXT, value.encode("utf-8", "surrogatepass"))
    return value
