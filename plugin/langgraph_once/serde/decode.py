"""The `msgpack` codec, reading: what upstream's serializer writes, rebuilt or refused.

Upstream nests: an extension holds the msgpack of `[module, name, argument]`, whose argument may
hold extensions. ormsgpack hides what goes wrong in there behind "ext_hook failed", so the
first error is kept aside and raised at the end.
"""

from __future__ import annotations

import importlib
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_POS_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
    EXT_DELTA_SNAPSHOT,
    EXT_METHOD_SINGLE_ARG,
    EXT_NUMPY_ARRAY,
    EXT_PYDANTIC_V1,
    EXT_PYDANTIC_V2,
)
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.types import Send

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError
from langgraph_once.serde.networks import hold, is_network, release

if TYPE_CHECKING:
    from collections.abc import Callable
    from ipaddress import IPv4Network, IPv6Network

    from langgraph_once.serde.allowlist import Allowlist

__all__ = ["decode_msgpack"]

_TOP: Final = 256  # no extension has this code: they are signed bytes
_MAX_NAME_CHARS: Final = 300

# ormsgpack ignores what follows the first value. So the blob is read as the first of two, and
# the second must be this mark: a blob that is one value too short or too long misplaces it.
_START: Final = b"\x92"
_MARK: Final = b"end of langgraph-once value"
_END: Final = ormsgpack.packb(_MARK)

_OPEN_BYTES_FACTOR: Final = 16
"""Each level of nesting copies what it holds: deeper blobs may hold this many copies at once."""


def decode_msgpack(data: bytes, *, allowlist: Allowlist, min_open_bytes: int, tag: str) -> Any:
    """Return the value that upstream's serializer wrote as `data`.

    Args:
        data: The msgpack.
        allowlist: The types that it may name.
        min_open_bytes: Nested copies of the data may take this much memory, and more only in
            proportion to the size of `data`.
        tag: The tag it was stored under, for errors.

    Raises:
        TypeNotAllowedError: It names a type that the allowlist refuses.
        SizeLimitError: It is nested so that reading it takes too much memory.
        PayloadError: It is damaged, or names a value that cannot be rebuilt.
    """
    limit = max(min_open_bytes, _OPEN_BYTES_FACTOR * len(data))
    return _Decoder(allowlist, limit, tag).decode(data)


