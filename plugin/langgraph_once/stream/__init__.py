"""A graph's stream in, each piece of it once out.

A chunk becomes a `Part`, is held against the `Ledger` of its consumer, and what is new of it
becomes a chunk again. Who is outside this room imports from here: `__all__` lists what is public;
names that are imported `as` themselves are for the other rooms of this package.

Faces:

graph            `once(graph)`: what a graph streams, wherever it runs.
chunk_filter     `dedup(chunks)`: chunks of any graph; how a local reader announces itself.
v3, v3_channel   The same for protocol v3: its events, and how that hangs in a v3 run.
callback_events  The same for readers of `astream_events`.
session          One stream of a thread: its ledger is opened as the run begins, saved at the end.
readers          Who reads a stream, gets which form, and whether its messages are numbered.

A running graph in, its messages out, each with an annotation that tells what it is:

handler          What models say and nodes return; start here.
install          How LangGraph comes to use the handlers, and what they do about who is hidden.
attempts         Which tasks run, in which attempt, what they returned and what failed ones said.
run              Who reads the run, and what its graphs and tasks were given.

Parts in, the parts that the consumer lacks out:

deduplicator     Which rule a part goes to; start here.
lifecycle        What becomes of a message: facts in, operations out.
identity         What a part says of its message, and which message of the ledger that is.
reexecution      What a task said before it ran again.
forms            What was decided, with its reason, and how one kind of reader is sent it.
state_cut        What of a state or an update is new.
repeated         States and updates that come again, and what cached updates alone tell.
hidden           What the consumer must not see, and who says that.

What was delivered in, what one consumer has out:

ledger           What the consumer has; start here.
entries          What is known of a message, and how it is found: by its text, in the thread before,
                 by the id it waits for.
keeping          What of the ledger of a thread is kept between streams, as which bytes, and where.

What a chunk is, and says:

shapes           What a part is, which shape of chunk becomes which part, and back; servers' JSON.
messages_within  Which messages a state, an update or a `Command` holds.
content          Whether two messages say the same.
annotation       What `once(graph)` writes beside a message.
places           Which task runs inside which; how a place is written, and picked by a pattern.
"""

from langgraph_once.stream.annotation import (
    NUMBER_KEY as NUMBER_KEY,
    SIDE_KEY as SIDE_KEY,
    Annotation,
    annotated as annotated,
    annotation_of,
    flagged as flagged,
)
from langgraph_once.stream.chunk_filter import (
    achunks_of as achunks_of,
    adedup,
    afirst_chunk as afirst_chunk,
    announced as announced,
    chunks_of as chunks_of,
    dedup,
    first_chunk as first_chunk,
)
from langgraph_once.stream.content import as_whole as as_whole
from langgraph_once.stream.deduplicator import Deduplicator
from langgraph_once.stream.forms import (
    Because as Because,
    DedupStats,
    Kind as Kind,
    operation_of as operation_of,
)
from langgraph_once.stream.graph import OnceStreams, once
from langgraph_once.stream.handler import OnceMessagesHandler as OnceMessagesHandler
from langgraph_once.stream.keeping import InMemoryStreamStateStore, StreamAddress, StreamStateStore
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.messages_within import (
    entries_of as entries_of,
    found_in_input as found_in_input,
    found_in_update as found_in_update,
    overwritten as overwritten,
)
from langgraph_once.stream.places import (
    NODE_KEY as NODE_KEY,
    NS_SEP as NS_SEP,
    TASK_NS_KEY as TASK_NS_KEY,
    Pattern as Pattern,
    Where as Where,
    around as around,
    format_namespace as format_namespace,
    is_reserved as is_reserved,
    lineage as lineage,
    node_names as node_names,
    node_path as node_path,
    where_of as where_of,
)
from langgraph_once.stream.readers import (
    PLAIN_READER as PLAIN_READER,
    RECORDING_READER as RECORDING_READER,
    SERVED_KEY as SERVED_KEY,
    is_task as is_task,
)
from langgraph_once.stream.repeated import (
    fingerprint as fingerprint,
)
from langgraph_once.stream.session import (
    Call as Call,
    Calls as Calls,
    FailureGuard as FailureGuard,
    aanswer as aanswer,
    answer as answer,
)
from langgraph_once.stream.shapes import (
    GAP_MODE,
    INTERRUPT_KEY as INTERRUPT_KEY,
    MESSAGE_KEYS as MESSAGE_KEYS,
    MESSAGE_TYPES as MESSAGE_TYPES,
    Part,
    StreamModes as StreamModes,
    Version as Version,
    event_part,
    is_resume as is_resume,
    may_repeat as may_repeat,
    mode_set as mode_set,
    reader as reader,
    revive as revive,
    revive_part as revive_part,
    sdk_part,
    v2_part,
    writer as writer,
)
from langgraph_once.stream.state_cut import alias_messages_after_gap as alias_messages_after_gap
from langgraph_once.stream.v3 import EventReader as EventReader
from langgraph_once.stream.v3_channel import CHANNEL, CHANNEL_METHODS as CHANNEL_METHODS

__all__ = [
    "CHANNEL",
    "GAP_MODE",
    "Annotation",
    "DedupStats",
    "Deduplicator",
    "InMemoryStreamStateStore",
    "Ledger",
    "OnceStreams",
    "Part",
    "StreamAddress",
    "StreamStateStore",
    "adedup",
    "annotation_of",
    "dedup",
    "event_part",
    "once",
    "sdk_part",
    "v2_part",
]
