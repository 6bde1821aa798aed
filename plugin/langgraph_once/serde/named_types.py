"""The `msgpack` codec, reading: from the type that an extension names to what makes its values."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.serde.jsonplus import EXT_METHOD_SINGLE_ARG

from langgraph_once.serde.rebuild import CONSTRUCTORS, SAFE_CONSTRUCTORS
from langgraph_once.serde.structural import NeedsListError, is_of_data, structural

if TYPE_CHECKING:
    from langgraph_once.serde.allowlist import Allowlist, Trust

__all__ = ["NamedTypes"]

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
            return safe(getattr(sys.modules[module], name)), True
        if code == EXT_METHOD_SINGLE_ARG:
            allowlist.check_method(module, name, method, tag=tag)
        target, trust = allowlist.resolve(module, name, tag=tag)
        is_listed = allowlist.lists(module, tuple(name.split(".")))
        if code == EXT_METHOD_SINGLE_ARG:
            target = getattr(target, method)
        if trust != "listed":
            return self._without_code(code, target, trust), True
        if not is_listed and not is_of_data(target):
            raise allowlist.refusal(module, (name,), tag=tag, hook="its constructor")
        # Of a type that is not listed, each occurrence is reported.
        return CONSTRUCTORS[code](target), is_listed

    def _without_code(self, code: int, cls: type, trust: Trust) -> Constructor:
        """Return what makes instances of an unlisted class.

        Where that takes its code, only a class in the project's own source is made at all.
        """
        by_code = CONSTRUCTORS[code](cls) if trust == "own" and is_of_data(cls) else None
        try:
            make = structural(code, cls, self._may_run)
        except NeedsListError:
            if by_code is None:
                raise
            return by_code
        if by_code is None:
            return make

        def made(argument: Any) -> Any:
            try:
                return make(argument)
            except NeedsListError:
                return by_code(argument)

        return made

    def _may_run(self, cls: type) -> bool:
        return self._allowlist.lists(cls.__module__, tuple(cls.__qualname__.split(".")))
