"""A graph or stream goes in; typed events of what happens there come out.

processor.py     `ChannelStreamingProcessor`: say what to watch, get events
event_stream.py  what it returns: events to iterate, to pick by type, to handle
transcript.py    events folded to tool calls, messages, channels
sources.py       any source to parts
reading/         parts to events
config.py        what can be watched
vocabulary.py    the events
codec.py         events to JSON and back
render.py        events as SSE and text; AG-UI is ag_ui.py
"""

from langgraph_once.floors import blame_old_packages

with blame_old_packages():
    from langgraph_once.errors import CallbackError
    from langgraph_once.events.codec import as_json as as_json, from_dict, to_dict
    from langgraph_once.events.config import (
        ChannelConfig,
        ChannelMode,
        Include,
        TokenStreamingConfig,
    )
    from langgraph_once.events.event_stream import AsyncEvents, Events
    from langgraph_once.events.processor import ChannelStreamingProcessor
    from langgraph_once.events.reading.channels import ArtifactTracker as ArtifactTracker
    from langgraph_once.events.reading.content_blocks import (
        TextKind as TextKind,
        text_pieces as text_pieces,
    )
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
