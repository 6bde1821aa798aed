"""Whether a hook works, what rows name its class, and what reading them runs and returns."""

from __future__ import annotations

import contextlib
import copy
import functools
import gc
import logging
import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1 import Opaque

from . import zoo
from .families import FAMILIES, Family
from .hooks import RAN, Hook
from .zoo import Twins, twins

__all__ = ["TRUSTS", "Finding", "Trust", "findings", "fires", "rows_of", "use"]


def use(cls: Any, make: Callable[[Any], Any], attribute: str) -> None:
    """Do with a class and an instance of it all that programs do."""
    for action in _class_actions(cls, attribute):
        _try(action)
    made: Any = None
    with contextlib.suppress(Exception):
        made = make(cls)
    if made is None:
        with contextlib.suppress(Exception):
            made = cls.__new__(cls)
    for action in _actions(made, attribute):
        _try(action)


def _try(action: Callable[[], Any]) -> None:
    with contextlib.suppress(Exception, RecursionError):
        action()


def _class_actions(cls: Any, attribute: str) -> Iterator[Callable[[], Any]]:
    yield lambda: getattr(cls, attribute)
    yield lambda: getattr(cls, attribute)()
    yield lambda: cls.no_such_thing
    yield lambda: cls()
    yield lambda: setattr(cls, "zz", 1)
    yield lambda: delattr(cls, "zz")
    yield lambda: type(cls)("Sub", (cls,), {"__annotations__": {}})
    yield lambda: cls[int]
    yield lambda: cls["A"]
    yield lambda: cls(99)
    yield lambda: isinstance(1, cls)
    yield lambda: issubclass(int, cls)
    yield from _common(cls)
    yield lambda: cls.mro()
    yield lambda: cls.model_validate({"value": 1})
    yield lambda: cls.parse_obj({"value": 1})


def _common(it: Any) -> Iterator[Callable[[], Any]]:
    others = (hash, repr, str, bool, len, iter, list, reversed, int, float, complex, bytes, dir)
    for function in others:
        yield functools.partial(function, it)
    yield lambda: it == 1
    yield lambda: it != 1
    yield lambda: it < 1
    yield lambda: it | 1
    yield lambda: 1 in it
    yield lambda: f"{it:1}"
    yield lambda: it()
    yield lambda: it.__reduce_ex__(4)


def _actions(made: Any, attribute: str) -> Iterator[Callable[[], Any]]:
    yield lambda: getattr(made, attribute)
    yield lambda: getattr(made, attribute)()
    yield lambda: getattr(made, attribute)({})
    yield lambda: getattr(made, attribute)(1, 2)
    yield lambda: made.no_such_thing
    yield lambda: setattr(made, "value", 1)
    yield lambda: delattr(made, "late")
    yield from _common(made)
    yield lambda: made[0]
    yield lambda: made["a"]
    yield lambda: made["none"]
    yield lambda: made.__setitem__("a", 1)
    yield lambda: made.__delitem__("a")
    yield lambda: range(made)
    yield lambda: copy.copy(made)
    yield lambda: copy.deepcopy(made)
    yield lambda: pickle.loads(pickle.dumps(made))
    yield lambda: made.__sizeof__()
    yield lambda: made.__init__()
    yield lambda: os.fspath(made)
    yield lambda: made[1:]
    yield lambda: made.__ior__({})
    yield lambda: made.__iadd__([])


Trust = Literal["imported", "own", "listed"]
TRUSTS: Final[tuple[Trust, ...]] = ("imported", "own", "listed")
Codec = Literal["once1", "msgpack"]
Row = tuple[str, tuple[str, bytes]]

_mro_of: Final[Any] = vars(type)["__mro__"].__get__
_NAME: Final = b"H-----"
"""Stands for the name of the class."""

_VALUES: Final[dict[str, Any]] = {"value": 1, "late": "set"}
_WRITERS: Final[dict[Codec, Any]] = {
    "once1": OnceSerializer(SerdeConfig(enforcement="open", compression="none")),
    "msgpack": JsonPlusSerializer(),
}


@dataclass(frozen=True)
class Frozen:
    """A listed key, which holds something."""

    held: Any


@dataclass(frozen=True)
class Finding:
    """What reading did.

    Attributes:
        codec: Which wrote the row.
        trust: Why the class may be loaded, or may not.
        ran: What ran, and for which row.
        back: What the plain row gave: an instance, an `Opaque`, or an error.
    """

    codec: Codec
    trust: Trust
    ran: tuple[str, ...]
    back: str


