"""State payloads without the messages that the consumer already has.

`updates` and `values` repeat every message that `messages` delivered, once per level of
nesting and once per step. Here a list of messages is cut down to what is new, in the
language of `add_messages`: a message that is new or says something else stays, one that the
consumer has is left out, and one that left a state is said as `RemoveMessage`. Folding what
remains by id gives the state.

Only lists of messages are cut; a message that stands alone under a key is that key's value
and stays. Keys that begin with two underscores (`__interrupt__`, `__metadata__`) are the
platform's and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langgraph_once.stream.content import content_of
from langgraph_once.stream.ledger import Entry, Ledger, Place

__all__ = ["new_in_update", "new_in_values"]


def new_in_update(data: Any, ledger: Ledger, *, ns: Place) -> Any:
    """`data` of an `updates` part without the messages that `ledger` knows.

    Args:
        data: Not changed: what must change is rebuilt, and `data` itself is returned where
            nothing must.
        ledger: What the consumer has; notes what stays as delivered.
        ns: Namespace of the graph that was updated.
    """
    return _StateCut(ledger, ns, _ids(data), gone=None).cut(data, ())


def new_in_values(data: Any, ledger: Ledger, *, ns: Place) -> Any:
    """`data` of a `values` part without the messages that `ledger` knows.

    The state is complete, so a message that the one before held and this one does not has
    been removed, and a `RemoveMessage` says so.

    Args:
        data: As `new_in_update`.
        ledger: As `new_in_update`.
        ns: Namespace of the graph whose state it is.
    """
    listed = _ids(data)
    return _StateCut(ledger, ns, listed, gone=ledger.snapshot(ns, listed)).cut(data, ())


class _StateCut:
    """One pass over one payload.

    Args:
        ledger: What the consumer has.
        ns: Namespace of the graph whose state or update it is.
        listed: The ids in the payload.
        gone: In a snapshot the ids to say were removed, with the place to say it; None in an
            update.
    """

    def __init__(
        self,
        ledger: Ledger,
        ns: Place,
        listed: Mapping[str, Place],
        *,
        gone: Mapping[str, Place] | None,
    ) -> None:
        self._ledger = ledger
        self._ns = ns
        self._listed = listed
        self._is_snapshot = gone is not None
        self._gone = gone or {}
        self._copies: dict[Entry, str] = {}

    def cut(self, data: Any, place: Place) -> Any:
        if type(data) is dict:
            cut = {
                key: value if _is_reserved(key) else self.cut(value, (*place, str(key)))
                for key, value in data.items()
            }
            return cut if any(cut[key] is not data[key] for key in data) else data
        if not _is_list(data):
            return data
        if _holds_messages(data) or place in self._gone.values():
            items = [*self._removals(place), *self._new_messages(data)]
        else:
            items = [self.cut(item, (*place, str(i))) for i, item in enumerate(data)]
        if len(items) == len(data) and all(map(_same, items, data)):
            return data
        return type(data)(items)

    def _removals(self, place: Place) -> Iterator[RemoveMessage]:
        for message_id, was_at in self._gone.items():
            if was_at == place:
                yield from self._remove(message_id)

    def _remove(self, message_id: str) -> Iterator[RemoveMessage]:
        for known_id in self._ledger.forget(message_id):
            yield RemoveMessage(id=known_id)

    def _new_messages(self, items: Any) -> Iterator[Any]:
        for item in items:
            if not isinstance(item, BaseMessage):
                yield item
            elif not item.id:
                if not self._is_snapshot:
                    self._ledger.deliver_nameless(self._ns, content_of(item))
                yield item
            elif not isinstance(item, RemoveMessage):
                yield from self._new_message(item, item.id)
            elif item.id == REMOVE_ALL_MESSAGES:
                self._ledger.forget_all()
                yield item
            else:
                yield from self._remove(item.id)

    def _new_message(self, message: BaseMessage, message_id: str) -> Iterator[BaseMessage]:
        """`message`, if the consumer lacks it; from now on it has it."""
        content = content_of(message)
        known = self._ledger.entries(message_id)
        if any(entry.content == content and self._is(message_id, entry) for entry in known):
            return
        if not known and self._ledger.name(
            message_id, content, ns=self._ns, snapshot=self._is_snapshot
        ):
            return
        if any(entry.content != content for entry in known):
            had = self._ledger.forget(message_id)
            yield from (RemoveMessage(id=known_id) for known_id in had if known_id != message_id)
        self._ledger.deliver(message_id, content)
        yield message

    def _is(self, message_id: str, entry: Entry) -> bool:
        """Whether this id means that message: as its own id, or as that of its only copy here.

        A node may return a text twice, what it streamed and the same again on purpose: where
        both are in the payload, the second is no copy.
        """
        if message_id == entry.id:
            return True
        return (
            entry.id not in self._listed
            and self._copies.setdefault(entry, message_id) == message_id
        )


def _ids(data: Any) -> dict[str, Place]:
    return {str(message.id): place for message, place in _listed(data, ()) if message.id}


def _listed(data: Any, place: Place) -> Iterator[tuple[BaseMessage, Place]]:
    """Every message in a list of messages, with the place of the list."""
    if type(data) is dict:
        for key, value in data.items():
            if not _is_reserved(key):
                yield from _listed(value, (*place, str(key)))
    elif _is_list(data):
        if _holds_messages(data):
            yield from ((item, place) for item in data if isinstance(item, BaseMessage))
        else:
            for i, item in enumerate(data):
                yield from _listed(item, (*place, str(i)))


def _is_list(data: Any) -> bool:
    return type(data) is list or type(data) is tuple


def _holds_messages(items: Any) -> bool:
    return any(isinstance(item, BaseMessage) for item in items)


def _is_reserved(key: Any) -> bool:
    return isinstance(key, str) and key.startswith("__")


def _same(new: Any, old: Any) -> bool:
    return new is old
