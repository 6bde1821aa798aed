"""Which types a checkpoint may name, and what happens when it names another."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal

from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_METHODS, SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.event_hooks import emit_serde_event

from langgraph_once.errors import ConfigError, PayloadError, TypeNotAllowedError
from langgraph_once.serde.storable import find_storable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from langgraph_once.config import SerdeConfig

__all__ = ["Allowlist"]

_MAX_WARNED_TYPES: Final = 1000
"""Bounds the memory of a process that reads bytes made to name ever new types."""

Key = tuple[str, str]
"""A type as the bytes name it: `(__module__, __name__)`."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Allowlist:
    """The types that may be loaded besides upstream's safe ones and those marked `storable`.

    Attributes:
        enforcement: What happens to a type that is not listed.
        paths: Where each listed type is found in its module. The bytes name a nested class
            without its outer one: `mod:Outer.Inner` is `("mod", "Inner"): ("Outer", "Inner")`.
    """

    enforcement: Literal["strict", "warn", "open"]
    paths: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    _warned: set[Key] = field(default_factory=set, repr=False, compare=False)

    @classmethod
    def from_config(cls, config: SerdeConfig) -> Allowlist:
        """Return the allowlist that `config` describes."""
        names = (name.split(":") for name in config.allowed_types)
        return cls(config.enforcement).extended((module, name) for module, name in names)

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
        return Allowlist(self.enforcement, paths, self._warned)

    def resolve(self, module: str, name: str, *, tag: str) -> Callable[..., Any]:
        """Return the type that the bytes name, importing its module if it may be loaded.

        Raises:
            TypeNotAllowedError: It may not; nothing was imported.
            PayloadError: It may, but it is not there.
        """
        self.check(module, name, tag=tag)
        try:
            target: Any = importlib.import_module(module)
            for part in self.paths.get((module, name), (name,)):
                target = getattr(target, part)
        except Exception as error:
            raise PayloadError(
                f"{module}:{name} was not found; if it moved, restore the old name, and if it is "
                'a nested class, allow it as "module:Outer.Inner"',
                tag=tag,
            ) from error
        if not isinstance(target, type) and (module, name) != ("re", "compile"):
            raise PayloadError(f"{module}:{name} is not a type", tag=tag)
        return target  # type: ignore[no-any-return]

    def check(self, module: str, name: str, *, tag: str, path: str | None = None) -> None:
        """Refuse, report or accept a type that the bytes name, without importing anything.

        Args:
            module: Of the type.
            name: Of the type, without the classes that it is nested in.
            tag: What the bytes are stored under.
            path: The name with these classes, where the bytes have it.
        """
        key = (module, name)
        if key in SAFE_MSGPACK_TYPES or key in self.paths or find_storable(module, (name,)):
            return
        shown = path or name
        if self.enforcement == "strict":
            emit_serde_event({"kind": "msgpack_blocked", "module": module, "name": shown})
            imported = module in sys.modules
            raise TypeNotAllowedError(f"{module}:{shown}", tag=tag, imported=imported)
        emit_serde_event({"kind": "msgpack_unregistered_allowed", "module": module, "name": shown})
        if self.enforcement == "warn" and self._is_news(key):
            logger.warning(
                "Loaded %s:%s, which is not in `allowed_types`; strict enforcement would refuse it",
                module,
                name,
            )

    def report_written(self, name: str) -> None:
        """Report that a type was written which is not listed: `module:Qual.Name`."""
        module, _, path = name.partition(":")
        emit_serde_event({"kind": "msgpack_unregistered_allowed", "module": module, "name": path})
        if self._is_news((module, path.rpartition(".")[2])):
            logger.warning(
                "Stored %s, which is not in `allowed_types`; strict enforcement would refuse it",
                name,
            )

    def report_unwritten(self, name: str) -> None:
        """Report that a type was not written, since reading would refuse it."""
        module, _, path = name.partition(":")
        emit_serde_event({"kind": "msgpack_blocked", "module": module, "name": path})

    def check_method(self, module: str, name: str, method: str, *, tag: str) -> None:
        """Refuse a call of a method that upstream does not list as safe."""
        if (module, name, method) in SAFE_MSGPACK_METHODS:
            return
        emit_serde_event(
            {"kind": "msgpack_method_blocked", "module": module, "name": name, "method": method}
        )
        self.check(module, name, tag=tag)
        raise PayloadError(
            f"{module}:{name} is stored as a call of its method {method!r}, which is never made",
            tag=tag,
        )

    def _is_news(self, key: Key) -> bool:
        if key in self._warned or len(self._warned) >= _MAX_WARNED_TYPES:
            return False
        self._warned.add(key)
        return True


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
