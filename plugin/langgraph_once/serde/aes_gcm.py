"""One key of AES-GCM. Imported when there is a key: `cryptography` takes 10 to 20 ms."""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


class AesKey:
    """Seals and opens. Thread-safe."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._cipher = AESGCM(secret)

    def seal(self, nonce: bytes, data: bytes, associated: bytes) -> bytes:
        """Return `data` encrypted, with a tag that authenticates `associated` as well."""
        return self._cipher.encrypt(nonce, data, associated)

    def open(self, nonce: bytes, sealed: bytes, associated: bytes) -> bytes:
        """Return what `seal` was given.

        Raises:
            ValueError: It was sealed with another key, or something of it was changed.
        """
        try:
            return self._cipher.decrypt(nonce, sealed, associated)
        except InvalidTag as error:
            raise ValueError("the tag of authentication is another") from error

    def derived(self, info: bytes) -> bytes:
        """Return a key of 32 bytes for another purpose."""
        return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(self._secret)
