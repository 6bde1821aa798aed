"""Ordinary use of a class: what shows that a hook works."""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import pickle
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["use"]


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
