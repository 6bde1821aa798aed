"""The tokens of a run, from JSON to messages. Nearly every token is like the one before it.

What repeats is not read again. Of a token that follows another of the same message only the text
is read; of any other message only the part before its metadata. The tokens are made without
validation, which would not change them. Everything else stays JSON and is read elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple, Self

import orjson
from langchain_core.messages import AIMessageChunk

from langgraph_once.remote.shapes.parts import put_tuples
from langgraph_once.serde import rebuild_message
from langgraph_once.stream import annotation_of
from langgraph_once.stream.part.annotation import NUMBER_KEY

__all__ = ["TokenReader", "read_line"]

CHUNK: Final = (AIMessageChunk.__module__, AIMessageChunk.__name__)

BEGIN: Final = b'[{"content":"'
BEFORE_METADATA: Final = b'},{"'
"""Between two objects; within a string, the quote would be escaped."""

NUMBER: Final = f',"{NUMBER_KEY}":'.encode()
END: Final = b"}]"
MAX_NUMBER_BYTES: Final = len(NUMBER) + 24
"""Where the number is: in front of the end."""

MAX_METADATA_BYTES: Final = 16_384
"""The longest metadata to remember; with `MAX_METADATA` it bounds memory at 1 MB."""

MAX_METADATA: Final = 64
"""How many to remember: those of 64 tasks that send tokens in turn."""

PLAIN: Final = frozenset({bool, float, int, str, type(None)})

_new: Final = object.__new__
_set: Final = object.__setattr__


class TokenReader:
    """Reads the data of `messages` events.

    The metadata of a message is one object for all its tokens, as in a local graph.
    """

    def __init__(self) -> None:
        self._metadata: dict[bytes, Any] = {}
        self._last: _TokenTemplate | None = None
        self._annotated: Any = None

    def read(self, line: bytes) -> tuple[Any, int | None]:
        """A token and its metadata as a local graph has them; anything else stays JSON.

        Returns:
            That, and the number that our server has put behind the metadata, without which they
            are the same for all tokens of a message.

        Raises:
            ValueError: It is no JSON, or not on one line.
        """
        at = line.rfind(NUMBER, -MAX_NUMBER_BYTES)
        digits = line[at + len(NUMBER) : -len(END)]
        if at < 0 or not digits.isdigit():
            return self._read(line), None
        found = self._read(line[:at] + END)
        metadata = found[1]
        if metadata is not self._annotated:
            if annotation_of(metadata) is None:  # no server of ours: a user's metadata are so
                return self._read(line), None
            self._annotated = metadata
        return found, int(digits)

    def _read(self, line: bytes) -> Any:
        last = self._last
        if last is not None and line.endswith(last.rest) and line.startswith(BEGIN):
            with suppress(orjson.JSONDecodeError):  # more fields than the text come before `rest`
                text = orjson.loads(line[len(BEGIN) - 1 : len(line) - len(last.rest) + 1])
                return last.with_text(text), last.metadata
        at = line.find(BEFORE_METADATA) + 1
        if not at or line[:2] != b"[{":
            return read_line(line)
        rest = line[at:]
        metadata = self._metadata.get(rest)
        if metadata is None:
            return self._read_new(line, rest)
        return self._message(read_line(line[1:at]), metadata, rest)

    def _read_new(self, line: bytes, rest: bytes) -> Any:
        """Read all of it, and know the metadata again, which is all but the bracket after it."""
        value = read_line(line)
        if len(value) != 2 or len(rest) > MAX_METADATA_BYTES:
            return value
        try:
            metadata = orjson.loads(rest[1:-1])
        except orjson.JSONDecodeError:
            return value
        put_tuples(metadata)
        if len(self._metadata) >= MAX_METADATA:
            self._metadata.clear()
        self._metadata[rest] = metadata
        return self._message(value[0], metadata, rest)

    def _message(self, message: dict[str, Any], metadata: Any, rest: bytes) -> Any:
        token = rebuild_message([*CHUNK, message, "model_validate_json"])
        if token is None:
            return [message, metadata]
        self._last = _TokenTemplate.of(token, metadata, rest)
        return token, metadata


class _TokenTemplate(NamedTuple):
    """A token; the next ones are made of it, with another text."""

    fields: Mapping[str, Any]
    containers: Mapping[str, Any]
    """The fields that are copied for each token."""

    fields_set: frozenset[str]
    metadata: Any
    rest: bytes
    """What follows the text in its line."""

    @classmethod
    def of(cls, token: AIMessageChunk, metadata: Any, end: bytes) -> Self | None:
        """What the next tokens are made of; None if this one is more than text with plain fields.

        Args:
            token: The token.
            metadata: Its metadata.
            end: What follows the message in its line.
        """
        fields = {**vars(token)}
        if type(fields.pop("content")) is not str:
            return None
        containers = {
            key: value.copy() for key, value in fields.items() if isinstance(value, dict | list)
        }
        for value in containers.values():
            held = value.values() if isinstance(value, dict) else value
            if not PLAIN.issuperset(map(type, held)):
                return None
        # As the server writes it, or no line will match.
        rest = b'",' + orjson.dumps(fields)[1:] + end
        return cls(fields, containers, frozenset(token.model_fields_set), metadata, rest)

    def with_text(self, text: str) -> AIMessageChunk:
        """The next token."""
        fields = {"content": text, **self.fields}
        for key, value in self.containers.items():
            fields[key] = value.copy()
        # Past pydantic, which would validate each token anew.
        made = _new(AIMessageChunk)
        _set(made, "__dict__", fields)
        _set(made, "__pydantic_fields_set__", set(self.fields_set))
        _set(made, "__pydantic_extra__", {})
        _set(made, "__pydantic_private__", None)
        return made


def read_line(line: bytes) -> Any:
    """The value of a line of JSON.

    Raises:
        ValueError: It is no JSON, or more than a line.
    """
    if b"\n" in line or b"\r" in line:
        raise ValueError("this is more than a line")
    return orjson.loads(line)
