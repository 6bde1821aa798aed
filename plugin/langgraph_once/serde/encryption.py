"""The `aesgcm` layer: AES-GCM under a ring of named keys.

    version  1 byte      1, or 2 if the blob is bound to a place
    length   1 byte      of the key id
    key id   utf-8
    nonce    12 bytes    random; one key is good for 2**32 blobs
    sealed   the rest    ciphertext and authentication tag

The tag string, everything before the nonce, and the place are authenticated too. So a blob that is
moved under another tag or to another place, relabelled with another key, or said to be bound to no
place, is refused.

The `aes` layer: rows that LangGraph's `EncryptedSerializer` encrypted (AES-EAX). Read only.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from typing import TYPE_CHECKING, Final, TypeAlias

from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from langgraph_once.errors import ConfigError, EncryptionError, shown
from langgraph_once.floors import install_command
from langgraph_once.serde.format import may_be_bound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langgraph.checkpoint.serde.base import CipherProtocol
    from pydantic import SecretStr

    from langgraph_once.serde.aes_gcm import AesKey

BoundTo: TypeAlias = tuple[str | int | None, ...]
"""Names the place where a blob is stored, and no other; empty where nobody says which."""

_UNBOUND: Final = 1
_BOUND: Final = 2
# What AES-GCM is specified with (NIST SP 800-38D): 96 bits, and the whole of its tag.
_NONCE_BYTES: Final = 12
_SEAL_BYTES: Final = 16
_KEY_BYTES: Final = (16, 24, 32)
# A byte of the envelope counts them.
_MAX_KEY_ID_BYTES: Final = 255
HEAD_BYTES: Final = 2 + _MAX_KEY_ID_BYTES + _NONCE_BYTES + _SEAL_BYTES
"""So many bytes of a blob tell its key."""
NO_KEY: Final = ""
DAMAGED: Final = "?"
"""No ids of keys: `needed_key` says so of what is plain, and of what is damaged."""


class KeyRing:
    """AES keys by name: the last one writes, all of them read. Thread-safe."""

    def __init__(self, keys: Mapping[str, SecretStr], *, requires_bound: bool = False) -> None:
        """Read the keys.

        Args:
            keys: Base64 of 16, 24 or 32 bytes, by key id.
            requires_bound: Whether to refuse what is bound to no place, where one is named.

        Raises:
            ConfigError: A key or its id is malformed; names the id, unless that may be a key.
        """
        self._keys = {key_id: _key(key_id, secret) for key_id, secret in keys.items()}
        self._headers = {
            (key_id, version): _header(key_id, version)
            for key_id in keys
            for version in (_UNBOUND, _BOUND)
        }
        self._requires_bound = requires_bound
        self._writer = next(reversed(self._keys), None)

    def __bool__(self) -> bool:
        return bool(self._keys)

    def __repr__(self) -> str:
        return f"KeyRing({', '.join(map(shown, self._keys))})"

    def derived(self, purpose: str) -> list[bytes]:
        """A key for another purpose of each key, the newest first."""
        info = f"langgraph-once: {purpose}".encode()
        return [key.derived(info) for key in reversed(self._keys.values())]

    def is_newest(self, data: bytes) -> bool:
        """Whether a blob is bound, under the key that `encrypt` would take now."""
        header = self._headers.get((self._writer or "", _BOUND))
        return header is not None and data.startswith(header)

    @staticmethod
    def is_bound(data: bytes) -> bool:
        """Whether a blob says that it was bound to a place."""
        return data[:1] == bytes((_BOUND,))

    def encrypt(self, data: bytes, *, tag: str, bound_to: BoundTo = ()) -> bytes:
        """Seal `data` under the newest key, bound to `tag` and to `bound_to` if there is one."""
        if self._writer is None:
            raise EncryptionError("there is no key to encrypt with", tag=tag)
        header = self._headers[self._writer, _BOUND if bound_to else _UNBOUND]
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._keys[self._writer].seal(nonce, data, _associated(tag, header, bound_to))
        return b"".join((header, nonce, sealed))

    def decrypt(self, data: bytes, *, tag: str, bound_to: BoundTo = ()) -> bytes:
        """Open what `encrypt` sealed under the same tag, for the same place or for none.

        Raises:
            EncryptionError: The key is not in the ring, or the bytes are not what was sealed.
        """
        key_id, body = _split(data, tag)
        is_bound = self.is_bound(data)
        if is_bound and not bound_to:
            raise EncryptionError(
                "the value is bound to its row: a saver of `langgraph_once.checkpoint` reads it "
                "there, and `langgraph-once migrate` rewrites it for others",
                tag=tag,
            )
        if self._requires_bound and bound_to and not is_bound:
            raise EncryptionError("the value is not bound to its row, and must be", tag=tag)
        key = self._keys.get(key_id)
        if key is None:
            raise EncryptionError(
                f"the value needs the key {shown(key_id)!r}, which `encryption_keys` does not hold",
                key_id=key_id,
                tag=tag,
            )
        nonce, sealed = body[:_NONCE_BYTES], body[_NONCE_BYTES:]
        associated = _associated(tag, self._headers[key_id, data[0]], bound_to)
        try:
            return key.open(nonce, sealed, associated)
        except ValueError as error:
            elsewhere = "in another row, or under another tag" if is_bound else "under another tag"
            raise EncryptionError(
                f"the value does not open with the key {shown(key_id)!r}: another key of that name "
                f"sealed it, or it was changed, or it was stored {elsewhere}",
                key_id=key_id,
                tag=tag,
            ) from error


def needed_key(tag: str, data: bytes) -> str:
    """The id of the key that a blob needs, which may be one that no ring has.

    Args:
        tag: As it is stored; it need not be one of ours.
        data: The blob, or at least its first `HEAD_BYTES`.

    Returns:
        Also `LANGGRAPH_AES_KEY` for what upstream's serializer encrypted, `NO_KEY` for what is
        plain, and `DAMAGED`.
    """
    if tag.endswith("+aes"):
        return _KEY_NAME
    try:
        return _split(data, tag)[0] if may_be_bound(tag) else NO_KEY
    except EncryptionError:
        return DAMAGED


def _key(key_id: str, secret: SecretStr) -> AesKey:
    from langgraph_once.serde.aes_gcm import AesKey

    setting = f"SerdeConfig.encryption_keys.{shown(key_id)}"
    if not 0 < len(_utf8(key_id)) <= _MAX_KEY_ID_BYTES:
        raise ConfigError(setting, f"a key id has 1 to {_MAX_KEY_ID_BYTES} bytes of utf-8")
    key = _decoded(secret.get_secret_value())
    if key is not None and len(key) in _KEY_BYTES:
        return AesKey(key)
    problem = "not base64" if key is None else f"{len(key)} bytes; an AES key has 16, 24 or 32"
    swapped = "; the id looks like a key: are they swapped?" if shown(key_id) != key_id else ""
    raise ConfigError(setting, problem + swapped)


def _utf8(text: str) -> bytes:
    """Return nothing for half of a surrogate pair: the error about it would hold the text."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return b""


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _header(key_id: str, version: int) -> bytes:
    encoded = key_id.encode()
    return bytes((version, len(encoded))) + encoded


