"""The `zstd` layer: smaller bytes, and a bound on what they may grow back to.

Small values have little in themselves to refer back to. They are compressed with a dictionary
that comes with this package, trained on checkpoints of made-up chat agents. Each frame says in
its header which dictionary it needs, so a dictionary is never changed and never removed.

Two packages do it, and neither is enough. Python's own (`backports.zstd` before 3.14) takes longer
for small values: it makes a new context for each one that it decompresses, and twice the time to
compress one after something else ran. `zstandard`, which LangSmith brings along, takes more memory
for large ones, and has no switch for literals: twice the size, or twice the time.
"""

from __future__ import annotations

import importlib.resources
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import Final

import zstandard

from langgraph_once.errors import PayloadError, SizeLimitError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_DICTIONARIES: Final = (1_654_942_875,)
"""The ids of all dictionaries ever written with; the last one writes."""

_SMALL_BYTES: Final = 1024 * 1024
_MOST_OF_SMALL: Final = 120 * 1024 * 1024
"""What a row below a megabyte may become, or a quarter of the limit: reading makes copies."""

_MAX_DICTIONARY_BYTES: Final = 4 * 1024
"""Larger values gain a twentieth, and it takes longer: they repeat themselves."""
_MAX_SHORT_BYTES: Final = 32 * 1024
_SHORT_OPTIONS: Final = {"window_log": 15, "hash_log": 13, "min_match": 6}
"""A table of 32 KB, where level 1 has one of 128: between two super-steps it leaves the cache, and
to fetch it takes as long as to compress 10 KB. The results have the same size, by 1 %."""

_DESCRIPTOR: Final = 4
"""Where a frame says what it has, after the magic number (RFC 8878)."""
_CHECKSUM_FLAG: Final = 4

_LEVEL: Final = 1
"""Half the time of level 3, a twentieth to a tenth larger. Above 256 KB `_HUGE_OPTIONS` hold."""

LONG_PIECE_BYTES: Final = 8 * 1024
_SAMPLE_BYTES: Final = 512
_HARDLY_SMALLER: Final = 0.72
"""Base64 of bytes that do not compress is above, prose, numbers and hexadecimal ids are below."""

_MAX_PLAIN_BYTES: Final = 256 * 1024
_LITERALS: Final = 1002
"""`ZSTD_c_literalCompressionMode`, which zstd calls experimental; Python has no name for it."""
_HUGE_OPTIONS: Final[dict[int, int]] = {
    # 16 KB, which fits into the first cache.
    zstd.CompressionParameter.hash_log: 12,
    # Look for repetitions at every 17th byte where there are none: a third sooner, two fifths
    # larger. Negative levels do that too, but leave literals as they are, and are larger still.
    zstd.CompressionParameter.target_length: 16,
    _LITERALS: 1,
}
"""For those that make everybody wait: a thread of 500 messages, whole, with each step."""


