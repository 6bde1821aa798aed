"""Counts which types were refused or reported, and proposes the setting that would let them in."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.event_hooks import register_serde_event_listener
from pydantic import TypeAdapter, ValidationError

from langgraph_once.config import TypeName

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.event_hooks import SerdeEvent

_MAX_NAMES: Final = 1000
"""Bounds the memory of an audit of bytes that are made to name ever new types."""
_NOT_YOURS: Final = frozenset({"builtins", "langgraph_once"})
_TYPE_NAME: Final = TypeAdapter(TypeName)


class Audit:
    """Counts the serde events of this process while it is entered; may be entered again.

    All serializers report here, LangGraph's too, from all threads:

        with Audit() as audit:
            graph.get_state(config)
        print(audit.proposal())

    Under "warn" what is written is heard as well. The names come from the bytes, so whoever can
    write to the database chooses them: read a proposal before you follow it. In what LangGraph
    wrote, a nested class appears as `mod:Inner`, and is allowed as `mod:Outer.Inner`.

    Attributes:
        dropped: Events that were not counted, because they named too many different types.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()
        self._unregister: Callable[[], None] | None = None

    def __enter__(self) -> Self:
        if self._unregister is not None:
            raise RuntimeError("this audit is running already; make another one")
        self._unregister = register_serde_event_listener(self._count)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._unregister is not None:
            self._unregister()
            self._unregister = None

    @property
    def counts(self) -> dict[tuple[str, str], int]:
        """How often each kind of event named each type: `(kind, "module:Name")`."""
        with self._lock:
            return dict(self._counts)

    @property
    def blocked(self) -> tuple[str, ...]:
        """The types that were refused, or whose methods were, as `module:Qual.Name`, sorted."""
        return self._named("msgpack_blocked", "msgpack_method_blocked")

    @property
    def unregistered(self) -> tuple[str, ...]:
        """The types that strict enforcement would refuse, and that were not refused, sorted."""
        return self._named("msgpack_unregistered_allowed")

    def proposal(self, *, allowed_types: Iterable[str] = ()) -> str:
        """Return two lines that let what was met be loaded: for `langgraph.json`, for `.env`.

        Args:
            allowed_types: What the setting holds today; it comes first.
        """
        calls = {*self._named("msgpack_method_blocked")}
        met = [name for name in (*self.blocked, *self.unregistered) if name not in calls]
        names = proposed(met, allowed_types)
        return f"{manifest_line(names)}\n{environment_line(names)}"

    def _count(self, event: SerdeEvent) -> None:
        key = (event["kind"], f"{event['module']}:{event['name']}")
        with self._lock:
            if key in self._counts or len(self._counts) < _MAX_NAMES:
                self._counts[key] += 1
            else:
                self.dropped += 1

    def _named(self, *kinds: str) -> tuple[str, ...]:
        return tuple(sorted({name for kind, name in self.counts if kind in kinds}))


def proposed(met: Iterable[str], allowed_types: Iterable[str] = ()) -> list[str]:
    """Return what the setting should hold: all that it holds, then what was met and is yours."""
    known = dict.fromkeys(allowed_types)
    return [*known, *(name for name in dict.fromkeys(met) if name not in known and is_yours(name))]


def manifest_line(names: Iterable[str]) -> str:
    """Return the setting for `langgraph.json`, below `checkpointer.once.serde`."""
    return f'"allowed_types": {json.dumps([*names])}'


def environment_line(names: Iterable[str]) -> str:
    """Return the setting for `.env`, or a shell."""
    return f"ONCE_SERDE__ALLOWED_TYPES='{json.dumps([*names])}'"


def is_yours(name: str) -> bool:
    """Whether the setting takes it, and it is neither ours nor LangGraph's to allow."""
    try:
        _TYPE_NAME.validate_python(name)
    except ValidationError:
        return False
    module, _, path = name.partition(":")
    is_safe = (module, path.rpartition(".")[2]) in SAFE_MSGPACK_TYPES
    return not is_safe and module.partition(".")[0] not in _NOT_YOURS
