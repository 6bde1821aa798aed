"""Which adapter or family writes and reads which type."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from langgraph_once.errors import ConfigError
from langgraph_once.serde.once1.adapters import BUILTIN_ADAPTERS, BUILTIN_FAMILIES
from langgraph_once.serde.once1.names import class_names, is_allowed, name_of
from langgraph_once.serde.once1.opaque import Opaque
from langgraph_once.serde.once1.protocol import (
    Adapter,
    CyclicFamily,
    Family,
    UnwritableError,
)
from langgraph_once.serde.once1.wire import ATOMS, Ext, pack

if TYPE_CHECKING:
    from langgraph_once.config import SerdeConfig
    from langgraph_once.serde.allowlist import Allowlist

__all__ = ["Registry", "Writer", "has_identity", "version_of"]

NATIVE: Final = ATOMS | {
    *(list, dict, tuple, set, frozenset, bytearray, memoryview),
    *(type, FunctionType, Opaque),
}
"""The types that the codec itself writes; no adapter can take them over."""

_MAX_WRITERS: Final = 4096
"""Bounds the memory of a process that writes instances of ever new classes."""

Upgrade = Callable[[Any, int], Any]


@dataclass(frozen=True, slots=True)
class Writer:
    """How the instances of one class are written."""

    code: Ext
    head: bytes
    """What stands before the data."""
    encode: Callable[[Any], Any]
    fillable: bool
    """Whether a reader can make them empty, and fill them later."""
    by_value: bool
    """Whether nobody can tell two equal ones apart, so that none needs to be shared."""
    family: Family | None = None
    """The family that knows how; None where an adapter does."""


class Registry:
    """The adapters and families of one serializer: the user's first, then the built-in ones."""

    def __init__(
        self,
        extensions: Iterable[Adapter | Family] = (),
        *,
        aliases: Mapping[str, str] | None = None,
        upgrades: Mapping[str, Upgrade] | None = None,
    ) -> None:
        """Check that each name and each type is taken once.

        Raises:
            ConfigError: It is not, or an alias leads back to itself.
        """
        self.adapters: dict[str, Adapter] = {}
        self.families: dict[str, Family] = {}
        self.upgrades = dict(upgrades or {})
        self._by_type: dict[type, Adapter] = {}
        for extension in extensions:
            self._add(extension)
        own_types = set(self._by_type)
        builtin: tuple[Adapter | Family, ...] = (*BUILTIN_ADAPTERS, *BUILTIN_FAMILIES)
        for extension in builtin:
            self._add(extension, but=own_types)
        self._aliases = {old: _follow(old, aliases or {}) for old in aliases or {}}
        self._base: Registry | None = None
        self._allowlist: Allowlist | None = None
        self._writers: dict[type, Writer | None] = {}

    @classmethod
    def from_config(
        cls, config: SerdeConfig, extensions: Iterable[Adapter | Family] = ()
    ) -> Registry:
        """Return what `config` describes, `extensions` before its adapters.

        Raises:
            ConfigError: An entry cannot be imported, or is not what it should be.
        """
        named = [
            (_imported(name, "SerdeConfig.adapters"), name, "SerdeConfig.adapters")
            for name in config.adapters
        ]
        upgrades = {
            name: _imported(function, f"SerdeConfig.upgrades[{name!r}]")
            for name, function in config.upgrades.items()
        }
        for value, name, key in named:
            if isinstance(value, type) or not isinstance(value, (Adapter, Family)):
                raise ConfigError(key, f"{name} is neither an `Adapter` nor a `Family`")
        for name, value in upgrades.items():
            if not callable(value):
                raise ConfigError(
                    f"SerdeConfig.upgrades[{name!r}]", "is not a function (data, from_version)"
                )
        everything = (*extensions, *(value for value, _, _ in named))
        return cls(everything, aliases=config.aliases, upgrades=upgrades)

    def under(self, allowlist: Allowlist) -> Registry:
        """Return this registry, refusing to write what could not be read under `allowlist`.

        Only strict enforcement refuses anything.
        """
        if allowlist.enforcement != "strict":
            return self
        bound = copy.copy(self)
        bound._base, bound._allowlist = self, allowlist  # noqa: SLF001
        bound._writers = {}  # noqa: SLF001
        return bound

    def current_name(self, name: str) -> str:
        """Return where the class that the bytes call `name` is today."""
        return self._aliases.get(name, name)

    def writer(self, cls: type) -> Writer | None:
        """Return how instances of `cls` are written; None if nobody knows.

        Raises:
            UnwritableError: A family knows, but no reader would find the class, or may load it.
        """
        try:
            return self._writers[cls]
        except KeyError:
            writer = self._find_writer(cls)
        if len(self._writers) >= _MAX_WRITERS:
            self._writers.clear()
        self._writers[cls] = writer
        return writer

    def _find_writer(self, cls: type) -> Writer | None:
        if self._base is not None:
            writer = self._base.writer(cls)
            if writer is not None and writer.code != Ext.ADAPTER:
                self.name_of(cls)
            return writer
        adapter = self._by_type.get(cls)
        if adapter is not None:
            return Writer(
                Ext.ADAPTER, pack(adapter.name), adapter.encode, False, not has_identity(cls)
            )
        family = next((f for f in self.families.values() if f.matches(cls)), None)
        if family is None:
            return None
        head = pack(family.name) + pack(name_of(cls))
        version = version_of(cls)
        if version:
            head += pack(version)
        return Writer(
            Ext.VERSIONED if version else Ext.FAMILY,
            head,
            family.encode,
            isinstance(family, CyclicFamily),
            # Reading a member of an enum finds the very member.
            issubclass(cls, Enum),
            family,
        )

    def name_of(self, target: Any) -> str:
        """Return what the bytes call a class or function.

        Raises:
            UnwritableError: No reader would find it, or may load it.
        """
        name = name_of(target)
        for part in map(self.current_name, class_names(name)):
            if self._allowlist is not None and not is_allowed(part, self._allowlist):
                raise UnwritableError(
                    f"strict enforcement would refuse to read {part}; if it is yours, add "
                    f'"{part}" to `allowed_types`, or mark it `@storable`'
                )
        return name

    def _add(self, extension: Adapter | Family, *, but: Collection[type] = ()) -> None:
        """Register `extension`, for its types but those."""
        taken: Any = self.adapters.get(extension.name) or self.families.get(extension.name)
        if taken is not None:
            raise _clash(f"the name {extension.name!r}", taken, extension)
        if not isinstance(extension, Adapter):
            self.families[extension.name] = extension
            return
        self.adapters[extension.name] = extension
        for cls in extension.types:
            if cls in NATIVE:
                raise ConfigError(
                    "adapters", f"{extension.name!r} claims {cls.__name__}, which is native"
                )
            if cls in but:
                continue
            taken = self._by_type.setdefault(cls, extension)
            if taken is not extension:
                raise _clash(f"the type {cls.__module__}:{cls.__qualname__}", taken, extension)


