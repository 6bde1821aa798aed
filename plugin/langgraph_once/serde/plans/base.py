"""What a form is, and what a plan is.

A *form* is a way to take objects of a kind of class apart: dataclasses, enums, exceptions. A *plan*
is what a form worked out, once, for one class: the functions that write its instances.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from langgraph_once.serde.format import head_bytes
from langgraph_once.serde.lookup import declared, top_level
from langgraph_once.serde.opaque import STAND_INS, UnavailableError

if TYPE_CHECKING:
    from ormsgpack import Ext

Maker = Callable[[Any], Any]
"""From the data of an object to the object."""


class Out(Protocol):
    """What a plan writes with: a `writer.Writer`."""

    kept: list[Any]
    """What was made on the way: as long as it lives, no other object gets its id."""
    met: list[int]
    """The ids of the objects that were met, in order."""

    def object(self, obj: Any, head: bytes, data: Any) -> Ext:
        """Return what stands for an object of this head and these data."""

    def nested(self, data: Any) -> bytes:
        """Return the msgpack of what an extension holds."""

    def array(self, value: Collection[Any]) -> bytes:
        """Return the msgpack of the items of a tuple or frozenset."""

    def note_pattern(self, value: re.Pattern[Any]) -> None:
        """Note that a pattern is written, which reading compiles."""


class Plan(NamedTuple):
    """How the instances of one class are written."""

    write: Callable[[Out, Any], Ext]
    """Returns what stands for an instance that has no plain head."""
    plain_head: Callable[[Any], bytes | None] | None = None
    """Returns the head of an instance whose `__dict__` is all that its data are, None for another,
    which is for `write`. Where the plan has no such function, no instance is."""
    plain_run: Callable[[list[Any]], tuple[bytes, list[Any]] | None] | None = None
    """Returns the plain head of some instances and the `__dict__` of each; None where their heads
    differ, or one is no instance. Only there to save time, where `holding` is empty."""
    holding: tuple[str, ...] = ()
    """Fields that may hold objects, where there is a `plain_head`."""
    has_identity: bool = False
    """Whether two references to one instance stay references to one."""
    form: Form | None = None


class Form:
    """How objects of a kind of class are taken apart, and put together.

    Neither runs code of the class, unless `calls` says so. What comes from bytes may be anybody's:
    `maker` and `fill` check its shape before they use it.
    """

    name = ""
    """Stands in the bytes, for ever."""
    calls = False
    """Whether making an instance calls the class, or what it names: only listed ones may be."""
    upgrades_shown = True
    """Whether an upgrade function gets what is shown, and not the data."""

    def matches(self, cls: type) -> bool:
        """Whether instances of `cls` are of this form. Asked on writing and on reading.

        False of forms whose heads name no class: only forged bytes ask them.
        """
        return False

    def take(self, obj: Any) -> Any:
        """Return the data of an object.

        Raises:
            UnwritableError: They would not be the whole of it.
        """
        raise NotImplementedError

    def extra(self, obj: Any) -> tuple[Any, ...]:
        """Return what the head of an object holds beside form, class and version."""
        return self.extra_of(type(obj))

    def extra_of(self, cls: type) -> tuple[Any, ...]:
        """Return it where it is the same for all instances."""
        return ()

    def maker(self, cls: type, extra: list[Any]) -> Maker:
        """Return what makes instances of data; `extra` is what the form added to the head."""

        def make(data: Any) -> Any:
            obj = self.blank(cls)
            self.fill(obj, data, extra)
            return obj

        return make

    def is_fillable(self, cls: type) -> bool:
        """Whether `blank` makes instances of `cls`, so that they may contain themselves."""
        return type(self).blank is not Form.blank

    def blank(self, cls: type) -> Any:
        """Return an instance without content."""
        raise UnavailableError("such an object cannot contain itself")

    def fill(self, obj: Any, data: Any, extra: list[Any]) -> None:
        """Give a blank instance its content."""
        raise NotImplementedError

    def shown(self, data: Any, extra: list[Any]) -> Any:
        """Return what LangGraph's reader hands on where the class is gone: a native value.

        It is what LangGraph would have written of the object: the fields of a dataclass or a model
        as a dictionary, the value of an enum. None is where LangGraph has nothing, either.
        """
        return None

    def upgraded(self, cls: type, extra: list[Any], upgrade: Callable[[Any], Any]) -> Maker:
        """Return what makes instances of data that an upgrade function changes first."""
        make = self.maker(cls, extra)
        if self.upgrades_shown:
            return lambda data: make(upgrade(self.shown(data, extra)))
        return lambda data: make(upgrade(data))

    def plan(self, cls: type, name: Any) -> Plan:
        """Return how instances of `cls`, which the bytes call `name`, are written."""
        head = head_bytes(self.name, name, version_of(cls), *self.extra_of(cls))
        take = self.take

        def write(out: Out, obj: Any) -> Ext:
            data = take(obj)
            out.kept.append(data)
            return out.object(obj, head, data)

        return Plan(write, has_identity=True, form=self)


def version_of(cls: type) -> int:
    """Return the version that a class says it has: `__once_version__`, 0 where there is none."""
    version = declared(cls, "__once_version__")
    return version if type(version) is int and 0 <= version < 2**63 else 0


def check(value: Any, *kinds: type) -> Any:
    """Return `value`, whose type must be exactly one of `kinds`.

    Raises:
        ValueError: It is another.
        UnavailableError: It stands for what could not be made.
    """
    if type(value) not in kinds:
        if type(value) in STAND_INS:
            raise UnavailableError(f"its part {value.type_name} cannot be rebuilt here")
        raise ValueError(f"expected {kinds[0].__name__}, got {type(value).__name__}")
    return value


def parts(value: Any, *kinds: type) -> list[Any]:
    """Return `value`, which must be a list with an item of each kind; `object` is any.

    Raises:
        ValueError: It has another shape.
        UnavailableError: An item stands for what could not be made.
    """
    if type(value) is not list or len(value) != len(kinds):
        raise ValueError(f"expected {len(kinds)} parts")
    for item, kind in zip(value, kinds, strict=True):
        if kind is not object and type(item) is not kind:
            check(item, kind)
    return value


_MAX_KNOWN: Final = 4096
"""Bounds the memory of a process that reads bytes made to describe ever new objects."""


class Makers(dict[Any, tuple[Maker, str, str, Any]]):
    """Makers by what describes an object, each with the place where its class was found.

    They are remembered until the name leads to another class. A notebook defines its classes again
    and again, and `importlib.reload` does. LangGraph looks a class up for each object, and so makes
    instances of the newest.
    """

    def current(self, key: Any) -> Maker | None:
        """Return the maker, unless its class is gone, or was defined anew."""
        found = self.get(key)
        if found is None:
            return None
        make, module, name, target = found
        return make if not module or top_level(module, name) is target else None

    def note(self, key: Any, make: Maker, class_name: Any = None) -> Maker:
        """Remember a maker, and return it.

        Args:
            key: What describes the objects.
            make: The maker.
            class_name: As `module:Qual.Name`, if it has a class.
        """
        if len(self) >= _MAX_KNOWN:
            self.clear()
        module, _, path = class_name.partition(":") if type(class_name) is str else ("", "", "")
        name = path.partition(".")[0]
        self[key] = make, module, name, top_level(module, name)
        return make
