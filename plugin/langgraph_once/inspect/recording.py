"""What a consumer was sent, in a file: one event a line, as `StreamPart` of `langgraph_sdk` has it.

    {"event": "messages|agent:1f0a", "data": [{"type": "AIMessageChunk", …}, {…}], "id": "17…-0"}

The mode and the namespace are in `event`, as on the wire; `metadata` begins a run. The file holds
what was said: nobody but its owner may read it.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from langgraph_sdk.schema import StreamPart

from langgraph_once.errors import ConfigError, StreamError
from langgraph_once.events.vocabulary.codec import as_json
from langgraph_once.remote.shapes.parts import as_local
from langgraph_once.stream import Part, sdk_part
from langgraph_once.stream.part.render import sdk_chunk

__all__ = ["BEGINS", "FAILS", "RecordedPart", "Recorder", "graph_of", "read_recording"]

BEGINS = "metadata"
"""The event that begins a run."""
FAILS = "error"
"""The mode of the part that says that a run failed."""


class RecordedPart(NamedTuple):
    """A line of a recording.

    Attributes:
        line: Its number, from 1.
        part: What it says; None where a run begins.
    """

    line: int
    part: Part | None


class Recorder:
    """Writes a recording, in place of what is in the file.

    Args:
        path: The file.

    Raises:
        ConfigError: It cannot be written.
    """

    def __init__(self, path: str) -> None:
        try:
            opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            if stat.S_ISREG(os.fstat(opened).st_mode):  # it may have been there, for others to read
                Path(path).chmod(0o600)
        except OSError as error:
            raise ConfigError("--record", f"{path} cannot be written: {error.strerror}") from None
        self._file = os.fdopen(opened, "w", encoding="utf-8")

    def restart(self) -> None:
        """Begin anew: all runs are read again, from the first."""
        self._file.seek(0)
        self._file.truncate()

    def begin(self, thread_id: str, run_id: str) -> None:
        """A run begins, or is joined."""
        self._write(BEGINS, {"thread_id": thread_id, "run_id": run_id}, None)

    def add(self, part: Part) -> None:
        """Write a part."""
        self._write(*sdk_chunk(part))

    def fail(self, error: Exception) -> None:
        """The run failed, or could not be read to its end."""
        self._write(FAILS, {"error": type(error).__name__}, None)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, event: str, data: Any, id_: str | None) -> None:
        line = json.dumps({"event": event, "data": as_json(data), "id": id_}, ensure_ascii=False)
        print(line, file=self._file, flush=True)


def read_recording(path: str) -> Iterator[RecordedPart]:
    """The lines of a recording; whatever has no mode is passed over.

    Raises:
        ConfigError: The file cannot be read, or a line is no event.
    """
    known: Mapping[str, Any] = {}
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            said = json.loads(line)
            event = StreamPart(said["event"], said["data"], said.get("id"))
            part = sdk_part(event)
            if event.event == BEGINS:
                yield RecordedPart(number, None)
            elif part is not None:
                # Tokens of one message have the same metadata, which are most of a long recording.
                part = as_local(part)
                known = known if part.meta == known else part.meta
                yield RecordedPart(number, part._replace(meta=known))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, StreamError):
            problem = 'no event of a run, {"event": …, "data": …}; `watch --record` writes some'
            raise ConfigError(f"{path}, line {number}", problem) from None


def _lines(path: str) -> Iterator[str]:
    try:
        with Path(path).open(encoding="utf-8", newline="\n") as file:
            yield from file
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise ConfigError(path, f"cannot be read: {reason}") from None


def graph_of(recorded: Iterable[RecordedPart]) -> str | None:
    """The graph in `langgraph.json` that ran, as its messages say; None if no server ran it."""
    named = (each.part.meta.get("graph_id") for each in recorded if each.part is not None)
    return next((name for name in named if isinstance(name, str)), None)
