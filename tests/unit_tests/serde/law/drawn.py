"""Plain values drawn at random, of which the kinds are made."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

_WORDS = ("a", "tea", " Green ", "naïve", "☃", "1", "2026-01-01", "two words", "x" * 40)


def word(r: Random) -> str:
    """Return a text that is not empty."""
    return r.choice(_WORDS)


def words(r: Random) -> list[str]:
    """Return up to three texts."""
    return [word(r) for _ in range(r.randrange(4))]


def number(r: Random) -> int:
    """Return a number from 0 to 999."""
    return r.randrange(1000)


def moment(r: Random) -> datetime:
    """Return a time without a zone, far from where zones change."""
    return datetime(2020, 1, 15, 10, 30) + timedelta(days=r.randrange(40), microseconds=number(r))  # noqa: DTZ001  # the kinds say the zone


def plain(r: Random, depth: int = 2) -> Any:
    """Return what JSON knows."""
    kind = r.randrange(7 if depth else 5)
    if kind == 5:
        return [plain(r, depth - 1) for _ in range(r.randrange(4))]
    if kind == 6:
        return {name: plain(r, depth - 1) for name in words(r)}
    return (word(r), number(r), r.random(), None, r.random() < 0.5)[kind]
