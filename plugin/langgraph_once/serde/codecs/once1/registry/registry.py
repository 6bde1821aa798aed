"""Which adapter or family writes and reads which type.

Where adapters of several base classes could write an object, that of the nearest base does.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from langgraph_once.errors import ConfigError
from langgraph_once.serde.codecs.once1.format.layout import ATOMS, Ext, pack
from langgraph_once.serde.codecs.once1.format.opaque import Opaque
from langgraph_once.serde.codecs.once1.registry.class_names import astray, leads_to, name_of
from langgraph_once.serde.codecs.once1.registry.class_trust import WriterTrust
from langgraph_once.serde.codecs.once1.registry.upgrades import Upgrade, version_of
from langgraph_once.serde.codecs.once1.types import BUILTIN_ADAPTERS, BUILTIN_FAMILIES
from langgraph_once.serde.codecs.once1.types.base.protocol import (
    Adapter,
    CyclicFamily,
    Family,
    SubclassAdapter,
    UnreadableError,
    UnwritableError,
)
from langgraph_once.serde.trust.policy import Decision, Trust

if TYPE_CHECKING:
    from langgraph_once.config import SerdeConfig
    from langgraph_once.serde.trust.allowlist import Allowlist

__all__ = ["Bases", "Descendants", "Extension", "Registry", "Writer", "has_identity"]


class Descendants:
    """The family of all that is derived from the bases of one `SubclassAdapter`."""

    def __init__(self, adapter: SubclassAdapter) -> None:
        self.name = adapter.name
        self.adapter = adapter
        self.encode = adapter.encode

    def matches(self, cls: type) -> bool:
        return not {*cls.__mro__}.isdisjoint(self.adapter.bases)

    def decode(self, cls: type, data: Any) -> Any:
        made = self.adapter.decode(cls, data)
        if type(made) is not cls:
            raise UnreadableError(f"its `decode` made a {type(made).__qualname__}")
        return made


class Bases:
    """The bases that were declared, and by whom."""

    def __init__(self) -> None:
        self._declared: dict[type, Descendants] = {}

    @property
    def declared(self) -> Collection[type]:
        """All of them."""
        return self._declared.keys()

    def add(self, family: Descendants) -> SubclassAdapter | None:
        """Take the bases of `family`; return who has declared one of them before, if anybody."""
        for base in family.adapter.bases:
            if self._declared.setdefault(base, family) is not family:
                return self._declared[base].adapter
        return None

    def nearest(self, cls: type) -> Descendants | None:
        """Return the family whose base is nearest to `cls`.

        Raises:
            UnwritableError: Two are equally near: neither base is derived from the other.
        """
        found = [base for base in cls.__mro__ if base in self._declared]
        nearest = [base for base in found if not any(base in other.__mro__[1:] for other in found)]
        families = {self._declared[base].name: self._declared[base] for base in nearest}
        if len(families) > 1:
            raise UnwritableError(
                f"the adapters {' and '.join(map(repr, sorted(families)))} are equally near, for "
                f"{' and '.join(sorted(base.__qualname__ for base in nearest))}; register one for "
                "the class itself"
            )
        return next(iter(families.values()), None)


Extension = Adapter | SubclassAdapter | Family
"""What teaches the codec a type."""

NATIVE: Final = ATOMS | {
    *(list, dict, tuple, set, frozenset, bytearray, memoryview),
    *(type, FunctionType, Opaque),
}
"""The types that the codec itself writes; no adapter can take them over."""

_MOVED: Final = {
    f"langgraph_once.serde.once1.unstored:{name}": f"langgraph_once.serde:{name}"
    for name in ("Unstored", "UnstoredError")
} | {f"langgraph.constants:{name}": f"langgraph.types:{name}" for name in ("Send", "Interrupt")}
"""New names of classes by old ones: ours of rows up to 0.1.0, LangGraph's of langgraph 0.2.16."""

_MAX_WRITERS: Final = 4096
"""Bounds the memory of a process that writes instances of ever new classes."""


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
    reported: bool = False
    """Whether each use of `encode` is an event, so that nothing may get around it."""


