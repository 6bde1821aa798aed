"""Tables of SQLModel."""

from importlib import import_module
from typing import Any

sqlmodel: Any = import_module("sqlmodel")  # mypy need not know whether it is installed


class Hero(sqlmodel.SQLModel, table=True):  # type: ignore[misc,call-arg]  # see above
    id: int | None = sqlmodel.Field(default=None, primary_key=True)
    name: str