def has_identity(cls: type) -> bool:
    """Whether two equal instances of `cls` can be told apart: they change, or hash by identity."""
    hasher: Any = cls.__hash__
    return hasher is None or hasher is object.__hash__


def version_of(cls: type) -> int:
    """Return the version of the data that `cls` writes; 0 where it does not say."""
    version = getattr(cls, "__once_version__", 0)
    return version if type(version) is int and 0 <= version < 2**63 else 0


def _clash(what: str, first: Adapter | Family, second: Adapter | Family) -> ConfigError:
    return ConfigError(
        "adapters", f"{_shown(first)} and {_shown(second)} both claim {what}; remove one"
    )


def _shown(extension: Adapter | Family) -> str:
    source = extension.encode if isinstance(extension, Adapter) else type(extension)
    return f"{extension.name!r} (of {getattr(source, '__module__', '?')})"


def _follow(old: str, aliases: Mapping[str, str]) -> str:
    seen = [old]
    while (new := aliases.get(seen[-1])) is not None:
        if new in seen:
            raise ConfigError(
                "SerdeConfig.aliases", f"these lead back to themselves: {' -> '.join([*seen, new])}"
            )
        seen.append(new)
    return seen[-1]


def _imported(name: str, key: str) -> Any:
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise ConfigError(key, f"{name} cannot be imported ({type(error).__name__})") from error
    return found
