"""Which types a stored value names, in every codec, and whether a new process can rebuild them.

They are found in the bytes. Nothing is built or imported, so any row may be asked. Extensions are
opened one after the other, never one inside of the other.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.machinery import PathFinder
from itertools import chain
from typing import Any, Final, Literal, Self, get_args

from langgraph.checkpoint.serde.jsonplus import EXT_DELTA_SNAPSHOT, EXT_METHOD_SINGLE_ARG
from ormsgpack import OPT_NON_STR_KEYS, OPT_PASSTHROUGH_DATACLASS, packb, unpackb

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import SerdeError, TypeNotAllowedError
from langgraph_once.serde.format import CHANNELS, Code, head_parts, heads_in
from langgraph_once.serde.limits import Budget, check_keys, copies_of
from langgraph_once.serde.lookup import find, is_module_name, names_of
from langgraph_once.serde.names import MAX_NAME_CHARS, class_names
from langgraph_once.serde.opaque import UnavailableError, shown_name, source_of
from langgraph_once.serde.registry import Plans
from langgraph_once.serde.stock import check_class
from langgraph_once.serde.trust import Trust, is_marked, is_yours

_STOCK: Final = "stock"
"""The form of objects that are read by LangGraph's rules."""
# Without the calls of methods: of these, readers make none but LangGraph's own.
_CALLS: Final = frozenset({*range(6)} - {EXT_METHOD_SINGLE_ARG})
_CONTAINERS: Final = frozenset({Code.TUPLE, Code.SET, Code.FROZENSET, Code.MAP, Code.SHARED})
_ROW: Final = -1
_OPTIONS: Final = OPT_NON_STR_KEYS | OPT_PASSTHROUGH_DATACLASS


@dataclass(frozen=True, slots=True)
class Mention:
    """A type that a value names."""

    name: str
    """As `module:Qual.Name`, with its parameters in brackets; LangGraph's rows leave out the
    classes that it is nested in."""
    codec: str
    """That names it: "once2", "msgpack" or "json"."""
    form: str | int = 0
    """How `once2` took its instances apart; else the extension of LangGraph that names it."""
    version: int = 0
    """Of its class, when the row was written."""
    head: bytes = field(default=b"", compare=False, repr=False)
    """Of one of its instances in `once2`."""

    @classmethod
    def of_head(cls, head: bytes) -> Mention:
        """Return what a head names. What an adapter wrote names no class: the name is empty.

        Raises:
            ValueError: It is damaged, or holds a name that no type can have.
        """
        form, name, version, extra = head_parts(head)
        for each in class_names(name):
            _check(each)
        if form == _STOCK:
            return cls(name, "msgpack", extra[0])
        return cls("" if name is None else shown_name(name), "once2", form, version, head)

    @classmethod
    def of_stand_in(cls, value: Any) -> Mention | None:
        """Return what the row named of which a stand-in was read; None for one that a user made."""
        source = source_of(value)
        return source and cls.of_head(source[0])

    def names(self) -> list[str]:
        """Return the names of the classes and functions that it is made of."""
        return [*class_names(head_parts(self.head).name)] if self.head else [self.name]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """An extension that was not opened yet, or the row."""

    codec: str
    code: int
    content: bytes


def mentions_in(codec: str, data: bytes) -> dict[Mention, str]:
    """Return what a value names, each with the channel of a checkpoint in which it stands.

    The channel is empty where the value is no checkpoint, or its bytes do not tell.

    Args:
        codec: That wrote the value.
        data: Its bytes, neither compressed nor encrypted.

    Raises:
        ValueError: They are damaged, take too much, or hold a name that no type can have.
    """
    try:
        if codec == "json":
            return dict.fromkeys(_in_json(data), "")
        found = dict(_scanned(codec, data)) if codec in ("once2", "msgpack") else {}
    except (SerdeError, RecursionError, TypeError, LookupError) as error:
        raise ValueError(f"damaged ({type(error).__name__})") from error
    return {mention: channel for mention, channel in found.items() if mention.name}


def _scanned(codec: str, data: bytes) -> Iterator[tuple[Mention, str]]:
    left = copies_of(len(data))
    todo, channels = [_Part(codec, _ROW, data)], dict[_Part, str]()
    while todo:
        part = todo.pop()
        left -= len(part.content)
        if left < 0:
            raise ValueError("extensions stand in each other too deep")
        inner: list[_Part] = []
        for found in _opened(part, inner):
            if isinstance(found, Mention):
                yield found, channels.get(part, "")
            elif part.code == _ROW:
                channels = _channels(found)
        if part.code != _ROW:
            channels |= dict.fromkeys(inner, channels.get(part, ""))
        todo += inner


