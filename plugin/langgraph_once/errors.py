"""Every error that langgraph-once raises on purpose.

    OnceError
    ├── ConfigError                 a setting is wrong (also a ValueError)
    ├── SerdeError                  bytes or a value that the serializer refuses
    │   ├── UnknownTagError         the tag names a codec or a layer that we do not know
    │   ├── PayloadError            damaged bytes, or a value that could not be rebuilt
    │   ├── TypeNotAllowedError     the bytes name a type that the allowlist does not
    │   ├── SizeLimitError          more bytes than `max_decoded_bytes`
    │   ├── EncodeError             a value that the codec cannot write
    │   └── EncryptionError         no key, a wrong key, or plaintext where it is refused
    ├── StorageError                the database cannot be opened, read or written
    ├── ChannelVersionError         two versions of a channel that have no order
    ├── CallbackError               a filter or handler of the user raised
    └── StreamError                 a chunk whose shape contradicts what was asked for
        ├── LedgerError             bytes that no ledger of this version can be read from
        └── StreamInterrupted       a remote run that could not be read to its end

The message says what happened and what to do; the facts are attributes, so that a
program can act on them without reading the message. No message carries a payload,
a key or the text of a chat message.
"""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = [
    "CallbackError",
    "ChannelVersionError",
    "ConfigError",
    "EncodeError",
    "EncryptionError",
    "LedgerError",
    "OnceError",
    "PayloadError",
    "SerdeError",
    "SizeLimitError",
    "StorageError",
    "StreamError",
    "StreamInterrupted",
    "TypeNotAllowedError",
    "UnknownTagError",
]


class OnceError(Exception):
    """The root: catch this to catch everything that langgraph-once raises."""

    def __str__(self) -> str:
        # Names of a database may forge a line of the log, or move the cursor of a terminal.
        return printable(super().__str__())


class ConfigError(OnceError, ValueError):
    """A setting is missing, unknown or wrong.

    Attributes:
        key: Where the setting is, as its user wrote it: `ONCE_SERDE__COMPRESSION`, or
            `langgraph.json: checkpointer.once.serde.compression`.
        problem: What is wrong with it, and which values are allowed.
    """

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


class SerdeError(OnceError):
    """The serializer refuses these bytes or this value.

    Attributes:
        tag: The tag the bytes were stored under, where there is one.
        path: Where in the value it happened, as in `[key 0][3].owner`, the first key of a
            dictionary; empty for the value itself, None where it is not known. It quotes no key.
    """

    def __init__(self, message: str, *, tag: str | None = None, path: str | None = None) -> None:
        super().__init__(message if tag is None else f"{message} (tag {tag!r})")
        self.tag = tag
        self.path = path

    def __str__(self) -> str:
        said = super().__str__()
        return f"{said}, at {printable(self.path)}" if self.path else said


class UnknownTagError(SerdeError):
    """The tag names a codec or layer that this version does not know. It is never guessed."""


class PayloadError(SerdeError):
    """The bytes are damaged, or name a value that could not be rebuilt."""


class TypeNotAllowedError(SerdeError):
    """The bytes name a type that the allowlist does not.

    Attributes:
        type_name: The refused type as `module:Name`, ready for `SerdeConfig.allowed_types`.
        hook: What rebuilding it would run, where that is why it was refused.
    """

    def __init__(
        self,
        type_name: str,
        *,
        imported: bool = True,
        hook: str = "",
    ) -> None:
        module = type_name.partition(":")[0]
        why = f", since rebuilding it runs code ({hook})" if hook else ""
        marked = "" if imported else f", and if it is marked `@storable`, import {module} first"
        super().__init__(
            f"{type_name} is not allowed to be loaded from a checkpoint{why}; if you trust it, add "
            f'"{type_name}" to `allowed_types`{marked}'
        )
        self.type_name = type_name
        self.hook = hook


class SizeLimitError(SerdeError):
    """Decoding would need more bytes or objects than the configuration allows.

    Attributes:
        limit_bytes: The bound that was reached, where it is one on bytes.
        limit_objects: The bound that was reached, where it is one on objects.
    """

    def __init__(
        self,
        message: str,
        *,
        limit_bytes: int | None = None,
        limit_objects: int | None = None,
        tag: str | None = None,
    ) -> None:
        super().__init__(message, tag=tag)
        self.limit_bytes = limit_bytes
        self.limit_objects = limit_objects


