"""A twin of a saver: it tells which checkpoint a run begins at, and which it comes to.

LangGraph makes shallow copies of savers, too (1.2.24, `BaseCheckpointSaver.with_allowlist`). A
twin shares even the attributes of its original: what one of them opens or sets up, the other has.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, CheckpointTuple

__all__ = ["Listener", "twin_of"]


class Listener(Protocol):
    """Hears what one run reads and writes."""

    def takes_first(self) -> bool:
        """Whether nothing was read yet; from now on something is."""

    def begins_at(self, found: CheckpointTuple | None) -> None:
        """Hear where the run begins."""

    async def abegins_at(self, found: CheckpointTuple | None) -> None:
        """`begins_at`, async."""

    def reads(self, found: CheckpointTuple) -> None:
        """Hear what else was read: where a graph inside begins."""

    def comes_to(self, config: RunnableConfig, checkpoint: Checkpoint) -> None:
        """Hear what was stored."""


def twin_of(saver: BaseCheckpointSaver[Any], listener: Listener) -> BaseCheckpointSaver[Any]:
    """A saver that is as `saver` in everything, and tells `listener`.

    One that keeps nothing in a `__dict__` has none: it is given back, and nobody is told.
    """
    try:
        original: Any = type(saver)
        cls: Any = _twin_class(original)
        twin: BaseCheckpointSaver[Any] = cls.__new__(cls)
        twin.__dict__ = vars(saver)
    except TypeError:
        return saver
    for name in _slots(original):
        if hasattr(saver, name):
            setattr(twin, name, getattr(saver, name))
    twin.listener = listener  # type: ignore[attr-defined]  # the slot
    return twin


@functools.cache
def _twin_class(saver: type) -> type:
    # `listener` is a slot: the twin shares the `__dict__` of the original, which has no listener.
    names = {"__slots__": ("listener",), "__module__": saver.__module__}
    return type(saver.__name__, (_Twin, saver), {**names, "__qualname__": saver.__qualname__})


def _slots(cls: type) -> Iterator[str]:
    """The attributes of an object that are in no `__dict__`."""
    for base in cls.__mro__:
        named = vars(base).get("__slots__", ())
        for name in (named,) if isinstance(named, str) else named:
            is_private = name.startswith("__") and not name.endswith("__")
            yield f"_{base.__name__.lstrip('_')}{name}" if is_private else name


class _Twin(BaseCheckpointSaver[Any]):
    """What a twin does beside its original."""

    __slots__ = ()

    listener: Listener

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        is_first = self.listener.takes_first()
        found = super().get_tuple(config)
        if is_first:
            self.listener.begins_at(found)
        elif found is not None:
            self.listener.reads(found)
        return found

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        is_first = self.listener.takes_first()
        found = await super().aget_tuple(config)
        if is_first:
            await self.listener.abegins_at(found)
        elif found is not None:
            self.listener.reads(found)
        return found

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, *rest: Any, **named: Any
    ) -> RunnableConfig:
        self.listener.comes_to(config, checkpoint)
        return super().put(config, checkpoint, *rest, **named)

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, *rest: Any, **named: Any
    ) -> RunnableConfig:
        self.listener.comes_to(config, checkpoint)
        return await super().aput(config, checkpoint, *rest, **named)

    def __del__(self) -> None:
        """Nothing: what there is to close belongs to the original."""
