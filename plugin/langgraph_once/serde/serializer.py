"""`OnceSerializer`: objects to tagged bytes and back."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, assert_never

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import (
    ConfigError,
    EncodeError,
    EncryptionError,
    PayloadError,
    SerdeError,
)
from langgraph_once.serde.allowlist import Allowlist
from langgraph_once.serde.compression import Compression
from langgraph_once.serde.decode import decode_msgpack
from langgraph_once.serde.encryption import KeyRing
from langgraph_once.serde.legacy import UpstreamCipher, check_json, pickle_refusal
from langgraph_once.serde.tag import Layer, Tag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import SecretStr

__all__ = ["OnceSerializer"]


class OnceSerializer(JsonPlusSerializer):
    """Writes upstream's msgpack, compressed and encrypted as configured; reads by the tag.

    Takes the place of `JsonPlusSerializer` wherever one is accepted, and reads what that and
    `EncryptedSerializer` wrote. Thread-safe.
    """

    def __init__(
        self, config: SerdeConfig | None = None, *, upstream_aes_key: SecretStr | None = None
    ) -> None:
        """Check the configuration.

        Args:
            config: How to write, and what may be read.
            upstream_aes_key: The key of upstream's `EncryptedSerializer`, to read its rows.

        Raises:
            ConfigError: A key is malformed, or encryption is required and there is no key.
        """
        # Upstream's JSON reader may load any type: `check_json` decides before it sees a byte.
        super().__init__(allowed_json_modules=True, allowed_msgpack_modules=None)
        self.config = config or SerdeConfig()
        self._allowlist = Allowlist.from_config(self.config)
        self._keys = KeyRing(self.config.encryption_keys)
        self._upstream_cipher = UpstreamCipher(upstream_aes_key)
        self._compression = Compression(
            level=self.config.compression_level,
            min_bytes=self.config.min_compress_bytes,
            max_decoded_bytes=self.config.max_decoded_bytes,
        )
        if self.config.require_encryption and not self._keys:
            raise ConfigError(
                "SerdeConfig.require_encryption", "needs at least one key in `encryption_keys`"
            )

    def __repr__(self) -> str:
        config = self.config
        return (
            f"{type(self).__name__}(compression={config.compression!r}, keys={self._keys!r}, "
            f"enforcement={config.enforcement!r})"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> OnceSerializer:
        # Nothing in here changes what is written or read, and ciphers cannot be copied.
        return self

    def with_msgpack_allowlist(
        self, extra_allowlist: Iterable[tuple[str, ...] | type]
    ) -> OnceSerializer:
        """Return a serializer that may load these types as well; itself if it already may."""
        allowlist = self._allowlist.extended(extra_allowlist)
        if allowlist is self._allowlist:
            return self
        clone = copy.copy(self)
        clone._allowlist = allowlist  # noqa: SLF001
        return clone

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return the tag and the bytes for `obj`.

        Raises:
            EncodeError: The codec cannot write it.
        """
        tag, data = self._encode(obj)
        packed = self._compression.compress(data) if self.config.compression == "zstd" else None
        if packed is not None:
            tag, data = tag.under("zstd"), packed
        if self._keys:
            tag = tag.under("aesgcm")
            data = self._keys.encrypt(data, tag=str(tag))
        return str(tag), data

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return the value stored as `(tag, bytes)`.

        Raises:
            SerdeError: Its subclasses say what is wrong with the tag, the bytes or the types in
                them.
        """
        text, payload = data
        tag = Tag.parse(text)
        if self.config.require_encryption and not tag.encrypted:
            raise EncryptionError("the value is not encrypted, and must be", tag=text)
        payload = payload if isinstance(payload, bytes) else bytes(memoryview(payload))
        for layer in reversed(tag.layers):
            payload = self._undo(layer, payload, tag=text)
        return self._decode(tag, payload)

    def _encode(self, obj: Any) -> tuple[Tag, bytes]:
        try:
            codec, data = super().dumps_typed(obj)
        except Exception as error:
            # ormsgpack names the type that stopped it; other messages may quote the value.
            reason = error if type(error) is TypeError else type(error).__name__
            raise EncodeError(f"{_name(obj)} cannot be written: {reason}") from error
        # Upstream hands out the caller's own bytearray, which may change before it is stored.
        return Tag.parse(codec), bytes(data)

    def _undo(self, layer: Layer, payload: bytes, *, tag: str) -> bytes:
        match layer:
            case "zstd":
                return self._compression.decompress(payload, tag=tag)
            case "aesgcm":
                return self._keys.decrypt(payload, tag=tag)
            case "aes":
                return self._upstream_cipher.decrypt(payload, tag=tag)
            case _:
                assert_never(layer)

    def _decode(self, tag: Tag, payload: bytes) -> Any:
        match tag.codec:
            case "null":
                return None
            case "bytes":
                return payload
            case "bytearray":
                return bytearray(payload)
            case "msgpack":
                return decode_msgpack(
                    payload,
                    allowlist=self._allowlist,
                    min_open_bytes=self.config.max_decoded_bytes,
                    tag=str(tag),
                )
            case "json":
                check_json(payload, allowlist=self._allowlist, tag=str(tag))
                return self._decode_json(payload, tag=str(tag))
            case "pickle":
                raise pickle_refusal(str(tag))
            case _:
                assert_never(tag.codec)

    def _decode_json(self, payload: bytes, *, tag: str) -> Any:
        try:
            return super().loads_typed(("json", payload))
        except SerdeError:
            raise
        except Exception as error:
            raise PayloadError(
                f"the JSON could not be rebuilt ({type(error).__name__})", tag=tag
            ) from error


def _name(obj: object) -> str:
    return f"{type(obj).__module__}:{type(obj).__qualname__}"
