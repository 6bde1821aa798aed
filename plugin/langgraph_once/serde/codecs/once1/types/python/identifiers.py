"""Values that name something: UUIDs, paths, patterns, addresses, URLs, secrets.

UUID                       16 bytes, and `is_safe` where it is known
PurePath and Path kinds    the text; a path of another system is refused where it is made
re.Pattern                 pattern and flags; patterns compiled with `re.DEBUG` are refused
ipaddress                  the text: an address, interface or network is never walked through
SecretStr, SecretBytes     the secret, which only encryption keeps secret in the database
pydantic's URLs            the text, where it parses to the same URL
"""

from __future__ import annotations

import functools
import re
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any, Final
from uuid import UUID, SafeUUID

from pydantic import AnyUrl, SecretBytes, SecretStr

from langgraph_once.serde.bounds.costly_values import PatternTooLargeError, compiled, pattern_units
from langgraph_once.serde.codecs.once1.types.base.protocol import (
    Adapter,
    UnwritableError,
    parts,
    plain,
)

__all__ = ["ADAPTERS", "UrlFamily"]

_MAX_ADDRESS_CHARS: Final = 200


def _encode_uuid(value: UUID) -> Any:
    if value.is_safe is SafeUUID.unknown:
        return value.bytes
    return value.bytes, value.is_safe.value


def _decode_uuid(data: Any) -> UUID:
    if type(data) is bytes:
        return UUID(bytes=data)
    raw, is_safe = parts(data, bytes, int)
    return UUID(bytes=raw, is_safe=SafeUUID(is_safe))


def _encode_path(value: PurePath) -> str:
    text = str(value)
    # Python 3.11 takes the file `.\c:` for the drive `c:`.
    if type(value)(text) != value:
        raise UnwritableError("a path that its own text does not name")
    return text


def _decode_path(cls: type[PurePath], data: Any) -> PurePath:
    try:
        return cls(plain(data, str))
    except NotImplementedError as error:
        raise ValueError(f"{cls.__name__} does not exist on this system") from error


def _encode_pattern(value: re.Pattern[Any]) -> tuple[Any, int]:
    if value.flags & re.DEBUG:
        raise UnwritableError("a pattern compiled with `re.DEBUG` would print when it is loaded")
    try:
        pattern_units(value.pattern, value.flags)
    except PatternTooLargeError as error:
        raise UnwritableError(str(error)) from None
    return value.pattern, int(value.flags)


def _decode_pattern(data: Any) -> re.Pattern[Any]:
    pattern, flags = parts(data, object, int)
    if flags & re.DEBUG:
        raise ValueError("a pattern that prints")
    try:
        return compiled(plain(pattern, str, bytes), flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError("not a pattern") from error


def _decode_address(cls: type, data: Any) -> Any:
    if len(plain(data, str)) > _MAX_ADDRESS_CHARS:
        raise ValueError("not an address")
    return cls(data)


def _decode_secret(cls: type, kind: type, data: Any) -> Any:
    return cls(plain(data, kind))


class UrlFamily:
    """`AnyUrl` and its subclasses."""

    name = "url"

    def matches(self, cls: type) -> bool:
        return issubclass(cls, AnyUrl)

    def encode(self, obj: Any) -> str:
        text = str(obj)
        if type(obj)(text) != obj:
            raise UnwritableError("a URL that its own text does not name")
        return text

    def decode(self, cls: type, data: Any) -> Any:
        return cls(plain(data, str))


def _path(cls: type[PurePath]) -> Adapter:
    return Adapter(
        name=cls.__name__.lower(),
        types=(cls,),
        encode=_encode_path,
        decode=functools.partial(_decode_path, cls),
    )


def _address(cls: type) -> Adapter:
    decode = functools.partial(_decode_address, cls)
    return Adapter(name=cls.__name__.lower(), types=(cls,), encode=str, decode=decode)


def _secret(cls: type, kind: type) -> Adapter:
    return Adapter(
        name=cls.__name__.lower(),
        types=(cls,),
        encode=lambda value: value.get_secret_value(),
        decode=functools.partial(_decode_secret, cls, kind),
    )


_PATHS: Final = (PurePosixPath, PureWindowsPath, PosixPath, WindowsPath)
_ADDRESSES: Final = (
    *(IPv4Address, IPv4Interface, IPv4Network),
    *(IPv6Address, IPv6Interface, IPv6Network),
)

ADAPTERS: Final = (
    Adapter(name="uuid", types=(UUID,), encode=_encode_uuid, decode=_decode_uuid),
    *map(_path, _PATHS),
    Adapter(name="pattern", types=(re.Pattern,), encode=_encode_pattern, decode=_decode_pattern),
    *map(_address, _ADDRESSES),
    _secret(SecretStr, str),
    _secret(SecretBytes, bytes),
)
