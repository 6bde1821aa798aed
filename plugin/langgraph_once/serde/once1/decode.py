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
from langgraph_once.serde.once1.rebuild import Rebuilder
from langgraph_once.serde.once1.scan import (
    VALUES_IN,
    Kind,
    count_values,
    is_deeper_than,
    read_token,
)
from langgraph_once.serde.once1.table import Table, split
from langgraph_once.serde.once1.wire import MAX_LEVELS, MAX_OBJECTS, Ext, frame, unframe

__all__ = ["decode"]

_FREE_LEVELS: Final = 3
"""So many extensions may stand in each other before anyone looks how deep they go.

Each level of native nesting costs about 1 KB of C stack, and ormsgpack allows 1,022 of them in
each extension: a few thousand crash the process.
"""

_COUNTS: Final = {int(code): n for code, n in VALUES_IN.items() if code != Ext.UNKNOWN}
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
    reader = _Reader(loader, max_objects, on_unavailable, tag)
    try:
        return reader.read(data)
    except SerdeError as error:
        if error.path is None and reader.failed is not None:
            error.path = locate(reader.table.entries, reader.table.current, reader.failed)
        raise


class _Reader:
    """One call of `decode`."""

    __slots__ = ("depth", "error", "failed", "max_objects", "rebuilder", "table", "tag")

    def __init__(
        self, loader: Loader, max_objects: int, on_unavailable: Literal["raise", "opaque"], tag: str
    ) -> None:
        self.max_objects = max_objects
        self.tag = tag
        self.depth = 0
        self.error: BaseException | None = None
        self.failed: tuple[int, bytes] | None = None
        self.table = Table(
            loader, opaque=on_unavailable == "opaque", max_objects=max_objects, tag=tag
        )
        self.rebuilder = Rebuilder(self.table, loader, opaque=on_unavailable == "opaque", tag=tag)

    def read(self, data: bytes) -> Any:
        """Return the value of the last entry."""
        table = self.table
        try:
            table.entries = split(data)
            table.linked = table.entries[0] is not data
            if len(data) > self.max_objects:  # no value takes less than a byte
                self._check_count(table.entries)
            for entry in table.entries:
                table.add(self._read_entry(entry))
        except BaseException as error:
            raise self._explain(error)  # noqa: B904  (it has its own cause)
        networks = [network for network in self.rebuilder.networks if release(network)]
        if networks:
            raise PayloadError("a network stands where a collection was expected", tag=self.tag)
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
            value = unframe(ormsgpack.unpackb(frame(entry, 1), ext_hook=self._rebuild))[0]
            return self.table.fill_native(index, value)
        if top.body + top.size != len(entry):
            raise PayloadError("bytes after the end of the value", tag=self.tag)
        if top.code == Ext.MEMORYVIEW:
            return memoryview(entry)[top.body :]
        return self._rebuild(top.code, bytes(entry[top.body :]), index)

    def _rebuild(self, code: int, content: bytes, index: int = -1) -> Any:
        """Rebuild one extension. Called by ormsgpack for those in others, too."""
        self.depth += 1
        try:
            count = _COUNTS.get(code)
            if count is None:
                return self.rebuilder.leaf(code, content, index)
            if self.depth >= _FREE_LEVELS:
                self._check_depth(content)
            referred = self.table.referred
            items = unframe(ormsgpack.unpackb(frame(content, count), ext_hook=self._rebuild))
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
