"""The entries of a blob while it is read: what is complete, and what is still empty."""

from __future__ import annotations

from typing import Any, Final

from langgraph_once.errors import PayloadError, SizeLimitError, TypeNotAllowedError
from langgraph_once.serde.bounds.budget import Budget
from langgraph_once.serde.bounds.msgpack_headers import Kind, Token, read_token, text_at
from langgraph_once.serde.codecs.once1.format.layout import VALUES_IN, Ext
from langgraph_once.serde.codecs.once1.format.opaque import Opaque, ref_indices, renumbered
from langgraph_once.serde.codecs.once1.format.scan import WEIGHTS
from langgraph_once.serde.codecs.once1.read.class_loader import Loader
from langgraph_once.serde.codecs.once1.types.base.protocol import CyclicFamily
from langgraph_once.serde.trust.lookup import imported, names_in, names_of

__all__ = ["Table"]

_MISSING: Final = object()
_MANY_BYTES: Final = 64 * 1024
_WORK_OF_A_LOOK: Final = 6
"""Units that it takes to look through an opaque value, for each that it weighs."""

_BYTES_OF_AN_OBJECT: Final = 8
_COPIED: Final = frozenset({list, dict, tuple, set, frozenset})
_UNITS_OF_AN_ITEM: Final[dict[Any, int]] = {
    **dict.fromkeys((list, tuple, str, bytes, bytearray), 1),
    **dict.fromkeys((dict, set, frozenset), 4),
}
_LIBRARIES: Final = frozenset({"builtins", "collections", "numpy", "pandas", "polars", "pyarrow"})
_EXCEPTIONS: Final[Any] = vars(BaseExceptionGroup)["exceptions"]
_mro_of: Final[Any] = vars(type)["__mro__"].__get__
_BUFFERS: Final = frozenset({bytes, str, bytearray, memoryview})
"""Copied, too, by arrays and the like. So are arrays, by frames and indexes. No writer makes two
of them of one buffer."""


