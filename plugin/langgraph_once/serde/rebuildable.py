"""Whether a new process can rebuild what is stored of a type, and why not: for `types`, `rehearse`.

What reading asks is asked here, of several trusts: the first that lets a type pass says how it
stands. As reading does, that imports the modules of types that are listed, and of known packages.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from typing import Any, Final, Literal, Self, get_args

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import SerdeError, TypeNotAllowedError
from langgraph_once.serde.limits import Budget
from langgraph_once.serde.refused import UnavailableError
from langgraph_once.serde.registry import Plans
from langgraph_once.serde.stock import check_class
from langgraph_once.serde.trust.audit import is_yours
from langgraph_once.serde.trust.lookup import find, is_module_name, names_of
from langgraph_once.serde.trust.policy import Trust, is_marked
from langgraph_once.serde.types_in_rows import Mention

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