def _opened(part: _Part, inner: list[_Part]) -> Iterator[Any]:
    """Yield what an extension names, and what it holds; add the extensions in it to `inner`."""

    def note(code: int, content: bytes, codec: str = part.codec) -> _Part:
        inner.append(_Part(codec, code, content))
        return inner[-1]

    def unpacked(msgpack: bytes) -> Any:
        check_keys(msgpack)
        return unpackb(msgpack, ext_hook=note, option=OPT_NON_STR_KEYS)

    code, content = part.code, part.content
    if code == _ROW:
        yield unpacked(content)
    elif part.codec == "msgpack":
        yield from _opened_stock(code, content, unpacked)
    elif code == Code.OBJECT:
        head, data = unpacked(content)
        first, *others = map(Mention.of_head, heads_in(head))
        yield from (first, *others)
        if first.codec == "msgpack":
            note(int(first.form), data, "msgpack")
    elif code == Code.MANY:
        heads = chain.from_iterable(map(heads_in, unpackb(content)[0]))
        yield from map(Mention.of_head, heads)
    elif code == Code.GRAPH:
        yield from map(unpacked, unpackb(content))
    elif Code(code) in _CONTAINERS or code == Code.VALUE:
        yield unpacked(content[1:] if code == Code.VALUE else content)


def _opened_stock(code: int, content: bytes, unpacked: Callable[[bytes], Any]) -> Iterator[Any]:
    if code in _CALLS:
        module, name, *_ = unpacked(content)
        yield Mention(_check(f"{module}:{name}"), "msgpack", code)
    elif code == EXT_DELTA_SNAPSHOT:
        yield unpacked(content)


def _channels(value: Any) -> dict[_Part, str]:
    """Return in which channel of a checkpoint each of its extensions stands."""
    values = value.get(CHANNELS) if isinstance(value, dict) else None
    found: dict[_Part, str] = {}

    def note(name: str, part: _Part) -> None:
        found.setdefault(part, name)

    for name, channel in values.items() if isinstance(values, dict) else ():
        try:  # ormsgpack walks, and asks about each extension that it meets
            packb(channel, partial(note, name), _OPTIONS)
        except TypeError:  # lists are nested too deep for that
            continue
    return found


def _in_json(data: bytes) -> Iterator[Mention]:
    todo: list[Any] = [json.loads(data)]
    for value in todo:
        if isinstance(value, list):
            todo += value
        elif isinstance(value, dict):
            todo += value.values()
            match value:
                # What stands in "lc" 1 is LangChain's own.
                case {"lc": 2, "type": "constructor", "id": [*module, str(name)], **more}:
                    if more.get("method") is None or isinstance(more["method"], list):
                        yield Mention(_check(f"{'.'.join(map(str, module))}:{name}"), "json")


def _check(name: str) -> str:
    module, _, path = name.partition(":")
    if not (module and path and name.isprintable()) or len(name) > MAX_NAME_CHARS:
        raise ValueError("a name that no type can have")
    return name


Word = Literal["always", "schema", "storable", "listed", "known", "line", "lost"]
RANKS: Final[dict[Word, int]] = {word: rank for rank, word in enumerate(get_args(Word))}
"""Whether a stored type can be rebuilt, the most certain first."""


@dataclass(frozen=True, slots=True)
class TypeStatus:
    """Whether a stored type can be imported and rebuilt, and if not, why.

    Attributes:
        word: "always": everybody may load it; "schema": a graph's state names it; "storable": it
            is marked; "listed": the setting names it; "known": a package that is imported has it;
            "line": only if the setting names it; "lost": there is nothing to rebuild.
        name: What it is called today.
        reason: Why it needs a line, or is lost.
        to_list: What the setting has to name.
    """

    word: Word
    name: str
    reason: str = ""
    to_list: str = ""


class _Trust(Trust):
    """Tells nobody what it refuses: nothing is read."""

    def warn(self, name: str, text: str, *arguments: object) -> None:
        pass

    def _tell(self, kind: str, name: str) -> None:
        pass


