"""A graph or stream goes in; typed events of what happens there come out.

processor.py       `ChannelStreamingProcessor`: say what to watch, get `Events`
transcript.py      events folded to tool calls, messages, channels
sources.py         any source to parts
part_reader.py     parts to events: which kind goes where; UI messages; how a stream ends
messages.py        tokens, whole messages, replacements and removals
tool_calls.py      the life of a tool call: fragments, started, whole, failed, answered
channels.py        keys of the state, from `values` and `updates`, and artifacts in them
content_blocks.py  text, reasoning and calls in a message, as each provider writes them
thread_memory.py   what is known of a thread: messages that ended, calls, UI messages, bounded
config.py          what can be watched
vocabulary.py      the events
render.py          events as JSON (and back), SSE, text, AG-UI
"""

from langgraph_once.floors import blame_old_packages

with blame_old_packages():
    from langgraph_once.errors import CallbackError
    from langgraph_once.events.channels import ArtifactTracker as ArtifactTracker
    from langgraph_once.events.config import (
        ChannelConfig,
        ChannelMode,
        Include,
        TokenStreamingConfig,
    )
    from langgraph_once.events.content_blocks import (
        TextKind as TextKind,
        text_pieces as text_pieces,
    )
    from langgraph_once.events.processor import AsyncEvents, ChannelStreamingProcessor, Events
    from langgraph_once.events.render import as_json as as_json, from_dict, to_dict
    from langgraph_once.events.sources import Chunk
    from langgraph_once.events.transcript import ToolCallRecord, ToolCallTracker, Transcript
    from langgraph_once.events.vocabulary import (
        EVENT_TYPES,
        ArtifactEvent,
        BaseEvent,
        ChannelUpdateEvent,
        ChannelValueEvent,
        CustomEvent,
        Event,
        GapPossibleEvent,
        InterruptEvent,
        MessageCompletedEvent,
        MessageDiscardedEvent,
        MessageRemovedEvent,
        MessageReplacedEvent,
        MessageSupersededEvent,
        SoFar,
        StreamEndedEvent,
        StreamErrorEvent,
        TaskFinishedEvent,
        TaskStartedEvent,
        TokenStreamEvent,
        ToolCallCompletedEvent,
        ToolCallEvent as ToolCallEvent,
        ToolCallFailedEvent,
        ToolCallProgressEvent,
        ToolCallStartedEvent,
        ToolResultEvent,
        UIEvent,
        UsageEvent,
        related as related,
    )
    from langgraph_once.stream import Where, format_namespace

__all__ = [
    "EVENT_TYPES",
    "ArtifactEvent",
    "AsyncEvents",
    "BaseEvent",
    "CallbackError",
    "ChannelConfig",
    "ChannelMode",
    "ChannelStreamingProcessor",
    "ChannelUpdateEvent",
    "ChannelValueEvent",
    "Chunk",
    "CustomEvent",
    "Event",
    "Events",
    "GapPossibleEvent",
    "Include",
    "InterruptEvent",
    "MessageCompletedEvent",
    "MessageDiscardedEvent",
    "MessageRemovedEvent",
    "MessageReplacedEvent",
    "MessageSupersededEvent",
    "SoFar",
    "StreamEndedEvent",
    "StreamErrorEvent",
    "TaskFinishedEvent",
    "TaskStartedEvent",
    "TokenStreamEvent",
    "TokenStreamingConfig",
    "ToolCallCompletedEvent",
    "ToolCallFailedEvent",
    "ToolCallProgressEvent",
    "ToolCallRecord",
    "ToolCallStartedEvent",
    "ToolCallTracker",
    "ToolResultEvent",
    "Transcript",
    "UIEvent",
    "UsageEvent",
    "Where",
    "format_namespace",
    "from_dict",
    "to_dict",
]
