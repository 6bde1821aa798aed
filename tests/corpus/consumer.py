"""A stock client: folds what it receives by message id, and counts what it has.

In mode `messages` everything under one id is appended, full messages too, and a
`RemoveMessage` clears the id. In a state a message takes the place of what is known under its
id, in the language of `add_messages`; a snapshot delivers what the snapshot before it did not
hold. A message alone under a key is that key's value, and whole states repeat themselves by
their nature: to see such a message again is no repetition.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.stream.annotation import annotation_of
from tests.corpus.content import Buffer
from tests.corpus.states import Listed, listed
from tests.corpus.units import Piece, Unit, text_piece

Ns = tuple[str, ...]
Snapshot = Counter[tuple[str | None, str]]


class Copy:
    """One delivery that the consumer still has."""

    def __init__(self, message_id: str | None, ns: Ns, task: str = "") -> None:
        self.id = message_id
        self.ns = ns
        self.task = task
        self.buffer = Buffer()
        self.pieces: Counter[Piece] = Counter()
        self.rest = ""
        self.is_draft = False
        self.is_alone = False  # the value of a key in an update, without an id
        self.said = ""

    def akin(self, ns: Ns) -> bool:
        """Whether `ns` is that of the same graph, of one around it or of one inside it."""
        shorter = min(len(ns), len(self.ns))
        return ns[:shorter] == self.ns[:shorter]


class Consumer:
    """Folds the events of one scenario.

    Args:
        units: What may be said.
        whole_states: Whether a snapshot is the whole state, so that what it lacks is gone, and
            not only what is new in it.
        own_modes: Whether each mode has a consumer of its own: a state then repeats itself by
            its nature.
    """

    def __init__(self, units: Iterable[Unit], *, whole_states: bool, own_modes: bool) -> None:
        # Longest first, so that a unit inside another is not taken out of it.
        self._known = sorted((u.piece for u in units), key=lambda p: -len(p.says))
        self._whole_states = whole_states
        self._own_modes = own_modes
        self._copies: list[Copy] = []
        self._snapshots: dict[tuple[Ns, str], Snapshot] = {}
        self.live: Counter[Piece] = Counter()
        self.peak: Counter[Piece] = Counter()
        self.arrived: Counter[Piece] = Counter()

    def feed(self, ns: Ns, mode: str, data: Any) -> None:
        """Take one event."""
        if mode == "messages":
            self._stream(ns, *data)
        elif mode == "updates":
            came_before = bool((data.get("__metadata__") or {}).get("cached"))
            for found in listed(data):
                self._deliver(ns, found, again=came_before)
        elif mode == "values":
            self._snapshot(ns, data)

    def chat(self, message: BaseMessage) -> None:
        """Take one finished message of a v3 run."""
        if isinstance(message, RemoveMessage):
            self._remove(message, ())
        else:
            self._append(self._add(message.id, ()), message)

    @property
    def strays(self) -> list[tuple[str, str]]:
        """What the consumer has beyond whole units: (id, text), the text empty for a message
        that came in tokens and says nothing. White space is nothing to find fault with."""
        empty = Counter({text_piece(""): 1})
        allows_empty = text_piece("") in self._known
        return [
            (str(copy.id), copy.rest)
            for copy in self._copies
            if copy.rest.strip()
            or (copy.pieces == empty and copy.buffer.in_tokens and not allows_empty)
        ]

    @property
    def drafts(self) -> set[Piece]:
        """What is said by messages that are marked as drafts, and by no other."""
        by_mark: dict[bool, set[Piece]] = {True: set(), False: set()}
        for copy in self._copies:
            by_mark[copy.is_draft].update(copy.pieces)
        return by_mark[True] - by_mark[False]

    @property
    def order(self) -> list[Piece]:
        """The pieces that the consumer has, by the first arrival of each."""
        return list(dict.fromkeys(piece for copy in self._copies for piece in copy.pieces))

    def _stream(self, ns: Ns, message: BaseMessage, meta: Mapping[str, Any]) -> None:
        if isinstance(message, RemoveMessage):
            self._remove(message, ns)
            return
        task = meta.get("langgraph_checkpoint_ns", "|".join(ns))
        for alone in self._copies:  # that value is the message, which has its id now
            if alone.is_alone and alone.said == _said(message):
                alone.id, alone.task, alone.is_alone = message.id, task, False
                return
        copy = next((c for c in self._copies if (c.id, c.task) == (message.id, task)), None)
        copy = copy or self._add(message.id, ns, task)
        self._append(copy, message)
        if (note := annotation_of(meta)) is not None and note.get("draft"):
            copy.is_draft = True

    def _deliver(self, ns: Ns, found: Listed, *, again: bool = False) -> None:
        message = found.message
        if isinstance(message, RemoveMessage):
            self._remove(message, ns)
            return
        new = Copy(message.id, ns)
        new.said = _said(message)
        new.is_alone = found.alone and not message.id
        self._append(new, message, count=False)
        for copy in list(self._copies):
            same = copy.pieces == new.pieces and copy.rest == new.rest
            is_copy = message.id and message.id == copy.id
            if same and (found.alone or (self._own_modes and is_copy and not again)):
                return
            if message.id and copy.id == message.id and copy.akin(ns) and not same:
                self._drop(copy)
        self._copies.append(new)
        self._count(new.pieces)

    def _snapshot(self, ns: Ns, data: Any) -> None:
        lists: dict[str, list[Listed]] = {}
        for found in listed(data):
            lists.setdefault(found.path, []).append(found)
        if not self._whole_states:
            for found in itertools.chain.from_iterable(lists.values()):
                self._deliver(ns, found)
            return
        known_paths = {path for known_ns, path in self._snapshots if known_ns == ns}
        for path in [*lists, *sorted(known_paths - set(lists))]:
            self._snapshot_list(ns, path, lists.get(path, []))

    def _snapshot_list(self, ns: Ns, path: str, items: list[Listed]) -> None:
        before = self._snapshots.get((ns, path), Counter())
        keys = [(item.message.id, _said(item.message)) for item in items]
        for message_id, said in (before - Counter(keys)).elements():
            if message_id is None:
                self._drop_nameless(said, ns)
        now: Snapshot = Counter()
        for key, found in zip(keys, items, strict=True):
            now[key] += 1
            if now[key] > before[key]:
                self._deliver(ns, found)
        kept = {message_id for message_id, _ in now}
        for message_id, _ in before:
            if message_id and message_id not in kept:
                self._drop_id(message_id, ns)
        self._snapshots[ns, path] = now

    def _remove(self, message: RemoveMessage, ns: Ns) -> None:
        if message.id == REMOVE_ALL_MESSAGES:
            for copy in list(self._copies):
                if copy.ns[: len(ns)] == ns:
                    self._drop(copy)
        else:
            self._drop_id(str(message.id), ns)

    def _drop_id(self, message_id: str, ns: Ns) -> None:
        found = [copy for copy in self._copies if copy.id == message_id]
        for copy in [copy for copy in found if copy.akin(ns)] or found:
            self._drop(copy)

    def _drop_nameless(self, said: str, ns: Ns) -> None:
        """A list has lost a message without an id, or named it."""
        for copy in self._copies:
            if (copy.id, copy.ns, copy.said) == (None, ns, said):
                self._drop(copy)
                return

    def _add(self, message_id: str | None, ns: Ns, task: str = "") -> Copy:
        copy = Copy(message_id, ns, task)
        self._copies.append(copy)
        return copy

    def _append(self, copy: Copy, message: BaseMessage, *, count: bool = True) -> None:
        before = copy.pieces
        copy.buffer.append(message)
        copy.pieces, copy.rest = copy.buffer.pieces(self._known)
        if count:
            self.live -= before
            self._count(copy.pieces, before)

    def _count(self, pieces: Counter[Piece], before: Counter[Piece] | None = None) -> None:
        self.live += pieces
        self.arrived += pieces - (before or Counter())
        self.peak |= self.live

    def _drop(self, copy: Copy) -> None:
        self._copies.remove(copy)
        self.live -= copy.pieces


def _said(message: BaseMessage) -> str:
    calls = [(c["name"], c["args"]) for c in getattr(message, "tool_calls", ())]
    return f"{message.content}{calls}"
