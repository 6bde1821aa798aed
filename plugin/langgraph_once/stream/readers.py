"""Who reads a stream, which form it gets, and whether its messages are numbered.

A reader announces itself in the config of a run (`READER_KEY`), or, where it reads a graph of its
own process, as `announcement.py` says. Any other is a stock reader.

A server repeats events to a client that comes back after a cut. Numbers, 1, 2, 3 … on each message
part as it leaves, mend that: by the number the client knows
which of them it has, and that none is missing. The numbers are given behind the filter, to what the
reader is sent and nothing else: so they have no gaps, whatever was withheld before.

A number belongs to one stream of the outermost graph. A resume begins at 1 again, as it is another
run on the server, and so does a run that a server begins anew; there the metadata tell the attempt.
v3 has numbers of its own (`seq`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config

from langgraph_once.config import READER_CHECKPOINT, READER_KEY, DedupConfig
from langgraph_once.stream.dedup.forms import ExactForm, Form, StockForm
from langgraph_once.stream.part.annotation import ANNOTATION_KEY, NUMBER_KEY
from langgraph_once.stream.part.shapes import StreamModes, Version
from langgraph_once.stream.v3.protocol import ExactEvents, ProtocolForm

__all__ = [
    "PLAIN_READER",
    "SERVED_KEY",
    "TASK_ID_KEY",
    "configurable_of",
    "form_of",
    "is_in_a_node",
    "is_served",
    "is_v3_stream",
    "numbering",
    "wants_numbers",
]

PLAIN_READER: Final = "plain"
"""A reader that says so under `READER_KEY` gets what the graph streams without `once`, to compare
the two: `client.runs.stream(…, checkpoint={READER_KEY: PLAIN_READER})`. It holds in v1 and v2, for
the outermost graph. A graph that hides messages does not obey: nobody is sent what it hides."""

# Keys of `config["configurable"]`, private upstream (langgraph 1.2.24,
# langgraph/_internal/_constants.py); `test_upstream_keys` notices when they change.
TASK_ID_KEY = "__pregel_task_id"
V3_KEY = "__pregel_stream_messages_v2"

SERVED_KEY: Final = "langgraph_api_version"
"""What a LangGraph server writes into the metadata of each run (langgraph-api 0.16.7,
langgraph_api/stream.py); `test_stock_reader` notices when it does not."""


def configurable_of(config: RunnableConfig) -> Mapping[str, Any]:
    """What stands under `configurable`; nothing where nothing does."""
    return config.get("configurable", {})


def is_in_a_node(merged: RunnableConfig) -> bool:
    """Whether a node of a graph reads the stream, in a thread of its own perhaps."""
    around = var_child_runnable_config.get() or {}
    return TASK_ID_KEY in configurable_of(merged) or TASK_ID_KEY in configurable_of(around)


def wants_numbers(merged: RunnableConfig, form: Form) -> bool:
    """Whether the reader of a stream has asked a server for it, and takes messages by number.

    Who reads a graph in its own process announces itself in another way, and needs no numbers.
    """
    is_told = configurable_of(merged).get(READER_KEY) == READER_CHECKPOINT[READER_KEY]
    return is_told and type(form) is ExactForm and not is_in_a_node(merged)


def is_v3_stream(merged: RunnableConfig, version: Version) -> bool:
    """Whether a stream feeds v3 transformers, which fold protocol events on their own.

    As upstream decides it: what a node streams in v1 is none, although the config says so.
    """
    return version == "v2" and bool(configurable_of(merged).get(V3_KEY))


def is_served(config: RunnableConfig) -> bool:
    """Whether a LangGraph server runs a run of this config."""
    return SERVED_KEY in config.get("metadata", {})


def form_of(
    dedup: DedupConfig, config: RunnableConfig, version: Version, *, is_announced: bool = False
) -> Form:
    """The form of a stream that begins.

    Args:
        dedup: Its `form` decides, unless that is "auto".
        config: The config of the run, with what a node hands down. It may announce the reader.
        version: As given to `graph.stream`.
        is_announced: Whether the reader announced itself by `announced`.
    """
    is_stock = _is_stock(dedup, config, is_announced=is_announced)
    if is_v3_stream(config, version):
        # In this process there are no events on a wire, which the form of the protocol is for.
        return ProtocolForm() if is_stock and is_served(config) else ExactEvents()
    return StockForm() if is_stock else ExactForm()


def _is_stock(dedup: DedupConfig, config: RunnableConfig, *, is_announced: bool) -> bool:
    if dedup.form != "auto":
        return dedup.form == "stock"
    if is_announced:
        return False
    # A node hands down its config, and with it the announcement of who reads the graph around.
    told = configurable_of(config).get(READER_KEY)
    return is_in_a_node(config) or told in (None, "", PLAIN_READER)


def numbering(
    stream_mode: StreamModes, *, subgraphs: bool, version: Version
) -> Callable[[Any], Any]:
    """What numbers the messages among chunks of one shape, and leaves other chunks alone.

    A part without annotation, as of a malformed message, has no number: its reader could not tell
    it from one that a user has put there.
    """
    numbers = count(1)

    def pair(data: tuple[Any, dict[str, Any]]) -> tuple[Any, Any]:
        message, metadata = data
        if ANNOTATION_KEY not in metadata:
            return data
        numbered = metadata.copy()  # quicker than `{**metadata}`
        if NUMBER_KEY in numbered:  # a user's: ours is to stand last
            del numbered[NUMBER_KEY]
        numbered[NUMBER_KEY] = next(numbers)
        return message, numbered

    if version == "v2":
        return lambda chunk: (
            {**chunk, "data": pair(chunk["data"])} if chunk["type"] == "messages" else chunk
        )
    if isinstance(stream_mode, str):
        return (lambda chunk: (chunk[0], pair(chunk[1]))) if subgraphs else pair
    if subgraphs:
        return lambda chunk: (
            (chunk[0], "messages", pair(chunk[2])) if chunk[1] == "messages" else chunk
        )
    return lambda chunk: ("messages", pair(chunk[1])) if chunk[0] == "messages" else chunk