class EncodeError(SerdeError):
    """The codec cannot write this value."""


class EncryptionError(SerdeError):
    """No key, the wrong key, tampered bytes, or plaintext where encryption is required.

    Attributes:
        key_id: The key the bytes ask for, where they name one.
    """

    def __init__(self, message: str, *, key_id: str | None = None, tag: str | None = None) -> None:
        super().__init__(message, tag=tag)
        self.key_id = key_id


class StorageError(OnceError):
    """The checkpoint database cannot be opened, read or written.

    Attributes:
        path: The database.
    """

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.path = path


class ChannelVersionError(OnceError, TypeError):
    """Two versions of a channel have no order.

    Attributes:
        types: What they are.
    """

    def __init__(self, a: object, b: object) -> None:
        self.types = (type(a).__name__, type(b).__name__)
        super().__init__(
            f"versions of types {self.types[0]} and {self.types[1]} cannot be compared: a version "
            "is a number other than NaN, or text; beside a number, text must begin with one and "
            "a point, as `get_next_version` of LangGraph's savers makes it"
        )


class CallbackError(OnceError):
    """A filter or handler raised for an event; its error is the cause of this one.

    Attributes:
        event: The event that it was given.
    """

    def __init__(self, event: Any, callback: object) -> None:
        name = getattr(callback, "__qualname__", type(callback).__name__)
        super().__init__(f"{name} raised for event {event.seq} of type {event.type!r}")
        self.event = event


class StreamError(OnceError, ValueError):
    """A chunk has a shape that contradicts the stream modes it was asked for with."""


class LedgerError(StreamError):
    """These bytes are no ledger: damaged, or written by a newer version.

    Attributes:
        version: The version they claim, where it could be read.
    """

    def __init__(self, message: str, *, version: int | None = None) -> None:
        super().__init__(f"{message}; pass `on_error='fresh'` to start with an empty ledger")
        self.version = version


class StreamInterrupted(StreamError):  # noqa: N818  # what happened to it, not what is wrong
    """A remote run could not be read to its end; the cause says why.

    The run may go on. To read the rest of it, in this process or another, call `join_run` with
    what this error carries.

    Attributes:
        thread_id: The thread of the run; None for a run without one.
        run_id: The run; None if the server did not say.
        last_event_id: The SSE id of the last event received. Other events may have the same.
        position: Where in the run's log to go on.
        ledger: What the consumer has, for a stream that was read through one.
    """

    def __init__(
        self,
        message: str,
        *,
        thread_id: str | None = None,
        run_id: str | None = None,
        last_event_id: str | None = None,
        position: str = "",
        ledger: Any = None,
    ) -> None:
        super().__init__(message)
        self.thread_id = thread_id
        self.run_id = run_id
        self.last_event_id = last_event_id
        self.position = position
        self.ledger = ledger


# What a line may hold of a name or a text of others: here, in a log and in a terminal.

_LIKE_A_KEY: Final = re.compile(
    # Base64 of 16 bytes or more, of which next to none has letters of one case only.
    r"(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])[\w+/-]{22}"
    r"|[0-9a-fA-F]{32}"
    # What ends a base64 text or is within a phrase, but not within a name.
    r"|[=+\s]",
    re.ASCII,
)


def shown(name: str) -> str:
    """Return `name`, or how long it is if it may be a key, in base64, hexadecimal or as a phrase.

    Who swaps a key and its id must not find the key in a log. Dates, versions, words with dashes,
    UUIDs and ULIDs are names.
    """
    return f"(not shown: {len(name)} characters)" if _LIKE_A_KEY.search(name) else name


def printable(text: str, most: int | None = None) -> str:
    """Return text of a row, cut to `most` characters, as a terminal may show it."""
    if most is not None and len(text) > most:
        text = f"{text[: most - 1]}…"
    return "".join(char if char.isprintable() else "?" for char in text)
