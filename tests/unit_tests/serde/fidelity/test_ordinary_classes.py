"""Which classes are ordinary, and what is never run of them."""

from __future__ import annotations

import copyreg
import functools
import io
import operator
import re
import sqlite3
import subprocess
import threading
import types
import uuid
import weakref
from collections import UserDict
from pathlib import PurePosixPath
from typing import Any

import pytest

from langgraph_once.errors import EncodeError
from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError
from langgraph_once.serde.codecs.once1.types.models.python_objects import ObjectFamily
from tests.unit_tests.serde.fidelity import object_kinds as o
from tests.unit_tests.serde.fidelity.table import once1

FAMILY = ObjectFamily()


class Registered:
    pass


class Shown:
    """Shows attributes of its own making."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]  # that is what is tested
        raise AssertionError


class Path(PurePosixPath):
    pass


@pytest.mark.parametrize(
    "cls",
    [
        object,
        type(None),
        type(...),
        type,
        o.Meta,
        types.ModuleType,
        types.FunctionType,
        types.GeneratorType,
        types.CoroutineType,
        types.CodeType,
        type(threading.Lock()),
        type(re.match("a", "a")),
        type(re.compile("a")),
        functools.partial,
        operator.itemgetter,
        weakref.ref,
        io.BytesIO,
        sqlite3.Connection,
        sqlite3.Row,
        subprocess.Popen,
        uuid.UUID,
        Path,
        threading.local,
        int,
        dict,
        o.Reduced,
        o.Closing,
    ],
    ids=lambda cls: cls.__qualname__,
)
def test_what_is_more_than_its_attributes_is_not_ordinary(cls: type) -> None:
    assert not FAMILY.matches(cls)


@pytest.mark.parametrize(
    "cls",
    [o.Basket, o.Slotted, o.SlottedChild, o.Shelf, o.Square, o.Made, UserDict, o.Title, o.Space],
    ids=lambda cls: cls.__qualname__,
)
def test_the_object_family_takes_a_class_made_by_a_class_statement(cls: type) -> None:
    assert FAMILY.matches(cls)


def test_the_object_family_leaves_a_class_that_copyreg_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert FAMILY.matches(Registered)
    monkeypatch.setitem(copyreg.dispatch_table, Registered, lambda _: (Registered, ()))
    assert not FAMILY.matches(Registered)


def test_attributes_of_its_own_making_are_not_asked_for() -> None:
    with pytest.raises(UnwritableError):
        FAMILY.encode(object.__new__(Shown))
    with pytest.raises(UnwritableError):
        FAMILY.decode(Shown, {"a": 1})


def test_an_attribute_that_cannot_be_written_is_named() -> None:
    with pytest.raises(EncodeError) as caught:
        once1().dumps_typed({"a": o.Basket(1, threading.Lock())})
    assert caught.value.path is not None
    assert caught.value.path.startswith('["a"]')
