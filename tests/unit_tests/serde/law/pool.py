"""The kinds of values that the law is tried with, and how they are put into each other."""

from __future__ import annotations

from importlib.util import find_spec
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tests.unit_tests.serde.law import (
    kinds_langchain,
    kinds_models,
    kinds_optional,
    kinds_packages,
    kinds_python,
)
from tests.unit_tests.serde.law.wrappers import WRAPPERS

if TYPE_CHECKING:
    from collections.abc import Callable

_OPTIONAL = kinds_optional.KINDS

MISSING: Final = {name for name, kind in _OPTIONAL.items() if find_spec(kind.package) is None}
"""Kinds whose package is not installed."""

KINDS: Final[dict[str, Callable[[Random], Any]]] = {
    **kinds_models.KINDS,
    **kinds_python.KINDS,
    **kinds_langchain.KINDS,
    **kinds_packages.KINDS,
    **{name: kind.make for name, kind in _OPTIONAL.items() if name not in MISSING},
}
"""How a value of each kind is made at random."""


class Recipe(NamedTuple):
    """Makes the same value in each process."""

    kinds: tuple[str, ...]
    wrappers: tuple[str, ...] = ()
    """The innermost first."""
    seed: int = 0

    def make(self) -> Any:
        """Return a new value."""
        r = Random(self.seed)
        made = [KINDS[kind](r) for kind in self.kinds]
        value = made[0] if len(made) == 1 else dict(zip("abc", made, strict=False))
        for name in self.wrappers:
            value = WRAPPERS[name](value, r)
        return value

    def __str__(self) -> str:
        return " in ".join([" and ".join(self.kinds), *self.wrappers]) + f" (seed {self.seed})"
