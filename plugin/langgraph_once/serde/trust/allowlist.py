"""How the types stand that a row names, and what happens to them by that: `policy` decides it."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_METHODS, SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.event_hooks import emit_serde_event

from langgraph_once.errors import ConfigError, PayloadError, TypeNotAllowedError
from langgraph_once.serde.trust.hash_guard import Guard
from langgraph_once.serde.trust.lookup import (
    find,
    find_class,
    is_module_name,
    names_in,
    names_of,
    nested_classes,
)
from langgraph_once.serde.trust.module_owner import in_brackets, owner_of
from langgraph_once.serde.trust.policy import Code, Decision, Enforcement, Trust, Use, decide
from langgraph_once.serde.trust.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from langgraph_once.config import SerdeConfig

__all__ = ["Allowlist", "find_storable", "storable"]

_MAX_WARNED_TYPES: Final = 1000
"""Bounds the memory of a process that reads bytes made to name ever new types."""

Key = tuple[str, str]
"""A type as the bytes name it: `(__module__, __name__)`."""

_MARK: Final = "__once_storable__"

C = TypeVar("C", bound=type)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Allowlist:
    """The types that may be loaded besides upstream's safe ones and those marked `storable`.

    Attributes:
        enforcement: What happens to a type that is not listed.
        paths: Where each listed type is found in its module. The bytes name a nested class
            without its outer one: `mod:Outer.Inner` is `("mod", "Inner"): ("Outer", "Inner")`.
        project: The project's own source.
        configured: What the setting holds, without the types of schemas.
    """

    enforcement: Enforcement
    paths: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    project: Project = field(default_factory=Project)
    guard: Guard = field(default_factory=Guard, repr=False, compare=False)
    configured: tuple[str, ...] = ()
    _warned: set[Key] = field(default_factory=set, repr=False, compare=False)
    _at_start: set[str] = field(default_factory=set, repr=False, compare=False)

    @classmethod
    def from_config(cls, config: SerdeConfig) -> Allowlist:
        """Return the allowlist that `config` describes."""
        names = (name.split(":") for name in config.allowed_types)
        project = Project(config.source)
        bare = cls(config.enforcement, project=project, configured=config.allowed_types)
        return bare.extended((module, name) for module, name in names)

    def extended(self, types: Iterable[tuple[str, ...] | type]) -> Allowlist:
        """Return an allowlist with `types` added; itself when there is nothing new.

        Raises:
            ConfigError: Two nested classes that the bytes could not tell apart, or an entry that is
                neither a type nor names one.
        """
        if isinstance(types, str) or not isinstance(types, Iterable):
            raise ConfigError("allowlist", f"must be types or names, got {type(types).__name__}")
        paths = dict(self.paths)
        for module, path in chain.from_iterable(map(_locate, types)):
            key = (module, path[-1])
            known = paths.get(key, ())
            if len(known) > 1 and len(path) > 1 and known != path:
                raise ConfigError(
                    "SerdeConfig.allowed_types",
                    f"{module}:{'.'.join(known)} and {module}:{'.'.join(path)} are both stored as "
                    f"{module}:{path[-1]}; give one of the classes another name",
                )
            # The longer path wins: a graph's schema names nested classes by their last part.
            if key not in SAFE_MSGPACK_TYPES and len(path) > len(known):
                paths[key] = path
        if paths == self.paths:
            return self
        return replace(self, paths=paths, guard=Guard())

    def lists(self, module: str, path: tuple[str, ...]) -> bool:
        """Whether the type is listed, one of upstream's safe ones, or marked `storable`."""
        if not path:
            return False
        key = (module, path[-1])
        if len(path) == 1 and key in SAFE_MSGPACK_TYPES:
            return True
        listed = self.paths.get(key)
        if listed is None:
            return find_storable(module, path) is not None
        return listed == path or len(listed) == 1

    def decide(self, use: Use, trust: Trust, code: Code = Code.NONE) -> Decision:
        """Return what this allowlist's enforcement decides on a type, and why."""
        return decide(self.enforcement, use, trust, code)

    def load(self, module: str, path: tuple[str, ...], *, tag: str) -> tuple[Any, Trust]:
        """Return the class or function that the bytes name, and how it stands.

        The caller sees to it that no more of its code runs than `decide` allows.

        Raises:
            TypeNotAllowedError: It may not be loaded; nothing was imported but what is the
                project's own.
            PayloadError: It may, but it is not there.
        """
        if self.lists(module, path):
            return self._imported(module, path, tag), Trust.LISTED
        if module not in sys.modules and not is_module_name(module):
            raise _gone(module, path, tag)
        found, trust = self._unlisted(module, path)
        self._obey(self.decide("read", trust), module, path, tag)
        return self._imported(module, path, tag) if found is None else found, trust

    def _unlisted(self, module: str, path: tuple[str, ...]) -> tuple[Any, Trust]:
        """Return what the name of an unlisted type leads to, None if nothing, and how it stands."""
        found = find(module, path)
        if found is None and self.decide("read", Trust.OWN) is Decision.YES:
            found = self.project.find(module, path)
        if found is not None:
            is_own = self.project.owns(names_of(found)[0])
            return found, Trust.OWN if is_own else Trust.IMPORTED
        return None, Trust.LOST if module in sys.modules else Trust.ELSEWHERE

    def resolve(self, module: str, name: str, *, tag: str) -> tuple[type, Trust]:
        """Return what `load` returns for a type that the bytes name without its outer classes.

        Raises:
            TypeNotAllowedError: As `load`.
            PayloadError: As `load`, or it is no type.
        """
        path = self.paths.get((module, name), tuple(name.split(".")))
        if not self.lists(module, path) and find(module, path) is None:
            nested = nested_classes(module, name)
            if len(nested) == 1:
                path = tuple(names_of(nested[0])[1].split("."))
        target, trust = self.load(module, path, tag=tag)
        if not isinstance(target, type) and (module, name) != ("re", "compile"):
            raise PayloadError(f"{module}:{name} is not a type", tag=tag)
        return target, trust

    def check(self, module: str, path: tuple[str, ...], *, tag: str) -> None:
        """Refuse, report or accept a type by its name alone, without looking for it.

        Raises:
            TypeNotAllowedError: It is not listed, and that is enforced.
        """
        trust = Trust.LISTED if self.lists(module, path) else Trust.ELSEWHERE
        self._obey(self.decide("read", trust), module, path, tag)

    def _obey(self, decision: Decision, module: str, path: tuple[str, ...], tag: str) -> None:
        if decision is Decision.LOST:
            raise _gone(module, path, tag)
        if decision.refuses:
            raise self.refusal(module, path, tag=tag)
        self.report("Loaded", decision, f"{module}:{'.'.join(path)}")

    def report(self, done: str, decision: Decision, name: str) -> None:
        """Report what was decided on a type that is not listed: `module:Qual.Name`."""
        module, _, path = name.partition(":")
        if decision.refuses:
            emit_serde_event({"kind": "msgpack_blocked", "module": module, "name": path})
        elif decision.is_event:
            emit_serde_event(
                {"kind": "msgpack_unregistered_allowed", "module": module, "name": path}
            )
        if decision is Decision.LOG:
            why = "which is not in `allowed_types`; strict enforcement would refuse it"
            self._warn_once((module, path), "%s %s%s, %s", done, name, in_brackets(module), why)

    def refusal(
        self, module: str, path: tuple[str, ...], *, tag: str, hook: str = ""
    ) -> TypeNotAllowedError:
        """Report that a type was refused, and return the error; `hook` is what would have run."""
        name = f"{module}:{'.'.join(path)}"
        self.report("Loaded", Decision.UNLISTED, name)
        imported = module in sys.modules
        owner = owner_of(module)
        return TypeNotAllowedError(name, tag=tag, imported=imported, hook=hook, owner=owner)

    def report_unsure(self, name: str, reason: str) -> None:
        """Warn, once for each type, that a new process may not read what was written, and why."""
        whose = in_brackets(name.partition(":")[0])
        self._warn_once((name, ""), "Stored %s%s: %s", name, whose, reason)

    def note_start(self) -> None:
        """Note which modules are imported, if that was not noted before: a process has started."""
        if not self._at_start:
            self._at_start.update(sys.modules)

    def next_time(self, module: str, path: tuple[str, ...]) -> Trust:
        """Return how a type will stand in a new process, which imports what this one did first."""
        if self.lists(module, path):
            return Trust.LISTED
        if not (module in self._at_start or self.project.reaches(module)):
            return Trust.ELSEWHERE
        return Trust.OWN if self.project.owns(module) else Trust.IMPORTED

    def check_method(self, module: str, name: str, method: str, *, tag: str) -> None:
        """Refuse a call of a method that upstream does not list as safe."""
        if (module, name, method) in SAFE_MSGPACK_METHODS:
            return
        emit_serde_event(
            {"kind": "msgpack_method_blocked", "module": module, "name": name, "method": method}
        )
        self.check(module, (name,), tag=tag)
        raise PayloadError(
            f"{module}:{name} is stored as a call of its method {method!r}, which is never made",
            tag=tag,
        )

    def _imported(self, module: str, path: tuple[str, ...], tag: str) -> Any:
        """Return what a module that may be imported has under a name."""
        named = self.paths.get((module, path[-1])) == path or len(path) == 1
        try:
            target: Any = importlib.import_module(module)
            if named and self.lists(module, path):
                # Who lists a name has it where it is, as after a class moved.
                for part in path:
                    target = getattr(target, part)
                return target
        except Exception as error:
            raise _gone(module, path, tag) from error
        target = find(module, path, own_name=self.decide("read", Trust.LOST).refuses)
        if target is None:
            raise _gone(module, path, tag)
        return target

    def _warn_once(self, key: Key, text: str, *arguments: str) -> None:
        if key not in self._warned and len(self._warned) < _MAX_WARNED_TYPES:
            self._warned.add(key)
            logger.warning(text, *arguments)


