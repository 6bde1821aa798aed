"""`OnceSerializer`: objects to tagged bytes and back.

A value goes through the codec, then zstd, then AES-GCM. The tag beside the bytes says which.
Reading obeys the tag, and reads what LangGraph's serializers wrote.
"""

from __future__ import annotations

import copy
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, assert_never

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from ormsgpack import packb, unpackb

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import (
    ConfigError,
    EncodeError,
    EncryptionError,
    PayloadError,
    SerdeError,
    UnknownTagError,
)
from langgraph_once.serde.compression import Compression
from langgraph_once.serde.encryption import BoundTo, KeyRing, UpstreamCipher
from langgraph_once.serde.format import OPTIONS, Tag, may_be_bound
from langgraph_once.serde.graph import write_graph
from langgraph_once.serde.limits import (
    MAX_UNITS,
    SMALL_BYTES,
    check_weight,
    most_to_add,
    unchecked_bytes,
)
from langgraph_once.serde.opaque import TooDeepError, UnwritableError
from langgraph_once.serde.plans.records import take
from langgraph_once.serde.reader import Reader, quick_hook
from langgraph_once.serde.registry import Plans
from langgraph_once.serde.stock import read_json, read_stock
from langgraph_once.serde.stock_writes import encode_stock
from langgraph_once.serde.trust import Trust
from langgraph_once.serde.writer import write, write_around

if TYPE_CHECKING:
    from pydantic import SecretStr

_NULL: Final = Tag("null")
_STOCK: Final = Tag("msgpack")
_BINARY: Final[dict[Any, Tag]] = {bytes: Tag("bytes"), bytearray: Tag("bytearray")}
_PLAIN: Final[frozenset[type]] = frozenset({dict, str, int, float, bool})
"""What is tried as native first: metadata, counters, a text."""
_LEAVES: Final = frozenset({*range(0xA0, 0xC7), *range(0xCA, 0xD4), *range(0xD9, 0xDC)})
"""The first bytes of texts, numbers and the like."""
_MIN_PACKED_BYTES: Final = 256
"""Smaller values are not compressed: they would gain less than 100 bytes."""
_QUICK_BYTES: Final = 2048
"""Longer values are asked for extensions at once: to find one late costs what was read before."""


