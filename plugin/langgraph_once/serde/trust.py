"""May a class be loaded that a row names? Asked once for each class, and answered by one table.

`find` says what a name leads to, and imports only what may be imported. `check` says whether
instances may be made. Everything else only finds facts for these two.

`Audit` counts which types were refused or reported, and proposes the setting that would let them
in.
"""

from __future__ import annotations

import copy
import importlib
import json
import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar
from uuid import uuid4

from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.event_hooks import emit_serde_event, register_serde_event_listener
from pydantic import TypeAdapter, ValidationError

from langgraph_once.config import TypeName
from langgraph_once.errors import ConfigError, EncodeError, TypeNotAllowedError, printable
from langgraph_once.serde.lookup import (
    declared,
    find,
    hook_of,
    imported_packages,
    is_data,
    is_module_name,
    names_in,
    names_of,
)
from langgraph_once.serde.opaque import UnavailableError

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.event_hooks import SerdeEvent

Enforcement = Literal["safe", "strict", "warn", "open"]
C = TypeVar("C", bound=type)
logger = logging.getLogger(__name__)


class Standing(IntEnum):
    """How far a class is trusted."""

    LISTED = 0
    """In `allowed_types`, marked `@storable`, in the schema of a graph, or data of Python's,
    LangChain's, LangGraph's or ours."""
    KNOWN = 1
    """Imported; or of a package that is imported, or that the project's source imports; or named in
    a row that one of our keys sealed."""
    UNKNOWN = 2


class May(IntEnum):
    """What may be done with a class; each includes those before it."""

    NOTHING = 0
    """It is not even imported: a stand-in takes the place of each instance."""
    DATA = 1
    """Instances are made where they are data, by validators and constructors too."""
    ALL = 2
    """It is called, whatever it is."""


TABLE: Final[Mapping[Enforcement, Mapping[Standing, May]]] = {
    "strict": {
        Standing.LISTED: May.ALL,
        Standing.KNOWN: May.NOTHING,
        Standing.UNKNOWN: May.NOTHING,
    },
    "safe": {Standing.LISTED: May.ALL, Standing.KNOWN: May.DATA, Standing.UNKNOWN: May.NOTHING},
    "warn": dict.fromkeys(Standing, May.ALL),
    "open": dict.fromkeys(Standing, May.ALL),
}
"""The whole of it. "warn" is "open" with a warning for each class that is not listed."""

_LIBRARIES: Final = frozenset(
    {
        *("builtins", "collections", "datetime", "decimal", "fractions", "functools", "ipaddress"),
        *("pathlib", "re", "types", "typing", "uuid", "zoneinfo", "numpy", "pandas", "polars"),
        *("pyarrow", "langgraph_once"),
    }
)
"""Packages whose classes our forms take apart in a way that is safe for any data."""
_DATA_MODULES: Final = tuple(
    f"{name}."
    for name in (
        *("langchain_core.messages", "langchain_core.documents", "langchain_core.outputs"),
        *("langchain_core.prompts", "langchain_core.prompt_values", "langchain_core.agents"),
        *("langchain_core.chat_history", "langchain_core.structured_query", "langgraph.types"),
        *("langgraph.store.base", "langgraph.errors", "langgraph.checkpoint.serde.types"),
    )
)
"""Modules whose classes of data are listed."""
_URLS: Final = {("pydantic_core._pydantic_core", name) for name in ("Url", "MultiHostUrl")}
"""Beside those of `pydantic.networks`, which are all data."""
_VALUES: Final = (uuid4, time.time, time.monotonic, time.time_ns)
"""Functions that may be a value, as the factory of a `defaultdict`: they take no arguments."""
_MOVED: Final = {
    f"langgraph.constants:{name}": f"langgraph.types:{name}" for name in ("Send", "Interrupt")
}
"""Classes of langgraph 0.2.16 that have another name today."""
_MARK: Final = "__once_storable__"
_MAX_WARNED: Final = 1000
"""Bounds the memory of a process that reads bytes made to name ever new types."""


