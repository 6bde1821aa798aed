"""`Decoder`: bytes to objects. `format/layout.py` describes the bytes.

ormsgpack hands over each extension the moment it meets it, so calls nest: the content of one may
hold others. It hides what goes wrong in there behind "ext_hook failed". So the first error is
kept aside, with the extension that it came from.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from ormsgpack import unpackb

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError
from langgraph_once.serde.bounds.budget import Budget, allowed_for
from langgraph_once.serde.bounds.costly_values import release
from langgraph_once.serde.bounds.msgpack_headers import Kind, read_token
from langgraph_once.serde.codecs.once1.format.layout import (
    END,
    END_MARK,
    MARKED,
    MAX_LEVELS,
    MAX_OBJECTS,
    VALUES_IN,
    Ext,
    unpack,
    unpack_one,
)
from langgraph_once.serde.codecs.once1.format.object_forms import (
    MODEL_CODES,
    tree_parts,
)
from langgraph_once.serde.codecs.once1.format.scan import (
    WEIGHTS,
    is_deeper_than,
    split,
)
from langgraph_once.serde.codecs.once1.read.class_loader import Loader
from langgraph_once.serde.codecs.once1.read.entries import Table
from langgraph_once.serde.codecs.once1.read.error_path import locate
from langgraph_once.serde.codecs.once1.read.extension_values import (
    WORK_OF_A_FORM,
    WORK_OF_A_KIND,
    Rebuilder,
    is_kept,
    may_exceed,
)
from langgraph_once.serde.codecs.once1.read.general_form import plain_blob
from langgraph_once.serde.codecs.once1.read.nested_objects import ConstructorCache, TreeConstructors
from langgraph_once.serde.codecs.once1.read.reference_growth import expands_beyond, may_outgrow
from langgraph_once.serde.codecs.once1.read.simple_objects import Head, placed, rebuild_models
from langgraph_once.serde.trust.hash_guard import GuardedError

__all__ = ["Decoder"]

_FREE_LEVELS: Final = 3
"""So many extensions may stand in each other before anyone looks how deep they go.

