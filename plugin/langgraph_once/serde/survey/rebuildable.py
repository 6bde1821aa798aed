"""Whether a new process can rebuild what is stored of a type, and why not."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from typing import Final, Literal, Self, get_args

from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_TYPES

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import SerdeError, TypeNotAllowedError
from langgraph_once.serde.codecs.langgraph.read.named_types import NamedTypes
from langgraph_once.serde.codecs.langgraph.read.without_code import NeedsListError
from langgraph_once.serde.codecs.once1 import Loader, Registry, UnwritableError
from langgraph_once.serde.codecs.once1.format.layout import Ext
from langgraph_once.serde.codecs.once1.registry.class_names import (
    class_names,
    name_of,
    trust_next_time,
)
from langgraph_once.serde.codecs.once1.types import SAFE_CLASSES
from langgraph_once.serde.survey.type_names import Mention
from langgraph_once.serde.trust.allowlist import Allowlist, find_storable
from langgraph_once.serde.trust.lookup import (
    find,
    find_class,
    is_module_name,
    names_of,
    nested_classes,
)
from langgraph_once.serde.trust.policy import Trust

__all__ = ["RANKS", "TypeStatus", "TypeStatusChecker", "Word"]

Word = Literal["always", "schema", "storable", "listed", "own", "imported", "line", "lost"]
RANKS: Final[dict[Word, int]] = {word: rank for rank, word in enumerate(get_args(Word))}
"""Whether a stored type can be rebuilt, the most certain first."""

_WORDS: Final[dict[Trust, Word]] = {
    Trust.OWN: "own",
    Trust.IMPORTED: "imported",
    Trust.ELSEWHERE: "line",
}

_TAG: Final = "once1"


@dataclass(frozen=True, slots=True)
class TypeStatus:
    """Whether a stored type can be imported and rebuilt, and if not, why.

    Attributes:
        word: "always": everybody may load it; "schema": a graph's state names it; "storable": it
            is marked; "listed": the setting names it; "own" and "imported": it is rebuilt without
            its code; "line": only if the setting names it; "lost": there is nothing to rebuild.
        name: What it is called today.
        reason: Why it needs a line, or is lost.
        to_list: What the setting has to name.
    """

    word: Word
    name: str
    reason: str = ""
    to_list: str = ""


class TypeStatusChecker:
    """Asks what reading asks, of a process that has imported what a server imports at its start.

    As reading does, it imports the modules of types that are listed, or in the project's own
    source.
    """

    def __init__(self, config: SerdeConfig, schema_types: Iterable[tuple[str, ...]] = ()) -> None:
        """Take the settings.

        Args:
            config: Under "warn" and "open", it is told how types stand under "safe".
            schema_types: Those in the schemas of graphs, which a server lists by itself.
        """
        strict = config.enforcement == "strict"
        config = replace(config, enforcement="strict" if strict else "safe")
        self._config, self._schema_types = config, frozenset(schema_types)
        self._listed = frozenset(config.allowed_types)
        self._registry = Registry.from_config(config, ())
        self._allowlist = Allowlist.from_config(config).extended(self._schema_types)
        self._allowlist.note_start()
        self._upstream = NamedTypes(self._allowlist, self._registry.current_name)

    def of_class(self, module: str, name: str) -> TypeStatus:
        """Return how a class stands that a schema names, by its last name."""
        cls = find_class(module, (*name.split("."),))
        if cls is None:
            nested = nested_classes(module, name)
            cls = nested[0] if len(nested) == 1 else None
        if cls is None and "[" not in name:
            return TypeStatus("lost", f"{module}:{name}", _LOCAL)
        try:
            writer = None if cls is None else self._registry.writer(cls)
            full_name = f"{module}:{name}" if cls is None else name_of(cls)
        except UnwritableError as error:
            return TypeStatus("lost", f"{module}:{name}", str(error))
        if writer is None or writer.family is None:
            known = cls is None or writer is not None
            return TypeStatus("always" if known else "lost", full_name, "" if known else _UNKNOWN)
        return self.of(Mention(full_name, "once1", writer.family.name))

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
        try:
            config = replace(self._config, allowed_types=(*self._listed, name))
        except ValueError:
            return False
        if name.partition(":")[0] not in sys.modules:
            return True  # `_is_there` has found it
        listed = type(self)(config, self._schema_types).of(mention)
        return listed.word != "lost" and listed.to_list != name

    def _of(self, mention: Mention) -> TypeStatus:
        names = self._names(mention)
        if mention.kind == Ext.UNKNOWN and mention.codec == "once1":
            return TypeStatus("lost", names[0], _UNKNOWN)
        try:
            if mention.codec == "once1":
                self._load(mention)
            else:
                names = [self._load_upstream(mention)]
        except TypeNotAllowedError as error:
            return self._refused(names[0], error.type_name, error.hook)
        except NeedsListError as error:
            return self._refused(names[0], names[0], str(error))
        except (SerdeError, ValueError):
            return TypeStatus("lost", names[0], self._loss(names[0], mention))
        words: list[Word] = [self._word(name) for name in names]
        word: Word = max(words, key=RANKS.__getitem__, default="always")
        if word != "line":
            return TypeStatus(word, names[0])
        return self._refused(names[0], names[words.index("line")], "")

    def _names(self, mention: Mention) -> list[str]:
        try:
            return [self._registry.current_name(name) for name in class_names(mention.name)]
        except ValueError:
            return [mention.name]

    def _load(self, mention: Mention) -> None:
        loader = Loader(self._registry, self._allowlist)  # which remembers but so many
        if mention.kind == Ext.CLASS:
            loader.loaded_class(mention.name, tag=_TAG)
        elif mention.kind == Ext.FUNCTION:
            loader.loaded_function(mention.name, tag=_TAG)
        else:
            loader.family(mention.kind, mention.name, tag=_TAG)

    def _load_upstream(self, mention: Mention) -> str:
        """Return the full name of a class that can be rebuilt from a row of upstream."""
        module, _, name = self._registry.current_name(mention.name).partition(":")
        self._upstream.constructor(int(mention.kind), module, name, "", tag="msgpack")
        if find(module, (name,)) is not None:
            return f"{module}:{name}"
        return ":".join(names_of(self._allowlist.resolve(module, name, tag="msgpack")[0]))

    def _word(self, name: str) -> Word:
        trust = trust_next_time(name, self._allowlist)
        if trust:
            return _WORDS[trust]
        module, _, path = name.partition(":")
        if (module, path) in SAFE_MSGPACK_TYPES | SAFE_CLASSES:
            return "always"
        if name in self._listed:
            return "listed"
        is_marked = find_storable(module, tuple(path.split("."))) is not None
        return "storable" if is_marked else "schema"

    def _refused(self, name: str, part: str, hook: str) -> TypeStatus:
        module = part.partition(":")[0]
        if hook:
            by_itself = hook.startswith("whatever calls")
            reason = _BY_ITSELF if by_itself else f"rebuilding it runs code: {hook}"
        elif self._allowlist.decide("read", Trust.OWN).refuses:
            reason = 'under "strict", only what is listed is read'
        elif _is_there(module):
            reason = "its module is not imported when a server starts, nor do the graphs import it"
        else:
            return TypeStatus("lost", name, _GONE)
        return TypeStatus("line", name, reason, part)

    def _loss(self, name: str, mention: Mention) -> str:
        if "<locals>" in name:
            return _LOCAL
        if mention.codec == "once1" and isinstance(mention.kind, str):
            if mention.kind not in self._registry.families:
                return f"no family {mention.kind!r} is registered; add it to `adapters`"
            module, _, path = name.partition(":")
            if find(module, (*path.split("."),)) is not None:
                return f"it is no class of the family {mention.kind!r} any more"
        return _GONE if mention.codec == "once1" else f"{_LOCAL_OR}{_GONE}"


_LOCAL: Final = "made in a function; define it at the top of a module, under its own name"
_UNKNOWN: Final = "nobody taught the codec this type; register an adapter for it in `adapters`"
_BY_ITSELF: Final = "it is stored by itself, and whatever calls it runs its code"
_LOCAL_OR: Final = "made in a function, which these rows do not tell, or "
_GONE: Final = "gone; if it moved, say so in `aliases`"


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
