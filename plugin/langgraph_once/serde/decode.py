"""The `msgpack` codec, reading: what upstream's serializer writes, rebuilt or refused.

Upstream nests: an extension holds the msgpack of `[module, name, argument]`, whose argument may
hold extensions. ormsgpack hides what goes wrong in there behind "ext_hook failed", so the
first error is kept aside and raised at the end.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final

from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.jsonplus import (
    EXT_DELTA_SNAPSHOT,
    EXT_METHOD_SINGLE_ARG,
    EXT_NUMPY_ARRAY,
    EXT_PYDANTIC_V2,
)
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from ormsgpack import OPT_NON_STR_KEYS, packb, unpackb

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError
from langgraph_once.serde.messages import rebuild_message
from langgraph_once.serde.msgpack_scan import count_values, depth, end_of_value, may_nest
from langgraph_once.serde.networks import hold, is_network, release
from langgraph_once.serde.rebuild import CONSTRUCTORS, array, array_parts

if TYPE_CHECKING:
    from collections.abc import Callable
    from ipaddress import IPv4Network, IPv6Network

    from langgraph_once.serde.allowlist import Allowlist

__all__ = ["decode_msgpack"]

_TOP: Final = 256  # no extension has this code: they are signed bytes
_MAX_NAME_CHARS: Final = 300

# ormsgpack ignores what follows the first value. So the blob is read as the first of two, and
# the second must be this mark: a blob that is one value too short or too long misplaces it.
# It is random, so that no blob can bring its own.
_START: Final = b"\x92"
_MARK: Final = secrets.token_bytes(12)
_END: Final = packb(_MARK)

_OPEN_BYTES_FACTOR: Final = 16
"""Each level of nesting copies what it holds: deeper blobs may hold this many copies at once."""

_SMALL_BYTES: Final = 4096
"""What is no larger is not worth counting: a thousand levels of it are 4 MB."""

_MAX_LEVELS: Final = 2000
"""How deep the contents of extensions inside each other may nest, added up."""

_COPY_BYTES: Final = 1024 * 1024
"""What is larger is not copied to see where it ends, if it consists of few values."""
_FEW_VALUES: Final = 1000


def decode_msgpack(
    data: bytes,
    *,
    allowlist: Allowlist,
    min_open_bytes: int,
    tag: str,
    max_objects: int = 10_000_000,
) -> Any:
    """Return the value that upstream's serializer wrote as `data`.

    Args:
        data: The msgpack.
        allowlist: The types that it may name.
        min_open_bytes: Nested copies of the data may take this much memory, and more only in
            proportion to the size of `data`.
        tag: The tag it was stored under, for errors.
        max_objects: The most objects that may be made. Each takes a byte of `data` at least, so
            they are counted only where `data` is longer than this.

    Raises:
        TypeNotAllowedError: It names a type that the allowlist refuses.
        SizeLimitError: It is nested so that reading it takes too much memory, or holds too many
            objects.
        PayloadError: It is damaged, or names a value that cannot be rebuilt.
    """
    decoder = _Decoder(allowlist, tag)
    if len(data) > min(_SMALL_BYTES, max_objects):
        decoder.max_open_bytes = max(min_open_bytes, _OPEN_BYTES_FACTOR * len(data))
    if len(data) > max_objects:
        decoder.max_objects = max_objects
    if len(data) > _MAX_LEVELS and may_nest(data) > _MAX_LEVELS:
        decoder.levels_left = _MAX_LEVELS
    value = decoder.unpack(_TOP, data)
    if any(list(map(release, decoder.networks))):  # all of them are released
        raise PayloadError("a network stands where a collection was expected", tag=tag)
    return value


class _Decoder:
    """One call of `decode_msgpack`."""

    # Small blobs change none of these, and what a decoder costs, each of them pays.
    error: BaseException | None = None
    max_objects: int | None = None
    objects = 0
    max_open_bytes = 0
    open_bytes = 0
    levels_left: int | None = None

    def __init__(self, allowlist: Allowlist, tag: str) -> None:
        self.allowlist = allowlist
        self.tag = tag
        self.constructors: dict[tuple[int, str, str, str], Callable[[Any], Any]] = {}
        self.networks: list[IPv4Network | IPv6Network] = []

    def unpack(self, code: int, data: bytes) -> Any:
        """Unpack and rebuild one extension, or the whole. Called by ormsgpack for nested ones.

        Unpacking happens in this very frame: Python's recursion limit bounds the nesting, and
        upstream spends one frame on each level too.
        """
        try:
            levels = self.entered(data) if self.levels_left is not None and code != _TOP else 0
            if len(data) <= _SMALL_BYTES and self.max_objects is None:
                framed = b"".join((_START, data, _END))
                content, mark = unpackb(framed, ext_hook=self.unpack, option=OPT_NON_STR_KEYS)
                if type(mark) is not bytes or mark != _MARK:
                    raise PayloadError("bytes after the end of the msgpack", tag=self.tag)
            else:
                self.open_bytes += len(data)
                framed = self.measured(data)
                if code == EXT_NUMPY_ARRAY and framed is data and (parts := array_parts(data)):
                    content = parts
                else:
                    content = unpackb(framed, ext_hook=self.unpack, option=OPT_NON_STR_KEYS)
                    content = content if framed is data else self.unframed(content)
                self.open_bytes -= len(data)
            if code == _TOP:
                return content
            if levels and self.levels_left is not None:
                self.levels_left += levels
            if code == EXT_PYDANTIC_V2 and (message := rebuild_message(content)) is not None:
                return message
            return self.build(code, content)
        except BaseException as error:
            if self.error is None:
                self.error = self.explain(error)
            raise self.error  # noqa: B904  (it has its own cause)

    def entered(self, data: bytes) -> int:
        """Take the levels of an extension's content from the budget; return how many.

        ormsgpack 1.13 bounds the nesting of each content, not of those inside each other, and
        a thousand levels take a megabyte of the C stack: a few of them would end the process.
        """
        left = self.levels_left or 0
        levels = may_nest(data)
        if levels > left:
            levels = depth(data, left)
        if levels > left:
            raise PayloadError("too deeply nested msgpack", tag=self.tag)
        self.levels_left = left - levels
        return levels

    def measured(self, data: bytes) -> bytes:
        """Count `data` into the budgets; return it as it is if it ends where it should.

        Otherwise return it with the mark, for `unframed`.
        """
        if self.open_bytes > self.max_open_bytes:
            raise SizeLimitError(
                "the value is large and deeply nested",
                limit_bytes=self.max_open_bytes,
                tag=self.tag,
            )
        if self.max_objects is not None:
            self.objects += count_values(data, self.max_objects - self.objects)
            if self.objects > self.max_objects:
                raise SizeLimitError(
                    f"the value holds more than {self.max_objects:,} objects",
                    limit_bytes=self.max_objects,
                    tag=self.tag,
                )
        whole = len(data) > _COPY_BYTES and end_of_value(data, _FEW_VALUES) == len(data)
        return data if whole else b"".join((_START, data, _END))

    def unframed(self, content: Any) -> Any:
        """Return the value that was framed, if the mark follows it."""
        value, mark = content
        if type(mark) is not bytes or mark != _MARK:
            raise PayloadError("bytes after the end of the msgpack", tag=self.tag)
        return value

    def explain(self, error: BaseException) -> BaseException:
        """Return what to raise for `error`: ours, and interrupts, as they are."""
        if isinstance(error, SerdeError) or not isinstance(error, Exception):
            return error
        # At the recursion limit, ormsgpack says no more than that its hook failed.
        explained = PayloadError("damaged or too deeply nested msgpack", tag=self.tag)
        explained.__cause__ = error
        return explained

    def build(self, code: int, content: Any) -> Any:
        """Return the value that an extension of kind `code` stands for."""
        if code not in CONSTRUCTORS:
            return self.build_unnamed(code, content)
        if type(content) is not list or len(content) not in (3, 4):
            raise PayloadError("a msgpack extension that names no type", tag=self.tag)
        module, name, argument, method = content if len(content) == 4 else (*content, "")
        key = (code, module, name, method)
        constructor = self.constructors.get(key) or self.constructor(key)
        try:
            built = constructor(argument)
        except Exception as error:
            raise self.failed(f"{module}:{name}", error) from error
        if is_network(built):
            hold(built)
            self.networks.append(built)
        return built

    def build_unnamed(self, code: int, content: Any) -> Any:
        """Return the value of an extension that names no type."""
        if code == EXT_DELTA_SNAPSHOT:
            return _DeltaSnapshot(content)
        if code != EXT_NUMPY_ARRAY:
            raise PayloadError(f"unknown msgpack extension {code}", tag=self.tag)
        try:
            return array(content)
        except Exception as error:
            raise self.failed("numpy:ndarray", error) from error

    def constructor(self, key: tuple[int, str, str, str]) -> Callable[[Any], Any]:
        """Return the function from an argument to the value, if the type may be loaded."""
        code, module, name, method = key
        if not all(isinstance(part, str) for part in (module, name, method)):
            raise PayloadError("a msgpack extension that names no type", tag=self.tag)
        if len(module) + len(name) + len(method) > _MAX_NAME_CHARS:
            raise PayloadError("a msgpack extension with an overlong type name", tag=self.tag)
        if code == EXT_METHOD_SINGLE_ARG:
            self.allowlist.check_method(module, name, method, tag=self.tag)
        target = self.allowlist.resolve(module, name, tag=self.tag)
        if code == EXT_METHOD_SINGLE_ARG:
            target = getattr(target, method)
        made = CONSTRUCTORS[code](target)
        # Of a type that is not listed, each occurrence is reported.
        if (module, name) in SAFE_MSGPACK_TYPES or (module, name) in self.allowlist.paths:
            self.constructors[key] = made
        return made

    def failed(self, type_name: str, error: Exception) -> PayloadError:
        reason = type(error).__name__
        return PayloadError(f"{type_name} could not be rebuilt ({reason})", tag=self.tag)
