"""States and updates that come again as they were, and what updates alone tell.

A node whose answer a cache policy provides does not run, nor does one that was done when the
run before this was cut short. No handler hears of it and `messages` stays silent; of all modes
only `updates` and `values` tell. So there a stream of `messages` is asked for `updates` too, the
messages in those marked as cached are said in `messages` first, and what was not asked for is
left out.

Whether a state is as it was, its fingerprint tells: not `==`, to which `1` is `True` and the order
of keys is nothing, and without keeping the state itself. A value that cannot be looked into has
none, so it counts as changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from hashlib import blake2b
from itertools import chain
from typing import Any
from uuid import UUID, uuid4

from langchain_core.messages import BaseMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from pydantic import BaseModel

from langgraph_once.stream.annotation import written_by
from langgraph_once.stream.content import as_whole, content_of
from langgraph_once.stream.ledger import Ledger
from langgraph_once.stream.messages_within import ROOT_KEY, found_in_update
from langgraph_once.stream.places import NS_SEP, Place
from langgraph_once.stream.shapes import INTERRUPT_KEY, Part
from langgraph_once.stream.state_cut import IsMessageKeyIn, listed

ATOMS = frozenset(
    {str, int, float, bool, type(None), date, datetime, time, timedelta, Decimal, UUID, complex}
)
# What is deeper counts as changed: at worst it comes once more.
MAX_DEPTH = 64


class _OpaqueError(Exception):
    """A value that cannot be looked into."""


def fingerprint(value: Any, *, of_tuples: bytes = b"tuple") -> bytes | None:
    """The fingerprint of `value`, equal for equal values of equal types; None if it has none.

    Args:
        value: What may have come before.
        of_tuples: What a tuple counts as: a `list` where the value may come from a checkpoint, as
            `JsonPlusSerializer` stores tuples as lists.
    """
    known: dict[int, bytes] = {}  # what stands for the containers that were met, by `id()`

    def said(part: Any, depth: int) -> bytes:
        """What stands for a part; for a container its hash, as it may come often."""
        kind = type(part)
        if kind in ATOMS:
            text = hex(part) if kind is int else repr(part)  # Python writes 4,300 digits
            return f"{kind.__name__}{len(text)}:{text}".encode("utf-8", "surrogatepass")
        if kind is bytes:
            return bytes(b"bytes%d:" % len(part) + part)
        if isinstance(part, Enum):
            # Not as text: that of a `StrEnum` is its value. A flag of unknown bits has no name.
            return f"{kind.__module__}.{kind.__qualname__}.{part.name or part.value}".encode()
        if id(part) not in known:
            if depth > MAX_DEPTH:
                raise _OpaqueError
            known[id(part)] = b"around%d:" % depth  # should it be met inside itself
            name, items = (of_tuples, part) if kind is tuple else _inside(part)
            digest = blake2b(b"%s%d:" % (name, len(items)), digest_size=16)
            for item in items:
                digest.update(said(item, depth + 1))
            known[id(part)] = digest.digest()
        return known[id(part)]

    try:
        return blake2b(said(value, 0), digest_size=16).digest()
    except _OpaqueError:
        return None


def _inside(value: Any) -> tuple[bytes, list[Any]]:
    """What kind of container a value is, and what it holds."""
    kind, name = type(value), f"{type(value).__module__}.{type(value).__qualname__}"
    if kind is list:
        return b"list", value
    if kind is dict:
        name, named = "dict", value
    elif isinstance(value, BaseModel):
        named = {**value.__dict__, **(value.__pydantic_extra__ or {})}
    elif is_dataclass(value) and not isinstance(value, type):
        named = {field.name: getattr(value, field.name, None) for field in fields(value)}
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        named = value._asdict()
    else:
        raise _OpaqueError
    return name.encode(), [*chain.from_iterable(named.items())]


METADATA_KEY = "__metadata__"


def is_unchanged(part: Part, ledger: Ledger) -> bool:
    """Whether the state in a `values` part is the one that its namespace had last.

    With an interrupt it is always news. Notes the state; `changed_keys` compares with the one
    before.
    """
    now = _fingerprints(part.data)
    ledger.state_before = before = ledger.states.get(part.ns)
    ledger.states.note(part.ns, now)
    if part.interrupts is not None:
        return False
    return before == now and None not in now.values()


def changed_keys(part: Part, ledger: Ledger) -> Any:
    """The state in a `values` part without the keys that are as they were."""
    before = ledger.state_before
    if not isinstance(part.data, dict) or before is None:
        return part.data
    now = ledger.states[part.ns]
    return {
        key: value
        for key, value in part.data.items()
        if now[key] is None or now[key] != before.get(key)
    }


def is_cached(part: Part) -> bool:
    """Whether an `updates` part tells of a node that did not run for it."""
    return isinstance(part.data, dict) and bool((part.data.get(METADATA_KEY) or {}).get("cached"))


def is_repeated_update(part: Part, ledger: Ledger, *, note: bool = True) -> bool:
    """Whether an `updates` part is one that a resumed run repeats for completeness (D11).

    Upstream marks it as cached, and so it marks a result that a cache policy provides, which
    this consumer may never have seen: only what the stream before delivered is a repetition.
    With `note` the ledger notes it as delivered.
    """
    if not isinstance(part.data, dict):
        return False
    update = {key: value for key, value in part.data.items() if key != METADATA_KEY}
    mark, cached = fingerprint([part.ns, update], of_tuples=b"list"), is_cached(part)
    is_repeated = cached and mark is not None and ledger.had_update(part.ns, mark)
    if note:
        ledger.note_update(part.ns, mark, ran=not cached, waits=bool(update.get(INTERRUPT_KEY)))
    return is_repeated


def _fingerprints(state: Any) -> dict[str, bytes | None]:
    if isinstance(state, dict):
        return {str(key): fingerprint(value) for key, value in state.items()}
    return {ROOT_KEY: fingerprint(state)}


@dataclass
class CachedParts:
    """Says in `messages` what cached updates hold.

    Args:
        modes: The modes that the consumer asked for.
        ledger: What the consumer has; updates that it was not to get are noted here too.
        is_message_key: Which keys of a graph hold messages, for values that are none yet.
        has_cache: Whether the graph has a cache; if not, this is a run that was cut short, and
            the ledger of that run must tell what the consumer has.
        with_results: Whether the results of tools are said.
        annotates: Whether the consumer reads annotations.
    """

    modes: Collection[str]
    ledger: Ledger
    is_message_key: IsMessageKeyIn
    _: KW_ONLY
    has_cache: bool
    with_results: bool = True
    annotates: bool = True

    def expand(self, part: Part) -> Iterator[Part]:
        """A part of mode `updates`, if it was asked for, after the messages only it tells of."""
        wants_updates = "updates" in self.modes
        came_before = is_repeated_update(part, self.ledger, note=not wants_updates)
        is_news = is_cached(part) and (self.has_cache or self.ledger.epoch > 1)
        for node, update in part.data.items() if came_before or is_news else ():
            if came_before:
                for message, _ in listed(update):
                    self._stand(part.ns, node, message)
            elif node != METADATA_KEY:
                yield from self._messages(part, node, update)
        if wants_updates:
            yield part

    def _stand(self, ns: Place, node: str, message: BaseMessage) -> bool:
        """Note that what a task wrote, and the consumer has, is of this step too.

        Returns:
            Whether the stream before told of it, or of what a task beside wrote in its place.
        """
        task, entries = NS_SEP.join((*ns, node)), self.ledger.entries(str(message.id))
        before = self.ledger.epoch - 1
        is_one = [known.epoch for known in entries] == [before]  # a list may hold two of one id
        was_told = is_one and self.ledger.ended == before
        for known in entries:
            self.ledger.claim(known, task)  # so that no other is taken for it
            known.epoch = self.ledger.epoch
        self.ledger.contested.add(str(message.id))  # a task beside it may write it, too
        return was_told

    def _messages(self, part: Part, node: str, update: Any) -> Iterator[Part]:
        found = found_in_update(update, lambda key: self.is_message_key(part.ns, key))
        task = NS_SEP.join((*part.ns, node))
        messages = [
            message
            for message in found.messages
            if message.id != REMOVE_ALL_MESSAGES and not self._stand(part.ns, node, message)
        ]
        for message in messages:
            if not message.id:
                message.id = str(uuid4())  # as the handler, so that the state has it under this id
        said = [
            (message, id(message) in found.nameless)
            for message in messages
            if self.with_results or not isinstance(message, ToolMessage)
        ]
        for message, is_unnamed in () if self.has_cache else said:
            content, message_id = content_of(message), str(message.id)
            if is_unnamed:
                continue  # it waits for its id
            if not self.ledger.goes_on(message_id, content, task, part.ns, unnamed=False):
                gone = RemoveMessage(id=message_id)  # some of it may have come unnoted
                meta = written_by(task, "resume", sent=self.annotates, resumed=True)
                yield Part(part.ns, "messages", gone, meta)
        for message, is_unnamed in said:
            is_known = bool(self.ledger.entries(str(message.id)))
            flags = {"unnamed": is_unnamed, "given": is_known, "resumed": not self.has_cache}
            meta = written_by(task, "node", sent=self.annotates, **flags)
            yield Part(part.ns, "messages", as_whole(message), meta)
