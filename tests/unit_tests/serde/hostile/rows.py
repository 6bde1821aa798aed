"""What rows name a class with a hook, and what reading them runs and returns."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.once1 import Opaque

from . import zoo
from .families import Family
from .hooks import RAN, Hook
from .use import use
from .zoo import Specimen, specimen

__all__ = ["TRUSTS", "Finding", "findings", "fires"]

Trust = Literal["imported", "own", "listed"]
TRUSTS: Final[tuple[Trust, ...]] = ("imported", "own", "listed")
Codec = Literal["once1", "msgpack"]
Row = tuple[str, tuple[str, bytes]]

_mro_of: Final[Any] = vars(type)["__mro__"].__get__
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


def fires(family: Family, hook: Hook, found: Specimen) -> bool:
    """Whether the hook works: ordinary use of the class runs it."""
    RAN.clear()
    use(found.cls, lambda cls: family.make(cls, _VALUES), hook.name.split()[-1])
    gc.collect()
    has_run = bool(RAN)
    RAN.clear()
    return has_run


def findings(family: Family, hook: Hook, found: Specimen) -> Iterator[Finding]:
    """Yield what reading does with a class, for each codec and trust."""
    for codec in _WRITERS:
        rows = [*_rows(family, found, codec)]
        for trust in TRUSTS:
            yield _finding(codec, trust, found, rows)


def _finding(codec: Codec, trust: Trust, found: Specimen, rows: list[Row]) -> Finding:
    listed = [f"{Frozen.__module__}:Frozen"]
    if trust == "listed":
        listed.append(f"{zoo.__name__}:{found.name}")
    config = SerdeConfig(
        allowed_types=tuple(listed), source=(zoo.FOLDER,) if trust == "own" else ()
    )
    serde, ran, back = OnceSerializer(config), [], "nothing was written"
    for name, row in rows:
        RAN.clear()
        made = _read(serde, row, found.cls)
        ran += [f"{each} ({name})" for each in RAN]
        if name == "plain":
            back = made
    RAN.clear()
    gc.collect()
    ran += [f"{each} (thrown away)" for each in RAN]
    RAN.clear()
    return Finding(codec, trust, tuple(dict.fromkeys(ran)), back)


def _read(serde: OnceSerializer, row: tuple[str, bytes], cls: Any) -> str:
    try:
        back = serde.loads_typed(row)
    except Exception as error:
        return type(error).__name__
    one = back[0] if type(back) is list else back
    kind = type(one)
    is_it = any(part is cls for part in _mro_of(kind))  # a parametrised model is a subclass
    return "instance" if is_it else "Opaque" if kind is Opaque else f"another: {kind.__name__}"


def _rows(family: Family, found: Specimen, codec: Codec) -> Iterator[Row]:
    for name, make in _values(family, found).items():
        try:
            logging.disable()
            tag, data = _WRITERS[codec].dumps_typed(make())
        except (EncodeError, TypeError, ValueError, AttributeError):
            continue
        finally:
            logging.disable(logging.NOTSET)
        row = found.row(data)
        if row != data:  # else the class is written in other words, as an URL is
            yield name, (tag, row)


def _values(family: Family, found: Specimen) -> dict[str, Callable[[], Any]]:
    def one(cls: Any = found.twin, **more: Any) -> Any:
        return family.make(cls, {**_VALUES, **more})

    made: dict[str, Callable[[], Any]] = {
        "plain": lambda: [one()],
        "alone": one,
        "older": lambda: [family.make(found.older, {"value": 1})],
        "newer": lambda: [one(found.newer, more=1)],
        "combined": lambda: [one(value=[1])],
        "many": lambda: [one() for _ in range(40)],
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
            "in a key": lambda: {(1, (one(), 2)): 1, (1, (one(), 2)): 2},
            "in an object in a key": lambda: {Frozen((one(),)): 1, Frozen((one(),)): 2},
            "shared member": lambda: [it := one(), {it}, {it: it}],
        }
    return made


def _cycle(one: Any) -> Any:
    one.value.append(one)
    return one
