"""`storable`: a class says for itself that it may come out of a checkpoint."""

from __future__ import annotations

from typing import Final, TypeVar

from langgraph_once.serde.trust.lookup import find_class, names_in

__all__ = ["find_storable", "storable"]

_MARK: Final = "__once_storable__"

C = TypeVar("C", bound=type)


def storable(cls: C) -> C:
    """Mark `cls` as one that may be loaded from a checkpoint, as if `allowed_types` named it.

        @storable
        @dataclass
        class Invoice: ...

    The mark is the class's own: a subclass needs one too. It is found only once the module of
    the class is imported; reading never imports a module that `allowed_types` does not name.
    Whoever can write to the database can then make instances with any content, without
    `__init__` or validation, so mark what merely holds values.

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


def find_storable(module: str, path: tuple[str, ...]) -> type | None:
    """Return the class of that name if it is marked and its module is imported already.

    No code runs but this, whatever the bytes name: no import, attribute or metaclass is asked.
    """
    found = find_class(module, path)
    return found if found is not None and names_in(found).get(_MARK) is True else None
