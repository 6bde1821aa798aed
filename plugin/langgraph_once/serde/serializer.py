"""`OnceSerializer`: objects to tagged bytes and back."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, assert_never

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import ConfigError, EncryptionError, PayloadError, UnknownTagError
from langgraph_once.serde.codecs.langgraph.read.json_rows import decode_json, pickle_refusal
from langgraph_once.serde.codecs.langgraph.read.msgpack_rows import MsgpackDecoder
from langgraph_once.serde.codecs.once1 import (
    Decoder,
    Extension,
    Loader,
    NotPlain,
    QuickEncode,
    Registry,
    bytes_in,
)
from langgraph_once.serde.layers.compression import Compression
from langgraph_once.serde.layers.encryption import BoundTo, KeyRing, UpstreamCipher
from langgraph_once.serde.layers.tag import Layer, Tag, may_be_bound
from langgraph_once.serde.small_rows import SMALL_BYTES, SmallRows
from langgraph_once.serde.trust.allowlist import Allowlist
from langgraph_once.serde.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import SecretStr

__all__ = ["OnceSerializer"]

_NULL: Final = Tag("null"), b""
Decode = Callable[[bytes, str], Any]
"""Reads bytes that were stored under a tag."""


class OnceSerializer(JsonPlusSerializer):
    """Writes the configured codec, compressed and encrypted as configured; reads by the tag.

    Takes the place of `JsonPlusSerializer` wherever one is accepted, and reads what that and
    `EncryptedSerializer` wrote. Thread-safe.
    """

    def __init__(
        self,
        config: SerdeConfig | None = None,
        *,
        adapters: Iterable[Extension] = (),
        upstream_aes_key: SecretStr | None = None,
    ) -> None:
        """Check the configuration.

        Args:
            config: How to write, and what may be read.
            adapters: Your own types for codec "once1", asked before those in `config`.
            upstream_aes_key: The key of upstream's `EncryptedSerializer`, to read its rows.

        Raises:
            ConfigError: A key is malformed, encryption is required and there is no key, two
                adapters claim one name, type or base, or what `config` names cannot be imported.
        """
        super().__init__(allowed_msgpack_modules=None)
        self.config = config = config or SerdeConfig()
        self._given = tuple(adapters), upstream_aes_key
        self._registry = Registry.from_config(config, self._given[0])
        self._keys = KeyRing(config.encryption_keys, requires_bound=config.bind_rows == "required")
        self._requires_encryption = _requires_encryption(config)
        self._upstream_cipher = UpstreamCipher(upstream_aes_key)
        self._compression = Compression(
            level=None if config.compression_level == "auto" else config.compression_level,
            max_decoded_bytes=config.max_decoded_bytes,
            checksum=not self._keys,  # a sealed value vouches for each bit
        )
        # Looked up for each value.
        self._codec = config.codec
        self._tag = Tag.parse(config.codec)
        packs = config.compression == "zstd"
        self._least_packed = config.min_compress_bytes if packs else sys.maxsize
        self._encrypts = bool(self._keys)
        self._binds = self._encrypts and config.bind_rows != "off"
        self._obey(Allowlist.from_config(config))

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
        clone._obey(allowlist)  # noqa: SLF001  # of this class
        return clone

    def with_config(self, config: SerdeConfig) -> OnceSerializer:
        """Return a serializer with other settings, which may load what this one may.

        Raises:
            ConfigError: As on making one.
        """
        adapters, upstream_aes_key = self._given
        other = type(self)(config, adapters=adapters, upstream_aes_key=upstream_aes_key)
        other._obey(self._allowlist)  # noqa: SLF001  # of this class
        return other

    def _obey(self, allowlist: Allowlist) -> None:
        config = self.config
        self._allowlist = allowlist
        once1, msgpack = self._decoders_of(config.max_decoded_objects)
        self._quick: dict[type, QuickEncode] = {}
        checks = {"once1": once1.check, "msgpack": msgpack.check}
        self._writer = Writer(config, allowlist, self._registry.under(allowlist), checks)
        self._msgpack_decoder = msgpack
        self._decoders: dict[str, Decode] = {"once1": once1.decode, "msgpack": msgpack.decode}
        self._small_rows = SmallRows(config, self._decoders_of)
        # Of the codec that writes: looking takes 1.5 ms for each megabyte, which plain data up to
        # this size are spared.
        written = once1 if config.codec == "once1" else msgpack
        self._unchecked_bytes = written.unchecked_bytes
        # Plain data of fewer bytes are stored as the codec wrote them.
        self._bare_below = (
            0 if self._encrypts else min(self._least_packed, self._unchecked_bytes + 1)
        )
        # What is neither compressed nor encrypted goes straight to its codec.
        self._bare_decoders = {} if self._requires_encryption else self._decoders

    def _decoders_of(self, max_objects: int) -> tuple[Decoder, MsgpackDecoder]:
        msgpack = MsgpackDecoder(
            self._allowlist,
            min_open_bytes=self.config.max_decoded_bytes,
            max_objects=max_objects,
            current_name=self._registry.current_name,
            on_unavailable=self.config.on_unavailable,
        )
        once1 = Decoder(
            Loader(self._registry, self._allowlist, msgpack.rebuild),
            max_objects=max_objects,
            on_unavailable=self.config.on_unavailable,
        )
        return once1, msgpack

    def dumps_typed(self, obj: Any, *, bound_to: BoundTo = ()) -> tuple[str, bytes]:
        """Return the tag and the bytes for `obj`.

        Args:
            obj: The value.
            bound_to: What names the place where it is stored, as `("thread", 7)`: what is encrypted
                is then read only with the same words.

        Raises:
            EncodeError: The codec cannot write it.
        """
        # As `encoded`, without a call: the metadata of a checkpoint take half a microsecond.
        if obj is None and self._bare_below:
            return _NULL[0].text, b""
        try:
            found = self._quick[type(obj)](obj)
        except Exception:
            tag, data = self._encoded_with_care(obj)
        else:
            if type(found) is bytes and len(found) < self._bare_below:
                return self._codec, found
            tag, data = self._tag, self._looked_at(obj, found)
        return self.wrapped(tag, data, bound_to)

    def encoded(self, obj: Any) -> tuple[Tag, bytes]:
        """Return what the codec writes for `obj`: neither compressed nor encrypted.

        Raises:
            EncodeError: The codec cannot write it.
        """
        if obj is None:  # as channels are that only say that something happened
            return _NULL
        try:
            found = self._quick[type(obj)](obj)
        except Exception:
            return self._encoded_with_care(obj)
        return self._tag, self._looked_at(obj, found)

    def _looked_at(self, obj: Any, found: bytes | NotPlain) -> bytes:
        """Return what a quick encoder wrote for `obj`, if reading will not refuse it."""
        if type(found) is bytes and len(found) <= self._unchecked_bytes:
            return found
        return self._writer.checked(obj, self._tag, bytes_in(found))

    def _encoded_with_care(self, obj: Any) -> tuple[Tag, bytes]:
        """Do what `encoded` does for any value, or report the exact error."""
        if obj is None:
            return _NULL
        tag, data = self._writer.encode(obj)
        self._quick = self._writer.quick_encoders  # from the first value on there are some
        return tag, self._writer.checked(obj, tag, data)

    def wrapped(
        self, tag: Tag, data: bytes, bound_to: BoundTo = (), *, is_piece: bool = False
    ) -> tuple[str, bytes]:
        """Return what is stored of `encoded`: compressed, encrypted and bound as configured.

        Args:
            tag: Of the codec.
            data: What it wrote.
            bound_to: As on `dumps_typed`.
            is_piece: Whether it is stored once, among many.
        """
        if len(data) >= self._least_packed:
            packed = self._compression.compress(data, is_piece=is_piece)
            if packed is not None and (
                is_piece
                or len(data) <= self._small_rows.free_bytes
                or self._small_rows.may_hold(tag, data, len(packed))
            ):
                tag, data = tag.under("zstd"), packed
        if self._encrypts:
            tag = tag.under("aesgcm")
            data = self._keys.encrypt(data, tag=tag.text, bound_to=bound_to if self._binds else ())
        return tag.text, data

    def moved(
        self, data: tuple[str, bytes], source: BoundTo, target: BoundTo
    ) -> tuple[str, bytes] | None:
        """Return what is stored in one place as another is to have it; None if that is the same.

        Nothing is decoded. What is bound to no place is the same in all.

        Raises:
            EncryptionError: It cannot be opened.
        """
        tag, sealed = data
        if not (may_be_bound(tag) and self._keys.is_bound(sealed)):
            return None
        opened = self._keys.decrypt(sealed, tag=tag, bound_to=source)
        return tag, self._keys.encrypt(opened, tag=tag, bound_to=target)

    def is_sealed_as_now(self, data: tuple[str, bytes]) -> bool:
        """Whether a saver would encrypt under this key, and bind, or not at all, as this is.

        Raises:
            UnknownTagError: The tag is not known.
        """
        tag = Tag.parse(data[0])
        if not self._encrypts:
            return not tag.encrypted
        is_ours = tag.layers[-1:] == ("aesgcm",)
        return is_ours and self._keys.is_newest(data[1], is_bound=self._binds)

    def loads_typed(self, data: tuple[str, bytes], *, bound_to: BoundTo = ()) -> Any:
        """Return the value stored as `(tag, bytes)`.

        Args:
            data: Those.
            bound_to: As on writing. What was bound to nothing is read in any case, unless
                `bind_rows` is "required".

        Raises:
            SerdeError: Its subclasses say what is wrong with the tag, the bytes or the types in
                them.
        """
        text, payload = data
        decode = self._bare_decoders.get(text)
        if decode is not None and type(payload) is bytes:
            return decode(payload, text)
        return self.decoded(*self.unwrapped(data, bound_to))

    def unwrapped(self, data: tuple[str, bytes], bound_to: BoundTo = ()) -> tuple[Tag, bytes]:
        """Return what the codec wrote: neither compressed nor encrypted, and not read yet.

        Raises:
            SerdeError: The tag is not known, or the bytes do not open.
        """
        text, payload = data
        tag = Tag.parse(text)
        if self._requires_encryption and not tag.encrypted:
            raise EncryptionError("the value is not encrypted, and must be", tag=text)
        if not isinstance(payload, bytes):
            payload = _bytes_of(payload, text)
        for layer in reversed(tag.layers):
            payload = self._undo(layer, payload, tag, bound_to)
        if "zstd" in tag.layers:
            self._small_rows.check(tag, payload, len(data[1]))
        return tag, payload

    def check_joined(self, tag: Tag, data: bytes, sizes: Iterable[int]) -> None:
        """Look at a value that stands in pieces; of how many bytes each, is asked if it matters.

        Raises:
            SizeLimitError: It is more than so few bytes may hold.
        """
        if self._small_rows.may_hold(tag, data, 0, joined=True):
            return
        stored = 0
        for size in sizes:
            stored += size
            if stored >= SMALL_BYTES:
                return
        self._small_rows.check(tag, data, stored, joined=True)

    def spare_bytes(self, data: bytes) -> int:
        """Return how many bytes of a value may be others before `check_joined` can refuse it."""
        return self._small_rows.spare_bytes(data)

    @property
    def piece_keys(self) -> list[bytes]:
        """Under which savers name the pieces of values: the first for new ones, any for old ones.

        The last, which is empty, names what is not encrypted.
        """
        return [*self._keys.derived("names of pieces"), b""]

    def _undo(self, layer: Layer, payload: bytes, tag: Tag, bound_to: BoundTo) -> bytes:
        match layer:
            case "zstd":
                return self._compression.decompress(payload, tag=tag.text)
            case "aesgcm":
                return self._keys.decrypt(payload, tag=tag.inner, bound_to=bound_to)
            case "aes":
                return self._upstream_cipher.decrypt(payload, tag=tag.text)
            case _:
                assert_never(layer)

    def decoded(self, tag: Tag, payload: bytes) -> Any:
        """Return the value of `encoded`.

        Raises:
            SerdeError: As `loads_typed`.
        """
        match tag.codec:
            case "once1" | "msgpack":
                return self._decoders[tag.codec](payload, tag.text)
            case "null":
                return None
            case "bytes":
                return payload
            case "bytearray":
                return bytearray(payload)
            case "json":
                return decode_json(payload, self._msgpack_decoder, tag=str(tag))
            case "pickle":
                raise pickle_refusal(str(tag))
            case "channels" | "pieces":
                raise UnknownTagError(
                    "its parts are stored elsewhere; a saver of `langgraph_once.checkpoint` reads "
                    "it, and `langgraph-once migrate` rewrites it for others",
                    tag=tag.text,
                )
            case _:
                assert_never(tag.codec)


def _requires_encryption(config: SerdeConfig) -> bool:
    """Return whether all values must be encrypted.

    Raises:
        ConfigError: They must, and there is no key.
    """
    requires = config.require_encryption or config.bind_rows == "required"
    if requires and not config.encryption_keys:
        setting = "require_encryption" if config.require_encryption else "bind_rows"
        problem = "needs at least one key in `encryption_keys`"
        raise ConfigError(f"SerdeConfig.{setting}", problem)
    return requires


def _bytes_of(payload: Any, tag: str) -> bytes:
    if payload is None and tag == "null":
        return b""
    try:
        return bytes(memoryview(payload))
    except TypeError:
        kind = type(payload).__name__
        raise PayloadError(f"a payload of type {kind} where bytes belong", tag=tag) from None
