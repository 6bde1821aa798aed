"""The `aes` layer: rows that LangGraph's `EncryptedSerializer` encrypted (AES-EAX). Read only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from langgraph_once.errors import ConfigError, EncryptionError

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import CipherProtocol
    from pydantic import SecretStr

__all__ = ["UpstreamCipher"]

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
                "reading upstream's encrypted rows takes pycryptodome: "
                'pip install "langgraph-once[aes]"',
                tag=tag,
            ) from error


def _fits(key: str) -> bool:
    try:
        return len(key.encode()) in (16, 24, 32)
    except UnicodeEncodeError:  # which holds the key
        return False
