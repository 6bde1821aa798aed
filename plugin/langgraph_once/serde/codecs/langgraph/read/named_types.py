"""The `msgpack` codec, reading: from the type that an extension names to what makes its values."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
    EXT_METHOD_SINGLE_ARG,
    EXT_PYDANTIC_V1,
    EXT_PYDANTIC_V2,
)

from langgraph_once.serde.codecs.langgraph.read.constructors import (
    CONSTRUCTORS,
    SAFE_CONSTRUCTORS,
    from_fields,
)
from langgraph_once.serde.codecs.langgraph.read.without_code import (
    NeedsListError,
    is_of_data,
    structural,
)
from langgraph_once.serde.codecs.once1.registry.class_names import load
from langgraph_once.serde.codecs.once1.types import SAFE_CLASSES
from langgraph_once.serde.trust.hash_guard import Danger, GuardedError
from langgraph_once.serde.trust.lookup import names_of
from langgraph_once.serde.trust.policy import Code, Trust

if TYPE_CHECKING:
    from langgraph_once.serde.trust.allowlist import Allowlist

__all__ = ["NamedTypes"]

_BY_NAME: Final = frozenset({EXT_PYDANTIC_V1, EXT_PYDANTIC_V2, EXT_CONSTRUCTOR_KW_ARGS})
"""The extensions of classes that get the values of their fields, and mostly keep them."""
_KEEPING: Final = frozenset({"Send", "deque"})
_HASHING: Final = frozenset({"set", "frozenset"})
"""Classes that do no more than that with what they are made of."""

Constructor = Callable[[Any], Any]
"""From what an extension holds for an object to the object."""


class NamedTypes:
    """Finds what rebuilds the values of a type, under one allowlist. Thread-safe."""

    def __init__(self, allowlist: Allowlist, current_name: Callable[[str], str]) -> None:
        self._allowlist = allowlist
        self._current_name = current_name

    def constructor(
        self, code: int, module: str, name: str, method: str, *, tag: str
    ) -> tuple[Constructor, bool]:
        """Return the function from an argument to the value, and whether to remember it.

        Args:
            code: Of the extension.
            module: Of the type.
            name: Of the type.
            method: The method that is called; empty for the type itself.
            tag: What the bytes are stored under.

        Raises:
            TypeNotAllowedError: The type may not be loaded.
            PayloadError: It is not there, or a method would be called that never is.
            NeedsListError: Rebuilding takes code of the class.
        """
        allowlist = self._allowlist
        module, _, name = self._current_name(f"{module}:{name}").partition(":")
        safe = SAFE_CONSTRUCTORS.get((module, name))
        if safe is not None and module in sys.modules:
            return self._cautious(code, safe(getattr(sys.modules[module], name)), name, tag), True
        if code == EXT_METHOD_SINGLE_ARG:
            allowlist.check_method(module, name, method, tag=tag)
        target, trust = self._found(module, name, tag)
        if code == EXT_METHOD_SINGLE_ARG:
            target = getattr(target, method)
        if allowlist.decide("read", trust, Code.HOOK).refuses:
            return self._without_code(code, target, trust, tag), True
        decision = allowlist.decide("read", trust, Code.CALL)
        if decision.refuses and is_of_data(target):
            decision = allowlist.decide("read", trust, Code.DATA)
        if decision.refuses:
            raise allowlist.refusal(module, (name,), tag=tag, hook="its constructor")
        made = self._cautious(code, CONSTRUCTORS[code](target), name, tag)
        return made, not decision.is_event

    def _found(self, module: str, name: str, tag: str) -> tuple[Any, Trust]:
        """Return the type, and how it stands; errors as of `constructor`."""
        if (module, name) in SAFE_CLASSES:
            found, _ = load(f"{module}:{name}", self._allowlist, tag=tag)
            if is_of_data(found):
                return found, Trust.LISTED
        return self._allowlist.resolve(module, name, tag=tag)

    def _without_code(self, code: int, cls: type, trust: Trust, tag: str) -> Constructor:
        """Return what makes instances of an unlisted class.

        Where that takes its code, only a class in the project's own source is made at all.
        """

        def called(other: type) -> Constructor | None:
            module, name = names_of(other)
            if self._allowlist.lists(module, tuple(name.split("."))):
                return self._cautious(EXT_PYDANTIC_V2, from_fields(other), name, tag)
            if not self._allowlist.project.owns(module):
                self._allowlist.guard.note(other)
            return None

        called(cls)
        by_code = None
        # The class is asked last: a metaclass may have an `__eq__`.
        if not self._allowlist.decide("read", trust, Code.DATA).refuses and is_of_data(cls):
            by_code = self._cautious(code, CONSTRUCTORS[code](cls), cls.__name__, tag)
        try:
            make = structural(code, cls, called)
        except NeedsListError:
            if by_code is None:
                raise
            return by_code

        def made(argument: Any) -> Any:
            try:
                return make(argument)
            except NeedsListError:
                if by_code is None:
                    raise
                return by_code(argument)

        return self._unhashed(code, made, tag)

    def _cautious(self, code: int, make: Constructor, name: str, tag: str) -> Constructor:
        """Return `make`, refusing arguments of unlisted classes that it would run code of."""
        if name in _KEEPING:
            return make
        if name in _HASHING:
            return self._unhashed(EXT_CONSTRUCTOR_SINGLE_ARG, make, tag)
        return self._guarded(make, Danger.WHERE_USED if code in _BY_NAME else Danger.NONE, tag)

    def _unhashed(self, code: int, make: Constructor, tag: str) -> Constructor:
        """Return `make`, which hashes what it gets if that is one value, and must not run code."""
        return make if code in _BY_NAME else self._guarded(make, Danger.WHERE_HASHED, tag)

    def _guarded(self, make: Constructor, danger: Danger, tag: str) -> Constructor:
        guard = self._allowlist.guard

        def made(argument: Any) -> Any:
            if guard.finds([argument], danger):
                raise GuardedError("it would run code of what it is made of", tag=tag)
            return make(argument)

        return made