class OnceSerializer(JsonPlusSerializer):
    """Writes values compressed and encrypted as configured; reads by the tag.

    Takes the place of `JsonPlusSerializer` wherever one is accepted, and reads what that and
    `EncryptedSerializer` wrote. Thread-safe.
    """

    def __init__(
        self,
        config: SerdeConfig | None = None,
        *,
        adapters: Iterable[Any] = (),
        upstream_aes_key: SecretStr | None = None,
    ) -> None:
        """Check the configuration.

        Args:
            config: How to write, and what may be read.
            adapters: Your own types for codec "once2", asked before those in `config`: each an
                `Adapter` or a `SubclassAdapter`.
            upstream_aes_key: The key of LangGraph's `EncryptedSerializer`, to read its rows.

        Raises:
            ConfigError: A key is malformed, missing or of no use as the rest is configured, two
                adapters claim one name, type or base, or what `config` names cannot be imported.
        """
        super().__init__(allowed_msgpack_modules=None)
        self.config = config = config or SerdeConfig()
        self._given = tuple(adapters), upstream_aes_key
        self._keys = KeyRing(config.encryption_keys, requires_bound=config.encryption == "bound")
        if not (config.allows_plain or self._keys):
            problem = "needs at least one key in `encryption_keys`"
            raise ConfigError("SerdeConfig.encryption", problem)
        if config.compatible and self._keys:
            raise ConfigError(
                "SerdeConfig.compatible",
                "has no effect with encryption keys: LangGraph's savers read no encrypted rows; "
                "set it to false, and set keys only when no replica runs a saver of LangGraph",
            )
        self._upstream_cipher = UpstreamCipher(upstream_aes_key)
        self._compression = Compression(
            max_decoded_bytes=config.max_decoded_bytes,
            checksum=not self._keys,  # a sealed value vouches for each bit
        )
        # Looked up for each value.
        self._tag = _STOCK if config.compatible else Tag("once2")
        self._encrypts = bool(self._keys)
        packs = config.compression == "zstd" and not config.compatible
        self._least_packed = _MIN_PACKED_BYTES if packs else sys.maxsize
        # Who lowers the limit of bytes refuses no value that was written before.
        self._max_units = max(MAX_UNITS, config.max_decoded_bytes)
        self._unchecked_bytes = unchecked_bytes(self._max_units)
        self._bare_below = 0 if self._encrypts else self._least_packed
        """Values of fewer bytes are stored as the codec wrote them."""
        self._keeps = config.on_unavailable == "opaque"
        self._quick = frozenset() if config.compatible else _PLAIN
        self._plain_tags = ("once2", "msgpack") if config.allows_plain else ()
        trust = Trust(
            config.enforcement, config.allowed_types, source=config.source, aliases=config.aliases
        )
        self._obey(Plans(trust, config, self._given[0]))

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
        trust = self._plans.trust.extended(extra_allowlist)
        if trust is self._plans.trust:
            return self
        clone = copy.copy(self)
        clone._obey(self._plans.under(trust))  # noqa: SLF001  # of this class
        return clone

    def with_config(self, config: SerdeConfig) -> OnceSerializer:
        """Return a serializer with other settings, which may load what this one may.

        Raises:
            ConfigError: As on making one.
        """
        adapters, upstream_aes_key = self._given
        other = type(self)(config, adapters=adapters, upstream_aes_key=upstream_aes_key)
        listed = (tuple(name.split(":", 1)) for name in self._plans.trust.listed)
        trust = other._plans.trust.extended(listed)  # noqa: SLF001  # of this class
        other._obey(other._plans.under(trust))  # noqa: SLF001  # of this class
        return other

    def _obey(self, plans: Plans) -> None:
        self._plans = plans
        self._sealed_plans = plans.under(plans.trust.sealed())
        self._hook = quick_hook(plans)

    @property
    def plans(self) -> Plans:
        """How objects are written, and what may be loaded."""
        return self._plans

    def dumps_typed(self, obj: Any, *, bound_to: BoundTo = ()) -> tuple[str, bytes]:
        """Return the tag and the bytes for `obj`.

        Args:
            obj: The value.
            bound_to: What names the place where it is stored, as `("thread", 7)`: what is encrypted
                is then read only with the same words.

        Raises:
            EncodeError: Neither this codec nor LangGraph's can write it, or it may not be written.
        """
        data, kind = None, type(obj)
        if kind in self._quick:  # each call and each list is a tenth of what metadata take
            met: list[Any] | None = [] if kind is dict else None
            try:
                data = packb(obj, None if met is None else met.append, OPTIONS)
            except TypeError:
                pass
            else:
                if met:
                    data = write_around(obj, met, self._plans)
                elif len(data) < self._bare_below:
                    return "once2", data
        tag = self._tag
        if data is None or len(data) > self._unchecked_bytes:
            tag, data = self.encoded(obj)
        if len(data) < self._bare_below:
            return tag.text, data
        return self.wrapped(tag, data, bound_to)

    def encoded(self, obj: Any) -> tuple[Tag, bytes]:
        """Return what the codec writes for `obj`: neither compressed nor encrypted.

        Raises:
            EncodeError: A part of the value cannot be written, by LangGraph either.
        """
        kind = type(obj)
        if obj is None:  # as channels are that only say that something happened
            return _NULL, b""
        if kind in _BINARY:  # what LangGraph writes for them is exact
            return _BINARY[kind], bytes(obj)  # a copy: the bytearray may change
        if kind in self._quick and (native := self._native(obj)) is not None:
            return self._tag, native
        try:
            data = self._written(obj)
            if len(data) > self._unchecked_bytes:
                check_weight(data, len(data), self._max_units, self._tag.text)
        except EncodeError as error:
            error.path = path_of(vars(error).get("value"), obj)
            raise
        except SerdeError as error:
            raise EncodeError(
                f"{_name(obj)} is not written, since reading would refuse it: {error}"
            ) from error
        except Exception as error:
            return self._as_langgraph(obj, error)
        return self._tag, data

    def _native(self, obj: Any) -> bytes | None:
        """Return what is written of a value that holds no object, as of a checkpoint's head."""
        try:
            data = packb(obj, None, OPTIONS)
        except TypeError:
            return None
        return data if len(data) <= self._unchecked_bytes else None

    def _written(self, obj: Any) -> bytes:
        if self.config.compatible:
            return encode_stock(obj)
        try:
            return write(obj, self._plans)
        except (TooDeepError, RecursionError):
            return write_graph(obj, self._plans)

    def _as_langgraph(self, obj: Any, error: Exception) -> tuple[Tag, bytes]:
        """Return what LangGraph writes for a value that this codec cannot write: the last resort.

        Raises:
            EncodeError: LangGraph cannot write it, either.
        """
        try:
            stored = _stored_by_langgraph(obj)
        except Exception:
            raise _refusal(obj, error) from error
        name, text = _name(obj), "Stored %s as LangGraph does, as a whole: %s"
        self._plans.trust.warn(name, text, name, error)
        return stored

    def wrapped(
        self,
        tag: Tag,
        data: bytes,
        bound_to: BoundTo = (),
        *,
        is_piece: bool = False,
        packs: bool = True,
    ) -> tuple[str, bytes]:
        """Return what is stored of `encoded`: compressed, encrypted and bound as configured.

        Args:
            tag: The tag of the codec.
            data: What the codec wrote.
            bound_to: As on `dumps_typed`.
            is_piece: Whether it is stored once, among many.
            packs: Whether it may be compressed.
        """
        if packs and self._least_packed <= len(data) <= self.config.max_decoded_bytes:
            packed = self._compression.compress(data, is_piece=is_piece)
            if packed is not None and (is_piece or self._may_hold(tag, data, len(packed))):
                tag, data = tag.under("zstd"), packed
        if self._encrypts:
            tag = tag.under("aesgcm")
            data = self._keys.encrypt(data, tag=tag.text, bound_to=bound_to)
        return tag.text, data

    def _may_hold(self, tag: Tag, data: bytes, stored_bytes: int) -> bool:
        """Whether reading lets so few bytes become so much. What it would refuse stays as it is."""
        try:
            check_weight(data, stored_bytes, self._max_units, tag.codec)
        except SerdeError:
            return False
        return True

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
        return is_ours and self._keys.is_newest(data[1])

    def loads_typed(self, data: tuple[str, bytes], *, bound_to: BoundTo = ()) -> Any:
        """Return the value stored as `(tag, bytes)`.

        Args:
            data: Those.
            bound_to: As on writing. What was bound to nothing is read in any case, unless
                `encryption` is "bound".

        Raises:
            SerdeError: Its subclasses say what is wrong with the tag, the bytes or the types in
                them.
        """
        text, payload = data
        if text in self._plain_tags and type(payload) is bytes:
            return self._read(text, payload, self._plans, text)
        return self.decoded(*self.unwrapped(data, bound_to))

    def unwrapped(self, data: tuple[str, bytes], bound_to: BoundTo = ()) -> tuple[Tag, bytes]:
        """Return what the codec wrote: neither compressed nor encrypted, and not read yet.

        Raises:
            SerdeError: The tag is not known, or the bytes do not open.
        """
        text, payload = data
        tag = Tag.parse(text)
        if not (self.config.allows_plain or tag.encrypted):
            raise EncryptionError("the value is not encrypted, and must be", tag=text)
        if not isinstance(payload, bytes):
            payload = _bytes_of(payload, text)
        stored_bytes = len(payload)
        for layer in reversed(tag.layers):
            if layer == "zstd":
                payload = self._compression.decompress(payload, tag=text)
            elif layer == "aesgcm":
                payload = self._keys.decrypt(payload, tag=tag.inner, bound_to=bound_to)
            else:
                payload = self._upstream_cipher.decrypt(payload, tag=text)
        if "zstd" in tag.layers:
            check_weight(payload, stored_bytes, self._max_units, text)
        return tag, payload

    def unwrapped_bytes(self, data: tuple[str, bytes], bound_to: BoundTo = ()) -> bytes:
        """Return the bytes of `unwrapped`, sooner where they are bytes: of those there are many.

        Raises:
            SerdeError: The tag is not known, or the bytes do not open.
        """
        text, payload = data
        if self.config.allows_plain and type(payload) is bytes:
            if text == "bytes.zstd":
                return self._compression.decompress(payload, tag=text)
            if text == "bytes":
                return payload
        return self.unwrapped(data, bound_to)[1]

    def check_joined(self, tag: Tag, data: bytes, sizes: Iterable[int]) -> None:
        """Look at a value that stands in pieces; of how many bytes each, is asked if it matters.

        Raises:
            SizeLimitError: It is more than so few bytes may hold.
        """
        if len(data) <= self._compression.most_from(0) and self._may_hold(tag, data, 0):
            return
        stored = _at_least(sizes)
        self._compression.check_expanded(len(data), stored, tag.text)
        check_weight(data, stored, self._max_units, tag.text)

    def most_to_add(self, tag: Tag, data: bytes) -> int:
        """Return how much bytes may weigh that change in a value or come to it.

        `most_added` tells what bytes weigh. Up to that weight `check_joined` lets the value pass.
        """
        # No byte weighs less than one: so its length is bounded, too.
        room = self._compression.most_from(0) - len(data)
        return max(0, min(room, most_to_add(data, self._max_units, tag.codec)))

    def check_expanded(
        self, tag: Tag, size: int, sizes: Iterable[int], *, at_most: int = 0
    ) -> None:
        """Look at how long a value in pieces will be, before they are joined.

        Args:
            tag: Of the value.
            size: How many bytes it will have.
            sizes: How many each piece has as it is stored.
            at_most: How many bytes large pieces may become, if more than `max_decoded_bytes`.

        Raises:
            SizeLimitError: It is more than so few bytes may become.
        """
        if size > self._compression.most_from(0):
            self._compression.check_expanded(size, _at_least(sizes), tag.text, at_most)

    @property
    def piece_keys(self) -> list[bytes]:
        """Under which savers name the pieces of values: the first for new ones, any for old ones.

        The last, which is empty, names what is not encrypted.
        """
        return [*self._keys.derived("names of pieces"), b""]

    def _read(self, codec: str, payload: bytes, plans: Plans, tag: str) -> Any:
        """Return the value of a row of msgpack: ours, or LangGraph's."""
        if len(payload) < _QUICK_BYTES or payload[0] in _LEAVES:
            hook = self._hook if codec == "once2" and plans is self._plans else None
            try:
                return unpackb(payload, ext_hook=hook)
            except ValueError:
                pass
        if codec == "msgpack":
            return read_stock(payload, plans, tag, keeps=self._keeps)
        return Reader(plans, len(payload), tag=tag, keeps=self._keeps).read(payload)

    def decoded(self, tag: Tag, payload: bytes) -> Any:
        """Return the value of `encoded`.

        Raises:
            SerdeError: It is damaged, takes too much, or names what may not be loaded.
        """
        plans = self._sealed_plans if "aesgcm" in tag.layers else self._plans
        match tag.codec:
            case "once2" | "msgpack":
                return self._read(tag.codec, payload, plans, tag.text)
            case "json":
                return read_json(payload, plans, tag.text, keeps=self._keeps)
            case "null":
                return None
            case "bytes":
                return payload
            case "bytearray":
                return bytearray(payload)
            case "pickle":
                raise PayloadError(
                    "pickle is refused, since it runs any code; if you trust the row, read it with "
                    "LangGraph's own saver, and store it again",
                    tag=tag.text,
                )
            case "channels" | "pieces":
                raise UnknownTagError(
                    "its parts are stored elsewhere; a saver of `langgraph_once.checkpoint` reads "
                    "it, and `langgraph-once migrate` rewrites it for others",
                    tag=tag.text,
                )
            case _:
                assert_never(tag.codec)