class TypeStatusChecker:
    """Asks what reading asks, of a process that has imported what a server imports at its start."""

    def __init__(self, config: SerdeConfig, schema_types: Iterable[tuple[str, ...]] = ()) -> None:
        """Take the settings.

        Args:
            config: Under "warn" and "open", it is told how types stand under "safe".
            schema_types: Those in the schemas of graphs, which a server lists by itself.
        """
        self._config, self._schema_types = config, frozenset(schema_types)
        self._is_strict = config.enforcement == "strict"
        none, listed = self._trust("strict"), self._trust("strict", config.allowed_types)
        whole = self._trust("strict" if self._is_strict else "safe", config.allowed_types)
        plans = Plans(none, config)
        self._plans: dict[Word, Plans] = {
            "always": plans,
            "schema": plans.under(none.extended(self._schema_types)),
            "listed": plans.under(listed),
            "known": plans.under(whole.extended(self._schema_types)),
        }

    def _trust(self, enforcement: Any, listed: Iterable[str] = ()) -> Trust:
        config = self._config
        return _Trust(enforcement, listed, source=config.source, aliases=config.aliases)

    def of_class(self, module: str, name: str) -> TypeStatus:
        """Return how a class stands that a schema names, by its last name."""
        name = name.partition("[")[0]
        cls = find(module, name)
        if cls is None:
            return TypeStatus("lost", f"{module}:{name}", _LOCAL)
        return self.of(Mention(f"{module}:{cls.__qualname__}", "msgpack"))

    def of(self, mention: Mention) -> TypeStatus:
        """Return how a type stands that a stored value names."""
        status = self._of(mention)
        if status.word == "line" and not self._helps(status.to_list, mention):
            return TypeStatus("lost", status.name, f"{status.reason}; no line helps")
        return status

    def with_aliases(self, aliases: Mapping[str, str]) -> Self:
        """Return one that asks under these aliases, too.

        Raises:
            ValueError: The setting does not take them.
        """
        config = replace(self._config, aliases={**self._config.aliases, **aliases})
        return type(self)(config, self._schema_types)

    def _helps(self, name: str, mention: Mention) -> bool:
        """Whether the setting takes a name, and the type is read then, or lacks another line.

        Nothing is imported or built: rows chose the name, and nobody has trusted them yet.
        """
        if not is_yours(name):
            return False
        config = replace(self._config, allowed_types=(*self._config.allowed_types, name))
        if name.partition(":")[0] not in sys.modules:
            return True  # `_is_there` has found it
        listed = type(self)(config, self._schema_types)._of(mention)  # noqa: SLF001  # of this class
        return listed.word != "lost" and listed.to_list != name

    def _of(self, mention: Mention) -> TypeStatus:
        trust = self._plans["known"].trust
        names = [trust.current_name(each) for each in mention.names()]
        error: Exception | None = None
        for word, plans in self._plans.items():
            try:
                name = _found(plans, mention) or (names[0] if names else mention.name)
            except (SerdeError, ValueError) as found:
                error = found
                continue
            if word in ("always", "known") and any(map(_is_storable, names)):
                return TypeStatus("storable", name)
            return TypeStatus(word, name)
        name = names[0] if names else mention.name
        if isinstance(error, TypeNotAllowedError):
            return self._refused(name, error)
        return TypeStatus("lost", name, _loss(mention, error))

    def _refused(self, name: str, error: TypeNotAllowedError) -> TypeStatus:
        module = error.type_name.partition(":")[0]
        if not _is_there(module):
            return TypeStatus("lost", name, _GONE)
        if self._is_strict:
            reason = 'under "strict", only what is listed is read'
        elif module.partition(".")[0] in sys.modules:
            reason = f"rebuilding it runs code: {error.hook}"
        else:
            reason = (
                "its package is not imported when a server starts, nor does the project import it"
            )
        return TypeStatus("line", name, reason, error.type_name)


def _found(plans: Plans, mention: Mention) -> str:
    """Ask what reading asks; return the name of a class that LangGraph names in part.

    Raises:
        SerdeError: It may not be loaded.
        ValueError: There is nothing to load.
    """
    if mention.head:
        plans.maker(mention.head, Budget(0, "once2"))
        return ""
    module, _, path = mention.name.partition(":")
    check_class(plans, int(mention.form), module, path)
    module, path = names_of(plans.trust.find(mention.name))
    return f"{module}:{path}"


def _is_storable(name: str) -> bool:
    module, _, path = name.partition(":")
    return is_marked(find(module, path))


_LOCAL: Final = "made in a function; define it at the top of a module, under its own name"
_GONE: Final = "gone; if it moved, say so in `aliases`"


def _loss(mention: Mention, error: Exception | None) -> str:
    if "<locals>" in mention.name:
        return _LOCAL
    found = mention.head and isinstance(error, UnavailableError)
    reason = str(error) if found and "not found" not in str(error) else _GONE
    return (
        reason if mention.head else f"made in a function, which these rows do not tell, or {reason}"
    )


def _is_there(module: str) -> bool:
    """Whether it could be imported. Nothing is."""
    if module in sys.modules or not is_module_name(module):
        return module in sys.modules
    top, *rest = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
        for name in rest:
            if spec is None or spec.submodule_search_locations is None:
                return False
            # By its last name alone: a folder without `__init__.py` asks for its parent, which is
            # not imported.
            spec = PathFinder.find_spec(name, [*spec.submodule_search_locations])
    except (ImportError, ValueError):
        return False
    return spec is not None
