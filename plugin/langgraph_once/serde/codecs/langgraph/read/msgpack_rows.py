"""The `msgpack` codec, reading: what upstream's serializer writes, rebuilt or refused.

Upstream nests: an extension holds the msgpack of `[module, name, argument]`, whose argument may
hold extensions. ormsgpack hides what goes wrong in there behind "ext_hook failed", so the
first error is kept aside and raised at the end.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

from langgraph.checkpoint.serde.jsonplus import (
    EXT_DELTA_SNAPSHOT,
    EXT_NUMPY_ARRAY,
    EXT_PYDANTIC_V2,
)
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from ormsgpack import OPT_NON_STR_KEYS, packb, unpackb

from langgraph_once.errors import (
    PayloadError,
    SerdeError,
    SizeLimitError,
    TypeNotAllowedError,
)
from langgraph_once.serde.bounds.budget import Budget, allowed_for
from langgraph_once.serde.bounds.costly_values import (
    MAX_PATTERN_UNITS,
    hold,
    is_network,
    release,
    take_units,
)
from langgraph_once.serde.bounds.msgpack_headers import deepest, is_surely_one
from langgraph_once.serde.codecs.langgraph.read.constructors import CONSTRUCTORS, array, array_parts
from langgraph_once.serde.codecs.langgraph.read.messages import rebuild_message
from langgraph_once.serde.codecs.langgraph.read.named_types import NamedTypes
from langgraph_once.serde.codecs.langgraph.read.without_code import NeedsListError
from langgraph_once.serde.codecs.langgraph.scan import (
    WEIGHTS,
    has_large_maps,
    may_nest,
    most_open_bytes,
    takes_long,
)
from langgraph_once.serde.codecs.langgraph.write import encode_msgpack
from langgraph_once.serde.codecs.once1.format.opaque import upstream_opaque

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

    from langgraph_once.serde.trust.allowlist import Allowlist

__all__ = ["Builder", "MsgpackDecoder"]

Constructor = Callable[[Any], Any]
Key = tuple[int, str, str, str]
"""An extension's code, and the module, the type and the method that it names."""
Builder = Callable[[int, list[Any]], Any]
"""From an extension's code and content to the value that it stands for."""

_TOP: Final = 256  # no extension has this code: they are signed bytes
_MAX_NAME_CHARS: Final = 300

# ormsgpack ignores what follows the first value. So the blob is read as the first of two, and
# the second must be this mark: a blob that is one value too short or too long misplaces it.
# It is random, so that no blob can bring its own.
_START: Final = b"\x92"
_MARK: Final = secrets.token_bytes(12)
_END: Final = packb(_MARK)

_COMPILE: Final = b"compile"
_PATTERN: Final = re.compile(rb"re(?:\xa7|\xd9\x07|\xda\0\x07|\xdb\0{3}\x07)" + _COMPILE)
"""What a regular expression is told by, whichever header the name has."""

_OPEN_BYTES_FACTOR: Final = 16
"""Each level of nesting copies what it holds: deeper blobs may hold this many copies at once."""

_MAX_LEVELS: Final = 2000
"""How deep the contents of extensions inside each other may nest, added up.

What is no longer, in bytes, cannot nest deeper, and is not worth counting otherwise either: a
thousand levels of it are 2 MB.
"""

_UNCOUNTED_LEVELS: Final = 1 << 60

_MAX_LEVELS_WRITTEN: Final = 500
"""Python writes no more extensions in each other than that."""

_SMALL_BYTES: Final = 16 * 1024
"""What is no longer can be read a second time."""


def max_open_bytes(size: int, least: int) -> int:
    """Return how much memory nested copies of a blob of `size` bytes may take."""
    return max(least, _OPEN_BYTES_FACTOR * size)