class Registry:
    """The adapters and families of one serializer: the user's first, then the built-in ones."""

    def __init__(
        self,
        extensions: Iterable[Extension] = (),
        *,
        aliases: Mapping[str, str] | None = None,
        upgrades: Mapping[str, Upgrade] | None = None,
    ) -> None:
        """Check that each name, each type and each base is taken once.

        Raises:
            ConfigError: It is not, or an alias leads back to itself.
        """
        self.adapters: dict[str, Adapter] = {}
        self.families: dict[str, Family] = {}
        self.upgrades = dict(upgrades or {})
        self._by_type: dict[type, Adapter] = {}
        self._bases = Bases()
        for extension in extensions:
            self._add(extension)
        own_types = {*self._by_type, *self._bases.declared}
        builtin: tuple[Adapter | Family, ...] = (*BUILTIN_ADAPTERS, *BUILTIN_FAMILIES)
        for extension in builtin:
            self._add(extension, but=own_types)
        renamed = _MOVED | {**(aliases or {})}
        self._aliases = {old: _follow(old, renamed) for old in renamed}
        self._base: Registry | None = None
        self._trust: WriterTrust | None = None
        self._writers: dict[type, Writer | None] = {}

    @classmethod
    def from_config(cls, config: SerdeConfig, extensions: Iterable[Extension] = ()) -> Registry:
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
            if isinstance(value, type) or not isinstance(value, (Adapter, SubclassAdapter, Family)):
                raise ConfigError(
                    key, f"{name} is neither an `Adapter`, a `SubclassAdapter` nor a `Family`"
                )
        for name, value in upgrades.items():
            if not callable(value):
                raise ConfigError(
                    f"SerdeConfig.upgrades[{name!r}]", "is not a function (data, from_version)"
                )
        everything = (*extensions, *(value for value, _, _ in named))
        return cls(everything, aliases=config.aliases, upgrades=upgrades)

    def under(self, allowlist: Allowlist) -> Registry:
        """Return this registry, as strict about what it writes as `allowlist` is about reading.

        Strict enforcement refuses types, "warn" reports them, and "safe" warns of those that a
        new process may not read.
        """
        if allowlist.decide("write", Trust.LOST) is Decision.YES:
            return self
        bound = copy.copy(self)
        bound._base, bound._trust = self, WriterTrust(allowlist, self.current_name)  # noqa: SLF001  # a copy
        bound._writers = {}  # noqa: SLF001  # a copy
        return bound

    @property
    def met(self) -> Collection[type]:
        """The classes of which instances were written, if not long ago."""
        return self._writers.keys()

    def current_name(self, name: str) -> str:
        """Return where the class that the bytes call `name` is today."""
        return self._aliases.get(name, name)

    def writer(self, cls: type) -> Writer | None:
        """Return how instances of `cls` are written; None if nobody knows.

        Raises:
            UnwritableError: A family knows, but no reader would find the class, or may load it; or
                two declared bases are equally near to it.
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
        if cls is Opaque:  # the encoder hands on the bytes that it holds
            return None
        if self._base is not None and self._trust is not None:
            writer = self._base.writer(cls)
            if writer is None or writer.code == Ext.ADAPTER:
                return writer
            report = self._trust.check(cls, name_of(cls), writer.family)
            if report is None:
                return writer
            return replace(writer, encode=_reporting(writer.encode, report), reported=True)
        adapter = self._by_type.get(cls)
        if adapter is not None:
            return Writer(
                Ext.ADAPTER, pack(adapter.name), adapter.encode, False, not has_identity(cls)
            )
        family: Family | None = self._bases.nearest(cls)
        if family is None:
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
            UnwritableError: No reader could ever find it, or strict enforcement would refuse it.
        """
        name = name_of(target)
        if not isinstance(target, type) and not leads_to(name, target):
            raise astray(name)
        if self._trust is not None:
            report = self._trust.check(target, name, None)
            if report is not None:
                report()
        return name

    def _add(self, extension: Extension, *, but: Collection[type] = ()) -> None:
        """Register `extension`, for its types but those."""
        taken: Any = self.adapters.get(extension.name) or self.families.get(extension.name)
        if taken is not None:
            raise _clash(f"the name {extension.name!r}", taken, extension)
        if isinstance(extension, SubclassAdapter):
            self._add_bases(extension)
        elif isinstance(extension, Adapter):
            self._add_types(extension, but)
        else:
            self.families[extension.name] = extension

    def _add_bases(self, extension: SubclassAdapter) -> None:
        family = self.families[extension.name] = Descendants(extension)
        if object in extension.bases:
            raise ConfigError(
                "adapters", f"{extension.name!r} claims object, which everything is derived from"
            )
        taken = self._bases.add(family)
        if taken is not None:
            base = next(base for base in extension.bases if base in taken.bases)
            raise _clash(f"the base {_place(base)}", taken, extension)

    def _add_types(self, extension: Adapter, but: Collection[type]) -> None:
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
                raise _clash(f"the type {_place(cls)}", taken, extension)


def _reporting(encode: Callable[[Any], Any], report: Callable[[], None]) -> Callable[[Any], Any]:
    def reporting(obj: Any) -> Any:
        report()
        return encode(obj)

    return reporting


def has_identity(cls: type) -> bool:
    """Whether two equal instances of `cls` can be told apart: they change, or hash by identity."""
    hasher: Any = cls.__hash__
    return hasher is None or hasher is object.__hash__


def _clash(what: str, first: Any, second: Extension) -> ConfigError:
    return ConfigError(
        "adapters", f"{_shown(first)} and {_shown(second)} both claim {what}; remove one"
    )


def _place(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _shown(extension: Any) -> str:
    known = isinstance(extension, (Adapter, SubclassAdapter, Descendants))
    source = extension.encode if known else type(extension)
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
