"""No adapter asks an object anything that stands where its data belong."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from langgraph_once.serde.codecs.once1.types.base.protocol import Adapter
from langgraph_once.serde.codecs.once1.types.catalogue import BUILTIN_ADAPTERS
from tests.unit_tests.serde.fidelity.table import ROWS

from .families import FAMILIES
from .hooks import HOOKS, RAN, Hook, note
from .zoo import specimen

WHILE_MADE = frozenset(
    {
        *("__new__", "__init__", "__init_subclass__", "__set_name__", "__class_getitem__"),
        *("__subclasshook__", "__setattr__", "__sizeof__", "__hash__", "__eq__", "__del__"),
    }
)
"""Run when the class or the object is made here; the last three by what is tested elsewhere."""


def _noting(name: str) -> Any:
    def method(*_args: Any, **_kwargs: Any) -> int:
        note(name)
        return 1

    return method


def hostile() -> Any:
    """Return an object whose class has every method, each of which notes that it ran."""
    hook = Hook("all", "method")
    for name in [name.split()[-1] for name in HOOKS if name.startswith("method ")]:
        if name not in WHILE_MADE:
            hook.namespace[name] = _noting(name)
    made = object.__new__(specimen(FAMILIES["dataclass, eq=False"], hook))
    object.__setattr__(made, "value", 1)
    return made


HOSTILE = hostile()


def variants(data: Any) -> Iterator[Any]:
    """Yield `data` with the object in place of each part of it."""
    yield HOSTILE
    if type(data) in (tuple, list):
        for at, part in enumerate(data):
            for changed in variants(part):
                yield type(data)([*data[:at], changed, *data[at + 1 :]])
    elif type(data) is dict:
        for key, part in data.items():
            for changed in variants(part):
                yield {**data, key: changed}


def samples(adapter: Adapter) -> Iterator[Any]:
    for row in ROWS:
        value = row.value
        if type(value) in adapter.types:
            with contextlib.suppress(Exception):  # it is one that is refused
                yield adapter.encode(value)


@pytest.mark.parametrize("adapter", BUILTIN_ADAPTERS, ids=lambda adapter: adapter.name)
def test_nothing_of_an_object_among_its_data_runs(adapter: Adapter) -> None:
    ran: set[str] = set()
    for data in [HOSTILE, *(each for sample in samples(adapter) for each in variants(sample))]:
        RAN.clear()
        with contextlib.suppress(Exception):
            adapter.decode(data)
        ran |= {*RAN}
    assert ran == set()


def test_the_object_does_note_what_is_asked_of_it() -> None:
    RAN.clear()
    for ask in (len, float, iter, repr):
        with contextlib.suppress(TypeError):  # of what it returns
            ask(HOSTILE)
    assert {"__len__", "__float__", "__iter__", "__repr__"} <= {*RAN}
