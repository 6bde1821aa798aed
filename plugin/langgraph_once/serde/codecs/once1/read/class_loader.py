"""The classes that the bytes name, found under one registry and one allowlist."""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError
from langgraph_once.serde.bounds.budget import Budget
from langgraph_once.serde.codecs.once1.registry.class_names import (
    MAX_NAME_CHARS,
    class_names,
    is_function,
    load,
)
from langgraph_once.serde.codecs.once1.registry.class_trust import code_of
from langgraph_once.serde.codecs.once1.registry.parametrised import is_parametrised, parse
from langgraph_once.serde.codecs.once1.registry.registry import Registry
from langgraph_once.serde.codecs.once1.registry.upgrades import version_of
from langgraph_once.serde.codecs.once1.types.base.protocol import Adapter, Family
from langgraph_once.serde.codecs.once1.types.catalogue import CODE_FREE_FAMILIES
from langgraph_once.serde.codecs.once1.types.python.enums import EnumFamily
from langgraph_once.serde.trust.allowlist import Allowlist
from langgraph_once.serde.trust.class_code import hash_hook, hook_of, making_hook
from langgraph_once.serde.trust.policy import Code, Trust

__all__ = ["Loader"]

_MAX_KNOWN: Final = 4096

_MAX_PARAMETRISED: Final = 2048
"""Making such a class takes a millisecond and 20 KB, and bytes could name ever new ones. So many
may one blob name, and so many are remembered: pydantic forgets those that nobody holds."""