class _Decoder:
    """One call of `decode_msgpack`."""

    __slots__ = ("allowlist", "error", "networks", "open_bytes", "open_bytes_limit", "tag")

    def __init__(self, allowlist: Allowlist, open_bytes_limit: int, tag: str) -> None:
        self.allowlist = allowlist
        self.open_bytes_limit = open_bytes_limit
        self.tag = tag
        self.open_bytes = 0
        self.networks: list[IPv4Network | IPv6Network] = []
        self.error: BaseException | None = None

    def decode(self, data: bytes) -> Any:
        value = self.unpack(_TOP, data)
        walked = [network for network in self.networks if release(network)]
        if walked:
            raise PayloadError("a network stands where a collection was expected", tag=self.tag)
        return value

    def unpack(self, code: int, data: bytes) -> Any:
        """Unpack and rebuild one extension, or the whole. Called by ormsgpack for nested ones.

        Unpacking happens in this very frame: Python's recursion limit bounds the nesting, and
        upstream spends one frame on each level too.
        """
        self.open_bytes += len(data)
        try:
            if self.open_bytes > self.open_bytes_limit:
                raise SizeLimitError(
                    "the value is large and deeply nested",
                    limit_bytes=self.open_bytes_limit,
                    tag=self.tag,
                )
            opened = ormsgpack.unpackb(
                b"".join((_START, data, _END)),
                ext_hook=self.unpack,
                option=ormsgpack.OPT_NON_STR_KEYS,
            )
            if not isinstance(opened[1], bytes) or opened[1] != _MARK:
                raise PayloadError("bytes after the end of the msgpack", tag=self.tag)
            return self.build(code, opened[0])
        except BaseException as error:
            if self.error is None:
                self.error = self.explain(error)
            raise self.error  # noqa: B904  (it has its own cause)
        finally:
            self.open_bytes -= len(data)

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
        if code == _TOP:
            return content
        if code == EXT_DELTA_SNAPSHOT:
            return _DeltaSnapshot(content)
        if code == EXT_NUMPY_ARRAY:
            return self.construct("numpy:ndarray", _array, content)
        if code not in _CONSTRUCT:
            raise PayloadError(f"unknown msgpack extension {code}", tag=self.tag)
        module, name, argument, method = self.named(content)
        if code == EXT_METHOD_SINGLE_ARG:
            self.allowlist.check_method(module, name, method, tag=self.tag)
        target = self.allowlist.resolve(module, name, tag=self.tag)
        if code == EXT_METHOD_SINGLE_ARG:
            target = getattr(target, method)
        built = self.construct(f"{module}:{name}", _CONSTRUCT[code], target, argument)
        if is_network(built):
            hold(built)
            self.networks.append(built)
        return built

    def named(self, content: Any) -> tuple[str, str, Any, str]:
        """Return module, name, argument and method of an extension that names a type."""
        module, name, argument, method = (
            (*content, "")[:4]
            if isinstance(content, list) and len(content) in (3, 4)
            else (None,) * 4
        )
        if not all(isinstance(part, str) for part in (module, name, method)):
            raise PayloadError("a msgpack extension that names no type", tag=self.tag)
        if len(module) + len(name) + len(method) > _MAX_NAME_CHARS:
            raise PayloadError("a msgpack extension with an overlong type name", tag=self.tag)
        return module, name, argument, method

    def construct(self, type_name: str, builder: Callable[..., Any], *args: Any) -> Any:
        """Call `builder`, turning what it raises into a `PayloadError` with the type's name."""
        try:
            return builder(*args)
        except Exception as error:
            raise PayloadError(
                f"{type_name} could not be rebuilt ({type(error).__name__})", tag=self.tag
            ) from error


def _from_value(target: Callable[..., Any], argument: Any) -> Any:
    if isinstance(target, type) and issubclass(target, (set, frozenset, deque)):
        items = _listed(argument)
        # An element of a set was hashable: where a list comes back, a tuple went in.
        argument = items if issubclass(target, deque) else map(_hashable, items)
    return target(argument)


def _from_positional(target: Callable[..., Any], argument: Any) -> Any:
    args = _listed(argument)
    if target is Send and len(args) == 3:
        return Send(args[0], args[1], timeout=args[2])
    return target(*args)


def _from_keywords(target: Callable[..., Any], argument: Any) -> Any:
    return target(**argument)


def _from_fields(target: Callable[..., Any], argument: Any) -> Any:
    """Rebuild a pydantic model; where its dump does not validate, without validation.

    Upstream does the same: models whose serializers change their values need it.
    """
    if not isinstance(argument, dict):
        return target(argument)  # a RootModel
    try:
        return target(**argument)
    except Exception:
        unchecked = getattr(target, "model_construct", None) or getattr(target, "construct", None)
        if unchecked is None:
            raise
        return unchecked(**argument)


def _array(content: Any) -> Any:
    np = importlib.import_module("numpy")  # only a process that keeps arrays has it
    dtype, shape, order, buffer = _listed(content)
    return np.frombuffer(buffer, dtype=np.dtype(dtype)).reshape(shape, order=order)


def _listed(argument: Any) -> list[Any]:
    if not isinstance(argument, list):
        raise TypeError(f"expected an array, found {type(argument).__name__}")
    return argument


def _hashable(item: Any) -> Any:
    return tuple(map(_hashable, item)) if isinstance(item, list) else item


_CONSTRUCT: Final[dict[int, Callable[[Callable[..., Any], Any], Any]]] = {
    EXT_CONSTRUCTOR_SINGLE_ARG: _from_value,
    EXT_CONSTRUCTOR_POS_ARGS: _from_positional,
    EXT_CONSTRUCTOR_KW_ARGS: _from_keywords,
    EXT_METHOD_SINGLE_ARG: _from_value,
    EXT_PYDANTIC_V1: _from_fields,
    EXT_PYDANTIC_V2: _from_fields,
}
