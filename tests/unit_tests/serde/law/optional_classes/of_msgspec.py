"""Classes of msgspec."""

from importlib import import_module
from typing import Any

msgspec: Any = import_module("msgspec")  # mypy need not know whether it is installed


class Struct(msgspec.Struct):  # type: ignore[misc]  # see above
    name: str
    count: int = 0
    tags: list[str] = []  # noqa: RUF012  # msgspec copies defaults


class FrozenStruct(msgspec.Struct, frozen=True):  # type: ignore[misc,call-arg]  # see above
    name: str
