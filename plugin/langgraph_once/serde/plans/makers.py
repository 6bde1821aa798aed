"""What makes the objects of a class, remembered until its name leads to another class.

A notebook defines its classes again and again, and `importlib.reload` does. LangGraph looks a class
up for each object, and so makes instances of the newest.
"""

from __future__ import annotations

from typing import Any, Final

from langgraph_once.serde.plans.base import Maker
from langgraph_once.serde.trust.lookup import top_level

_MAX_KNOWN: Final = 4096
"""Bounds the memory of a process that reads bytes made to describe ever new objects."""


class Makers(dict[Any, tuple[Maker, str, str, Any]]):
    """Makers by what describes an object, each with the place where its class was found."""

    def current(self, key: Any) -> Maker | None:
        """Return the maker, unless its class is gone, or was defined anew."""
        found = self.get(key)
        if found is None:
            return None
        make, module, name, target = found
        return make if not module or top_level(module, name) is target else None

    def note(self, key: Any, make: Maker, class_name: Any = None) -> Maker:
        """Remember a maker, and return it.

        Args:
            key: What describes the objects.
            make: The maker.
            class_name: As `module:Qual.Name`, if it has a class.
        """
        if len(self) >= _MAX_KNOWN:
            self.clear()
        module, _, path = class_name.partition(":") if type(class_name) is str else ("", "", "")
        name = path.partition(".")[0]
        self[key] = make, module, name, top_level(module, name)
        return make