class Trust:
    """What may be loaded under one configuration. Thread-safe."""

    def __init__(
        self,
        enforcement: Enforcement = "safe",
        listed: Iterable[str] = (),
        *,
        source: Iterable[str] = (),
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        """Take what the configuration says.

        Args:
            enforcement: The column of the table.
            listed: `allowed_types`: each as `module:Qual.Name`.
            source: Folders of the project's source, and files of graphs.
            aliases: Classes that moved: from the old name to the new one.
        """
        self.enforcement: Final[Enforcement] = enforcement
        self._most = TABLE[enforcement]
        self.listed = frozenset(listed)
        moved = {**_MOVED, **(aliases or {})}
        self._aliases = {old: _followed(old, moved) for old in moved}
        self._imports = imported_packages(source)
        self._is_sealed = False
        # All trusts that are made of this one share these.
        self._found_listed: set[str] = set()
        self._warned: set[str] = set()
        self._at_start: set[str] = set()

    def extended(self, types: Iterable[str | tuple[str, ...] | type]) -> Trust:
        """Return a trust that lists these as well; itself where it already does.

        Args:
            types: Types, names, or `(module, name)`: those in the schemas of a graph.

        Raises:
            ConfigError: An entry is neither.
        """
        if isinstance(types, str) or not isinstance(types, Iterable):
            raise ConfigError("allowlist", f"must be types or names, got {type(types).__name__}")
        more = {name for entry in types for name in _listed_names(entry)}
        more = {name for name in more if not self._is_listed(*name.split(":", 1))}
        if not more:
            return self
        return self._with(listed=self.listed | more, _found_listed={*self._found_listed})

    def sealed(self) -> Trust:
        """Return the trust for rows that one of our keys sealed: what they name is known."""
        return self if self._is_sealed else self._with(_is_sealed=True)

    def _with(self, **changed: Any) -> Trust:
        other = copy.copy(self)
        vars(other).update(changed)
        return other

    @property
    def reports(self) -> bool:
        """Whether each row reports what it loads that is not listed."""
        return self.enforcement in ("warn", "open")

    def current_name(self, name: str) -> str:
        """Return where the class that the bytes call `name` is today."""
        return self._aliases.get(name, name)

    def find(self, name: str) -> Any:
        """Return the class or function that a name leads to. Imports what may be imported.

        Whether instances may be made, or it may be called, is another question: `check`.

        Args:
            name: As the bytes have it: `module:Qual.Name`.

        Raises:
            UnavailableError: It leads to nothing.
            TypeNotAllowedError: It may not be loaded.
        """
        if type(name) is not str or name.count(":") != 1:
            raise UnavailableError("no name where one belongs")
        name = self.current_name(name)
        module, _, path = name.partition(":")
        is_listed = self._is_listed(module, path) or module.split(".")[0] in _LIBRARIES
        target = find(module, path)
        if not (is_listed or is_marked(target)):
            known = self._is_known(module)
            if self._most[Standing.KNOWN if known else Standing.UNKNOWN] is May.NOTHING:
                raise self._refusal(name, is_known=known)
        if target is None:
            target = _imported(module, path, self._place_of(module, path) if is_listed else None)
        if target is None:
            raise UnavailableError(f"{name:.200} was not found; if it moved, say so in `aliases`")
        if self._is_named(module, path) and len(self._found_listed) < _MAX_WARNED:
            self._found_listed.add(":".join(names_of(target)))  # it may be listed by an old name
        return target

    def find_named(self, name: str) -> Any:
        """Return a class or function that is a value itself, so that whoever gets it may call it.

        Args:
            name: As for `find`.

        Raises:
            UnavailableError: There is none of this name.
            TypeNotAllowedError: It may not be loaded, or calling it may do anything.
        """
        target = self.find(name)
        is_class = issubclass(type(target), type)
        is_harmless = is_data(target) if is_class else any(target is each for each in _VALUES)
        of_python = is_class and names_of(target)[0] in ("builtins", "collections")
        if not (of_python or is_harmless):
            self._check(target, calls=True)
        return target

    def check(self, cls: type, *, calls: bool) -> None:
        """Ask whether instances of a class may be made.

        Args:
            cls: What `find` returned.
            calls: Whether that takes more than what classes of data do: a call of something else,
                `__reduce__`, `__setstate__`.

        Raises:
            TypeNotAllowedError: They may not.
        """
        if calls or names_of(cls)[0].split(".")[0] not in _LIBRARIES:
            self._check(cls, calls=calls)

    def _check(self, target: Any, *, calls: bool) -> None:
        if self.standing(target) is Standing.LISTED:
            return
        name = ":".join(names_of(target))
        hook = _hook(target, calls)
        most = self._most[Standing.KNOWN]
        if most is May.NOTHING or (most is May.DATA and hook):
            raise self._refusal(name, hook)
        if self.enforcement != "safe":
            self._report(name, "Loaded")

    def check_written(self, cls: type, *, calls: bool) -> None:
        """Warn once about a class that a new process may not load; refuse it under strict.

        Args:
            cls: Whose instances are written.
            calls: As for `check`.

        Raises:
            EncodeError: It is not listed, and that is enforced.
        """
        module, path = names_of(cls)
        if self.standing(cls) is Standing.LISTED or module.split(".")[0] in _LIBRARIES:
            return
        name = f"{module}:{path}"
        if self.enforcement == "strict":
            self._tell("msgpack_blocked", name)
            raise EncodeError(f'{name} is not listed, and must be: add "{name}" to `allowed_types`')
        if self.enforcement == "warn":
            self._report(name, "Stored")
        hook = _hook(cls, calls)
        if "<locals>" in name:
            self.warn(name, "Stored %s, which no reader finds: define it in a module", name)
        elif self.enforcement == "safe" and (hook or not self._is_known_next_time(module)):
            why = f"making it runs code: {hook}" if hook else "nothing imports its package at start"
            text = 'Stored %s, which a new process may not load (%s); add "%s" to `allowed_types`'
            self.warn(name, text, name, why, name)

    def standing(self, target: Any) -> Standing:
        """Return how far a class or function is trusted that was found."""
        module, path = names_of(target)
        is_listed = self._is_listed(module, path, of_data=target)
        return Standing.LISTED if is_listed or is_marked(target) else Standing.KNOWN

    def _is_listed(self, module: str, path: str, of_data: Any = None) -> bool:
        """Whether a name is listed; that of a class of data may be so by its module."""
        if self._is_named(module, path) or f"{module}:{path}" in self._found_listed:
            return True
        is_type = issubclass(type(of_data), type)
        return f"{module}.".startswith(_DATA_MODULES) and (
            of_data is None or (is_type and is_data(of_data))
        )

    def _is_named(self, module: str, path: str) -> bool:
        path = path.partition("[")[0]
        names = f"{module}:{path}", f"{module}:{path.rpartition('.')[2]}"
        return (
            (module, path) in SAFE_MSGPACK_TYPES
            or (module == "pydantic.networks" or (module, path) in _URLS)
            or not self.listed.isdisjoint(names)
            or self._place_of(module, path) != path
        )

    def _place_of(self, module: str, name: str) -> str:
        """Return where a class is that LangGraph names without the classes around it."""
        for listed in self.listed if "." not in name else ():
            if listed.startswith(f"{module}:") and listed.endswith(f".{name}"):
                return listed.partition(":")[2]
        return name

    def _is_known(self, module: str) -> bool:
        package = module.partition(".")[0]
        return self._is_sealed or package in sys.modules or package in self._imports

    def _is_known_next_time(self, module: str) -> bool:
        """Whether a new process that starts as this one did will know the module."""
        if not self._at_start:
            self._at_start.update(name.partition(".")[0] for name in [*sys.modules])
        package = module.partition(".")[0]
        return package in self._at_start or package in self._imports

    def _refusal(self, name: str, hook: str = "", *, is_known: bool = True) -> TypeNotAllowedError:
        module = name.partition(":")[0]
        why = hook if is_known else "of a package that is not imported"
        self._tell("msgpack_blocked", name)
        text = 'Refused to load %s%s; if you trust it, add "%s" to `allowed_types`'
        self.warn(name, text, name[:200], f" ({why})" if why else "", name[:200])
        return TypeNotAllowedError(name[:200], imported=module in sys.modules, hook=hook)

    def _report(self, name: str, done: str) -> None:
        self._tell("msgpack_unregistered_allowed", name)
        if self.enforcement == "warn":
            text = '%s %s, which strict enforcement would refuse; add "%s" to `allowed_types`'
            self.warn(name, text, done, name, name)

    def _tell(self, kind: str, name: str) -> None:
        module, _, path = name.partition(":")
        emit_serde_event({"kind": kind, "module": module, "name": path})

    def warn(self, name: str, text: str, *arguments: object) -> None:
        """Log a warning about a class, once.

        Args:
            name: Of the class.
            text: What to log, a format.
            arguments: What the format takes.
        """
        if name not in self._warned and len(self._warned) < _MAX_WARNED:
            self._warned.add(name)
            logger.warning(text, *(printable(str(each)) for each in arguments))


def _followed(old: str, aliases: Mapping[str, str]) -> str:
    """Return where a chain of aliases ends."""
    seen = [old]
    while (new := aliases.get(seen[-1])) is not None:
        if new in seen:
            chain = " -> ".join([*seen, new])
            raise ConfigError("SerdeConfig.aliases", f"these lead back to themselves: {chain}")
        seen.append(new)
    return seen[-1]


def storable(cls: C) -> C:
    """Mark `cls` as one that may be loaded from a checkpoint, as if `allowed_types` named it.

        @storable
        @dataclass
        class Invoice: ...

    The mark is the class's own: a subclass needs one too. It is found only once the module of the
    class is imported. Whoever can write to the database can then make instances with any content,
    without `__init__` or validation, so mark what merely holds values.

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


def is_marked(target: Any) -> bool:
    return issubclass(type(target), type) and names_in(target).get(_MARK) is True


def _hook(target: Any, calls: bool) -> str:
    """Return what of a class runs that no class of data needs; empty where nothing does."""
    if calls:
        return "a call, or its own way of being restored"
    hook = hook_of(target)
    if hook is None and issubclass(target, type):
        hook = "it is a metaclass"
    return hook or ""


def _imported(module: str, path: str, place: str | None) -> Any:
    """Return what a name leads to once its module is imported, or None.

    Args:
        module: Its module.
        path: What the bytes call it.
        place: Where it is in the module, if it is listed: then the module is asked as usual.
    """
    if module not in sys.modules and not is_module_name(module):
        raise UnavailableError("no module has such a name")
    try:
        target: Any = importlib.import_module(module)
        for part in place.split(".") if place else ():
            target = getattr(target, part)
    except (Exception, SystemExit) as error:
        raise UnavailableError(f"{module:.100}:{path:.100} cannot be imported") from error
    if place and names_of(target)[1] is not None:
        return target
    return find(module, path)


def _listed_names(entry: Any) -> Iterable[str]:
    """Return the names that an entry of an allowlist means.

    A schema names the parametrised model `Page[int]`; our rows name `Page`, and what is in it.
    """
    if isinstance(entry, str) and ":" in entry:
        entry = entry.split(":")
    if not isinstance(entry, type) and not (
        isinstance(entry, (tuple, list)) and len(entry) > 1 and {*map(type, entry)} == {str}
    ):
        raise ConfigError("allowlist", "each entry must be a type, or (module, name)")
    module, name = names_of(entry) if isinstance(entry, type) else (entry[0], entry[-1])
    yield f"{module}:{name}".partition("[")[0]
    found = find(module, name) if "[" in name else None
    generic = None if found is None else declared(found, "__pydantic_generic_metadata__")
    if generic and generic.get("origin"):
        yield ":".join(names_of(generic["origin"]))


_MAX_NAMES: Final = 1000
"""Bounds the memory of an audit of bytes that are made to name ever new types."""
_NOT_YOURS: Final = frozenset({"builtins", "langgraph_once"})
_TYPE_NAME: Final = TypeAdapter(TypeName)


class Audit:
    """Counts the serde events of this process while it is entered; may be entered again.

    All serializers report here, LangGraph's too, from all threads:

        with Audit() as audit:
            graph.get_state(config)
        print(audit.proposal())

    Under "warn" what is written is heard as well. The names come from the bytes, so whoever can
    write to the database chooses them: read a proposal before you follow it. In what LangGraph
    wrote, a nested class appears as `mod:Inner`, and is allowed as `mod:Outer.Inner`.

    Attributes:
        dropped: Events that were not counted, because they named too many different types.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()
        self._unregister: Callable[[], None] | None = None

    def __enter__(self) -> Self:
        if self._unregister is not None:
            raise RuntimeError("this audit is running already; make another one")
        self._unregister = register_serde_event_listener(self._count)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._unregister is not None:
            self._unregister()
            self._unregister = None

    @property
    def counts(self) -> dict[tuple[str, str], int]:
        """How often each kind of event named each type: `(kind, "module:Name")`."""
        with self._lock:
            return dict(self._counts)

    @property
    def blocked(self) -> tuple[str, ...]:
        """The types that were refused, or whose methods were, as `module:Qual.Name`, sorted."""
        return self._named("msgpack_blocked", "msgpack_method_blocked")

    @property
    def unregistered(self) -> tuple[str, ...]:
        """The types that strict enforcement would refuse, and that were not refused, sorted."""
        return self._named("msgpack_unregistered_allowed")

    def proposal(self, *, allowed_types: Iterable[str] = ()) -> str:
        """Return two lines that let what was met be loaded: for `langgraph.json`, for `.env`.

        Args:
            allowed_types: What the setting holds today; it comes first.
        """
        calls = {*self._named("msgpack_method_blocked")}
        met = [name for name in (*self.blocked, *self.unregistered) if name not in calls]
        names = proposed(met, allowed_types)
        return f"{manifest_line(names)}\n{environment_line(names)}"

    def _count(self, event: SerdeEvent) -> None:
        key = (event["kind"], f"{event['module']}:{event['name']}")
        with self._lock:
            if key in self._counts or len(self._counts) < _MAX_NAMES:
                self._counts[key] += 1
            else:
                self.dropped += 1

    def _named(self, *kinds: str) -> tuple[str, ...]:
        return tuple(sorted({name for kind, name in self.counts if kind in kinds}))


def proposed(met: Iterable[str], allowed_types: Iterable[str] = ()) -> list[str]:
    """Return what the setting should hold: all that it holds, then what was met and is yours."""
    known = dict.fromkeys(allowed_types)
    return [*known, *(name for name in dict.fromkeys(met) if name not in known and is_yours(name))]


def manifest_line(names: Iterable[str]) -> str:
    """Return the setting for `langgraph.json`, below `checkpointer.once.serde`."""
    return f'"allowed_types": {json.dumps([*names])}'


def environment_line(names: Iterable[str]) -> str:
    """Return the setting for `.env`, or a shell."""
    return f"ONCE_SERDE__ALLOWED_TYPES='{json.dumps([*names])}'"


def is_yours(name: str) -> bool:
    """Whether the setting takes it, and it is neither ours nor LangGraph's to allow."""
    try:
        _TYPE_NAME.validate_python(name)
    except ValidationError:
        return False
    module, _, path = name.partition(":")
    is_safe = (module, path.rpartition(".")[2]) in SAFE_MSGPACK_TYPES
    return not is_safe and module.partition(".")[0] not in _NOT_YOURS
