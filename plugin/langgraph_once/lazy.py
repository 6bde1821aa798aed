"""Names of a module that are imported when they are first asked for (PEP 562).

`import langgraph_once` loads what a wrapped graph needs. What it may do without costs nothing until
somebody names it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any


def lazily(
    module: str, names: dict[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a module.

    Define them where no type checker looks (`if not TYPE_CHECKING`), and import the names where
    none but it does: a checker takes any name from a module that has a `__getattr__`.

    Args:
        module: Its `__name__`.
        names: For each module to import, which of its names are asked for here. A module inside
            this one is an attribute of it, too.
    """
    homes = {name: home for home, there in names.items() for name in there}
    inside = [home.removeprefix(f"{module}.") for home in names]

    def find(name: str) -> Any:
        home = homes.get(name) or (f"{module}.{name}" if name in inside else "")
        if not home:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        try:
            found = import_module(home)
        except AttributeError as error:  # `from … import` would say that there is no such name
            raise ImportError(f"{home} cannot be imported: {error}", name=home) from error
        if name in homes:
            found = getattr(found, name)
        setattr(sys.modules[module], name, found)
        return found

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[module]), *homes})

    return find, listed
