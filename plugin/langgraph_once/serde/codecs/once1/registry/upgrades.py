"""Rows of classes that have changed since: what upgrade functions get, and must return.

A class says in `__once_version__` which version of its data it writes; without one, that is 0. A
row of an older version goes through the upgrade function of the class, which gets the data and
that version. So one function takes rows of every age to the class of today.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langgraph_once.serde.codecs.once1.types.base.protocol import (
    EditableFamily,
    Family,
    UnreadableError,
)
from langgraph_once.serde.trust.lookup import declared

__all__ = ["Upgrade", "upgraded", "version_of"]

Upgrade = Callable[[Any, int], Any]


def version_of(cls: type) -> int:
    """Return the version of the data that `cls` writes; 0 where it does not say."""
    version = declared(cls, "__once_version__", 0)
    return version if type(version) is int and 0 <= version < 2**63 else 0


def upgraded(
    data: Any,
    stored: Any,
    *,
    cls: type,
    name: str,
    family: Family,
    upgrades: Mapping[str, Upgrade],
) -> Any:
    """Return `data` as `cls` has it today.

    Args:
        data: What the bytes hold for an instance of it.
        stored: The version of `cls` that it is of, as the bytes say.
        cls: The class.
        name: Where it is today, without parameters.
        family: Its family.
        upgrades: The functions, by the names of their classes.

    Raises:
        UnreadableError: The row is newer than the class, or the function failed.
    """
    upgrade = _needed(cls, stored, name, upgrades)
    if upgrade is None:
        return data
    editor = family if isinstance(family, EditableFamily) else None
    try:
        changed = upgrade(data if editor is None else editor.fields_of(data), stored)
    except Exception as error:
        raise UnreadableError(
            f"its upgrade function raised {type(error).__name__} for version {stored}"
        ) from error
    if editor is None:
        return changed
    if type(changed) is not dict or not all(type(key) is str for key in changed):
        raise UnreadableError(
            f"its upgrade function returned a {type(changed).__name__} for version {stored}, "
            "and must return a dictionary of attributes by name"
        )
    return editor.with_fields(cls, data, changed)


def _needed(cls: type, stored: Any, name: str, upgrades: Mapping[str, Upgrade]) -> Upgrade | None:
    """Return what data of version `stored` must pass through; None if nothing."""
    version = version_of(cls)
    if type(stored) is not int or stored < 0:
        raise UnreadableError("a version that is no number")
    if stored > version:
        raise UnreadableError(
            f"version {stored} of the class wrote it, and `__once_version__` is {version} here: "
            "read it with the newer code"
        )
    return _found(cls, name, upgrades) if stored != version else None


def _found(cls: type, name: str, upgrades: Mapping[str, Upgrade]) -> Upgrade | None:
    """Return the function of `cls`, or of the base that it has its version from."""
    if name in upgrades:
        return upgrades[name]
    for part in cls.__mro__:
        found = upgrades.get(f"{part.__module__}:{part.__qualname__}")
        if found is not None or "__once_version__" in vars(part):
            return found
    return None