def _stored_by_langgraph(obj: Any) -> tuple[Tag, bytes]:
    """Return what LangGraph stores of a value: of any kind of bytes, their content."""
    for base, tag in _BINARY.items():
        if isinstance(obj, base):
            # `bytes(obj)`, and a buffer since Python 3.12, may be code of the class.
            return tag, bytes(base.__getitem__(obj, slice(None)))
    return _STOCK, encode_stock(obj)


def _refusal(obj: Any, error: Exception) -> EncodeError:
    """Return the error that says what cannot be written, and where in the value it stands."""
    # These say nothing of the value. Messages of other errors may quote it.
    is_told = isinstance(error, (UnwritableError, TypeError))
    part = getattr(error, "value", None)
    whose = _name(obj if part is None else part)
    reason = str(error) if is_told else type(error).__name__
    return EncodeError(f"{whose} cannot be written: {reason}", path=path_of(part, obj))


def _at_least(sizes: Iterable[int]) -> int:
    """Return the sum of sizes; of a large row the part of it that shows that the row is large."""
    stored = 0
    for size in sizes:
        stored += size
        if stored >= SMALL_BYTES:
            break
    return stored


def _name(obj: object) -> str:
    return f"{type(obj).__module__}:{type(obj).__qualname__}"


def _bytes_of(payload: Any, tag: str) -> bytes:
    if payload is None and tag == "null":
        return b""
    try:
        return bytes(memoryview(payload))
    except TypeError:
        kind = type(payload).__name__
        raise PayloadError(f"a payload of type {kind} where bytes belong", tag=tag) from None


