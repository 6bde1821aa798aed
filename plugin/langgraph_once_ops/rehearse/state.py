"""What becomes of the values of a thread under the new graph."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeAlias

from langgraph.channels import LastValue
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot
from pydantic import BaseModel, TypeAdapter, ValidationError

from langgraph_once.serde import STAND_INS, Mention, TypeStatusChecker, is_named_today
from langgraph_once_ops.due import is_internal, is_node_channel, is_note, join_starts
from langgraph_once_ops.rehearse.heads import Head
from langgraph_once_ops.rehearse.report import Add, Report
from langgraph_once_ops.rehearse.shape import Shape, hints_of, required

Tried: TypeAlias = Callable[[], StateSnapshot | None]

_MAX_PARTS: Final = 100_000
"""Of a value, so many parts are looked at."""

_PLAIN: Final = {str, bytes, int, float, bool, type(None)}


class State:
    """Holds the channels of a graph against what is stored.

    Args:
        graph: The new graph, or a subgraph of it.
        new: Its shape.
        old: The shape of the graph before, if it is known.
    """

    def __init__(self, graph: Pregel[Any, Any, Any, Any], new: Shape, old: Shape | None) -> None:
        self._graph, self._new, self._old = graph, new, old
        self._adapters = {name: _adapters(hints) for name, hints in hints_of(graph).items()}

    def look(self, head: Head, add: Add, *, is_whole: bool, tried: Tried) -> None:
        """Add what becomes of each channel.

        Args:
            head: The head.
            add: Is called with each finding.
            is_whole: Whether all of its values could be rebuilt; else they tell nothing.
            tried: Gives what the new graph makes of it; None if it cannot.
        """
        for node in self._unread_joins(head):
            add("join-unread", node)
        for name in head.checkpoint["channel_versions"]:
            if not is_internal(name):
                self._kind(head, name, tried, add)
        written = [each[1:] for each in head.saved.pending_writes or () if not is_note(each[1])]
        for name, value in (*head.values.items(), *written):
            if is_internal(name) or value is None or is_node_channel(name, value, head.checkpoint):
                continue
            channel = self._graph.channels.get(name)
            if channel is None:
                if not _is_empty(value):
                    add("channel-gone", name)
            elif isinstance(value, _DeltaSnapshot) or not is_whole:
                continue
            elif (name in head.values or type(channel) is LastValue) and not self._takes(
                name, value
            ):
                add("value", name)

    def _unread_joins(self, head: Head) -> Iterator[str]:
        for name in filter(join_starts, head.values):
            join = self._graph.channels.get(name)
            if join is not None and not _reads(join, head.values[name]):
                yield name.rpartition(":")[2]

    def _kind(self, head: Head, name: str, tried: Tried, add: Add) -> None:
        was = self._old.channels.get(name, "") if self._old else ""
        now = self._new.channels.get(name)
        value = head.values.get(name)
        counted = head.saved.metadata.get("counters_since_delta_snapshot", ())
        if now is not None and now.startswith("DeltaChannel"):
            return
        if isinstance(value, _DeltaSnapshot) or (
            value is None and (name in counted or was.startswith("DeltaChannel"))
        ):
            add(self._delta(name, tried) if now else "channel-gone", name)
        elif was and now and was != now:
            add("reducer", name)

    def _delta(self, name: str, tried: Tried) -> str:
        """What becomes of a delta channel that is none now: LangGraph can rebuild some."""
        state = tried()
        value = None if state is None else _held(state.values).get(name)
        is_lost = value is None or _is_empty(value) or isinstance(value, _DeltaSnapshot)
        return "delta-gone" if is_lost else "delta-rebuilt"

    def _takes(self, name: str, value: Any) -> bool:
        adapters = self._adapters.get(name)
        if not adapters or (self._old and self._old.types.get(name) == self._new.types.get(name)):
            return True
        return any(_fits(adapter, value) for adapter in adapters)


class Types:
    """Tells what stands in the way of stored types, and what could help.

    Args:
        type_status: Whether stored types can be rebuilt.
        report: Takes what is found.
        classes: Those that the new graph's state names, as "module:Name".
    """

    def __init__(self, type_status: TypeStatusChecker, report: Report, classes: set[str]) -> None:
        self._type_status, self._report = type_status, report
        self._classes = classes
        self._kinds: dict[str, str] = {}

    def look(self, head: Head, add: Add) -> bool:
        """Add the types in a head that cannot be rebuilt as they were; whether there is none."""
        written = [value for _, _, value in head.saved.pending_writes or ()]
        met: dict[str, Any] = {}
        for part in _parts([*head.values.values(), *written]):
            if type(part) in STAND_INS:
                met.setdefault(part.type_name, part)
            elif isinstance(part, BaseModel) and _lacks(part):
                name = f"{type(part).__module__}:{type(part).__qualname__}"
                self._report.upgrades.add(name)
                add("type-incomplete", name)
        for name, stand_in in met.items():
            add(self._kind(name, stand_in), name)
        return not met

    def _kind(self, name: str, stand_in: Any) -> str:
        if name not in self._kinds:
            self._kinds[name] = self._found(name, _mention(stand_in))
        return self._kinds[name]

    def _found(self, name: str, mention: Mention | None) -> str:
        if mention is None:
            return "type-opaque"
        status = self._type_status.of(mention)
        if status.word == "line":
            self._report.allowed_types.add(status.to_list)
            return "type-refused"
        if status.word != "lost" or is_named_today(status.name):
            self._report.upgrades.add(name)
            return "type-broken"
        self._propose_aliases(mention)
        return "type-gone"

    def _propose_aliases(self, mention: Mention) -> None:
        """Propose where the classes of a type are today, if the type is found there then."""
        moved = {name: self._moved(name) for name in mention.names()}
        aliases = {old: new for old, new in moved.items() if new is not None and new != old}
        try:
            status = self._type_status.with_aliases(aliases).of(mention)
        except ValueError:  # the setting takes no brackets
            return
        if status.word == "lost":
            return
        self._report.aliases |= aliases
        if status.word == "line":
            self._report.allowed_types.add(status.to_list)

    def _moved(self, name: str) -> str | None:
        """Where a class of this name is today, if there is one place only."""
        last = name.rpartition(":")[2].rpartition(".")[2]
        near = {each for each in self._classes if each.rpartition(":")[2] == last}
        tops = {each.partition(":")[0].partition(".")[0] for each in (*self._classes, name)}
        near |= {
            f"{module}:{last}"
            for module, each in [*sys.modules.items()]
            if module.partition(".")[0] in tops
            and isinstance(found := vars(each).get(last), type)
            and found.__module__ == module
        }
        return near.pop() if len(near) == 1 else None


def _mention(stand_in: Any) -> Mention | None:
    """How its row names a type; None where an adapter wrote it, which names none."""
    mention = Mention.of_stand_in(stand_in)
    return mention if mention and mention.name else None


def _adapters(hints: list[Any]) -> list[TypeAdapter[Any]]:
    """What checks a value against annotations; none if one of them takes all, or is not known."""
    found = []
    for hint in hints:
        try:
            found.append(_adapter(hint))
        except Exception:  # of a schema that pydantic cannot make: it forbids nothing
            return []
    return [] if Any in hints or object in hints else found


def _adapter(hint: Any) -> TypeAdapter[Any]:
    is_schema = isinstance(hint, type) and (issubclass(hint, BaseModel) or is_dataclass(hint))
    # Pydantic refuses a config beside a class that may have one of its own.
    if is_schema or hasattr(hint, "__required_keys__"):
        return TypeAdapter(hint)
    return TypeAdapter(hint, config={"arbitrary_types_allowed": True})


def _fits(adapter: TypeAdapter[Any], value: Any) -> bool:
    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    except Exception:
        return True  # a validator of the user wants what is not here
    return True


def _held(values: Any) -> Mapping[str, Any]:
    return values if isinstance(values, Mapping) else vars(values)


def _reads(join: Any, value: Any) -> bool:
    """Whether a join can read its stored value; the join of a deferred node stores another form."""
    try:
        return isinstance(join.from_checkpoint(value).seen, set)
    except (TypeError, ValueError):
        return False


def _is_empty(value: Any) -> bool:
    return isinstance(value, str | list | dict | set | tuple) and not value


def _parts(value: Any) -> Iterator[Any]:
    """All that a value holds, itself first."""
    todo = [value]
    for count, part in enumerate(todo):  # it grows: a stack of calls would end at some depth
        if count > _MAX_PARTS:
            return
        yield part
        if type(part) in _PLAIN:
            continue
        if isinstance(part, Mapping):
            todo += part.values()
        elif isinstance(part, list | tuple | set | frozenset):
            todo += part
        elif isinstance(part, BaseModel):
            todo += vars(part).values()
        elif is_dataclass(part) and not isinstance(part, type):
            todo += [getattr(part, each.name, None) for each in fields(part)]


def _lacks(model: BaseModel) -> bool:
    return not required(type(model)) <= vars(model).keys()
