"""The vocabulary: one class for each thing that can happen in a stream.

`Event` is the union of them; each has a literal `type`, so that a `match` over classes or
over types can be checked for completeness. No `repr` shows what was said. A new event begins here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, dataclass_transform

from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import UsageMetadata
from pydantic_core import from_json

from langgraph_once.errors import CallbackError
from langgraph_once.stream import Where

C = TypeVar("C")


class Growing:
    """The pieces of a text, in order."""

    __slots__ = ("_joined", "_joined_count", "_pieces")

    def __init__(self, text: str = "") -> None:
        self._pieces: list[str] = [text] if text else []
        self._joined = ""
        self._joined_count = 0

    def add(self, piece: str) -> SoFar:
        """Add a piece, and view the text as it is now."""
        self._pieces.append(piece)
        return SoFar(self, len(self._pieces))

    def so_far(self) -> SoFar:
        """View the text as it is now."""
        return SoFar(self, len(self._pieces))

    def __len__(self) -> int:
        """How many pieces there are."""
        return len(self._pieces)

    def upto(self, count: int) -> str:
        """The first `count` pieces, joined."""
        if count < self._joined_count:
            return "".join(self._pieces[:count])
        if count > self._joined_count:
            # To read the text after each piece costs one copy of it, not a join of all pieces.
            self._joined = "".join((self._joined, *self._pieces[self._joined_count : count]))
            self._joined_count = count
        return self._joined

    def __str__(self) -> str:
        """All of it."""
        return self.upto(len(self._pieces))


class SoFar:
    """A growing text as it was at one moment; `str` gives it."""

    __slots__ = ("_count", "_growing")

    def __init__(self, growing: Growing, count: int) -> None:
        self._growing = growing
        self._count = count

    @classmethod
    def of(cls, text: str = "") -> SoFar:
        """A text that grows no more."""
        return Growing(text).so_far()

    def __str__(self) -> str:
        """The text."""
        return self._growing.upto(self._count)

    def __eq__(self, other: object) -> bool:
        """Whether the other is the same text."""
        return str(self) == str(other) if isinstance(other, SoFar) else NotImplemented

    def __hash__(self) -> int:
        """By the text."""
        return hash(str(self))


SHOWN = frozenset({"seq", "key", "node", "index", "status", "tool_call_id", "message_id", "kind"})
"""The fields that `repr` shows: they name things and quote nothing."""


@dataclass_transform(kw_only_default=True, frozen_default=True)
def _event(cls: type[C]) -> type[C]:
    """Make a class one of events. It is frozen for type checkers alone: Python takes three times as
    long to make a frozen object, and nearly all events are tokens."""
    return dataclass(slots=True, kw_only=True, repr=False, unsafe_hash=True)(cls)


@_event
class BaseEvent:
    """What every event has."""

    type: ClassVar[str]

    seq: int
    """Its number, which rises through the stream; where a filter drops events there are gaps."""

    where: Where = Where()
    """Where in the graph it happened."""

    @property
    def namespace(self) -> tuple[str, ...]:
        """The graph it happened in: one `node:task_id` for each level."""
        return self.where.namespace

    @property
    def formatted_namespace(self) -> str:
        """The namespace in one line."""
        return self.where.formatted

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the nodes that lead to that graph."""
        return self.where.path

    @property
    def node(self) -> str | None:
        """The node it happened in."""
        return self.where.node

    @property
    def task_id(self) -> str | None:
        """The task that ran the node."""
        return self.where.task_id

    def __repr__(self) -> str:
        """What it is and what it is about, without what was said."""
        shown = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.name in SHOWN]
        return f"{type(self).__name__}({', '.join(shown)}, in {self.formatted_namespace!r})"


@_event
class ToolCallEvent(BaseEvent):
    """What every event of a tool call has."""

    tool_call_id: str | None
    """None where the provider gives none."""

    name: str
    index: int
    """Its place among the calls of its message."""

    message_id: str | None


@_event
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


@_event
class MessageCompletedEvent(BaseEvent):
    """A message is whole, or will never be."""

    type: ClassVar[Literal["message_completed"]] = "message_completed"
    message_id: str | None
    message: BaseMessage
    usage: UsageMetadata | None = None
    is_partial: bool = False
    """The stream ended before the message did."""


@_event
class MessageReplacedEvent(BaseEvent):
    """A message now says something else."""

    type: ClassVar[Literal["message_replaced"]] = "message_replaced"
    message_id: str
    message: BaseMessage


@_event
class MessageRemovedEvent(BaseEvent):
    """A message is gone, or all of them, under the id `__remove_all__`."""

    type: ClassVar[Literal["message_removed"]] = "message_removed"
    message_id: str


