"""What happens in a stream, as typed events: say what to watch, in any source."""

from langgraph_once.errors import CallbackError
from langgraph_once.events.event_stream import AsyncEvents, Events
from langgraph_once.events.namespace import Where, format_namespace
from langgraph_once.events.processor import ChannelStreamingProcessor
from langgraph_once.events.reading.tool_calls import ToolCallState, ToolCallTracker
from langgraph_once.events.sources.chunks import Chunk
from langgraph_once.events.transcript import ToolCallRecord, Transcript
from langgraph_once.events.vocabulary.codec import from_dict, to_dict
from langgraph_once.events.vocabulary.config import (
    ChannelConfig,
    Include,
    StreamMode,
    TokenStreamingConfig,
)
from langgraph_once.events.vocabulary.event import (
    ArtifactEvent,
    BaseEvent,
    ChannelUpdateEvent,
    ChannelValueEvent,
    CustomEvent,
    Event,
    GapPossibleEvent,
    InterruptEvent,
    MessageCompletedEvent,
    MessageRemovedEvent,
    MessageReplacedEvent,
    MessageSupersededEvent,
    StreamEndedEvent,
    StreamErrorEvent,
    TaskFinishedEvent,
    TaskStartedEvent,
    TokenStreamEvent,
    ToolCallCompletedEvent,
    ToolCallFailedEvent,
    ToolCallProgressEvent,
    ToolCallStartedEvent,
    ToolResultEvent,
    UIEvent,
    UsageEvent,
)
from langgraph_once.events.vocabulary.growing_text import SoFar

__all__ = [
    "ArtifactEvent",
    "AsyncEvents",
    "BaseEvent",
    "CallbackError",
    "ChannelConfig",
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
    "MessageRemovedEvent",
    "MessageReplacedEvent",
    "MessageSupersededEvent",
    "SoFar",
    "StreamEndedEvent",
    "StreamErrorEvent",
    "StreamMode",
    "TaskFinishedEvent",
    "TaskStartedEvent",
    "TokenStreamEvent",
    "TokenStreamingConfig",
    "ToolCallCompletedEvent",
    "ToolCallFailedEvent",
    "ToolCallProgressEvent",
    "ToolCallRecord",
    "ToolCallStartedEvent",
    "ToolCallState",
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
