"""Content encodings: which one to use, and the objects that do it, event by event.

A server has many streams open at once, so each encoder keeps little: gzip about 0.2 MB, zstd 0.6,
Brotli 1.9. A window of some hundred tokens is enough, because what repeats is the metadata of
each token.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Protocol

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class StreamEncoder(Protocol):
    """Compresses one stream."""

    def compress(self, data: bytes) -> bytes:
        """Take `data`, and give what of the compressed stream is ready."""

    def flush(self) -> bytes:
        """What the receiver needs to decode everything that was taken."""

    def finish(self) -> bytes:
        """The end of the stream."""


class Gzip:
    """What every client understands."""

    def __init__(self) -> None:
        # 31: a gzip header, and the largest window, 32 KB.
        self._stream = zlib.compressobj(level=4, wbits=31)
        self.compress = self._stream.compress

    def flush(self) -> bytes:
        return self._stream.flush(zlib.Z_SYNC_FLUSH)

    def finish(self) -> bytes:
        return self._stream.flush(zlib.Z_FINISH)


class Zstd:
    """The smallest at the least cost."""

    OPTIONS: Final[dict[int, int]] = {
        zstd.CompressionParameter.compression_level: 3,
        # Level 3 alone would keep 2 MB for each stream; HTTP allows a window of 8 MB at most.
        zstd.CompressionParameter.window_log: 18,
        zstd.CompressionParameter.hash_log: 15,
        zstd.CompressionParameter.chain_log: 15,
    }

    def __init__(self) -> None:
        self._stream = zstd.ZstdCompressor(options=self.OPTIONS)

    def compress(self, data: bytes) -> bytes:
        return self._stream.compress(data)

    def flush(self) -> bytes:
        return self._stream.flush(zstd.ZstdCompressor.FLUSH_BLOCK)

    def finish(self) -> bytes:
        return self._stream.flush(zstd.ZstdCompressor.FLUSH_FRAME)


class Brotli:
    """For whoever installed `brotli` or `brotlicffi`."""

    def __init__(self, library: Any) -> None:
        # Below quality 5 it hardly looks back; the window is 256 KB.
        self._stream = library.Compressor(quality=5, lgwin=18)
        self.compress = self._stream.process
        self.flush = self._stream.flush
        self.finish = self._stream.finish


def _available() -> dict[str, Callable[[], StreamEncoder]]:
    found: dict[str, Callable[[], StreamEncoder]] = {"zstd": Zstd, "gzip": Gzip}
    for name in ("brotlicffi", "brotli"):
        with contextlib.suppress(ImportError):
            library = importlib.import_module(name)
            if hasattr(library, "Compressor"):  # not any folder of that name
                found["br"] = functools.partial(Brotli, library)
    return found


ENCODERS: Final[Mapping[str, Callable[[], StreamEncoder]]] = MappingProxyType(_available())
"""What makes an encoder, by the name of the encoding; `br` where a library is installed."""


def chosen_encoding(accepted: Iterable[str], offered: Sequence[str]) -> str | None:
    """The encoding that a client likes best.

    Args:
        accepted: The values of its `Accept-Encoding` headers.
        offered: What there is, best first.

    Returns:
        The one of `offered` with the highest weight; the first, if several have it. None if the
        client accepts none of them, or prefers no encoding.
    """
    weights = dict(_weights(accepted))
    others = weights.get("*", 0.0)
    # Who does not mention `identity` takes it only for want of something better.
    least = weights.get("identity", 0.0)
    liked = {name: weights.get(name, others) for name in offered}
    return max(
        (name for name, weight in liked.items() if weight > 0 and weight >= least),
        key=liked.__getitem__,
        default=None,
    )


def _weights(accepted: Iterable[str]) -> Iterable[tuple[str, float]]:
    """Each encoding with its weight; what is malformed is not accepted."""
    for item in ",".join(accepted).lower().split(","):
        name, *parameters = (part.strip() for part in item.split(";"))
        weight = 1.0
        for parameter in parameters:
            key, _, value = parameter.partition("=")
            if key.strip() == "q":
                weight = _weight(value.strip())
        if name:
            yield name.removeprefix("x-"), weight


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0  # false for NaN, too
