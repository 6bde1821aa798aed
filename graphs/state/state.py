"""The state: a channel and a managed value of our own, and values of many types."""

import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from fractions import Fraction
from typing import Annotated, Any

from langgraph.channels import UntrackedValue
from langgraph.channels.base import BaseChannel
from langgraph.errors import EmptyChannelError
from langgraph.graph import MessagesState
from langgraph.managed import IsLastStep, RemainingSteps
from langgraph.managed.base import ManagedValue
from pydantic import BaseModel, PrivateAttr

__all__ = ["AtticState", "Condition", "Guest", "Highest", "Ticket", "UsedSteps"]


class Highest(BaseChannel[int, int, int]):
    """A channel of our own: the highest number that anyone wrote."""

    def __init__(self, typ: Any = int, key: str = "") -> None:
        super().__init__(typ, key)
        self.highest: int | None = None

    ValueType = UpdateType = int

    def from_checkpoint(self, checkpoint: Any) -> "Highest":
        """Go on from what was stored."""
        channel = Highest(self.typ, self.key)
        channel.highest = checkpoint if isinstance(checkpoint, int) else None
        return channel

    def get(self) -> int:
        """The highest number.

        Raises:
            EmptyChannelError: Nobody wrote one.
        """
        if self.highest is None:
            raise EmptyChannelError
        return self.highest

    def update(self, values: Sequence[int]) -> bool:
        """Take what the tasks of a step wrote."""
        before = self.highest
        self.highest = max((*values, *(() if before is None else (before,))), default=None)
        return self.highest != before


class UsedSteps(ManagedValue[float]):
    """A managed value of our own: which part of the steps of this run is used up."""

    @staticmethod
    def get(scratchpad: Any) -> float:
        """From 0 to 1."""
        return float(scratchpad.step / scratchpad.stop)


class Condition(Enum):
    """What time has done to a thing."""

    SOUND = "sound"
    BROKEN = "broken"


@dataclass
class Ticket:
    """A dataclass with a field that its constructor does not take."""

    number: int
    stamps: list[str] = field(default_factory=list, init=False)


class Guest(BaseModel):
    """A pydantic model with a private attribute."""

    name: str
    _visits: int = PrivateAttr(default=0)

    def welcome(self) -> "Guest":
        """Count a visit."""
        self._visits += 1
        return self


class AtticState(MessagesState):
    """Things that people keep in states."""

    # channels
    highest: Annotated[int, Highest]
    seen: Annotated[set[str], operator.or_]
    log: Annotated[list[str], operator.add]
    """Begun anew by `Overwrite`."""
    scratch: Annotated[object, UntrackedValue]
    """Of this run alone: no checkpoint has it."""
    used: Annotated[float, UsedSteps]
    is_last: IsLastStep
    remaining: RemainingSteps

    # types
    point: tuple[int, int]
    pairs: set[tuple[str, int]]
    words: Counter[str]
    rooms: defaultdict[str, list[str]]
    order: OrderedDict[str, int]
    recent: deque[int]
    things: dict[Condition, int]
    share: Fraction
    tickets: list[Ticket]
    guest: Guest
    moment: datetime
    trouble: Exception
