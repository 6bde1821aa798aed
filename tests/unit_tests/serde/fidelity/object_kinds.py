"""Ordinary classes, declared as nothing in particular, whose instances stand in the table."""

from __future__ import annotations

import abc
import functools
import string
from collections import UserDict, UserList, UserString
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Basket:
    """What an agent keeps in its state, without a thought of storing it."""

    limit = 10

    def __init__(self, *items: Any) -> None:
        self.items = [*items]
        self.owner: Any = None

    @property
    def size(self) -> int:
        return len(self.items)

    @functools.cached_property
    def total(self) -> int:
        return len(self.items)


class GiftBasket(Basket):
    def __init__(self, *items: Any, note: str) -> None:
        super().__init__(*items)
        self.note = note


class Slotted:
    __slots__ = ("left", "right")

    def __init__(self, left: Any) -> None:
        self.left = left


class SlottedChild(Slotted):
    pass


class Shelf(Generic[T]):
    def __init__(self, item: T) -> None:
        self.item = item


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> float: ...


class Square(Shape):
    def __init__(self, side: float) -> None:
        self.side = side

    def area(self) -> float:
        return self.side**2


class Meta(type):
    def __call__(cls, *args: Any) -> Any:
        return super().__call__(*args)


class Made(metaclass=Meta):
    def __init__(self, n: int) -> None:
        self.n = n


class Outer:
    class Inner:
        def __init__(self) -> None:
            self.n = 1


class Keyed:
    """Equal and hashed by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keyed) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


class Settings(UserDict[str, Any]):
    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key.upper(), value)


class Stack(UserList[Any]):
    pass


class Title(UserString):
    pass


class Space(SimpleNamespace):
    pass


class Letter(string.Template):
    delimiter = "%"


class Reduced:
    def __reduce__(self) -> Any:
        return Reduced, ()


class Stateful:
    def __getstate__(self) -> Any:
        return {}


class Restored:
    def __setstate__(self, state: Any) -> None: ...


class Remade:
    def __getnewargs__(self) -> Any:
        return ()


class Closing:
    def __del__(self) -> None: ...


class Hiding:
    """Has a method that an attribute of its instances hides."""

    def __init__(self) -> None:
        self.run = "no method"  # type: ignore[assignment,method-assign]  # that is what is tested

    def run(self) -> None: ...


def greet(greeting: str, name: str = "you") -> str:
    return f"{greeting}, {name}"