Each level of native nesting costs about 1 KB of C stack, and ormsgpack allows 1,022 of them in
each extension: a few thousand crash the process.
"""

_SMALL_BYTES: Final = 16 * 1024
"""What is no longer can be read a second time."""

_COUNTS: Final = {int(code): n for code, n in VALUES_IN.items()}
_FAMILY: Final = int(Ext.FAMILY)
_HEAD: Final = int(Ext.HEAD)
_TREE: Final = int(Ext.TREE)
_READ_IN_PLACE: Final = MODEL_CODES | {_TREE}
_CODE_AT: Final = {**dict.fromkeys(range(0xD4, 0xD9), 1), 0xC7: 2, 0xC8: 3, 0xC9: 5}
"""Where an extension has its code, by its first byte."""
_MOST_MEMBER_BYTES: Final = 256

_WORK_OF_AN_ENTRY: Final = 48
"""As much as four bytes may take, see `budget`: it has as many, and more that refer to it."""

_MOST_LEVELS: Final = 4 * MAX_LEVELS
_MOST_OBJECTS: Final = MAX_OBJECTS + 2  # an adapter's tuple of scalars is not counted


class Decoder:
    """Reads blobs. Thread-safe."""

    def __init__(
        self,
        loader: Loader,
        *,
        max_objects: int,
        on_unavailable: Literal["raise", "opaque"] = "raise",
    ) -> None:
        """Take the bounds.

        Args:
            loader: What blobs may name.
            max_objects: How many units of a `Budget` one may take.
            on_unavailable: What stands for an object that cannot be rebuilt.
        """
        self.loader = loader
        self.max_objects = max_objects
        self.opaque = on_unavailable == "opaque"
        self.free_bytes = WEIGHTS.free_bytes(max_objects)
        self._small_bytes = min(_SMALL_BYTES, self.free_bytes)
        self.makers = ConstructorCache(loader)
        self._is_cautious = False

    def decode(self, data: bytes, tag: str) -> Any:
        """Return the value that `encode` wrote as `data`, stored under `tag`.

        Raises:
            TypeNotAllowedError: It names a type that the allowlist refuses.
            SizeLimitError: It takes more than `max_objects`.
            PayloadError: It is damaged, or holds an object that cannot be rebuilt.
        """
        if len(data) <= self._small_bytes:
            try:
                if MARKED in data:
                    return self._read_known(data)
                # Plain data, or no objects of the common kinds. `unpack_one`, in place.
                value, mark = unpackb(b"\x92" + data + END)
                if mark == END_MARK:
                    return value
            except Exception:  # noqa: S110  (read with care, it is told what is wrong)
                pass
        return self._decode_carefully(data, tag)

    def _decode_carefully(self, data: bytes, tag: str) -> Any:
        reader = _Reader(self, tag, len(data))
        try:
            return reader.read(data)
        except SizeLimitError:
            raise
        except GuardedError:
            if self._is_cautious:
                raise
            return self._cautious().decode(data, tag)
        except SerdeError as error:
            if MARKED in data:
                return _read_plain(data, _Reader(self, tag, len(data)), error)
            reader.tell_where(error, data)
            raise

    def _cautious(self) -> Decoder:
        """Return one for blobs whose keys may not be hashed: what stands there is refused."""
        made = Decoder(
            self.loader.without_hashes(),
            max_objects=self.max_objects,
            on_unavailable="opaque" if self.opaque else "raise",
        )
        made._is_cautious = True
        return made

    @property
    def unchecked_bytes(self) -> int:
        """How long a blob may be that `check` need not be asked about.

        It holds no table, and no patterns.
        """
        return self.free_bytes

    def check(self, data: bytes, tag: str, *, patterns: bool) -> None:
        """Look at what was just written, and whether it may hold `patterns`.

        Raises:
            SerdeError: Reading would raise it.
        """
        entries = split(data)
        linked = entries[0] is not data
        allowed = allowed_for(len(data), self.max_objects)
        if linked and len(entries) * _WORK_OF_AN_ENTRY > allowed:
            raise Budget(self.max_objects, tag).exceeded()
        if WEIGHTS.exceed(entries, self.max_objects):
            raise Budget(self.max_objects, tag).exceeded()
        if linked and expands_beyond(data, entries, self.max_objects):
            raise Budget(self.max_objects, tag).exceeded("with its shared parts written out ")
        is_named = may_exceed(data, allowed, patterns=patterns)
        if is_named or (linked and may_outgrow(data, entries, allowed)):
            self.decode(data, tag)

    def _read_known(self, data: bytes) -> Any:
        """Read what holds no objects but models of kinds that were met before.

        Most small values are that. Their models hold no extension, as a rule.
        """
        heads: list[Head] = []
        known, trees, by_kinds = self.makers.heads, self.makers.trees, self.makers.by_kinds

        def rebuild(code: int, content: bytes) -> Any:
            if code == _HEAD:
                heads.append(head := known[content])
                return head
            if code == _TREE:
                form, indices, value = tree_parts(unpackb(content))
                if indices:
                    raise ValueError
                return trees[form](value)
            if code not in MODEL_CODES:
                raise ValueError
            array = unpackb(content)
            return rebuild_models(array, by_kinds[array[0]])

        value = unpack_one(data, rebuild)
        return placed(value, len(heads)) if heads else value


def _read_plain(data: bytes, reader: _Reader, error: SerdeError) -> Any:
    """Read `data` once more, as if no model in it had been written the quick way.

    Raises:
        SerdeError: As `decode`. It says where in the value something is wrong.
    """
    try:
        data = plain_blob(data)
    except SizeLimitError:
        raise
    except Exception:
        raise error from error.__cause__
    try:
        return reader.read(data)
    except SerdeError as found:
        reader.tell_where(found, data)
        raise


class _Reader:
    """One call of `decode`. Most blobs hold nothing but messages, and use little of it."""

    depth = 0
    """How many extensions are open."""
    linked = False
    """Whether there is a table, so that something else may hold what an extension holds."""
    error: BaseException | None = None
    """The first that occurred."""
    failed: tuple[int, bytes] | None = None
    """In which extension."""
    heads = 0
    """How many threads wait for all of the value to be read."""
    _table: Table | None = None
    _rebuilder: Rebuilder | None = None

    def __init__(self, decoder: Decoder, tag: str, size: int) -> None:
        self.decoder = decoder
        self.budget = Budget(decoder.max_objects, tag, size=size)
        self.tag = tag
        decoder.loader.begin()

    @property
    def table(self) -> Table:
        """What `REF` stands for."""
        if self._table is None:
            of = self.decoder
            self._table = Table(of.loader, self.budget, opaque=of.opaque, tag=self.tag)
        return self._table

    @property
    def rebuilder(self) -> Rebuilder:
        """What makes values of extensions."""
        if self._rebuilder is None:
            of = self.decoder
            self._rebuilder = Rebuilder(self.table, of.makers, opaque=of.opaque, tag=self.tag)
        return self._rebuilder

    def read(self, data: bytes) -> Any:
        """Return the value that the blob stands for."""
        try:
            at = _CODE_AT.get(data[0])
            if at is not None and data[at] not in _READ_IN_PLACE:
                value = self._read_entries(data)
            else:
                self._check_weight(data, [data])
                value = unpack_one(data, self.rebuild)
            if self.heads:
                if self.table.is_last_referred():
                    raise ValueError("a thread in what contains itself")
                value = placed(value, self.heads)
        except BaseException as error:
            raise self._explain(error)  # noqa: B904  (it has its own cause)
        if self._rebuilder and [net for net in self._rebuilder.networks if release(net)]:
            raise PayloadError("a network stands where a collection was expected", tag=self.tag)
        return value

    def _read_entries(self, data: bytes) -> Any:
        table = self.table
        table.entries = split(data)
        table.linked = self.linked = table.entries[0] is not data
        if self.linked:
            self.budget.take(_WORK_OF_AN_ENTRY * len(table.entries))
        self._check_weight(data, table.entries)
        if self.linked and expands_beyond(data, table.entries, self.budget.limit):
            raise self.budget.exceeded("with its shared parts written out ")
        for entry in table.entries:
            table.add(self._read_entry(entry))
        return table.values[-1]

    def _check_weight(self, data: bytes, entries: list[bytes | memoryview]) -> None:
        if len(data) > self.decoder.free_bytes and WEIGHTS.exceed(entries, self.budget.limit):
            raise self.budget.exceeded()

    def _read_entry(self, entry: bytes | memoryview) -> Any:
        top = read_token(entry, 0)
        index = self.table.current
        if top.kind is not Kind.EXT:
            value = unpack(entry, 1, self.rebuild)[0]
            return self.table.fill_native(index, value)
        if top.body + top.size != len(entry):
            raise PayloadError("bytes after the end of the value", tag=self.tag)
        if top.code == Ext.MEMORYVIEW:
            return memoryview(entry)[top.body :]
        return self.rebuild(top.code, bytes(entry[top.body :]), index)

    def rebuild(self, code: int, content: bytes, index: int = -1) -> Any:
        """Rebuild one extension. Called by ormsgpack for those in others, too."""
        loader = self.decoder.loader
        if code == _FAMILY and len(content) <= _MOST_MEMBER_BYTES and content in loader.members:
            return loader.members[content]
        self.depth += 1
        try:
            if self.depth >= _FREE_LEVELS and code in _COUNTS:
                self._check_depth(content)
            if code == _HEAD:
                return self._head(content)
            if code in MODEL_CODES and not self.linked:
                array = unpackb(content, ext_hook=self.rebuild)
                return rebuild_models(array, self.rebuilder.makers(array[0]))
            if code == _TREE:
                return self._tree(unpackb(content, ext_hook=self.rebuild))
            return self._rebuild_careful(code, content, index)
        except BaseException as error:
            if self.error is None:
                self.failed = (code, content)
                self.error = self._explain(error)
            raise self.error  # noqa: B904  (it has its own cause)
        finally:
            self.depth -= 1

    def _tree(self, array: Any) -> Any:
        form, indices, value = tree_parts(array)
        known = self.decoder.makers
        reusable = not (indices or self.linked)
        if not reusable or form not in known.trees:
            self.budget.take(WORK_OF_A_KIND + WORK_OF_A_FORM * len(form))
        take = self.budget.take if self.linked else None
        makers = TreeConstructors(known.loader, indices, self.tag, take=take)
        return known.of_tree(form, makers, reusable=reusable)(value)

    def _head(self, content: bytes) -> Head:
        if not self.table.is_at_last():
            raise ValueError("a head where none is written")
        self.heads += 1
        return self.rebuilder.head(content)

    def _rebuild_careful(self, code: int, content: bytes, index: int) -> Any:
        count = _COUNTS.get(code)
        if count is None:
            return self.rebuilder.leaf(code, content, index)
        referred = self.table.referred
        items = unpack(content, count, self.rebuild)
        value = self.rebuilder.nested(code, content, items, index)
        if self.table.referred != referred and not is_kept(code, items[0]):
            self.table.charge(value, self.table.referred - referred)
        return value

    def _check_depth(self, content: bytes) -> None:
        if self.depth > _MOST_OBJECTS or (
            self.depth == _FREE_LEVELS and is_deeper_than(content, _MOST_LEVELS)
        ):
            raise PayloadError("the value is nested too deeply", tag=self.tag)

    def tell_where(self, error: SerdeError, data: bytes) -> None:
        """Note in `error` at which place of the value it occurred, if that can be told."""
        if error.path is None and self.failed is not None:
            error.path = locate(self.table.entries or [data], self.table.current, self.failed)

    def _explain(self, error: BaseException) -> BaseException:
        """Return what to raise for `error`: the first one that occurred, as one of ours."""
        if self.error is not None:
            return self.error
        if isinstance(error, SerdeError) or not isinstance(error, Exception):
            return error
        explained = PayloadError("damaged or too deeply nested msgpack", tag=self.tag)
        explained.__cause__ = error
        return explained