class _Named(threading.local):
    """The parametrised classes that this thread made for the blob that it is reading."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.parts = 0


class Loader:
    """Finds what the bytes name. Remembers what need not be reported each time. Thread-safe."""

    def __init__(
        self,
        registry: Registry,
        allowlist: Allowlist,
        upstream: Callable[[int, bytes, str, Budget], Any] | None = None,
        *,
        hashes: bool = True,
    ) -> None:
        """Take where the classes are found.

        Args:
            registry: The families and adapters.
            allowlist: The classes that may be loaded.
            upstream: What rebuilds an extension of codec `msgpack`, by its code, its content,
                the tag and the budget.
            hashes: Whether to load what must not be hashed, as long as it is no key.
        """
        self._hashes = hashes
        self.registry = registry
        self.allowlist = allowlist
        self.upstream = upstream or _no_upstream
        self._known: dict[tuple[str, str], tuple[Family, type, int]] = {}
        self.members: dict[bytes, Enum] = {}
        """Enum members, by the content of the `FAMILY` that stands for them."""
        self.memories: list[dict[Any, Any]] = [self._known]
        """What may hold a parametrised class, to be cleared when those are forgotten."""
        self._parametrised: dict[str, tuple[Any, Trust]] = {}
        self._parts = 0
        self._named = _Named()

    def begin(self) -> None:
        """Note that this thread begins to read a blob."""
        named = self._named
        if named.parts:
            named.names.clear()
            named.parts = 0

    def without_hashes(self) -> Loader:
        """Return one that refuses what must not be hashed."""
        return Loader(self.registry, self.allowlist, self.upstream, hashes=False)

    def adapter(self, name: Any, *, tag: str) -> Adapter:
        """Return the adapter of that name.

        Raises:
            PayloadError: There is none.
        """
        if type(name) is not str:
            raise PayloadError("an adapter without a name", tag=tag)
        found = self.registry.adapters.get(name)
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
        # Anything else may take for ever to be hashed, or shown.
        if type(name) is not str or type(class_name) is not str:
            raise PayloadError("a family or a class without a name", tag=tag)
        known = self._known.get((name, class_name))
        if known is not None:
            return known
        family = self.registry.families.get(name)
        if family is None:
            raise PayloadError(
                f"no family {name!r:.80} is registered; add it to `adapters`", tag=tag
            )
        cls, trust = self._class(class_name, tag=tag)
        if self._refuses(trust, Code.HOOK):  # asked first: nothing of the class may run
            code, hook = code_of(family, cls)
            if not code and not self._hashes and (hashed := hash_hook(cls)):
                code, hook = Code.DATA, hashed
            self._check(class_name, trust, code, hook, tag=tag)
        if not family.matches(cls):
            raise PayloadError(f"{class_name} is not a class of the family {name!r}", tag=tag)
        decision = self.allowlist.decide("read", trust, Code.DATA)
        if decision.refuses:
            self.allowlist.guard.note(cls)
            family = CODE_FREE_FAMILIES[family.name]
        found = family, cls, version_of(cls)
        if not decision.is_event:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[name, class_name] = found
        return found

    def remember(self, member: Enum, class_name: str, content: bytes) -> None:
        """Note what `content` stands for, if the class is remembered."""
        if self.is_known(EnumFamily.name, class_name):
            if len(self.members) >= _MAX_KNOWN:
                self.members.clear()
            self.members[content] = member

    def is_known(self, name: str, class_name: str) -> bool:
        """Whether `family` remembers these."""
        return (name, class_name) in self._known

    def loaded_class(self, name: Any, *, tag: str) -> type:
        """Return the class that stands for itself in the bytes; errors are those of `family`."""
        found, trust = self._class(name, tag=tag)
        self._check(name, trust, Code.HOOK, "whatever calls the class", tag=tag)
        return found

    def loaded_function(self, name: Any, *, tag: str) -> Any:
        """Return the function that the bytes call `name`; errors are those of `family`."""
        found, trust = self._loaded(name, tag=tag)
        if not is_function(found):
            raise PayloadError(f"{name} is not a function", tag=tag)
        self._check(name, trust, Code.HOOK, "whatever calls the function", tag=tag)
        return found

    def _class(self, name: Any, *, tag: str) -> tuple[type, Trust]:
        found, trust = self._loaded(name, tag=tag)
        if not isinstance(found, type):
            raise PayloadError(f"{name} is not a class", tag=tag)
        return found, trust

    def _loaded(self, name: Any, *, tag: str) -> tuple[Any, Trust]:
        if type(name) is not str:
            raise PayloadError("a class or function without a name", tag=tag)
        if is_parametrised(name):
            return self._made(name, tag=tag)
        return load(self.registry.current_name(name), self.allowlist, tag=tag)

    def _made(self, name: str, *, tag: str) -> tuple[Any, Trust]:
        """Return a generic class with parameters, all of which may be loaded."""
        made = self._parametrised.get(name)
        if made is not None:
            return made
        if len(name) > MAX_NAME_CHARS:
            raise PayloadError("no class can have the name that is given", tag=tag)
        parts = name.count("(")
        self._check_parts(name, parts, tag=tag)
        try:
            # All are found, and so allowed, before any is made of them.
            loaded = {part: self._loaded(part, tag=tag) for part in class_names(name)}
            trust = max(trust for _, trust in loaded.values())
            self._check_making(loaded, tag=tag)
            made = parse(name).make(lambda part: loaded[part][0])
        except SerdeError:
            raise
        except Exception as error:
            raise PayloadError(
                f"{name} cannot be made ({type(error).__name__})", tag=tag
            ) from error
        if self._parts + parts > _MAX_PARAMETRISED:
            self._forget()
        self._parts += parts
        self._parametrised[name] = made, trust
        return made, trust

    def _check_making(self, loaded: dict[str, tuple[Any, Trust]], *, tag: str) -> None:
        """Refuse to make a class of parts that run code when it is made, unless it may run."""
        for name, (part, trust) in loaded.items():
            if isinstance(part, type) and self._refuses(trust, Code.DATA):
                hook = hook_of(part) or making_hook(part)
                if hook:
                    self._check(name, trust, Code.DATA, hook, tag=tag)

    def _check(self, name: str, trust: Trust, code: Code, hook: str, *, tag: str) -> None:
        """Refuse to run this of the code of a class or function, unless it may run."""
        if self._refuses(trust, code):
            module, _, path = name.partition("(")[0].partition(":")
            raise self.allowlist.refusal(module, tuple(path.split(".")), tag=tag, hook=hook)

    def _refuses(self, trust: Trust, code: Code) -> bool:
        return self.allowlist.decide("read", trust, code).refuses

    def _check_parts(self, name: str, parts: int, *, tag: str) -> None:
        named = self._named
        if name in named.names:
            return
        named.names.add(name)
        named.parts += parts
        if named.parts > _MAX_PARAMETRISED:
            raise SizeLimitError(
                f"the value names more than {_MAX_PARAMETRISED} parametrised classes",
                limit_objects=_MAX_PARAMETRISED,
                tag=tag,
            )

    def _forget(self) -> None:
        """Forget all that may hold a parametrised class; the others are soon found again."""
        self._parts = 0
        for memory in self.memories:
            memory.clear()
        self._parametrised.clear()


def _no_upstream(_code: int, _data: bytes, tag: str, _budget: Budget) -> Any:
    raise PayloadError("codec `msgpack` cannot be read here", tag=tag)