@_event
class MessageSupersededEvent(BaseEvent):
    """A task runs again; what it said under the old id is void."""

    type: ClassVar[Literal["message_superseded"]] = "message_superseded"
    old_id: str
    new_id: str | None
    """The message that takes its place; None where the task has yet to say it."""

    reason: Literal["retry", "rerun"]
    """An attempt failed within this stream, or the task ran in an earlier one."""


@_event
class MessageDiscardedEvent(BaseEvent):
    """A model's complete answer that its task did not keep: no state will hold it.

    A planner says such, and a model whose answer a guard refused. Its text stays shown, unless a
    front end chooses otherwise.
    """

    type: ClassVar[Literal["message_discarded"]] = "message_discarded"

    message_id: str


@_event
class ChannelValueEvent(BaseEvent):
    """A key of the state has a new value."""

    type: ClassVar[Literal["channel_value"]] = "channel_value"
    key: str
    value: Any
    previous_known: bool
    """Whether this stream told a value of it before."""


@_event
class ChannelUpdateEvent(BaseEvent):
    """A node wrote to a key of the state; `node` is which."""

    type: ClassVar[Literal["channel_update"]] = "channel_update"
    key: str
    update: Any


@_event
class ArtifactEvent(BaseEvent):
    """A value, or an element of one, is new or changed."""

    type: ClassVar[Literal["artifact"]] = "artifact"
    artifact_type: str
    artifact_data: Any
    key: str
    artifact_id: str
    """Its own id, or one made of its content."""


@_event
class ToolCallStartedEvent(ToolCallEvent):
    """A model begins to call a tool."""

    type: ClassVar[Literal["tool_call_started"]] = "tool_call_started"


@_event
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


@_event
class ToolCallCompletedEvent(ToolCallEvent):
    """The arguments of a call are whole."""

    type: ClassVar[Literal["tool_call_completed"]] = "tool_call_completed"
    final_args: str
    parsed_args: dict[str, Any]


@_event
class ToolCallFailedEvent(ToolCallEvent):
    """The arguments of a call cannot be read, or never came to their end."""

    type: ClassVar[Literal["tool_call_failed"]] = "tool_call_failed"
    error: str
    accumulated_args: str


@_event
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


@_event
class UIEvent(BaseEvent):
    """A UI message of LangGraph: shown, merged into the one shown, or removed."""

    type: ClassVar[Literal["ui"]] = "ui"
    action: Literal["push", "merge", "remove"]
    ui_id: str
    name: str | None = None
    props: dict[str, Any] = field(default_factory=dict)
    """All its properties, also those of before that it was merged into."""

    metadata: dict[str, Any] = field(default_factory=dict)


@_event
class CustomEvent(BaseEvent):
    """What a node wrote to the stream."""

    type: ClassVar[Literal["custom"]] = "custom"
    data: Any


@_event
class InterruptEvent(BaseEvent):
    """The graph waits for an answer."""

    type: ClassVar[Literal["interrupt"]] = "interrupt"
    interrupt_id: str
    value: Any


@_event
class TaskStartedEvent(BaseEvent):
    """A task begins; `node` and `task_id` are which."""

    type: ClassVar[Literal["task_started"]] = "task_started"
    input: Any
    triggers: tuple[str, ...] = ()


@_event
class TaskFinishedEvent(BaseEvent):
    """A task is over."""

    type: ClassVar[Literal["task_finished"]] = "task_finished"
    result: Any
    error: str | None = None
    interrupts: tuple[Any, ...] = ()


@_event
class UsageEvent(BaseEvent):
    """What a message cost, and the stream so far; each message counts once."""

    type: ClassVar[Literal["usage"]] = "usage"
    message_id: str | None
    usage: UsageMetadata
    total: UsageMetadata


@_event
class GapPossibleEvent(BaseEvent):
    """Something may be missing that nothing can prove."""

    type: ClassVar[Literal["gap_possible"]] = "gap_possible"
    reason: str


@_event
class StreamErrorEvent(BaseEvent):
    """The stream died. What it had opened is closed by now."""

    type: ClassVar[Literal["stream_error"]] = "stream_error"
    error_type: str
    message: str
    error: BaseException | None = field(default=None, compare=False)
    """The error itself; None for an event read from JSON."""


@_event
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


def related(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two graphs are the same, or one is inside the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def called(callback: Callable[[Any], Any], event: BaseEvent) -> Any:
    """What `callback` gives for an event.

    Raises:
        CallbackError: It raised.
    """
    try:
        return callback(event)
    except Exception as error:
        raise CallbackError(event, callback) from error


def checked(filter_fn: Callable[[Any], bool] | None, event: BaseEvent) -> bool:
    """Whether a filter lets an event pass; without one it does.

    Raises:
        CallbackError: It raised.
    """
    return filter_fn is None or bool(called(filter_fn, event))
