"""Classes that hostile rows name. What must not run notes that it did."""

from __future__ import annotations

import dataclasses
import enum
from datetime import tzinfo
from typing import Any, Generic, NamedTuple, TypeVar

import pydantic

RAN: list[str] = []
T = TypeVar("T")


def note(name: str) -> None:
    """Note that code ran; no row may have it called."""
    RAN.append(name)


@dataclasses.dataclass
class Record:
    name: Any = None
    other: Any = 0


@dataclasses.dataclass(frozen=True)
class Key:
    content: Any


class Model(pydantic.BaseModel):
    name: Any = None
    other: Any = 0


class Wide(pydantic.BaseModel, Generic[T]):
    content: Any = None


class Pair(NamedTuple):
    first: Any
    second: Any = 0


class Colour(enum.Enum):
    RED = "red"


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2


class FailureError(OSError):
    pass


class Words(list[Any]):
    pass


class Names(dict[Any, Any]):
    pass


class Bag(set[Any]):
    pass


class Text(str):
    pass


class Plain:
    pass


class Slots:
    __slots__ = ("name",)


class Gadget:
    """No data: its constructor may do anything."""

    def __init__(self, *args: Any, **more: Any) -> None:
        note("Gadget.__init__")


class Shown:
    """No data, though it says how it is shown."""

    def __init__(self, *args: Any, **more: Any) -> None:
        note("Shown.__init__")

    def dict(self) -> dict[str, Any]:
        return {}


class Zone(tzinfo):
    """A zone whose constructor may open a file."""

    def __init__(self, *args: Any) -> None:
        note("Zone.__init__")


class Cleaning:
    def __del__(self) -> None:
        note("Cleaning.__del__")


@dataclasses.dataclass
class CleaningRecord:
    name: Any = None

    def __del__(self) -> None:
        note("CleaningRecord.__del__")


class Restored:
    def __setstate__(self, state: Any) -> None:
        note("Restored.__setstate__")


class Reduced:
    def __init__(self, *args: Any) -> None:
        note("Reduced.__init__")

    def __reduce__(self) -> Any:
        return Reduced, ()


class _Meta(type):
    def __call__(cls, *args: Any, **more: Any) -> Any:
        note("_Meta.__call__")
        return super().__call__(*args, **more)

    def __instancecheck__(cls, other: Any) -> bool:
        note("_Meta.__instancecheck__")
        return False


class WithMeta(metaclass=_Meta):
    pass


class Trapped(pydantic.BaseModel):
    """A model none of whose methods may run where its parts are whole."""

    name: Any

    def __init__(self, **_: Any) -> None:
        note("Trapped.__init__")

    def model_post_init(self, _: Any) -> None:
        note("Trapped.model_post_init")

    def __setattr__(self, name: str, value: Any) -> None:
        note("Trapped.__setattr__")


@dataclasses.dataclass
class TrappedRecord:
    name: Any

    def __new__(cls, *_: Any) -> Any:
        note("TrappedRecord.__new__")

    def __setattr__(self, name: str, value: Any) -> None:
        note("TrappedRecord.__setattr__")

    def __post_init__(self) -> None:
        note("TrappedRecord.__post_init__")
