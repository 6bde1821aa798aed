"""v3: the channel `once`, and `run.messages` without what was taken back.

In v3 transformers give out messages and events. `run.messages` would make an empty message of a
`RemoveMessage`, so removals are kept from it. On the channel `once` each part goes out as in v2:
message chunks in place of events, so that each piece bears its id. (The deltas of events bear
none, and clients mix up messages that stream at the same time.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from langgraph.stream import StreamChannel, StreamTransformer
from langgraph.stream.transformers import MessagesTransformer

from langgraph_once.errors import StreamError
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.intake import event_part
from langgraph_once.stream.part.render import writer
from langgraph_once.stream.v3.events import EventReader
from langgraph_once.stream.v3.exact import RUN_KEY
from langgraph_once.stream.v3.marks import Mark, mark_of
from langgraph_once.stream.v3.run_messages import RunMessages

__all__ = ["CHANNEL", "HIDDEN_METHOD", "HideEdits", "OnceChannel", "rewrites", "with_channel"]

CHANNEL = "once"
HIDDEN_METHOD = "messages/removal"
CHANNEL_METHODS = frozenset({"messages", "values", "updates", "custom"})


def with_channel(transformers: Sequence[Any]) -> tuple[Any, ...]:
    """The transformers of a graph, and ours around them."""
    return (HideEdits, *_of_users(transformers), OnceChannel)


def rewrites(transformers: Sequence[Any]) -> bool:
    """Whether one of them may change what is said before `run.messages` and others read it."""
    return any(getattr(make(()), "before_builtins", False) for make in _of_users(transformers))


def _of_users(transformers: Sequence[Any]) -> list[Any]:
    return [make for make in transformers if make not in (HideEdits, OnceChannel)]


class HideEdits(StreamTransformer):
    """Renames removals and edits while upstream's transformers, and those of users, look at them.

    `OnceChannel`, the last, names them back.
    """

    before_builtins = True

    def init(self) -> dict[str, Any]:
        """No projection."""
        return {}

    def process(self, event: Any) -> bool:
        """Rename the method of what is not for all."""
        if event["method"] == "messages" and _mark(event).to != "all":
            event["method"] = HIDDEN_METHOD
        return True


class OnceChannel(StreamTransformer):
    """Gives out each part, as in v2, on the channel `once` of the outermost run."""

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        # Transformers are made for each graph inside too; those have nothing to say.
        self._channel: StreamChannel[Any] | None = None if scope else StreamChannel(CHANNEL)
        self._reader = EventReader()
        self._hidden: set[Any] = set()
        self._write = writer([], version="v2")

    def init(self) -> dict[str, Any]:
        """The channel, under its name."""
        return {CHANNEL: self._channel} if self._channel is not None else {}

    def _on_register(self, mux: Any) -> None:
        """Listen to the log of the run, into which comes what no transformer has left out.

        Others may come after this one, and each sees every event, also one that another has left
        out already. What the channel says of an event stands before it in the log, so that who
        reads both over a network knows that there is a channel; the numbers of the log go up.
        Private upstream (langgraph 1.2.24); `test_transformer` notices a change.
        """
        messages = mux.transformer_by_key("messages")
        if isinstance(messages, MessagesTransformer):
            own = RunMessages(messages)
            vars(messages).update(process=own.process, finalize=own.finalize)
        if self._channel is None:
            return
        push = mux._events.push  # noqa: SLF001  # see above

        def heard(event: Any) -> None:
            mux._seq -= 1  # noqa: SLF001  # which is the number of this event
            self._say(event)
            mux._seq += 1  # noqa: SLF001  # see above
            event["seq"] = mux._seq  # noqa: SLF001  # see above
            push(event)

        mux._events.push = heard  # noqa: SLF001  # see above

    def process(self, event: Any) -> bool:
        """Name back what was hidden, and keep from the log what is for the channel alone."""
        if event["method"] == HIDDEN_METHOD:
            event["method"] = "messages"
        if event["method"] != "messages":
            return True
        mark = _mark(event)
        if mark.node is not None:
            event["params"]["node"] = mark.node
        if mark.to == "channel":
            self._say(event)
        return mark.to != "channel"

    def _say(self, event: Any) -> None:
        """Say on the channel what an event says, as other transformers have left it."""
        if self._channel is None or event["method"] not in CHANNEL_METHODS:
            return
        with suppress(StreamError):  # they may have made something of it that is no message
            part = event_part(event)
            is_message = part.mode == "messages"
            if is_message and (mark_of(part.meta).to == "log" or self._is_hidden(part)):
                return
            if (said := self._reader.read(part)) is not None:
                self._channel.push(self._write(said))

    def _is_hidden(self, part: Part) -> bool:
        """Whether a transformer hides a model run, or a message, from `run.messages`.

        Those of LangChain's middleware call its start one of a tool, in a graph inside, too.
        """
        message, run = part.data, part.meta.get(RUN_KEY)
        if not isinstance(message, Mapping):
            return message is None
        if message.get("event") == "message-start":
            self._hidden.discard(run)
            if message.get("role") == "tool":
                self._hidden.add(run)
        return run in self._hidden


def _mark(event: Any) -> Mark:
    return mark_of(event["params"]["data"][1])