class MsgpackDecoder:
    """Reads what upstream's serializer wrote. Thread-safe."""

    def __init__(
        self,
        allowlist: Allowlist,
        *,
        min_open_bytes: int,
        max_objects: int = 10_000_000,
        current_name: Callable[[str], str] = str,
        on_unavailable: Literal["raise", "opaque"] = "raise",
    ) -> None:
        """Take the bounds.

        Args:
            allowlist: The types that the bytes may name.
            min_open_bytes: Nested copies of a blob may take this much memory, and more only in
                proportion to its size.
            max_objects: The units of a `Budget` that a value may take.
            current_name: From the name of a type in the bytes to what it is called today.
            on_unavailable: What stands for an object that cannot be rebuilt.
        """
        self.allowlist = allowlist
        self.min_open_bytes = min_open_bytes
        self.max_objects = max_objects
        self.types = NamedTypes(allowlist, current_name)
        self.opaque = on_unavailable == "opaque"
        self._free_bytes = WEIGHTS.free_bytes(max_objects)
        self._small_bytes = min(_SMALL_BYTES, self._free_bytes)

    def decode(self, data: bytes, tag: str) -> Any:
        """Return the value that upstream's serializer wrote as `data`, stored under `tag`.

        Raises:
            TypeNotAllowedError: It names a type that the allowlist refuses.
            SizeLimitError: It is nested so that reading it takes too much memory, or takes too
                much to rebuild.
            PayloadError: It is damaged, or names a value that cannot be rebuilt.
        """
        if len(data) <= self._small_bytes:
            try:
                value, mark = unpackb(b"".join((_START, data, _END)), ext_hook=_flat_message)
                if mark == _MARK and type(mark) is bytes:
                    return value
            except Exception:  # noqa: S110  (read with care, it is told what is wrong)
                pass
        return self._decode_carefully(data, tag)

    def builder(self, budget: Budget, known: Mapping[Key, Constructor]) -> Builder:
        """Return what builds extensions whose contents were read already; errors as of `decode`.

        Args:
            budget: What building them may take.
            known: What makes values, besides what the allowlist allows.
        """
        reader = _Reader(self, budget.tag, budget)
        reader.constructors = known
        return reader.build_named

    @property
    def unchecked_bytes(self) -> int:
        """How long a blob without patterns may be that `check` need not be asked about."""
        return min(self._free_bytes, self.min_open_bytes // _MAX_LEVELS_WRITTEN)

    def check(self, data: bytes, tag: str, *, patterns: bool) -> None:
        """Look at what was just written, and whether it may hold `patterns`.

        Raises:
            SerdeError: Reading would raise it.
        """
        if WEIGHTS.exceed([data], self.max_objects):
            raise Budget(self.max_objects, tag).exceeded()
        most = max_open_bytes(len(data), self.min_open_bytes)
        allowed = allowed_for(len(data), self.max_objects)
        count = len(_PATTERN.findall(data)) if patterns and _COMPILE in data else 0
        is_costly = count * MAX_PATTERN_UNITS > allowed
        if is_costly or most_open_bytes(data, most) > most:
            self.decode(data, tag)

    def _decode_carefully(self, data: bytes, tag: str) -> Any:
        return self.rebuild(_TOP, data, tag, Budget(self.max_objects, tag, size=len(data)))

    def rebuild(self, code: int, data: bytes, tag: str, budget: Budget) -> Any:
        """Return the value of one extension, or of a whole blob; errors are those of `decode`."""
        reader = _Reader(self, tag, budget)
        if len(data) > self._free_bytes:
            reader.check_weight(data)
        if len(data) > _MAX_LEVELS:
            reader.max_open_bytes = max_open_bytes(len(data), self.min_open_bytes)
            reader.large_maps = has_large_maps(data)
        value = reader.unpack(code, data)
        if reader.networks and any(list(map(release, reader.networks))):  # all are released
            raise PayloadError("a network stands where a collection was expected", tag=tag)
        return value


def _flat_message(code: int, data: bytes) -> Any:
    """Return the message that an extension stands for which holds no other, nor keys but text.

    Of a small value, most often it is all that there is to rebuild.
    """
    content, mark = unpackb(b"".join((_START, data, _END)))
    message = rebuild_message(content)
    if message is None or mark != _MARK or code != EXT_PYDANTIC_V2:
        raise ValueError
    return message


class _Reader:
    """One call of `MsgpackDecoder.decode`."""

    # Small blobs change none of these, and what a reader costs, each of them pays.
    error: BaseException | None = None
    constructors: Mapping[Key, Constructor] = MappingProxyType({})
    networks: list[IPv4Network | IPv6Network] | None = None
    levels_left = _MAX_LEVELS
    max_open_bytes = 0
    open_bytes = 0
    large_maps = False
    unmeasured_bytes = _MAX_LEVELS

    def __init__(self, decoder: MsgpackDecoder, tag: str, budget: Budget) -> None:
        self.decoder = decoder
        self.allowlist = decoder.allowlist
        self.tag = tag
        self.budget = budget

    def check_weight(self, data: bytes) -> None:
        try:
            exceeds = WEIGHTS.exceed([data], self.budget.limit)
        except ValueError as error:
            raise PayloadError("the msgpack is cut off", tag=self.tag) from error
        if exceeds:
            raise self.budget.exceeded()

    def unpack(self, code: int, data: bytes) -> Any:
        """Unpack and rebuild one extension, or the whole. Called by ormsgpack for nested ones.

        Unpacking happens in this very frame: Python's recursion limit bounds the nesting, and
        upstream spends one frame on each level too.
        """
        try:
            levels = None
            if len(data) > self.unmeasured_bytes:
                levels, framed = self.enter(code, data)
            else:
                framed = b"".join((_START, data, _END))
            if framed is not data:
                content, mark = unpackb(framed, ext_hook=self.unpack, option=OPT_NON_STR_KEYS)
                if type(mark) is not bytes or mark != _MARK:
                    raise PayloadError("bytes after the end of the msgpack", tag=self.tag)
            elif code != EXT_NUMPY_ARRAY or (content := array_parts(data)) is None:
                content = unpackb(data, ext_hook=self.unpack, option=OPT_NON_STR_KEYS)
            if levels is not None:
                self.leave(levels, data)
            return content if code == _TOP else self.build(code, content, data)
        except BaseException as error:
            raise self.first(error)  # noqa: B904  (it has its own cause)

    def enter(self, code: int, data: bytes) -> tuple[int, bytes]:
        """Take what reading `data` costs from the budgets.

        Returns:
            How many levels to give back, and `data` as it is if it ends where it should.
            Otherwise `data` with the mark behind it.
        """
        self.open_bytes += len(data)
        if self.open_bytes > self.max_open_bytes:
            raise SizeLimitError(
                "the value is large and deeply nested",
                limit_bytes=self.max_open_bytes,
                tag=self.tag,
            )
        few = is_surely_one(data)
        levels = 0
        if code != _TOP:
            levels = self.count_levels(data, few=few)
        if few:
            return levels, data
        if self.large_maps and len(data) > _MAX_LEVELS and takes_long(data):
            raise PayloadError("too many keys of a dict share a hash", tag=self.tag)
        return levels, b"".join((_START, data, _END))

    def leave(self, levels: int, data: bytes) -> None:
        """Give back what stayed taken only while `data` was being read."""
        self.open_bytes -= len(data)
        self.take_levels(-levels)

    def count_levels(self, data: bytes, *, few: bool) -> int:
        """Take the levels of an extension's content from the budget; return how many.

        ormsgpack 1.13 bounds the nesting of each content, not of those inside each other, and
        a thousand levels take a megabyte of the C stack: a few of them would end the process.
        """
        if len(data) <= self.levels_left:
            levels = 0
        elif not few and may_nest(data) <= self.levels_left:
            levels = -_UNCOUNTED_LEVELS  # not even all that is inside, added up, is too much
        elif (levels := deepest(data, self.levels_left)[0]) > self.levels_left:
            raise PayloadError("too deeply nested msgpack", tag=self.tag)
        self.take_levels(levels)
        return levels

    def take_levels(self, levels: int) -> None:
        self.levels_left -= levels
        self.unmeasured_bytes = min(self.levels_left, _MAX_LEVELS)

    def first(self, error: BaseException) -> BaseException:
        """Return what to raise for `error`: ours, and interrupts, as they are."""
        if self.error is not None:
            return self.error
        if isinstance(error, Exception) and not isinstance(error, SerdeError):
            # At the recursion limit, ormsgpack says no more than that its hook failed.
            cause, error = error, PayloadError("damaged or too deeply nested msgpack", tag=self.tag)
            error.__cause__ = cause
        self.error = error
        return error

    def build(self, code: int, content: Any, data: bytes) -> Any:
        """Return the value that an extension of kind `code` stands for."""
        if code == EXT_PYDANTIC_V2 and (message := rebuild_message(content)) is not None:
            return message
        if code not in CONSTRUCTORS:
            return self.build_unnamed(code, content, data)
        if type(content) is not list or len(content) not in (3, 4):
            raise PayloadError("a msgpack extension that names no type", tag=self.tag)
        built = self.build_named(code, content, data)
        if is_network(built):
            hold(built)
            self.networks = self.networks or []
            self.networks.append(built)
        return built

    def build_named(self, code: int, content: list[Any], data: bytes = b"") -> Any:
        """Return the value of an extension that names a type, or what stands for it."""
        module, name, argument, method = content if len(content) == 4 else (*content, "")
        if module == "re":
            take_units(argument, self.budget)
        key = (code, module, name, method)
        try:
            return (self.constructors.get(key) or self.constructor(key))(argument)
        except Exception as error:
            self.check_names(module, name, method)
            told = self.told(error, module, name)
            if self.decoder.opaque and isinstance(told, PayloadError | TypeNotAllowedError):
                data = data or encode_msgpack(content)
                return upstream_opaque(f"{module}:{name}", code, data, argument)
            raise told from (None if told is error else error)

    def constructor(self, key: Key) -> Constructor:
        """Return what makes values of a type that was not met before."""
        self.check_names(*key[1:])
        if sum(map(len, key[1:])) > _MAX_NAME_CHARS:
            raise PayloadError("a msgpack extension with an overlong type name", tag=self.tag)
        found, lasting = self.decoder.types.constructor(*key, tag=self.tag)
        if lasting:
            self.constructors = {**self.constructors, key: found}
        return found

    def told(self, error: Exception, module: str, name: str) -> SerdeError:
        """Return what to say of an error that a value of this type ended with."""
        if isinstance(error, SerdeError):
            return error
        if isinstance(error, NeedsListError):
            return self.allowlist.refusal(module, (name,), tag=self.tag, hook=str(error))
        return self.failed(f"{module}:{name}", error)

    def check_names(self, *names: Any) -> None:
        """Refuse what cannot be the names of a module, a type and a method."""
        if not all(type(part) is str for part in names):
            raise PayloadError("a msgpack extension that names no type", tag=self.tag)

    def build_unnamed(self, code: int, content: Any, data: bytes) -> Any:
        """Return the value of an extension that names no type."""
        if code == EXT_DELTA_SNAPSHOT:
            return _DeltaSnapshot(content)
        if code != EXT_NUMPY_ARRAY:
            raise PayloadError(f"unknown msgpack extension {code}", tag=self.tag)
        try:
            return array(content)
        except Exception as error:
            if self.decoder.opaque:
                return upstream_opaque("numpy:ndarray", code, data, None)
            raise self.failed("numpy:ndarray", error) from error

    def failed(self, type_name: str, error: Exception) -> PayloadError:
        reason = type(error).__name__
        return PayloadError(f"{type_name} could not be rebuilt ({reason})", tag=self.tag)