def storable(cls: C) -> C:
    """Mark `cls` as one that may be loaded from a checkpoint, as if `allowed_types` named it.

        @storable
        @dataclass
        class Invoice: ...

    The mark is the class's own: a subclass needs one too. It is found only once the module of
    the class is imported; reading never imports a module that `allowed_types` does not name.
    Whoever can write to the database can then make instances with any content, without
    `__init__` or validation, so mark what merely holds values.

    Raises:
        TypeError: `cls` is not a class, or is defined in a function, where no reader finds it.
    """
    if not isinstance(cls, type):
        raise TypeError("only a class can be storable")
    if "<locals>" in cls.__qualname__:
        raise TypeError(
            f"{cls.__qualname__} cannot be storable: define it at the top of a module, where a "
            "reader finds it"
        )
    setattr(cls, _MARK, True)
    return cls


def find_storable(module: str, path: tuple[str, ...]) -> type | None:
    """Return the class of that name if it is marked and its module is imported already.

    No code runs but this, whatever the bytes name: no import, attribute or metaclass is asked.
    """
    found = find_class(module, path)
    return found if found is not None and names_in(found).get(_MARK) is True else None


def _gone(module: str, path: tuple[str, ...], tag: str) -> PayloadError:
    return PayloadError(
        f"{module}:{'.'.join(path)} was not found; if it moved, say so in `aliases`, and if it is "
        'a nested class, allow it as "module:Outer.Inner"',
        tag=tag,
    )


def _locate(entry: tuple[str, ...] | type) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the module of a type and its path inside the module."""
    if not isinstance(entry, type) and not (
        isinstance(entry, list | tuple) and len(entry) > 1 and set(map(type, entry)) == {str}
    ):
        raise ConfigError("allowlist", "each entry must be a type, or (module, name)")
    module, name = (
        (entry.__module__, entry.__qualname__) if isinstance(entry, type) else (entry[0], entry[-1])
    )
    if "[" not in name:
        yield module, tuple(name.split("."))
        return
    # A schema names the parametrised pydantic model `Page[int]`, which is one name. Codec `once1`
    # names `Page` and its parameters instead; that may be of another module.
    yield module, (name,)
    found = entry if isinstance(entry, type) else getattr(sys.modules.get(module), name, None)
    origin = getattr(found, "__pydantic_generic_metadata__", {}).get("origin")
    if origin is not None:
        yield origin.__module__, tuple(origin.__qualname__.split("."))
    else:
        yield module, tuple(name.partition("[")[0].split("."))
