"""The classes that the bytes name, found under one registry and one allowlist."""

from __future__ import annotations

from typing import Any, Final

from langgraph_once.errors import PayloadError
from langgraph_once.serde.allowlist import Allowlist
from langgraph_once.serde.once1.names import is_function, is_listed, load
from langgraph_once.serde.once1.protocol import Adapter, Family
from langgraph_once.serde.once1.registry import Registry, version_of

__all__ = ["Loader"]

_MAX_KNOWN: Final = 4096


class Loader:
    """Finds what the bytes name. Remembers only what the allowlist lists. Thread-safe."""

    def __init__(self, registry: Registry, allowlist: Allowlist) -> None:
        self.registry = registry
        self.allowlist = allowlist
        self._known: dict[tuple[str, str], tuple[Family, type, int]] = {}

    def adapter(self, name: Any, *, tag: str) -> Adapter:
        """Return the adapter of that name.

        Raises:
            PayloadError: There is none.
        """
        found = self.registry.adapters.get(name) if type(name) is str else None
        if found is None:
            raise PayloadError(
                f"no adapter {name!r:.80} is registered; add it to `adapters`", tag=tag
            )
        return found

    def family(self, name: Any, class_name: Any, *, tag: str) -> tuple[Family, type, int]:
        """Return a family, a class that it recognises as one of its own, and the class's version.

        Raises:
            TypeNotAllowedError: The class may not be loaded; nothing was imported.
            PayloadError: The family is not registered, the class is gone, or not the family's.
        """
        try:
            return self._known[name, class_name]
        except (KeyError, TypeError):
            pass
        family = self.registry.families.get(name) if type(name) is str else None
        if family is None:
            raise PayloadError(
                f"no family {name!r:.80} is registered; add it to `adapters`", tag=tag
            )
        cls = self.loaded_class(class_name, tag=tag)
        if not family.matches(cls):
            raise PayloadError(f"{class_name} is not a class of the family {name!r}", tag=tag)
        found = family, cls, version_of(cls)
        if is_listed(self.registry.current_name(class_name), self.allowlist):
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[name, class_name] = found
        return found

    def loaded_class(self, name: Any, *, tag: str) -> type:
        """Return the class that the bytes call `name`; errors are those of `family`."""
        found = self._loaded(name, tag=tag)
        if not isinstance(found, type):
            raise PayloadError(f"{name} is not a class", tag=tag)
        return found

    def loaded_function(self, name: Any, *, tag: str) -> Any:
        """Return the function that the bytes call `name`; errors are those of `family`."""
        found = self._loaded(name, tag=tag)
        if not is_function(found):
            raise PayloadError(f"{name} is not a function", tag=tag)
        return found

    def _loaded(self, name: Any, *, tag: str) -> Any:
        if type(name) is not str:
            raise PayloadError("a class or function without a name", tag=tag)
        return load(self.registry.current_name(name), self.allowlist, tag=tag)