def fires(family: Family, hook: Hook, cls: Any) -> bool:
    """Whether the hook works: ordinary use of the class runs it."""
    RAN.clear()
    use(cls, lambda own: family.make(own, _VALUES), hook.name)
    gc.collect(0)  # what is left of it must not be thrown away later
    has_run = bool(RAN)
    RAN.clear()
    return has_run


def findings(family: Family, cls: Any, trusts: tuple[Trust, ...] = TRUSTS) -> Iterator[Finding]:
    """Yield what reading does with a class, for each codec and trust."""
    for codec, written in rows_of(family).items():
        for trust in trusts:
            yield _finding(codec, trust, cls, written)


def _finding(codec: Codec, trust: Trust, cls: Any, written: list[Row]) -> Finding:
    name = vars(type)["__name__"].__get__(cls)
    serde = _reader(trust, name if trust == "listed" else "")
    ran, back = [], "nothing was written"
    for kind, (tag, data) in written:
        RAN.clear()
        made = _read(serde, (tag, data.replace(_NAME, name.encode())), cls)
        ran += [f"{each} ({kind})" for each in RAN]
        if kind == "plain":
            back = made
    RAN.clear()
    gc.collect(0)
    ran += [f"{each} (thrown away)" for each in RAN]
    RAN.clear()
    return Finding(codec, trust, tuple(dict.fromkeys(ran)), back)


@functools.lru_cache(maxsize=3)
def _reader(trust: Trust, name: str) -> OnceSerializer:
    listed = [f"{Frozen.__module__}:Frozen", *([f"{zoo.__name__}:{name}"] if name else [])]
    source = (zoo.FOLDER,) if trust == "own" else ()
    return OnceSerializer(SerdeConfig(allowed_types=tuple(listed), source=source))


def _read(serde: OnceSerializer, row: tuple[str, bytes], cls: Any) -> str:
    try:
        back = serde.loads_typed(row)
    except Exception as error:
        return type(error).__name__
    one = back[0] if type(back) is list else back
    kind = type(one)
    is_it = any(part is cls for part in _mro_of(kind))  # a parametrised model is a subclass
    return "instance" if is_it else "Opaque" if kind is Opaque else f"another: {kind.__name__}"


@functools.cache
def _rows_of(name: str) -> dict[Codec, list[Row]]:
    family = FAMILIES[name]
    own = twins(family)
    return {codec: [*_rows(family, own, codec)] for codec in _WRITERS}


def rows_of(family: Family) -> dict[Codec, list[Row]]:
    """Return the rows of a family by the codec: what each holds, its tag and its bytes."""
    return _rows_of(family.name)


def _rows(family: Family, own: Twins, codec: Codec) -> Iterator[Row]:
    for kind, make in _values(family, own).items():
        try:
            logging.disable()
            tag, data = _WRITERS[codec].dumps_typed(make())
        except (EncodeError, TypeError, ValueError, AttributeError):
            continue
        finally:
            logging.disable(logging.NOTSET)
        row = own.renamed(data, _NAME.decode())
        if row != data:  # else the class is written in other words, as an URL is
            yield kind, (tag, row)


def _values(family: Family, found: Twins) -> dict[str, Callable[[], Any]]:
    def one(cls: Any = found.twin, **more: Any) -> Any:
        return family.make(cls, {**_VALUES, **more})

    made: dict[str, Callable[[], Any]] = {
        "plain": lambda: [one()],
        "alone": one,
        "older": lambda: [family.make(found.older, {"value": 1})],
        "newer": lambda: [one(found.newer, more=1)],
        "combined": lambda: [one(value=[1])],
        "many": lambda: [one() for _ in range(6)],
        "shared": lambda: [[it := one(), it], it],
        "in itself": lambda: [_cycle(one(value=[]))],
        "nested": lambda: {"a": {"b": (one(value=(one(), [one()])),)}},
        "in a group": lambda: ExceptionGroup("a", [one(), one()]),
    }
    if family.is_key:
        made |= {
            "key": lambda: {one(): 1, one(): 2, one(value=2): 3},
            "member": lambda: {one(), one()},
            "frozen member": lambda: frozenset({one(), one()}),
            "in a key": lambda: dict.fromkeys([(1, (one(), 2)), (1, (one(), 2))]),
            "in an object in a key": lambda: dict.fromkeys([Frozen((one(),)), Frozen((one(),))]),
            "shared member": lambda: [it := one(), {it}, {it: it}],
        }
    return made


def _cycle(one: Any) -> Any:
    one.value.append(one)
    return one