# Where in a value something is, for errors, as in `[key 0][3].owner`. Keys of dictionaries belong
# to the value, as phone numbers may: the path counts them instead.

_MAX_OBJECTS: Final = 100_000
"""Bounds the time that an error takes."""
# A key may be a text of any length, and a path is part of a line, as is one of many steps.
_MAX_KEY_CHARS: Final = 40
_MAX_STEPS: Final = 24


def path_of(wanted: Any, value: Any) -> str | None:
    """Return the shortest path to an object in a value; empty for the value, None if not found."""
    if wanted is None:
        return None
    if wanted is value:
        return ""
    todo: deque[tuple[tuple[str, ...], Any]] = deque([((), value)])
    seen = {id(value)}
    while todo and len(seen) < _MAX_OBJECTS:
        steps, holder = todo.popleft()
        for step, part in _parts(holder):
            if part is wanted:
                return joined_path((*steps, step))
            if id(part) not in seen:
                seen.add(id(part))
                todo.append(((*steps, step), part))
    return None


def joined_path(steps: Sequence[str]) -> str:
    """Return a path of these steps, without those in its middle if they are many."""
    if len(steps) > _MAX_STEPS:
        half = _MAX_STEPS // 2
        steps = [*steps[:half], "...", *steps[-half:]]
    return "".join(steps)


