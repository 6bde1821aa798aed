"""What is kept in the attic: one value of each type that the state knows."""

from collections import Counter, OrderedDict, defaultdict, deque
from datetime import datetime
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from graphs.state.state import Condition, Guest, Ticket

__all__ = ["things"]


def things() -> dict[str, Any]:
    """New values, equal each time, by the channel that takes them."""
    ticket = Ticket(7)
    ticket.stamps.append("Vienna")
    return {
        "point": (3, 4),
        "pairs": {("lamp", 1)},
        "words": Counter("attic"),
        "rooms": defaultdict(list, {"north": ["trunk"]}),
        "order": OrderedDict(trunk=1, lamp=2),
        "recent": deque([1, 2, 3], maxlen=3),
        "things": {Condition.SOUND: 2, Condition.BROKEN: 5},
        "share": Fraction(1, 3),
        "tickets": [ticket],
        "guest": Guest(name="Ada").welcome(),
        "moment": datetime(2026, 3, 29, 1, 30, tzinfo=ZoneInfo("Europe/Rome")),
        "trouble": ValueError("the ladder is missing"),
    }