class Table:
    """What `REF` stands for."""

    __slots__ = (
        *("_blanks", "_buffers", "_loader", "_opaque", "_tag"),
        *("budget", "entries", "linked", "referred", "values"),
    )

    def __init__(self, loader: Loader, budget: Budget, *, opaque: bool, tag: str) -> None:
        self.entries: list[bytes | memoryview] = []
        self.values: list[Any] = []
        """Those that are complete."""
        self.linked = False
        """Whether there is a table at all."""
        self.referred = 0
        """How long the entries are that were referred to."""
        self._blanks: dict[int, Any] = {}
        self._buffers: set[int] = set()
        self._loader = loader
        self._opaque = opaque
        self.budget = budget
        self._tag = tag

    @property
    def current(self) -> int:
        """The index of the entry that is being read."""
        return len(self.values)

    def is_at_last(self) -> bool:
        """Whether the last entry is being read, which is the value; or all of it, without one."""
        return len(self.values) + 1 >= len(self.entries)

    def is_last_referred(self) -> bool:
        """Whether something refers to the last entry: the value contains itself."""
        return len(self.entries) - 1 in self._blanks

    def add(self, value: Any) -> None:
        """Take the value of the current entry."""
        self.values.append(value)

    def ref(self, index: int) -> Any:
        """Return what entry `index` stands for, empty if its turn is yet to come."""
        if index < len(self.values):
            value = self.values[index]
            if type(value) in _COPIED or (_is_buffer(value) and self._is_repeated(index)):
                self.referred += _size(value)
            return value
        blank = self._blanks.get(index, _MISSING)
        if blank is _MISSING:
            if index >= len(self.entries) or not self.linked:
                raise PayloadError("a reference to an entry that does not exist", tag=self._tag)
            blank = self._blanks[index] = self._blank(self.entries[index])
        return blank

    def charge(self, value: Any, referred: int) -> None:
        """Take from the budget what an object may have copied from the entries it refers to.

        Else a kilobyte of objects that each copy one long list would fill the memory.
        """
        try:
            size = _size(value)
        except Exception:  # it has no length, or none that can be told
            return
        self.budget.take(min(size, referred))

    def blank(self, index: int) -> Any:
        """Return what stands for entry `index` already; None if nothing does."""
        return self._blanks.get(index)

    def fill_native(self, index: int, value: Any) -> Any:
        """Return `value`, moved into what stands for it already."""
        blank = self._blanks.get(index)
        if blank is None:
            return value
        if isinstance(blank, list):
            blank.extend(value)
        else:
            blank.update(value)
        return blank

    def opaque(
        self, code: int, content: bytes, type_name: str, index: int, payload: Any = None
    ) -> Opaque:
        """Return what stands for an extension that cannot be rebuilt, and held `payload`."""
        if len(content) > _MANY_BYTES and code in VALUES_IN:
            self.budget.take(_WORK_OF_A_LOOK * WEIGHTS.units(content, self.budget.limit))
        indices = ref_indices(content) if code in VALUES_IN else []
        made = self._blanks.get(index)
        if type(made) is not Opaque:
            made = Opaque(type_name, _local(content, indices), code=code)
            if index >= 0:
                self._blanks[index] = made
        made.parts = tuple(self.ref(i) for i in indices)
        made.payload = payload
        return made

    def _is_repeated(self, index: int) -> bool:
        repeated = index in self._buffers
        self._buffers.add(index)
        return repeated

    def _blank(self, entry: bytes | memoryview) -> Any:
        top = read_token(entry, 0)
        if top.kind is Kind.ARRAY:
            return []
        if top.kind is Kind.MAP or top.code == Ext.MAP:
            return {}
        if top.code == Ext.SET:
            return set()
        if top.code in (Ext.FAMILY, Ext.VERSIONED, Ext.RECORD, Ext.UNKNOWN):
            return self._blank_object(bytes(entry), top)
        raise PayloadError("a value that cannot contain itself does", tag=self._tag)

    def _blank_object(self, entry: bytes, top: Token) -> Any:
        first, after = text_at(entry, top.body)
        try:
            if top.code == Ext.UNKNOWN:
                class_name = first
            else:
                class_name = text_at(entry, after)[0]
                family, cls, _version = self._loader.family(first, class_name, tag=self._tag)
                if not isinstance(family, CyclicFamily):
                    raise PayloadError(f"{class_name} cannot contain itself", tag=self._tag)
                return family.blank(cls)
        except (PayloadError, SizeLimitError, TypeNotAllowedError):
            if not self._opaque:
                raise
        content = entry[top.body :]
        return Opaque(class_name, _local(content, ref_indices(content)), code=top.code)


def _is_buffer(value: Any) -> bool:
    return type(value) in _BUFFERS or _is_array(value)


def _is_array(value: Any) -> bool:
    numpy = imported("numpy")
    return numpy is not None and type(value) is numpy.ndarray


def _size(value: Any) -> int:
    """Return how many units a copy of `value` takes, without asking its class."""
    if _is_array(value):
        size: int = max(value.size, value.nbytes // _BYTES_OF_AN_OBJECT)
        return size
    for base, units in _UNITS_OF_AN_ITEM.items():
        if issubclass(type(value), base):
            return units * int(base.__len__(value))
    if issubclass(type(value), BaseExceptionGroup):
        return len(_EXCEPTIONS.__get__(value))
    return len(value) if _is_of_a_library(type(value)) else 0


def _is_of_a_library(cls: type) -> bool:
    """Whether how long its instances are is told by one of those that keep copies."""
    owner = next((part for part in _mro_of(cls) if "__len__" in names_in(part)), object)
    return str(names_of(owner)[0]).partition(".")[0] in _LIBRARIES


def _local(content: bytes, indices: list[int]) -> bytes:
    """Return `content` with `REF`s that count from zero."""
    return renumbered(content, list(range(len(indices)))) if indices else content