class Compression:
    """Compresses where it pays; decompresses up to a bound. Thread-safe."""

    def __init__(
        self,
        *,
        max_decoded_bytes: int,
        checksum: bool = True,
    ) -> None:
        """Set the bounds.

        Args:
            max_decoded_bytes: No value is decompressed to more than this.
            checksum: Add four bytes, so that a flipped bit is an error and not another value.
                What is encrypted as well needs none.
        """
        self._checksum = checksum
        self._max_decoded_bytes = max_decoded_bytes
        self._most_of_small = min(max_decoded_bytes, max(max_decoded_bytes // 4, _MOST_OF_SMALL))
        # A compressor per thread: making one costs more than compressing a small message.
        self._local = threading.local()

    def compress(self, data: bytes, *, is_piece: bool = False) -> bytes | None:
        """Return the compressed bytes, or None where they would not be smaller.

        A blob that reading would refuse for its size is left as it is, too.

        Args:
            data: The bytes.
            is_piece: It is stored once, among many: one of more than `LONG_PIECE_BYTES` is
                compressed as values above 256 KB are, and stays as it is if a sample gets hardly
                smaller, as that of an image in base64 does.
        """
        if len(data) > self._max_decoded_bytes:
            return None
        if is_piece and len(data) > LONG_PIECE_BYTES:
            middle = len(data) // 2
            sample = self._compressor("plain")(data[middle : middle + _SAMPLE_BYTES])
            if len(sample) > _SAMPLE_BYTES * _HARDLY_SMALLER:
                return None
            packed = self._compressor("huge")(data)
        elif len(data) <= _MAX_DICTIONARY_BYTES:
            packed = self._compressor("with_dictionary")(data)
        elif len(data) <= _MAX_SHORT_BYTES:
            packed = self._compressor("short")(data)
        else:
            packed = self._compressor("plain" if len(data) <= _MAX_PLAIN_BYTES else "huge")(data)
        return packed if len(packed) < len(data) <= self.most_from(len(packed)) else None

    def check_expanded(self, size: int, stored_bytes: int, tag: str, at_most: int = 0) -> None:
        """Check that a value may be so much longer than what is stored of it.

        Args:
            size: How many bytes the value has.
            stored_bytes: How many are stored.
            tag: Of the value.
            at_most: How many a large one may have, if more than `max_decoded_bytes`.

        Raises:
            SizeLimitError: It may not.
        """
        limit = self.most_from(stored_bytes)
        if stored_bytes >= _SMALL_BYTES:
            limit = max(limit, at_most)
        if size > limit:
            raise _too_large(limit, self._max_decoded_bytes, tag)

    def most_from(self, packed_bytes: int) -> int:
        """Return how much may come out of so many bytes."""
        return self._most_of_small if packed_bytes < _SMALL_BYTES else self._max_decoded_bytes

    def decompress(self, data: bytes, *, tag: str) -> bytes:
        """Undo `compress`.

        Raises:
            SizeLimitError: The result would be larger than `max_decoded_bytes`.
            PayloadError: Damaged or truncated bytes, bytes after the end, or a dictionary that
                this version does not have.
        """
        limit = self.most_from(len(data))
        # Most frames say their size, and all of ours are read with the dictionary at hand: those
        # that need none do not refer to it. What this does not read is looked at below.
        try:
            if 0 <= zstandard.frame_content_size(data) <= limit:
                return self._decompressor().decompress(data, allow_extra_data=False)
        except zstandard.ZstdError:  # `suppress` takes as long as a piece
            pass
        return self._decompressed_with_care(data, limit, tag)

    def _decompressed_with_care(self, data: bytes, limit: int, tag: str) -> bytes:
        """Do what `decompress` does for any frame, or say what is wrong with it."""
        try:
            frame = zstandard.get_frame_parameters(data)
            size = frame.content_size
            if size != zstandard.CONTENTSIZE_UNKNOWN and size > limit:
                raise _too_large(limit, self._max_decoded_bytes, tag)
            if frame.dict_id not in (0, *_DICTIONARIES):
                raise PayloadError(
                    f"the value needs the zstd dictionary {frame.dict_id}; a newer "
                    "version of langgraph-once may have it",
                    tag=tag,
                )
            known = _content(frame.dict_id)
            stream = zstd.ZstdDecompressor(zstd.ZstdDict(known) if known else None)
            # The header may lie or stay silent, so the output is bounded as well.
            plain = stream.decompress(data, limit + 1)
        except (zstd.ZstdError, zstandard.ZstdError) as error:
            raise PayloadError("damaged zstd data", tag=tag) from error
        if len(plain) > limit:
            raise _too_large(limit, self._max_decoded_bytes, tag)
        if not stream.eof:
            raise PayloadError("truncated zstd data", tag=tag)
        if stream.unused_data:
            raise PayloadError("bytes after the end of the zstd data", tag=tag)
        return plain

    def _decompressor(self) -> zstandard.ZstdDecompressor:
        """Return this thread's decompressor: one that is used again takes a third of the time."""
        try:
            found: zstandard.ZstdDecompressor = self._local.decompressor
        except AttributeError:
            known = zstandard.ZstdCompressionDict(_content(_DICTIONARIES[-1]))
            found = self._local.decompressor = zstandard.ZstdDecompressor(dict_data=known)
        return found

    def _compressor(self, name: str) -> Callable[[bytes], bytes]:
        """Return what compresses in this thread."""
        found: Callable[[bytes], bytes] | None = getattr(self._local, name, None)
        if found is None:
            found = self._new_compressor(name)
            setattr(self._local, name, found)
        return found

    def _new_compressor(self, name: str) -> Callable[[bytes], bytes]:
        if name == "huge":
            options: dict[int, int] = {
                zstd.CompressionParameter.compression_level: _LEVEL,
                **_HUGE_OPTIONS,
                zstd.CompressionParameter.checksum_flag: int(self._checksum),
            }
            # A zstd that takes no experimental options compresses as for smaller values.
            with suppress(ValueError, zstd.ZstdError):
                huge = zstd.ZstdCompressor(options=options)
                return partial(huge.compress, mode=zstd.ZstdCompressor.FLUSH_FRAME)
        if name == "short":
            short = zstandard.ZstdCompressionParameters.from_level(
                _LEVEL, write_checksum=self._checksum, **_SHORT_OPTIONS
            )
            return zstandard.ZstdCompressor(compression_params=short).compress
        known = _digested() if name == "with_dictionary" else None
        return zstandard.ZstdCompressor(
            _LEVEL, dict_data=known, write_checksum=self._checksum
        ).compress


def _too_large(limit: int, setting: int, tag: str) -> SizeLimitError:
    share = "" if limit == setting else f", as a row below {_SMALL_BYTES} bytes, {limit} of"
    return SizeLimitError(
        f"the value expands to more than{share} `max_decoded_bytes` ({setting})",
        limit_bytes=limit,
        tag=tag,
    )


def has_checksum(frame: bytes) -> bool:
    """Whether reading a frame of zstd finds out that a bit of it was flipped."""
    return len(frame) > _DESCRIPTOR and bool(frame[_DESCRIPTOR] & _CHECKSUM_FLAG)


@cache
def _content(dictionary_id: int) -> bytes:
    """Return a dictionary of this package; nothing for 0, which says that there is none."""
    if dictionary_id == 0:
        return b""
    folder = importlib.resources.files(__package__) / "dictionaries"
    return (folder / f"{dictionary_id}.zstd-dictionary").read_bytes()


@cache
def _digested() -> zstandard.ZstdCompressionDict:
    """Return the dictionary that writes, digested once for all threads."""
    known = zstandard.ZstdCompressionDict(_content(_DICTIONARIES[-1]))
    known.precompute_compress(_LEVEL)
    return known
