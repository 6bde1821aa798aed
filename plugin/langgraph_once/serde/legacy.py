"""What upstream's serializers wrote in other ways: JSON, AES-EAX, pickle. Read only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from langgraph_once.errors import ConfigError, EncryptionError, PayloadError

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import CipherProtocol
    from pydantic import SecretStr

    from langgraph_once.serde.allowlist import Allowlist

__all__ = ["UpstreamCipher", "check_json", "pickle_refusal"]

_KEY_NAME: Final = "LANGGRAPH_AES_KEY"
_NETWORKS: Final = ("IPv4Network", "IPv6Network")


def check_json(data: bytes, *, allowlist: Allowlist, tag: str) -> None:
    """Refuse JSON whose envelopes upstream's reader must not be given.

    Raises:
        TypeNotAllowedError: An envelope names a type that the allowlist refuses.
        PayloadError: The JSON is damaged, or hands a network to a constructor, which may try to
            iterate over its up to 2**128 addresses.
    """
    try:
        pending: list[tuple[Any, bool]] = [(json.loads(data), False)]
    except (ValueError, RecursionError) as error:
        raise PayloadError("damaged JSON", tag=tag) from error
    while pending:
        value, inside = pending.pop()
        if isinstance(value, dict):
            named = "lc" in value and isinstance(value.get("id"), list) and bool(value["id"])
            if named:
                _check_envelope(value, inside, allowlist, tag)
            pending += ((item, inside or named) for item in value.values())
        elif isinstance(value, list):
            pending += ((item, inside) for item in value)


def _check_envelope(value: dict[str, Any], inside: bool, allowlist: Allowlist, tag: str) -> None:
    *module, name = (str(part) for part in value["id"])
    if value["lc"] == 2:
        allowlist.check(".".join(module), name, tag=tag)
    if inside and name in _NETWORKS:
        raise PayloadError(f"{name} as an argument of a JSON constructor", tag=tag)


def pickle_refusal(tag: str) -> PayloadError:
    """Return the error that says why, and what to do instead."""
    return PayloadError(
        "pickle is refused: loading it can run any code that whoever wrote to the database "
        "wishes. If you trust every row, read them once with "
        "`JsonPlusSerializer(pickle_fallback=True)` and write them back with `OnceSerializer`",
        tag=tag,
    )


class UpstreamCipher:
    """Reads rows of upstream's `EncryptedSerializer` (`<codec>+aes`). Thread-safe."""

    def __init__(self, key: SecretStr | None) -> None:
        if key is not None and len(key.get_secret_value().encode()) not in (16, 24, 32):
            raise ConfigError(_KEY_NAME, "an AES key has 16, 24 or 32 bytes")
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
