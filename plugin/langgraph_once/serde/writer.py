"""Objects to the bytes of a codec, with care: what is unusual, or would be refused at reading."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError, SerdeError
from langgraph_once.serde.bounds.costly_values import PatternTooLargeError
from langgraph_once.serde.codecs.fallback import encode_as_stock, is_carried_by_stock
from langgraph_once.serde.codecs.langgraph.write import PATTERN, encode_msgpack
from langgraph_once.serde.codecs.once1 import (
    Encoder,
    NotPlain,
    QuickEncode,
    Registry,
    UnstoredError,
    bytes_in,
    encode_error,
)
from langgraph_once.serde.layers.tag import Tag
from langgraph_once.serde.trust.allowlist import Allowlist
from langgraph_once.serde.trust.policy import Trust

__all__ = ["Writer"]

_BYTES: Final = (bytes, bytearray)
"""What upstream writes for these is exact and cheap, whatever the codec."""

logger = logging.getLogger(__name__)


class Writer:
    """Encodes under one configuration and one allowlist. Thread-safe.

    Attributes:
        quick_encoders: What most values are, and how they are written if there is nothing unusual
            in them: none until the first value, so that only the first has to look whether it is
            that. What is `NotPlain` is to be checked.
    """

    def __init__(
        self,
        config: SerdeConfig,
        allowlist: Allowlist,
        writers: Registry,
        checks: Mapping[str, Callable[..., None]],
    ) -> None:
        """Take the settings; `checks`, by codec, raise what reading would."""
        self._config = config
        self._tag = Tag(config.codec)
        self._allowlist = allowlist
        self._writers = writers
        self._checks = checks
        self._encoder = Encoder(writers, on_unknown=config.on_unknown)
        self.quick_encoders: dict[type, QuickEncode] = {}
        self._has_started = False

    def _start(self) -> None:
        """Take the first value to be written for the end of the start of the process."""
        self._has_started = True
        self._allowlist.note_start()
        both: dict[type, QuickEncode] = {dict: _quick_msgpack, list: _quick_msgpack}
        self.quick_encoders = both if self._config.codec == "msgpack" else self._encoder.quick

    def encode(self, obj: Any) -> tuple[Tag, bytes]:
        """Return the tag of the codec, and what it writes for `obj`.

        Raises:
            EncodeError: It cannot write it.
        """
        if not self._has_started:
            self._start()
            with suppress(Exception):  # as those that follow
                return self._tag, bytes_in(self.quick_encoders[type(obj)](obj))
        # Upstream's msgpack codec takes subclasses of bytes for bytes; ours keeps them.
        if type(obj) in _BYTES or (self._config.codec == "msgpack" and isinstance(obj, _BYTES)):
            # A copy: the caller's own bytearray may change before it is stored.
            return Tag("bytes" if isinstance(obj, bytes) else "bytearray"), bytes(obj)
        if self._config.codec == "once1":
            return self._tag, self._encode_once1(obj)
        try:
            return self._tag, encode_msgpack(obj)
        except Exception as error:
            # ormsgpack names the type that stopped it; other messages may quote the value.
            told = type(error) in (TypeError, PatternTooLargeError)
            reason = error if told else type(error).__name__
            raise EncodeError(f"{_name(obj)} cannot be written: {reason}") from error

    def _encode_once1(self, obj: Any) -> bytes:
        try:
            return self._encoder.encode(obj)
        except EncodeError as error:
            # What a task failed with, which LangGraph stores alone, must not fail its checkpoint.
            if not isinstance(obj, BaseException):
                return self._encode_as_stock(obj, error)
            logger.warning("An exception was stored without some of its parts: %s", error)
            return encode_error(obj, self._writers, on_unknown=self._config.on_unknown)

    def _encode_as_stock(self, obj: Any, error: EncodeError) -> bytes:
        """Write what LangGraph's own serializer would: no run fails because of ours."""
        if self._allowlist.decide("write", Trust.LOST).refuses or not is_carried_by_stock(obj):
            raise error
        data, left_out = encode_as_stock(obj, self._writers)
        for name in left_out:
            self._allowlist.report_unsure(name, f"without some of its parts, as LangGraph: {error}")
        return data

    def checked(self, obj: Any, tag: Tag, data: bytes) -> bytes:
        """Return what can be read under the same configuration: `data`, as a rule.

        Raises:
            EncodeError: Reading would refuse it.
        """
        check = self._checks.get(tag.codec)
        try:
            if check is not None:
                has_met = re.Pattern in self._writers.met
                patterns = has_met if tag.codec == "once1" else PATTERN in data
                check(data, tag.text, patterns=patterns)
        except SerdeError as error:
            if tag.codec == "once1" and isinstance(obj, BaseException):
                logger.warning("An exception was stored without some of its parts: %s", error)
                return encode_error(UnstoredError(_name(obj), str(error)), self._writers)
            raise EncodeError(
                f"{_name(obj)} is not written, since reading would refuse it: {error}"
            ) from error
        return data


def _quick_msgpack(obj: Any) -> bytes | NotPlain:
    data = encode_msgpack(obj)
    return NotPlain(data) if PATTERN in data else data


def _name(obj: object) -> str:
    return f"{type(obj).__module__}:{type(obj).__qualname__}"
