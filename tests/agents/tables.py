"""Tables of SQLModel, and a state that is one of its models."""

from __future__ import annotations

from datetime import date

from sqlmodel import Field, SQLModel

__all__ = ["Hero", "Heroes"]


class Hero(SQLModel, table=True):
    """A row."""

    id: int | None = Field(default=None, primary_key=True)
    name: str
    born: date | None = None


class Heroes(SQLModel):
    """A state."""

    text: str = ""
    hero: Hero | None = None
    team: list[Hero] = []
