"""Two checkpoints compared: which channels differ, and of messages which. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Literal, NamedTuple, TypeAlias

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.graph.message import add_messages

from langgraph_once.checkpoint import COUNTERS, OnceSaver
from langgraph_once.serde import OnceSerializer
from langgraph_once.stream import overwritten
from langgraph_once_ops.survey import kind_of

How: TypeAlias = Literal["added", "removed", "changed"]

_NOT_THERE: Any = object()


class MessageChange(NamedTuple):
    """A message that one of two checkpoints has, or has in another form.

    Attributes:
        type: Of the message: `ai`, `human`, `tool`, ….
        sizes: Bytes of it, uncompressed, in the first and in the second; None where it is not.
        values: Itself, in the first and in the second, if asked for.
    """

    id: str
    type: str
    how: How
    sizes: tuple[int | None, int | None]
    values: tuple[Any, Any] | None = None


class ChannelChange(NamedTuple):
    """A channel whose value is not the same in two checkpoints.

    Attributes:
        kind: What kind of value it is, in the words of `survey`.
        sizes: Bytes of it, uncompressed, in the first and in the second; None where it is not.
        messages: If they are messages: those that differ, by id.
        values: The values, in the first and in the second, if asked for; not of messages.
    """

    name: str
    kind: str
    how: How
    sizes: tuple[int | None, int | None]
    messages: list[MessageChange] | None = None
    values: tuple[Any, Any] | None = None


def changes(
    saver: OnceSaver, first: CheckpointTuple, second: CheckpointTuple, *, with_values: bool = False
) -> list[ChannelChange]:
    """Compare two checkpoints, sorted by channel.

    Args:
        saver: Has read them; it reads what delta channels are rebuilt from.
        first: The one before.
        second: The one after.
        with_values: Whether the values are part of what is found.

    Raises:
        SerdeError: A value cannot be read.
        StorageError: The database cannot be read.
    """
    compare = _Compare(saver.serde, with_values=with_values)
    sides = _values(saver, first), _values(saver, second)
    found = (
        compare.channel(name, *(side.get(name, _NOT_THERE) for side in sides))
        for name in sorted({*sides[0], *sides[1]})
    )
    return [each for each in found if each is not None]


class _Compare:
    """Compares values by what is stored of them: `1 == True`, and classes may define `==`."""

    def __init__(self, serde: Any, *, with_values: bool) -> None:
        plain = {"compression": "none", "encryption_keys": {}}
        self._serde: OnceSerializer = serde.with_config(replace(serde.config, **plain))
        self._with_values = with_values

    def channel(self, name: str, first: Any, second: Any) -> ChannelChange | None:
        how, sizes = self._difference(first, second)
        if how is None:
            return None
        kind = kind_of(first if second is _NOT_THERE else second)
        listed = [_listed(each) for each in (first, second)]
        if any(listed) and all(isinstance(one, BaseMessage) for each in listed for one in each):
            messages = [*self._messages(*map(_by_id, listed))]
            return ChannelChange(name, kind, how, sizes, messages)
        return ChannelChange(name, kind, how, sizes, values=self._shown(first, second))

    def _messages(
        self, first: Mapping[str, BaseMessage], second: Mapping[str, BaseMessage]
    ) -> Iterator[MessageChange]:
        for id_ in dict.fromkeys((*first, *second)):
            pair = first.get(id_, _NOT_THERE), second.get(id_, _NOT_THERE)
            how, sizes = self._difference(*pair)
            if how is not None:
                kind = (first.get(id_) or second[id_]).type
                yield MessageChange(id_, kind, how, sizes, self._shown(*pair))

    def _difference(
        self, first: Any, second: Any
    ) -> tuple[How | None, tuple[int | None, int | None]]:
        a, b = (
            None if each is _NOT_THERE else self._serde.dumps_typed(each)
            for each in (first, second)
        )
        sizes = a and len(a[1]), b and len(b[1])
        if a is None or b is None:
            return "added" if a is None else "removed", sizes
        return None if a == b else "changed", sizes

    def _shown(self, *pair: Any) -> Any:
        if not self._with_values:
            return None
        return tuple(None if each is _NOT_THERE else each for each in pair)


def _values(saver: OnceSaver, saved: CheckpointTuple) -> dict[str, Any]:
    """The values of a checkpoint, those of its delta channels too, if they hold messages."""
    values = {
        name: value.value if isinstance(value, _DeltaSnapshot) else value
        for name, value in saved.checkpoint["channel_values"].items()
    }
    deltas = [name for name in saved.metadata.get(COUNTERS) or () if name not in values]
    if deltas:
        found = saver.get_delta_channel_history(config=saved.config, channels=deltas)
        for name, history in found.items():
            seed: Any = history.get("seed", [])
            seed = seed.value if isinstance(seed, _DeltaSnapshot) else seed
            values[name] = _folded(seed, [value for _, _, value in history["writes"]])
    return values


def _folded(seed: Any, writes: Sequence[Any]) -> Any:
    """Messages under their ids. Of other values only the graph knows the reducer: they stay apart,
    and all that can be said is whether they are the same."""
    try:
        return reduce(_added, writes, seed)
    except Exception:  # whatever a list of messages is not
        return [seed, *writes]


def _added(messages: Any, write: Any) -> Any:
    value, replaces = overwritten(write)
    return add_messages([] if replaces else messages, value)


def _listed(value: Any) -> Sequence[Any]:
    if value is _NOT_THERE:
        return ()
    return value if isinstance(value, list | tuple) else [value]


def _by_id(messages: Iterable[BaseMessage]) -> dict[str, BaseMessage]:
    return {each.id or f"(no id, {at})": each for at, each in enumerate(messages)}