def step_to(key: Any) -> str:
    """Return the step to an item: its key is cut short, and only shown if it is a simple one."""
    if not isinstance(key, (str, int, float, bool)):
        return "[...]"
    shown = repr(key)
    if isinstance(key, str):
        shown = '"' + ascii(key)[1:-1].replace('"', '\\"') + '"'
    return f"[{shown}]" if len(shown) <= _MAX_KEY_CHARS else f"[{shown[:_MAX_KEY_CHARS]}...]"


def _parts(holder: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object holds, and the step to it."""
    if isinstance(holder, dict):
        for at, key in enumerate(dict.__iter__(holder)):
            yield f"{{key {at}}}", key
            yield f"[key {at}]", dict.__getitem__(holder, key)
    elif isinstance(holder, (list, tuple)):
        yield from ((f"[{at}]", item) for at, item in enumerate(holder))
    elif isinstance(holder, (set, frozenset)):
        yield from (("{...}", item) for item in holder)
    elif hasattr(type(holder), "__dictoffset__") and not isinstance(holder, (type, str, int)):
        try:
            attributes = take(holder)
        except Exception:  # of a class that hides its attributes
            return
        for at, (name, item) in enumerate(attributes.items()):
            yield f".{name}" if name.isidentifier() else f"[key {at}]", item
