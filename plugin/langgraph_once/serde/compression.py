"""The `zstd` layer: smaller bytes, and a bound on what they may grow back to."""

from __future__ import annotations

import sys
import threading

from langgraph_once.errors import PayloadError, SizeLimitError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["Compression"]


class Compression:
    """Compresses where it pays; decompresses up to a bound. Thread-safe."""

    def __init__(self, *, level: int, min_bytes: int, max_decoded_bytes: int) -> None:
        self._level = level
        self._min_bytes = min_bytes
        self._max_decoded_bytes = max_decoded_bytes
        # A compressor per thread: making one costs more than compressing a small message.
        self._local = threading.local()

    def compress(self, data: bytes) -> bytes | None:
        """Return the compressed bytes, or None where they would not be smaller.

        A blob that reading would refuse for its size is left as it is, too.
        """
        if not self._min_bytes <= len(data) <= self._max_decoded_bytes:
            return None
        packed = self._compressor().compress(data, zstd.ZstdCompressor.FLUSH_FRAME)
        return packed if len(packed) < len(data) else None

    def decompress(self, data: bytes, *, tag: str) -> bytes:
        """Undo `compress`.

        Raises:
            SizeLimitError: The result would be larger than `max_decoded_bytes`.
            PayloadError: Damaged or truncated bytes, or bytes after the end.
        """
        limit = self._max_decoded_bytes
        try:
            declared = zstd.get_frame_info(data).decompressed_size
            if declared is not None and declared > limit:
                raise self._too_large(tag)
            stream = zstd.ZstdDecompressor()
            # The header may lie or stay silent, so the output is bounded as well.
            plain = stream.decompress(data, limit + 1)
        except zstd.ZstdError as error:
            raise PayloadError("damaged zstd data", tag=tag) from error
        if len(plain) > limit:
            raise self._too_large(tag)
        if not stream.eof:
            raise PayloadError("truncated zstd data", tag=tag)
        if stream.unused_data:
            raise PayloadError("bytes after the end of the zstd data", tag=tag)
        return plain

    def _compressor(self) -> zstd.ZstdCompressor:
        compressor: zstd.ZstdCompressor | None = getattr(self._local, "compressor", None)
        if compressor is None:
            compressor = self._local.compressor = zstd.ZstdCompressor(
                options={
                    zstd.CompressionParameter.compression_level: self._level,
                    # Four bytes, so that a flipped bit is an error and not another value.
                    zstd.CompressionParameter.checksum_flag: 1,
                }
            )
        return compressor

    def _too_large(self, tag: str) -> SizeLimitError:
        limit = self._max_decoded_bytes
        return SizeLimitError(
            f"the value decompresses to more than `max_decoded_bytes` ({limit})",
            limit_bytes=limit,
            tag=tag,
        )