def _associated(tag: str, header: bytes, bound_to: BoundTo) -> bytes:
    # No tag contains a zero byte, and the header tells its own length and whether there is a place:
    # the parts cannot be shifted against each other.
    place = json.dumps(bound_to).encode() if header[0] == _BOUND else b""
    return b"".join((tag.encode(), b"\0", header, place))


def _split(data: bytes, tag: str) -> tuple[str, bytes]:
    """Return the key id and what follows the header."""
    if len(data) < 2 or data[0] not in (_UNBOUND, _BOUND):
        raise EncryptionError("not an envelope of version 1 or 2", tag=tag)
    start = 2 + data[1]
    if len(data) < start + _NONCE_BYTES + _SEAL_BYTES:
        raise EncryptionError("truncated envelope", tag=tag)
    try:
        return data[2:start].decode(), data[start:]
    except UnicodeDecodeError as error:
        raise EncryptionError("the key id in the envelope is damaged", tag=tag) from error


_KEY_NAME: Final = "LANGGRAPH_AES_KEY"


class UpstreamCipher:
    """Reads rows of upstream's `EncryptedSerializer` (`<codec>+aes`). Thread-safe."""

    def __init__(self, key: SecretStr | None) -> None:
        if key is not None and not _fits(key.get_secret_value()):
            raise ConfigError(_KEY_NAME, "an AES key has 16, 24 or 32 bytes of utf-8")
        self._key = key

    def decrypt(self, data: bytes, *, tag: str) -> bytes:
        """Open `data`.

        Raises:
            EncryptionError: No key, the wrong key, damaged bytes, or no `pycryptodome`.
        """
        cipher = self._cipher(tag)
        try:
            return cipher.decrypt("aes", data)
        except ValueError as error:
            raise EncryptionError(
                f"the value does not open with {_KEY_NAME}, or it was changed", tag=tag
            ) from error

    def _cipher(self, tag: str) -> CipherProtocol:
        if self._key is None:
            raise EncryptionError(
                f"the value was encrypted by upstream's serializer; set {_KEY_NAME}", tag=tag
            )
        try:
            key = self._key.get_secret_value().encode()
            return EncryptedSerializer.from_pycryptodome_aes(key=key).cipher
        except ImportError as error:
            raise EncryptionError(
                f"reading upstream's encrypted rows takes pycryptodome: {install_command('aes')}",
                tag=tag,
            ) from error


def _fits(key: str) -> bool:
    try:
        return len(key.encode()) in (16, 24, 32)
    except UnicodeEncodeError:  # which holds the key
        return False
