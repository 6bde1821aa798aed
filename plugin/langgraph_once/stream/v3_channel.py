"""v3: the channel `once`, and `run.messages` without what was taken back or is said again.

In v3 transformers give out messages and events. On the channel `once` each part goes out as in v2:
message chunks in place of events, so that each piece bears its id. (The deltas of events bear
none, and clients mix up messages that stream at the same time.)

Upstream's `MessagesTransformer` makes `run.messages`, and nothing in it can be taken back: of a
`RemoveMessage` it would make an empty message, so it is given none. Nor is it given an answer that
says what its task had said in full before it ran again. The log of the run and the channel have
the removal and all of the new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.stream import StreamChannel, StreamTransformer
from langgraph.stream.transformers import MessagesTransformer

from langgraph_once.errors import StreamError
from langgraph_once.stream.content import Content, StreamedContent, content_of
from langgraph_once.stream.places import task_in
from langgraph_once.stream.shapes import Part, event_part, writer
from langgraph_once.stream.v3 import VOID, EventReader, Mark, event_of, mark_of, run_of

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
    """Renames removals and edits while upstream's transformers, and those of users, look at them;
    `OnceChannel`, the last, names them back."""

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
        self._hidden: set[str] = set()
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
            vars(messages)["process"] = RunMessages(messages).process
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
        """Name back what was hidden, and decide what the log has.

        It has nothing that only the channel reads, or only `run.messages`.
        """
        if event["method"] == HIDDEN_METHOD:
            event["method"] = "messages"
        if event["method"] != "messages":
            return True
        mark = _mark(event)
        if mark.node is not None:
            event["params"]["node"] = mark.node
        if mark.to == "channel":
            self._say(event)
        return mark.to not in {"channel", "run.messages"}

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
        if not isinstance(part.data, Mapping):
            return part.data is None
        if event_of(part) == "message-start":
            change = self._hidden.add if part.data.get("role") == "tool" else self._hidden.discard
            change(run_of(part))
        return run_of(part) in self._hidden


def _mark(event: Any) -> Mark:
    return mark_of(event["params"]["data"][1])


class _Answer:
    """A message of `run.messages`, by its task and its id; or one whose events are `held` back."""

    def __init__(self, start: Part) -> None:
        self.place = task_in(start.meta), str(start.data.id)
        self.said = StreamedContent(start.data)
        self.held: list[Any] = []


class RunMessages:
    """Gives upstream's transformer of one graph what `run.messages` lacks of its events.

    An answer is held back while it so far repeats one that its task said in full before it ran
    again. Texts are compared as upstream got them: the transformers of users may have changed them.
    """

    def __init__(self, upstream: MessagesTransformer) -> None:
        self._scope = upstream.scope
        self._give = upstream.process
        self._reader = EventReader()
        self._answers: dict[str, _Answer] = {}
        self._complete: dict[tuple[str, str], Content] = {}
        self._gone: dict[str, list[Content]] = {}

    def process(self, event: Any) -> bool:
        """Give upstream what it lacks of an event; all events stay in the log."""
        if tuple(event["params"]["namespace"]) == self._scope:
            for lacking in self._lacking(event):
                self._give(lacking)
        return True

    def _lacking(self, event: Any) -> Iterator[Any]:
        if event["method"] == "values":  # a state: what ran before it has ended
            for answer in self._answers.values():
                yield from answer.held
            for known in (self._answers, self._complete, self._gone):
                known.clear()
        if not event["method"].startswith("messages"):
            return
        data, meta = event["params"]["data"]
        part = Part((), "messages", data, meta or {})
        if isinstance(data, RemoveMessage):
            task = task_in(part.meta)
            said = self._complete.pop((task, str(data.id)), mark_of(meta).had)
            self._gone.setdefault(task, []).extend([said] if said is not None else [])
        elif event["method"] == "messages" or mark_of(meta).to == "run.messages":  # else hidden
            event = {**event, "method": "messages"}
            if event_of(part):
                yield from self._said(event, part)
            elif isinstance(data, BaseMessage):
                place, said = (task_in(part.meta), str(data.id)), content_of(data)
                yield from () if self._repeats(place, said) else (event,)

    def _said(self, event: Any, part: Part) -> Iterator[Any]:
        """What upstream lacks of an event of a model."""
        run, kind, said = run_of(part), event_of(part), self._reader.read(part)
        # Upstream shows nobody a tool's result.
        if kind == "message-start" and said is not None and part.data.get("role") != "tool":
            self._answers[run] = _Answer(said)
        answer = self._answers.get(run)
        if answer is None:
            yield event
            return
        if said is not None and kind != "message-start":
            answer.said.extend(said.data)
        held, answer.held = [*answer.held, event], []
        if part.data.get("metadata") == VOID:  # if it was held, it is nowhere shown
            del self._answers[run]
            yield from held if len(held) == 1 else ()
        elif kind == "message-finish":
            del self._answers[run]
            is_known = self._repeats(answer.place, answer.said.content())
            yield from () if is_known and len(held) > 1 else held
        elif (kind == "message-start" or len(held) > 1) and self._may_repeat(answer):
            # Others may change it, behind this.
            answer.held = [*held[:-1], {**event, "params": {**event["params"]}}]
        else:
            yield from held

    def _may_repeat(self, answer: _Answer) -> bool:
        """Whether an answer says, so far, what its task said before it ran again."""
        said = answer.said.content()
        return any(
            (not (said.text or said.rest) or old.begins_with(said))
            and len(said.calls) <= len(old.calls)
            for old in self._gone.get(answer.place[0], ())
        )

    def _repeats(self, place: tuple[str, str], said: Content) -> bool:
        """Whether upstream has all of a complete answer; it stands for no other then."""
        self._complete[place] = said
        gone = self._gone.get(place[0], [])
        if is_known := said in gone:
            gone.remove(said)
        return is_known
