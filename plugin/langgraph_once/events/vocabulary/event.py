"""The vocabulary: one frozen class for each thing that can happen in a stream.

`Event` is the union of them; each has a literal `type`, so that a `match` over classes or
over types can be checked for completeness. No `repr` shows what was said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import UsageMetadata
from pydantic_core import from_json

from langgraph_once.events.vocabulary.base import BaseEvent, SoFar, ToolCallEvent


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TokenStreamEvent(BaseEvent):
    """A message goes on."""

    type: ClassVar[Literal["token"]] = "token"
    message_id: str
    content_delta: str
    """What is new."""

    so_far: SoFar
    """All of this kind that the message has said, joined when it is read."""

    block_index: int | str = 0
    """The content block it belongs to, as the provider counts them."""

    kind: Literal["text", "reasoning", "refusal"] = "text"
    """"refusal" is what a provider marks as its refusal to answer."""

    @property
    def accumulated_content(self) -> str:
        """All of this kind that the message has said, with this."""
        return str(self.so_far)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MessageCompletedEvent(BaseEvent):
    """A message is whole, or will never be."""

    type: ClassVar[Literal["message_completed"]] = "message_completed"
    message_id: str | None
    message: BaseMessage
    usage: UsageMetadata | None = None
    is_partial: bool = False
    """The stream ended before the message did."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MessageReplacedEvent(BaseEvent):
    """A message now says something else."""

    type: ClassVar[Literal["message_replaced"]] = "message_replaced"
    message_id: str
    message: BaseMessage


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MessageRemovedEvent(BaseEvent):
    """A message is gone, or all of them, under the id `__remove_all__`."""

    type: ClassVar[Literal["message_removed"]] = "message_removed"
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MessageSupersededEvent(BaseEvent):
    """A task runs again; what it said under the old id is void."""

    type: ClassVar[Literal["message_superseded"]] = "message_superseded"
    old_id: str
    new_id: str | None
    """The message that takes its place; None where the task has yet to say it."""

    reason: Literal["retry", "rerun"]
    """An attempt failed within this stream, or the task ran in an earlier one."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MessageDiscardedEvent(BaseEvent):
    """A model's complete answer that its task did not keep: no state will hold it.

    A planner says such, and a model whose answer a guard refused. Its text stays shown, unless a
    front end chooses otherwise, or `DedupConfig(discarded="remove")` removes it.
    """

    type: ClassVar[Literal["message_discarded"]] = "message_discarded"

    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ChannelValueEvent(BaseEvent):
    """A key of the state has a new value."""

    type: ClassVar[Literal["channel_value"]] = "channel_value"
    key: str
    value: Any
    previous_known: bool
    """Whether this stream told a value of it before."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ChannelUpdateEvent(BaseEvent):
    """A node wrote to a key of the state; `node` is which."""

    type: ClassVar[Literal["channel_update"]] = "channel_update"
    key: str
    update: Any


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ArtifactEvent(BaseEvent):
    """A value, or an element of one, is new or changed."""

    type: ClassVar[Literal["artifact"]] = "artifact"
    artifact_type: str
    artifact_data: Any
    key: str
    artifact_id: str
    """Its own id, or one made of its content."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ToolCallStartedEvent(ToolCallEvent):
    """A model begins to call a tool."""

    type: ClassVar[Literal["tool_call_started"]] = "tool_call_started"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ToolCallProgressEvent(ToolCallEvent):
    """The arguments of a call go on."""

    type: ClassVar[Literal["tool_call_progress"]] = "tool_call_progress"
    args_delta: str
    so_far: SoFar
    """The arguments so far, joined when they are read."""

    @property
    def accumulated_args(self) -> str:
        """The arguments so far, as text."""
        return str(self.so_far)

    @property
    def partial_args(self) -> Any:
        """The arguments as far as they can be read, for display; None if they cannot."""
        try:
            return from_json(self.accumulated_args, allow_partial="trailing-strings")
        except ValueError:
            return None

    @property
    def is_valid_json(self) -> bool:
        """Whether the arguments can be read as they stand. They may go on all the same."""
        try:
            from_json(self.accumulated_args)
        except ValueError:
            return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ToolCallCompletedEvent(ToolCallEvent):
    """The arguments of a call are whole."""

    type: ClassVar[Literal["tool_call_completed"]] = "tool_call_completed"
    final_args: str
    parsed_args: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ToolCallFailedEvent(ToolCallEvent):
    """The arguments of a call cannot be read, or never came to their end."""

    type: ClassVar[Literal["tool_call_failed"]] = "tool_call_failed"
    error: str
    accumulated_args: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ToolResultEvent(BaseEvent):
    """A tool answered."""

    type: ClassVar[Literal["tool_result"]] = "tool_result"
    tool_call_id: str
    name: str | None
    message_id: str | None
    """The message with the call, where it is known."""

    status: Literal["success", "error"]
    content: Any
    artifact: Any = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UIEvent(BaseEvent):
    """A UI message of LangGraph: shown, merged into the one shown, or removed."""

    type: ClassVar[Literal["ui"]] = "ui"
    action: Literal["push", "merge", "remove"]
    ui_id: str
    name: str | None = None
    props: dict[str, Any] = field(default_factory=dict)
    """All its properties, also those of before that it was merged into."""

    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CustomEvent(BaseEvent):
    """What a node wrote to the stream."""

    type: ClassVar[Literal["custom"]] = "custom"
    data: Any


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InterruptEvent(BaseEvent):
    """The graph waits for an answer."""

    type: ClassVar[Literal["interrupt"]] = "interrupt"
    interrupt_id: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TaskStartedEvent(BaseEvent):
    """A task begins; `node` and `task_id` are which."""

    type: ClassVar[Literal["task_started"]] = "task_started"
    input: Any
    triggers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TaskFinishedEvent(BaseEvent):
    """A task is over."""

    type: ClassVar[Literal["task_finished"]] = "task_finished"
    result: Any
    error: str | None = None
    interrupts: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UsageEvent(BaseEvent):
    """What a message cost, and the stream so far; each message counts once."""

    type: ClassVar[Literal["usage"]] = "usage"
    message_id: str | None
    usage: UsageMetadata
    total: UsageMetadata


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GapPossibleEvent(BaseEvent):
    """Something may be missing that nothing can prove."""

    type: ClassVar[Literal["gap_possible"]] = "gap_possible"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StreamErrorEvent(BaseEvent):
    """The stream died. What it had opened is closed by now."""

    type: ClassVar[Literal["stream_error"]] = "stream_error"
    error_type: str
    message: str
    error: BaseException | None = field(default=None, compare=False)
    """The error itself; None for an event read from JSON."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StreamEndedEvent(BaseEvent):
    """Nothing more comes."""

    type: ClassVar[Literal["stream_ended"]] = "stream_ended"
    status: Literal["finished", "interrupted", "failed"]


Event: TypeAlias = (
    TokenStreamEvent
    | MessageCompletedEvent
    | MessageReplacedEvent
    | MessageDiscardedEvent
    | MessageRemovedEvent
    | MessageSupersededEvent
    | ChannelValueEvent
    | ChannelUpdateEvent
    | ArtifactEvent
    | ToolCallStartedEvent
    | ToolCallProgressEvent
    | ToolCallCompletedEvent
    | ToolCallFailedEvent
    | ToolResultEvent
    | UIEvent
    | CustomEvent
    | InterruptEvent
    | TaskStartedEvent
    | TaskFinishedEvent
    | UsageEvent
    | GapPossibleEvent
    | StreamErrorEvent
    | StreamEndedEvent
)

EVENT_TYPES: dict[str, type[Event]] = {kind.type: kind for kind in Event.__args__}
