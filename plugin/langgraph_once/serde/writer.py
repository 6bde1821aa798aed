"""Objects to bytes: ormsgpack walks, and asks `Writer.hook` about what is not native.

The hook looks up how instances of the class are written, and notes which objects it met. Where one
was met twice, the value is written a second time: the object is a `SHARED` where it stands first
and an `AGAIN` further on. Lists and dictionaries are not tracked, since to look at each of them
takes seven times as long as to write them. Two references to one list become two equal lists, as
they do in LangGraph.

What cannot be written exactly takes the next step of a ladder, object by object: LangGraph's form
of it, then the native value that it is derived from, then an error. See `Writer._instead`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ormsgpack import Ext, Fragment, packb

from langgraph_once.errors import EncodeError
from langgraph_once.serde.format import CHANNELS, MAX_LEVELS, OPTIONS, Code, object_of, pack
from langgraph_once.serde.ladder import instead_of
from langgraph_once.serde.refused import TooDeepError, UnwritableError

if TYPE_CHECKING:
    from langgraph_once.serde.registry import Plans

__all__ = ["Writer", "leads_deep", "write"]

# Members of an enum and attributes of a class cost more to look up, for each message.
_MANY: Final = int(Code.MANY)
_OBJECT: Final = int(Code.OBJECT)

_MAX_HEADS: Final = 255
"""A byte counts them."""
_PROBED_LEVELS: Final = 24
_MANY_ARRAYS: Final = 1 << 14


def write(value: Any, plans: Plans) -> bytes:
    """Return the bytes of a value.

    Raises:
        TooDeepError: It takes a `GRAPH`.
        UnwritableError: Some part cannot be written.
        EncodeError: Some part may not be written.
    """
    if type(value) is list and len(value) == 1 and (alone := _alone(value[0], plans)):
        return pack([alone])
    first = Writer(plans)
    data = first.whole(value)
    met = first.met
    if len(met) < 2 or len({*met}) == len(met):
        return data
    seen: set[int] = set()
    twice = {each for each in met if each in seen or seen.add(each)}  # type: ignore[func-returns-value]
    return Writer(plans, shared=twice).whole(value)


def _alone(obj: Any, plans: Plans) -> Ext | None:
    """Return what stands for an object of native values alone, such as a new message; else None."""
    plain_head = plans[type(obj)].plain_head
    head = plain_head(obj) if plain_head is not None else None
    if head is None:
        return None
    try:
        return object_of(head, obj.__dict__)
    except TypeError:
        return None


def leads_deep(value: Any) -> bool:
    """Whether the first items of a value lead deep: `v = []; v += v, v` is written for ever."""
    for _ in range(_PROBED_LEVELS):
        kind = type(value)
        if kind is dict:
            value = next(iter(value.values()), None)
        elif kind is list and value:
            value = value[0]
        else:
            return False
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
    """

    error: Exception | None = None
    _level = 0
    _arrays = 0
    _shared: Collection[int] = ()
    _numbers: dict[int, int | None]

    def __init__(self, plans: Plans, shared: Collection[int] = ()) -> None:
        """Take the plans; `shared` are the ids of objects that are met twice, where known."""
        self.plans = plans
        self.met: list[int] = []
        self.kept: list[Any] = []
        if shared:
            self._shared = shared
            self._numbers = {}

    def whole(self, value: Any) -> bytes:
        """Return the bytes of the value."""
        if type(value) is list and (thread := self._thread(value)) is not value:
            try:
                return packb(thread, self.hook, OPTIONS)
            except TypeError as error:
                self._retreat(0, error)  # one of them is to be mended: not all of its siblings
        elif type(value) is dict:
            return self.pack(self._with_threads(value))
        return self.pack(value)

    def pack(self, data: Any) -> bytes:
        """Return the msgpack of any value."""
        met = len(self.met)
        try:
            return packb(data, self.hook, OPTIONS)
        except TypeError as error:
            self._retreat(met, error)
        try:
            return packb(self._mended(data), self.hook, OPTIONS)
        except TypeError as error:
            raise self.error or error from None

    def hook(self, obj: Any) -> Any:
        """Return what stands for what is not native. Called by ormsgpack."""
        level, met = self._level, len(self.met)
        try:
            if type(obj) is Later:
                return obj.write(self, obj.value)
            if self._shared and id(obj) in self._shared:
                return self._once(obj)
            return self.plans[type(obj)].write(self, obj)
        except Exception as error:
            if self.error is None:
                self.error = _placed(error, obj)
            if type(obj) is Later or isinstance(self.error, _FINAL):
                raise
            return self._instead(obj, level, met)

    def _instead(self, obj: Any, level: int, met: int) -> Any:
        """Return what LangGraph leaves of an object that cannot be written exactly.

        LangGraph leaves out private attributes, excluded fields and the factory of a `defaultdict`.
        No run may fail because one of these holds a lock.
        """
        failed = self.error
        made = instead_of(obj)
        if made is None:
            raise failed  # type: ignore[misc]  # whoever holds it may be written without it
        name = f"{type(obj).__module__}:{type(obj).__qualname__}"
        text = "Stored %s without some of its parts, as LangGraph does: %s"
        self.plans.trust.warn(name, text, name, failed)
        self._level, self.error = level, None
        self._forget(met)
        self.kept.append(made)
        return made

    def object(self, obj: Any, head: bytes, data: Any) -> Ext:
        """Return what stands for an object of this head and these data."""
        self.met.append(id(obj))
        return Ext(_OBJECT, self.nested([head, data]))

    def nested(self, data: Any) -> bytes:
        """Return the msgpack of what an extension holds."""
        self._level += 1
        if self._level > MAX_LEVELS:
            raise TooDeepError
        packed = self.pack(data)
        self._level -= 1
        return packed

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
        plans = self.plans
        if not items or plans[type(items[0])].plain_head is None:
            return items
        if len(items) == 1 and not self._shared and (alone := _alone(items[0], plans)):
            self.met.append(id(items[0]))
            return [alone]
        shared, heads = self._shared, _Numbered()
        numbers: list[int] = []
        contents: list[Any] = [None]
        met: list[int] = []
        for item in items:
            plain_head = plans[type(item)].plain_head
            head = plain_head(item) if plain_head is not None else None
            if head is None or (shared and id(item) in shared):
                numbers.append(0)
                contents.append(item)
            else:
                numbers.append(heads[head])
                contents.append(item.__dict__)
                met.append(id(item))
        if len(heads) > _MAX_HEADS:
            return items
        self.met += met
        contents[0] = Ext(_MANY, pack([[*heads], bytes(numbers)]))
        return contents

    def _once(self, obj: Any) -> Any:
        """Return what stands for an object that was met twice."""
        plan = self.plans[type(obj)]
        if not plan.has_identity:
            return plan.write(self, obj)
        number = self._numbers.get(id(obj), -1)
        if number is None:  # it is being written: it contains itself
            raise TooDeepError
        if number >= 0:
            return Ext(Code.AGAIN, number.to_bytes(4, "big"))
        number = len(self._numbers)
        self._numbers[id(obj)] = None
        try:
            packed = pack(plan.write(self, obj))
        except BaseException:
            del self._numbers[id(obj)]
            raise
        self._numbers[id(obj)] = number
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
            return value if _is_text(value) else _surrogates(value)
        if kind is Later:
            return self._mended(value.value)
        if kind is list:
            return [*map(_tried_again, value)]
        if kind is dict:
            if all(type(key) is str and _is_text(key) for key in value):
                return {key: _tried_again(item) for key, item in value.items()}
            return Later(Writer.mapping, value)
        return value

    def mapping(self, value: dict[Any, Any]) -> Ext:
        """Return what stands for a dictionary with keys that are not all text."""
        return Ext(Code.MAP, self.nested([each for pair in value.items() for each in pair]))


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


def _tried_again(value: Any) -> Any:
    if type(value) is Later:
        value = value.value
    if type(value) in (list, dict):
        return Later(_packed, value)
    return value if type(value) is not str or _is_text(value) else _surrogates(value)


def _packed(out: Writer, value: Any) -> Fragment:
    return Fragment(out.pack(value))


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _surrogates(value: str) -> Ext:
    return Ext(Code.TEXT, value.encode("utf-8", "surrogatepass"))
