"""Codec `once1`, reading. `wire` tells the format.

An extension is rebuilt the moment ormsgpack meets it, which nests: the content of one may hold
others. ormsgpack hides what goes wrong in there behind "ext_hook failed", so the first error
is kept aside, and which extension it came from.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import ormsgpack

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError
from langgraph_once.serde.networks import release
from langgraph_once.serde.once1.loader import Loader
from langgraph_once.serde.once1.locate import locate
from langgraph_once.serde.once1.makers import MODEL_CODES, rebuild_models
from langgraph_once.serde.once1.plain import plain_blob
from langgraph_once.serde.once1.rebuild import Rebuilder
from langgraph_once.serde.once1.scan import (
    FIRST_OF_EXT,
    VALUES_IN,
    Kind,
    count_values,
    is_deeper_than,
    read_token,
)
from langgraph_once.serde.once1.table import Table, split
from langgraph_once.serde.once1.wire import MAX_LEVELS, MAX_OBJECTS, Ext, unpack

__all__ = ["decode"]

_FREE_LEVELS: Final = 3
"""So many extensions may stand in each other before anyone looks how deep they go.

Each level of native nesting costs about 1 KB of C stack, and ormsgpack allows 1,022 of them in
each extension: a few thousand crash the process.
"""

_COUNTS: Final = {int(code): n for code, n in VALUES_IN.items() if code != Ext.UNKNOWN}
_FAMILY: Final = int(Ext.FAMILY)
_MOST_MEMBER_BYTES: Final = 256
_MOST_FREE_BYTES: Final = 1 << 20
"""The work on the models in so many bytes needs no budget."""

_MOST_LEVELS: Final = 4 * MAX_LEVELS
_MOST_OBJECTS: Final = MAX_OBJECTS + 2  # an adapter's tuple of scalars is not counted


def decode(
    data: bytes,
    loader: Loader,
    *,
    max_objects: int,
    on_unavailable: Literal["raise", "opaque"] = "raise",
    tag: str,
) -> Any:
    """Return the value that `encode` wrote as `data`.

    Args:
        data: The blob.
        loader: What the blob may name.
        max_objects: How many values it may hold.
        on_unavailable: What stands for an object that cannot be rebuilt.
        tag: The tag it was stored under, for errors.

    Raises:
        TypeNotAllowedError: It names a type that the allowlist refuses.
        SizeLimitError: It holds more than `max_objects` values.
        PayloadError: It is damaged, or holds an object that cannot be rebuilt.
    """
    opaque = on_unavailable == "opaque"
    try:
        return _Reader(loader, max_objects, opaque, tag).read(data)
    except SizeLimitError:
        raise
    except SerdeError as error:
        return _read_plain(data, _Reader(loader, max_objects, opaque, tag), error)


def _read_plain(data: bytes, reader: _Reader, error: SerdeError) -> Any:
    """Read `data` once more, as if no model in it had been written the quick way.

    Raises:
        SerdeError: As `decode`. It says where in the value something is wrong.
    """
    try:
        data = plain_blob(data)
    except ValueError:
        raise error from error.__cause__
    try:
        return reader.read(data)
    except SerdeError as found:
        if found.path is None and reader.failed is not None:
            table = reader.table
            found.path = locate(table.entries or [data], table.current, reader.failed)
        raise


class _Reader:
    """One call of `decode`."""

    depth = 0
    """How many extensions are open."""
    error: BaseException | None = None
    """The first that occurred."""
    failed: tuple[int, bytes] | None = None
    """In which extension."""
    _table: Table | None = None
    _rebuilder: Rebuilder | None = None

    def __init__(self, loader: Loader, max_objects: int, opaque: bool, tag: str) -> None:
        self.loader = loader
        self.members = loader.members
        self.max_objects = max_objects
        self.opaque = opaque
        self.tag = tag

    @property
    def table(self) -> Table:
        """What `REF` stands for."""
        if self._table is None:
            self._table = Table(
                self.loader, opaque=self.opaque, max_objects=self.max_objects, tag=self.tag
            )
        return self._table

    @property
    def rebuilder(self) -> Rebuilder:
        """What makes values of extensions; most blobs hold none but models."""
        if self._rebuilder is None:
            self._rebuilder = Rebuilder(self.table, self.loader, opaque=self.opaque, tag=self.tag)
        return self._rebuilder

    def read(self, data: bytes) -> Any:
        """Return the value that the blob stands for."""
        try:
            if data[0] in FIRST_OF_EXT:
                value = self._read_entries(data)
            else:
                if len(data) > self.max_objects:  # no value takes less than a byte
                    self._check_count([data])
                value = unpack(data, 1, self._rebuild)[0]
        except BaseException as error:
            raise self._explain(error)  # noqa: B904  (it has its own cause)
        if self._rebuilder and [net for net in self._rebuilder.networks if release(net)]:
            raise PayloadError("a network stands where a collection was expected", tag=self.tag)
        return value

    def _read_entries(self, data: bytes) -> Any:
        table = self.table
        table.entries = split(data)
        table.linked = table.entries[0] is not data
        if len(data) > self.max_objects:
            self._check_count(table.entries)
        for entry in table.entries:
            table.add(self._read_entry(entry))
        return table.values[-1]

    def _check_count(self, entries: list[bytes | memoryview]) -> None:
        left = self.max_objects
        for entry in entries:
            left -= count_values(entry, left)
            if left < 0:
                raise SizeLimitError(
                    f"the value holds more than `max_decoded_objects` ({self.max_objects}) objects",
                    limit_objects=self.max_objects,
                    tag=self.tag,
                )

    def _read_entry(self, entry: bytes | memoryview) -> Any:
        top = read_token(entry, 0)
        index = self.table.current
        if top.kind is not Kind.EXT:
            value = unpack(entry, 1, self._rebuild)[0]
            return self.table.fill_native(index, value)
        if top.body + top.size != len(entry):
            raise PayloadError("bytes after the end of the value", tag=self.tag)
        if top.code == Ext.MEMORYVIEW:
            return memoryview(entry)[top.body :]
        return self._rebuild(top.code, bytes(entry[top.body :]), index)

    def _rebuild(self, code: int, content: bytes, index: int = -1) -> Any:
        """Rebuild one extension. Called by ormsgpack for those in others, too."""
        if len(content) <= _MOST_MEMBER_BYTES and content in self.members and code == _FAMILY:
            return self.members[content]
        self.depth += 1
        try:
            count = _COUNTS.get(code)
            if count is None:
                return self.rebuilder.leaf(code, content, index)
            if self.depth >= _FREE_LEVELS:
                self._check_depth(content)
            if code in MODEL_CODES and not (self._table and self._table.linked):
                array = ormsgpack.unpackb(content, ext_hook=self._rebuild)
                if len(content) > _MOST_FREE_BYTES:
                    self.rebuilder.work_on_models(array)
                return rebuild_models(array, self.loader, linked=False, tag=self.tag)
            referred = self.table.referred
            items = unpack(content, count, self._rebuild)
            value = self.rebuilder.nested(code, content, items, index)
            if self.table.referred != referred:
                self.table.charge(value, self.table.referred - referred)
            return value
        except BaseException as error:
            if self.error is None:
                self.failed = (code, content)
                self.error = self._explain(error)
            raise self.error  # noqa: B904  (it has its own cause)
        finally:
            self.depth -= 1

    def _check_depth(self, content: bytes) -> None:
        if self.depth > _MOST_OBJECTS or (
            self.depth == _FREE_LEVELS and is_deeper_than(content, _MOST_LEVELS)
        ):
            raise PayloadError("the value is nested too deeply", tag=self.tag)

    def _explain(self, error: BaseException) -> BaseException:
        """Return what to raise for `error`: the first one that occurred, as one of ours."""
        if self.error is not None:
            return self.error
        if isinstance(error, SerdeError) or not isinstance(error, Exception):
            return error
        explained = PayloadError("damaged or too deeply nested msgpack", tag=self.tag)
        explained.__cause__ = error
        return explained
