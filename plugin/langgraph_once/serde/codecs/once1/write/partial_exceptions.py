"""Writing an exception that holds something that cannot be written: the rest of it is kept.

LangGraph stores what a task failed with, and that may hold anything: a response with its socket,
say. The checkpoint must not be lost for it. So a part that cannot be written is replaced, and
visibly: an argument or attribute by an `Unstored`, an exception whose class cannot be written by
an `UnstoredError`. The class, the other parts, the notes and the linked exceptions stay.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from langgraph_once.errors import SerdeError
from langgraph_once.serde.codecs.once1.format.layout import ATOMS
from langgraph_once.serde.codecs.once1.registry.registry import Registry
from langgraph_once.serde.codecs.once1.types.base.protocol import Unstored, UnstoredError, told_by
from langgraph_once.serde.codecs.once1.types.python.exceptions import (
    ExceptionFamily,
    ExceptionGroupFamily,
    fill_links,
    take_links,
)
from langgraph_once.serde.codecs.once1.write.encoder import encode_slow

__all__ = ["encode_error"]

_MAX_LINKS: Final = 32
_MAX_LEVELS: Final = 8
_MAX_TRIALS: Final = 1000
"""Bound what is spent on an exception; a part beyond counts as one that cannot be written."""


def encode_error(
    error: BaseException, registry: Registry, *, on_unknown: Literal["raise", "opaque"] = "raise"
) -> bytes:
    """Return the bytes of what of `error` can be written. Never raises an `Exception`."""
    try:
        kept = _Salvage(registry, on_unknown).error(error)
        return encode_slow(kept, registry, on_unknown=on_unknown)
    except Exception:  # code of the exception's class, or a cycle that no reader could rebuild
        return encode_slow(_bare_stand_in(error), registry)


class _Salvage:
    """One call of `encode_error`."""

    def __init__(self, registry: Registry, on_unknown: Literal["raise", "opaque"]) -> None:
        self._registry = registry
        self._on_unknown = on_unknown
        self._made: dict[int, Any] = {}
        self._alive: list[Any] = []
        self._trials_left = _MAX_TRIALS

    def error(self, error: BaseException, links: int = 0) -> BaseException:
        """Return `error` if it can be written, else one like it that can."""
        made: BaseException | None = self._made.get(id(error))
        if made is not None:
            return made
        if self._can_write(error):
            return error
        made = _bare_stand_in(error)
        self._remember(error, made)
        if links <= _MAX_LINKS:
            try:
                made = self._like(error, links)
            except Exception:  # it has an attribute that could not be put back
                made = self._stand_in(error, links)
        self._made[id(error)] = made
        return made

    def _like(self, error: BaseException, links: int) -> BaseException:
        family = self._family(type(error))
        if isinstance(family, ExceptionFamily):
            return self._exception(error, family, links)
        if isinstance(family, ExceptionGroupFamily) and isinstance(error, BaseExceptionGroup):
            return self._group(error, family, links)
        return self._stand_in(error, links)

    def _exception(
        self, error: BaseException, family: ExceptionFamily, links: int
    ) -> BaseException:
        args, fields, state, linked = family.encode(error)
        made: BaseException = family.blank(type(error))
        self._made[id(error)] = made
        fields = {name: self._part(value) for name, value in fields.items()}
        family.fill(made, (self._args(args), fields, self._state(state), (None, None, False)))
        fill_links(made, self._links(linked, links))
        return self._with_text(error, made, links)

    def _group(
        self, error: BaseExceptionGroup[Any], family: ExceptionGroupFamily, links: int
    ) -> BaseException:
        message, exceptions, args, state, linked = family.encode(error)
        exceptions = [self.error(part, links + 1) for part in exceptions]
        none = (None, None, False)
        made: BaseException = family.decode(
            type(error), (message, exceptions, self._args(args), self._state(state), none)
        )
        self._made[id(error)] = made
        fill_links(made, self._links(linked, links))
        return self._with_text(error, made, links)

    def _stand_in(self, error: BaseException, links: int) -> BaseException:
        made = self._made[id(error)] = _bare_stand_in(error)
        notes = getattr(error, "__notes__", None)
        if type(notes) is list and all(type(note) is str for note in notes):
            made.__notes__ = [*notes]
        fill_links(made, self._links(take_links(error), links))
        return made

    def _with_text(self, error: BaseException, made: BaseException, links: int) -> BaseException:
        """Return `made` if it can tell what `error` tells."""
        text, told = told_by(error), told_by(made)
        if told is None and text is not None:
            return self._stand_in(error, links)
        if told != text:
            notes = getattr(made, "__notes__", [])
            made.__notes__ = [*notes, f"Its text was: {text}"]
        return made

    def _links(self, linked: tuple[Any, ...], links: int) -> tuple[Any, ...]:
        cause, context, suppress = linked
        kept = (None if link is None else self.error(link, links + 1) for link in (cause, context))
        return *kept, suppress

    def _args(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self._part(arg) for arg in args)

    def _state(self, state: Any) -> Any:
        values, *absent = state if type(state) is tuple else (state,)
        kept = {name: self._part(value) for name, value in values.items()}
        return (kept, *absent) if absent else kept

    def _part(self, value: Any, level: int = 0) -> Any:
        if isinstance(value, BaseException):
            return self.error(value, level)
        made = self._made.get(id(value))
        if made is not None:
            return made
        if self._can_write(value):
            return value
        self._remember(value, Unstored(_name(type(value))))
        kind = type(value)
        if level < _MAX_LEVELS:
            made = None
            if kind is list or kind is tuple:
                made = kind([self._part(item, level + 1) for item in value])
            elif kind is dict and self._can_write([*value]):
                made = {key: self._part(item, level + 1) for key, item in value.items()}
            if made is not None:
                self._made[id(value)] = made
        return self._made[id(value)]

    def _remember(self, value: Any, made: Any) -> None:
        self._alive.append(value)  # an id is an object's own only while it lives
        self._made[id(value)] = made

    def _can_write(self, value: Any) -> bool:
        if type(value) in ATOMS:
            return True
        if not self._trials_left:
            return False
        self._trials_left -= 1
        try:
            encode_slow(value, self._registry, on_unknown=self._on_unknown)
        except SerdeError:
            return False
        return True

    def _family(self, cls: type) -> Any:
        """Return the family that writes instances of `cls`, if any does."""
        try:
            writer = self._registry.writer(cls)
        except ValueError:  # its name leads nowhere, or it may not be loaded
            return None
        return writer and writer.family


def _bare_stand_in(error: BaseException) -> UnstoredError:
    return UnstoredError(_name(type(error)), told_by(error) or "")


def _name(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"
