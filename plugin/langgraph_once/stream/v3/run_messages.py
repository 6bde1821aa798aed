"""v3: `run.messages`, where an answer that a repeated attempt gives again comes once.

Upstream's `MessagesTransformer` makes that list, and nothing in it can be taken back. So it is not
given the events of an answer that so far repeats what its task said in an attempt that failed. If
they end alike, it never is; if the failed one broke off, it goes on as the new one; where they
differ, the failed one ends as void and the new one comes from its beginning. The log of the run and
the channel `once` have the removal and all of the new one. Texts are compared as upstream got them:
the transformers of users may have changed them on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage
from langgraph.stream.transformers import MessagesTransformer

from langgraph_once.stream.part.content import Content, content_of
from langgraph_once.stream.part.envelope import Part
from langgraph_once.stream.part.namespace import task_in
from langgraph_once.stream.v3.exact import RUN_KEY, VOID, id_begun
from langgraph_once.stream.v3.marks import mark_of

__all__ = ["RunMessages"]

Event: TypeAlias = dict[str, Any]

PIECES: Final = frozenset({"text", "reasoning"})
"""The blocks whose words are told piece by piece, each under the name of its kind."""


class _Answer:
    """A message of `run.messages`, or one that is held back from it.

    Attributes:
        kinds: The kinds of its blocks, by their indexes; none where an earlier run said it.
        blocks: Those that are finished.
        held: Its events, while they are held back.
        void: The event that ends it as void, where its model died.
    """

    def __init__(
        self, task: str, message_id: str, run: str = "", content: Content | None = None
    ) -> None:
        self.task = task
        self.id = message_id
        self.run = run
        self._pieces: dict[str, list[str]] = {kind: [] for kind in PIECES}
        self.kinds: dict[int, str] = {}
        self.blocks: dict[int, Any] = {}
        self.held: list[Event] = []
        self.void: Event | None = None
        self._content = content
        if content is not None:
            self._pieces["text"].append(content.text)
            self._pieces["reasoning"] += (str(words) for _, words in content.rest)

    @property
    def content(self) -> Content:
        """What it says, when it is complete."""
        if self._content is None:
            blocks = [block for _, block in sorted(self.blocks.items())]
            calls: Any = [
                {key: block.get(key) for key in ("id", "name", "args")}
                for block in blocks
                if block.get("type") == "tool_call"
            ]
            self._content = content_of(AIMessage(content=blocks, tool_calls=calls))
        return self._content

    def words(self, kind: str) -> str:
        """Its text so far, or its reasoning."""
        return "".join(self._pieces[kind])

    def add(self, payload: Mapping[str, Any]) -> None:
        """Note what an event says."""
        if (delta := payload.get("delta")) is not None:
            for kind in PIECES:
                if kind in delta:
                    self._pieces[kind].append(delta[kind])
        elif payload.get("event") == "content-block-start":
            self.kinds[payload["index"]] = payload["content"].get("type")
        elif payload.get("event") == "content-block-finish":
            self.blocks[payload["index"]] = payload["content"]

    def begins(self, other: _Answer) -> bool:
        """Whether the other says all that this says so far, in the same blocks."""
        is_same = not other.kinds or self.kinds.items() <= other.kinds.items()
        return is_same and all(other.words(kind).startswith(self.words(kind)) for kind in PIECES)

    def may_go_on_as(self, other: _Answer) -> bool:
        """Whether it is words, and nothing else, with which the other begins."""
        is_words = any(map(self.words, PIECES)) and PIECES.issuperset(self.kinds.values())
        return is_words and self.begins(other)


class RunMessages:
    """What of the events of one graph upstream's transformer is given.

    Args:
        upstream: The transformer.
    """

    def __init__(self, upstream: MessagesTransformer) -> None:
        self._scope = upstream.scope
        self._give: Callable[[Any], bool] = upstream.process
        self._finalize = upstream.finalize
        self._streams = upstream._by_run  # noqa: SLF001  # the open messages, by their runs
        self._answers: dict[object, _Answer] = {}
        self._held: dict[str, _Answer] = {}
        self._gone: dict[str, list[_Answer]] = {}

    def process(self, event: Any) -> bool:
        """Give upstream what it lacks of an event; all events stay in the log."""
        place, size = tuple(event["params"]["namespace"]), len(self._scope)
        if place == self._scope:
            self._give_all(self._lacking(event))
        elif place[:size] == self._scope and place[size].isdecimal():
            self._give_all(self._over())  # its task runs the graph once more, as the number says
        return True

    def finalize(self) -> None:
        """End what broke off; upstream would leave it open."""
        self._give_all(self._over())
        self._finalize()

    def _give_all(self, events: Iterable[Event]) -> None:
        for event in events:
            self._give(event)

    def _lacking(self, event: Event) -> Iterable[Event]:
        if event["method"] == "values":  # a state: what ran before it has ended
            return self._over()
        if not event["method"].startswith("messages"):
            return ()
        payload, meta = event["params"]["data"]
        part = Part((), "messages", payload, meta or {})
        if isinstance(payload, RemoveMessage):
            self._take_back(part)
        elif event["method"] != "messages":
            return ()  # it is hidden
        elif isinstance(payload, dict):
            is_start = payload.get("event") == "message-start"
            return self._start(event, part) if is_start else self._next(event, part)
        elif isinstance(payload, BaseMessage):
            return self._whole(event, part)
        return ()

    def _take_back(self, removal: Part) -> None:
        """Note what was said in vain: a later attempt of its task may repeat it."""
        place = task, _ = task_in(removal.meta), str(removal.data.id)
        had = mark_of(removal.meta).had
        known = [each for each in self._answers.values() if (each.task, each.id) == place]
        if not known and had is not None:
            known = [_Answer(*place, content=had)]
        for answer in known:
            self._answers.pop(answer.run or place, None)
            self._held.pop(answer.run, None)
            self._gone.setdefault(task, []).append(answer)

    def _whole(self, event: Event, part: Part) -> Iterable[Event]:
        answer = _Answer(task_in(part.meta), str(part.data.id), content=content_of(part.data))
        self._answers[answer.task, answer.id] = answer
        answer.held = [_kept(event)]
        return () if self._repeats(answer) else self._differs(answer)

    def _start(self, event: Event, part: Part) -> Iterable[Event]:
        run = str(part.meta.get(RUN_KEY))
        if part.data.get("role") != "tool":  # which upstream shows nobody
            answer = self._answers[run] = _Answer(task_in(part.meta), id_begun(part), run)
            if self._gone.get(answer.task):
                self._held[run] = answer
                answer.held = [_kept(event)]
                return ()
        return (event,)

    def _next(self, event: Event, part: Part) -> Iterable[Event]:
        run = str(part.meta.get(RUN_KEY))
        answer = self._answers.get(run)
        if answer is None:
            return (event,)
        if part.data.get("metadata") == VOID:
            answer.void = _kept(event)
            return ()
        answer.add(part.data)
        if run not in self._held:
            return (event,)
        answer.held.append(_kept(event))
        return self._compared(answer, is_over=part.data.get("event") == "message-finish")

    def _compared(self, answer: _Answer, *, is_over: bool) -> Iterable[Event]:
        """What upstream is given as an answer goes on that is held back."""
        gone = self._gone.get(answer.task, [])
        if not is_over and any(map(answer.begins, gone)):
            return ()
        del self._held[answer.run]
        if is_over and self._repeats(answer):
            return ()
        for old in gone:
            if old.run in self._streams and old.may_go_on_as(answer):
                gone.remove(old)
                return self._goes_on(old, answer)
        return self._differs(answer)

    def _repeats(self, answer: _Answer) -> bool:
        """Whether upstream has all of a complete answer; it stands for no other then."""
        gone = self._gone.get(answer.task, [])
        for old in gone:
            if old.void is None and old.content == answer.content:
                gone.remove(old)
                return True
        return False

    def _goes_on(self, old: _Answer, answer: _Answer) -> Iterator[Event]:
        """The message that broke off is the new one from now on."""
        stream = self._streams[answer.run] = self._streams.pop(old.run)
        stream.set_message_id(answer.id)
        lacks = {kind: old.words(kind) for kind in PIECES}
        for event in answer.held[1:]:
            payload, meta = event["params"]["data"]
            known = {"content-block-start": old.kinds, "content-block-finish": old.blocks}
            if payload.get("index") in known.get(payload["event"], ()):
                continue
            if "delta" in payload:
                delta = dict(payload["delta"])
                for kind in PIECES.intersection(delta):
                    size = len(delta[kind])
                    delta[kind], lacks[kind] = delta[kind][len(lacks[kind]) :], lacks[kind][size:]
                payload = {**payload, "delta": delta}
            yield {**event, "params": {**event["params"], "data": (payload, meta)}}

    def _differs(self, answer: _Answer) -> Iterator[Event]:
        """The answer from its beginning, after the ends of what broke off before it."""
        yield from self._ended(answer.task)
        yield from answer.held

    def _ended(self, task: str) -> Iterator[Event]:
        gone = self._gone.pop(task, [])
        yield from (old.void for old in gone if old.void is not None)
        if complete := [old for old in gone if old.void is None]:
            self._gone[task] = complete

    def _over(self) -> Iterator[Event]:
        """What ran before is over, and is not tried again."""
        for answer in self._held.values():
            yield from self._differs(answer)
        for task in list(self._gone):
            yield from self._ended(task)
        for known in (self._answers, self._held, self._gone):
            known.clear()


def _kept(event: Event) -> Event:
    """An event as it is now; the transformers behind this one may change it."""
    return {**event, "params": {**event["params"]}}
