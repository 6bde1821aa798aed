"""Who reads a stream, which form it gets, and whether its messages are numbered.

A reader announces itself in the config of a run (`READER_KEY`), or, where it reads a graph of its
own process, by `announced` (`chunk_filter.py`). Any other is a stock reader.

A server repeats events to a client that comes back after a cut. By the numbers, 1, 2, 3 … on each
message part as it leaves, the client knows which of them it has, and that none is missing. They are
given behind the filter, to what the reader is sent: so they have no gaps, whatever was withheld.

A number belongs to one stream of the outermost graph. A resume begins at 1 again, as it is another
run on the server, and so does a run that a server begins anew; there the metadata tell the attempt.
v3 has numbers of its own (`seq`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config

from langgraph_once.config import READER_CHECKPOINT, READER_KEY, DedupConfig
from langgraph_once.stream.annotation import ANNOTATION_KEY, NUMBER_KEY, SIDE_KEY
from langgraph_once.stream.chunk_filter import ChangedFilter, ChunkFilter
from langgraph_once.stream.forms import ExactForm, Form, StockForm
from langgraph_once.stream.shapes import (
    Part,
    StreamModes,
    Version,
    mode_and_data_at,
    mode_set,
    reader,
    writer,
)
from langgraph_once.stream.v3 import ExactEvents, ProtocolForm

PLAIN_READER: Final = "plain"
"""A reader that says so under `READER_KEY` gets what the graph streams without `once`, to compare
the two: `client.runs.stream(…, checkpoint={READER_KEY: PLAIN_READER})`. It holds in v1 and v2, for
the outermost graph. A graph that hides messages does not obey: nobody is sent what it hides."""

RECORDING_READER: Final = "recording"
"""A reader that says so gets both of one run: what the graph streams without `once`, and what a
reader that announced itself is sent. `SIDE_KEY` in the metadata says whose a message is; states and
all else come once, for both. It holds where `PLAIN_READER` does, with subgraphs; a graph that hides
messages sends only what it sends to readers that announced themselves, and marks nothing."""

# Keys of `config["configurable"]`, private upstream (langgraph 1.2.24,
# langgraph/_internal/_constants.py); `test_once` notices when they change.
TASK_ID_KEY = "__pregel_task_id"
V3_KEY = "__pregel_stream_messages_v2"

SERVED_KEY: Final = "langgraph_api_version"
"""What a LangGraph server writes into the metadata of each run (langgraph-api 0.16.7,
langgraph_api/stream.py)."""


def configurable_of(config: RunnableConfig) -> Mapping[str, Any]:
    """What stands under `configurable`; nothing where nothing does."""
    return config.get("configurable", {})


def is_task(config: RunnableConfig | None) -> bool:
    """Whether a config is that of a task of a graph."""
    return TASK_ID_KEY in configurable_of(config or {})


def is_in_a_node(merged: RunnableConfig) -> bool:
    """Whether a node of a graph reads the stream, in a thread of its own perhaps."""
    return is_task(merged) or is_task(var_child_runnable_config.get())


def wants_numbers(merged: RunnableConfig, form: Form) -> bool:
    """Whether the reader of a stream has asked a server for it, and takes messages by number."""
    return _is_reader(READER_CHECKPOINT[READER_KEY], merged, form)


def is_recording(merged: RunnableConfig, form: Form) -> bool:
    """Whether the reader of a stream asked for both of one run, and may have that."""
    return _is_reader(RECORDING_READER, merged, form)


def _is_reader(name: str, merged: RunnableConfig, form: Form) -> bool:
    """Whether the reader outside of all nodes named itself so, and reads all that is exact."""
    is_named = configurable_of(merged).get(READER_KEY) == name
    return is_named and type(form) is ExactForm and not is_in_a_node(merged)


def is_v3_stream(merged: RunnableConfig, version: Version) -> bool:
    """Whether a stream feeds v3 transformers, which fold protocol events on their own.

    As upstream decides it: what a node streams in v1 is none, although the config says so.
    """
    return version == "v2" and bool(configurable_of(merged).get(V3_KEY))


def form_of(
    dedup: DedupConfig, config: RunnableConfig, version: Version, *, is_announced: bool = False
) -> Form:
    """The form of a stream that begins.

    The `form` of `dedup` decides. Where that is "auto", the reader may have announced itself, by
    `announced` or in the config of the run, in which is also what a node hands down.
    """
    is_stock = dedup.form == "stock"
    if dedup.form == "auto" and not is_announced:
        # A node hands down its config, and with it the announcement of who reads the graph around.
        told = configurable_of(config).get(READER_KEY)
        is_stock = is_in_a_node(config) or told in (None, "", PLAIN_READER)
    if is_v3_stream(config, version):
        # In this process there are no events on a wire, which the form of the protocol is for.
        is_on_a_wire = SERVED_KEY in config.get("metadata", {})
        return ProtocolForm() if is_stock and is_on_a_wire else ExactEvents()
    return StockForm() if is_stock else ExactForm()


def numbering(
    stream_mode: StreamModes, *, subgraphs: bool, version: Version
) -> Callable[[Any], Any]:
    """What numbers the messages among chunks of one shape, and leaves other chunks alone."""
    numbers = count(1)
    mode_at, data_at = mode_and_data_at(stream_mode, subgraphs, version)

    def numbered(chunk: Any) -> Any:
        if mode_at is not None and chunk[mode_at] != "messages":
            return chunk
        message, metadata = chunk if data_at is None else chunk[data_at]
        # As of a malformed message: its reader could not tell the number from one of a user.
        if ANNOTATION_KEY not in metadata:
            return chunk
        metadata = metadata.copy()  # quicker than `{**metadata}`
        if NUMBER_KEY in metadata:  # a user's: ours is to stand last
            del metadata[NUMBER_KEY]
        metadata[NUMBER_KEY] = next(numbers)
        pair = message, metadata
        if data_at is None:
            return pair
        if version == "v2":
            return {**chunk, "data": pair}
        return (chunk[0], pair) if data_at == 1 else (chunk[0], chunk[1], pair)

    return numbered


class RecordingFilter(ChangedFilter):
    """Passes on what upstream's handler sends, and marks what another filter gives.

    One run for two consumers: a graph whose tools act is not run twice to compare them. States,
    updates and custom data come once and whole, as the graph streams them. Each consumer cuts them
    with a deduplicator of its own.

    Args:
        inner: The other filter.
        heard: The modes of the chunks.
        stream_mode: The modes that the reader asked for, with subgraphs. With `version` the shape
            of what is written.
    """

    def __init__(
        self,
        inner: ChunkFilter,
        heard: StreamModes,
        stream_mode: StreamModes,
        *,
        version: Version,
    ) -> None:
        super().__init__(inner, _marked)
        self._heard = reader(heard, subgraphs=True, version=version)
        self._given = reader(stream_mode, subgraphs=True, version=version)
        self._written: Callable[[Part], Any] = writer(stream_mode, subgraphs=True, version=version)
        self._asked = mode_set(stream_mode)
        self.passes = lambda _: False
        self.write_token = None

    def new(self, chunk: Any) -> Iterator[Any]:
        """What both consumers lack of a chunk."""
        part = self._heard(chunk)
        if _is_of_stock(part):
            yield self._written(part)
            return
        yield from super().new(chunk)
        if part.mode != "messages" and part.mode in self._asked:
            yield self._written(part)

    def changed(self, chunks: Iterable[Any]) -> Iterator[Any]:
        """The messages among `chunks`, marked; what else the filter gives is cut for one side."""
        messages = (part for part in map(self._given, chunks) if part.mode == "messages")
        return map(self._written, super().changed(messages))

    def keep_undelivered(self, left: Iterable[Part]) -> None:
        """Queue what the run produced after its consumer disconnected; stock readers have none."""
        super().keep_undelivered(part for part in left if not _is_of_stock(part))


def _marked(part: Part) -> Part:
    return part._replace(meta={**part.meta, SIDE_KEY: "once"})


def _is_of_stock(part: Part) -> bool:
    return part.mode == "messages" and part.meta.get(SIDE_KEY) == "stock"
