"""The `aesgcm` layer: AES-GCM under a ring of named keys.

    version  1 byte      1
    length   1 byte      of the key id
    key id   utf-8
    nonce    12 bytes    random; one key is good for 2**32 blobs
    sealed   the rest    ciphertext and authentication tag

The tag string and everything before the nonce are authenticated too, so a blob that is moved
under another tag, or relabelled with another key, is refused.
"""

from __future__ import annotations

import base64
import binascii
import os
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from langgraph_once.errors import ConfigError, EncryptionError
from langgraph_once.redaction import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import SecretStr

__all__ = ["KeyRing"]

_VERSION: Final = 1
_NONCE_BYTES: Final = 12
_SEAL_BYTES: Final = 16
_KEY_BYTES: Final = (16, 24, 32)
_MAX_KEY_ID_BYTES: Final = 255


class KeyRing:
    """AES keys by name: the last one writes, all of them read. Thread-safe."""

    def __init__(self, keys: Mapping[str, SecretStr]) -> None:
        """Read the keys.

        Args:
            keys: Base64 of 16, 24 or 32 bytes, by key id.

        Raises:
            ConfigError: A key or its id is malformed; names the id, unless that may be a key.
        """
        self._ciphers = {key_id: _cipher(key_id, secret) for key_id, secret in keys.items()}
        self._headers = {key_id: _header(key_id) for key_id in keys}
        self._writer = next(reversed(self._ciphers), None)
        secrets = (_decoded(secret.get_secret_value()) for secret in keys.values())
        self._secrets = [secret for secret in secrets if secret is not None][::-1]

    def __bool__(self) -> bool:
        return bool(self._ciphers)

    def __repr__(self) -> str:
        return f"KeyRing({', '.join(map(shown, self._ciphers))})"

    def derived(self, purpose: str) -> list[bytes]:
        """A key for another purpose of each key, the newest first."""
        info = f"langgraph-once: {purpose}".encode()
        return [
            HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(secret)
            for secret in self._secrets
        ]

    def is_newest(self, data: bytes) -> bool:
        """Whether `encrypt` sealed this under the key that it would take now."""
        return self._writer is not None and data.startswith(self._headers[self._writer])

    def encrypt(self, data: bytes, *, tag: str) -> bytes:
        """Seal `data` under the newest key, bound to `tag`."""
        if self._writer is None:
            raise EncryptionError("there is no key to encrypt with", tag=tag)
        header = self._headers[self._writer]
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._ciphers[self._writer].encrypt(nonce, data, _bound_to(tag, header))
        return b"".join((header, nonce, sealed))

    def decrypt(self, data: bytes, *, tag: str) -> bytes:
        """Open what `encrypt` sealed under the same tag.

        Raises:
            EncryptionError: The key is not in the ring, or the bytes are not what was sealed.
        """
        key_id, body = _split(data, tag)
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            raise EncryptionError(
                f"the value needs the key {shown(key_id)!r}, which `encryption_keys` does not hold",
                key_id=key_id,
                tag=tag,
            )
        nonce, sealed = body[:_NONCE_BYTES], body[_NONCE_BYTES:]
        try:
            return cipher.decrypt(nonce, sealed, _bound_to(tag, self._headers[key_id]))
        except InvalidTag as error:
            raise EncryptionError(
                f"the value does not open with the key {shown(key_id)!r}: another key of that name "
                "sealed it, or it was changed, or it was stored under another tag",
                key_id=key_id,
                tag=tag,
            ) from error


def _cipher(key_id: str, secret: SecretStr) -> AESGCM:
    setting = f"SerdeConfig.encryption_keys.{shown(key_id)}"
    if not 0 < len(_utf8(key_id)) <= _MAX_KEY_ID_BYTES:
        raise ConfigError(setting, f"a key id has 1 to {_MAX_KEY_ID_BYTES} bytes of utf-8")
    key = _decoded(secret.get_secret_value())
    if key is not None and len(key) in _KEY_BYTES:
        return AESGCM(key)
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


def _header(key_id: str) -> bytes:
    encoded = key_id.encode()
    return bytes((_VERSION, len(encoded))) + encoded


def _bound_to(tag: str, header: bytes) -> bytes:
    # No tag contains a zero byte, so the two parts cannot be shifted against each other.
    return tag.encode() + b"\0" + header


def _split(data: bytes, tag: str) -> tuple[str, bytes]:
    """Return the key id and what follows the header."""
    if len(data) < 2 or data[0] != _VERSION:
        raise EncryptionError("not an envelope of version 1", tag=tag)
    start = 2 + data[1]
    if len(data) < start + _NONCE_BYTES + _SEAL_BYTES:
        raise EncryptionError("truncated envelope", tag=tag)
    try:
        return data[2:start].decode(), data[start:]
    except UnicodeDecodeError as error:
        raise EncryptionError("the key id in the envelope is damaged", tag=tag) from error
