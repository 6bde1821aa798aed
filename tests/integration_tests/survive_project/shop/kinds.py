"""A template whose state holds every kind of class that people write, typed and untyped."""

# No `from __future__ import annotations`: the server reads what the types of a factory are.

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, NamedTuple, TypedDict, TypeVar

import attrs
from ag_ui.core import Context
from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Send, interrupt
from pydantic import BaseModel, PrivateAttr, v1 as pydantic_v1

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Mood(enum.StrEnum):
    GOOD = "good"


@dataclass
class Task:
    title: str
    colour: Colour = Colour.RED
    due: datetime = NOW
    parts: "list[Task]" = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Price:
    amount: Decimal
    mood: Mood = Mood.GOOD

    def __post_init__(self) -> None:
        if self.amount < 0:
            raise ValueError("a price is not negative")


class Profile(BaseModel):
    class Address(BaseModel):
        street: str
        level: Level = Level.LOW

    name: str
    address: Address
    tasks: list[Task] = []
    _seen: int = PrivateAttr(default=0)


T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]


class OldProfile(pydantic_v1.BaseModel):
    name: str
    tags: list[str] = []


@attrs.define
class Ticket:
    number: int
    access: Access = Access.READ | Access.WRITE


class Point(NamedTuple):
    x: int
    y: Any


class Basket:
    """Neither dataclass nor model."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.items: list[Any] = [Price(Decimal("1.50"))]

    def __eq__(self, other: object) -> bool:
        return type(other) is Basket and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]  # as for all that can be changed


class ShopError(Exception):
    def __init__(self, code: int, hint: str) -> None:
        super().__init__(code, hint)  # so that it can be copied, which the server does
        self.code = code
        self.hint = hint

    def __eq__(self, other: object) -> bool:
        return type(other) is ShopError and vars(other) == vars(self) and self.args == other.args

    __hash__ = Exception.__hash__


def _local_class() -> type:
    @dataclass
    class Local:
        note: str

    return Local


LOCAL = _local_class()


def profile() -> Profile:
    made = Profile(name="ann", address=Profile.Address(street="High"), tasks=[Task("t")])
    made._seen = 3
    return made


MAKERS: dict[str, Callable[[], Any]] = {
    "dataclass": lambda: Task("outer", parts=[Task("inner")]),
    "frozen dataclass": lambda: Price(Decimal("1.50")),
    "enum": lambda: Colour.RED,
    "int enum": lambda: Level.LOW,
    "flag": lambda: Access.READ | Access.WRITE,
    "str enum": lambda: Mood.GOOD,
    "pydantic": profile,
    "inner type of a pydantic model": lambda: Profile.Address(street="Low"),
    "generic pydantic": lambda: Page[int](items=[1]),
    "generic pydantic of an own type": lambda: Page[Task](items=[Task("paged")]),
    "pydantic v1": lambda: OldProfile(name="bob", tags=["a"]),
    "attrs": lambda: Ticket(7),
    "named tuple": lambda: Point(1, Point(2, (3,))),
    "plain class": lambda: Basket("ann"),
    "exception": lambda: ShopError(7, "again"),
    "of another package": lambda: Context(description="d", value="v"),
    "send": lambda: Send("node", Task("sent")),
}
"""What must come back as it was, by what it is."""


def everything() -> dict[str, Any]:
    made = {name: make() for name, make in MAKERS.items()}
    return made | {
        # The server sends each state as JSON, so no keys but these, and no sets of objects.
        "keys": {Colour.RED: (Level.LOW,), 7: {Level.LOW}},
        "shared": [made["pydantic"], made["pydantic"]],
    }


def compared(found: Any, wanted: Any) -> str:
    """Return "same", or what is not; never equal values of other types."""
    if type(found) is not type(wanted):
        return f"{type(found)} instead of {type(wanted)}: {found!r}"
    if isinstance(found, Send):
        return compared((found.node, found.arg), (wanted.node, wanted.arg))
    if isinstance(found, dict) and len(found) == len(wanted):
        parts = [
            compared(one, other)
            for pair in zip(found.items(), wanted.items(), strict=True)
            for one, other in zip(*pair, strict=True)
        ]
    elif isinstance(found, list | tuple | set) and len(found) == len(wanted):
        parts = [compared(one, other) for one, other in zip(found, wanted, strict=True)]
    elif isinstance(found, (BaseModel, pydantic_v1.BaseModel, Task, Basket)):
        parts = [compared(vars(found), vars(wanted))]
    else:
        parts = []
    different = [part for part in parts if part != "same"]
    if different:
        return different[0]
    return "same" if found == wanted else f"{found!r} instead of {wanted!r}"


def verdicts(found: dict[str, Any]) -> dict[str, str]:
    return {
        name: compared(found.get(name), wanted) for name, wanted in sorted(everything().items())
    }


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    task: Task
    profile: Profile
    colour: Colour
    ticket: Ticket
    anything: Any
    local: Any
    verdicts: dict[str, Any]


def make(state: State) -> State:
    tool = ToolMessage("done", tool_call_id="c1", id="t1", artifact=everything())
    return {
        "messages": [tool],
        "task": MAKERS["dataclass"](),
        "profile": profile(),
        "colour": Colour.RED,
        "ticket": Ticket(7),
        "anything": everything(),
        "local": LOCAL("kept"),
    }


def ask(state: State) -> State:
    # That of the first time is shown; the answer starts the node anew.
    interrupt(everything() | {"local": LOCAL("asked")})
    return {}


async def asked(config: RunnableConfig) -> Any:
    """Return what the thread was interrupted with, as its row is read."""
    saver = config["configurable"]["__pregel_checkpointer"]
    thread = {"thread_id": config["configurable"]["thread_id"], "checkpoint_ns": ""}
    async for found in saver.alist({"configurable": thread}):
        for _, channel, value in found.pending_writes or ():
            if channel == "__interrupt__":
                return value[0].value
    return {}


def kept(found: Any, note: str) -> str:
    """Return "same" if what a class held is there, which was made in a function and is gone."""
    is_kept = type(found).__name__ == "OpaqueDict" and found == {"note": note}
    return "same" if is_kept else repr(found)


async def judge(state: State, config: RunnableConfig) -> State:
    question = await asked(config)
    said = state["messages"][-1]
    typed = {name: state.get(name) for name in ("task", "profile", "colour", "ticket")}
    wanted = {"task": MAKERS["dataclass"](), "profile": profile(), "colour": Colour.RED}
    return {
        "verdicts": {
            "local in the state": kept(state["local"], "kept"),
            "local in the interrupt": kept(question.pop("local", None), "asked"),
            "typed": compared(typed, wanted | {"ticket": Ticket(7)}),
            "untyped": verdicts(state["anything"]),
            "artifact": verdicts(said.artifact if isinstance(said, ToolMessage) else {}),
            "interrupt": verdicts(question),
        }
    }


builder = (
    StateGraph(State)
    .add_node("make", make)
    .add_node("ask", ask)
    .add_node("judge", judge)
    .add_edge(START, "make")
    .add_edge("make", "ask")
    .add_edge("ask", "judge")
)
graph = builder.compile()


def factory(config: RunnableConfig) -> Any:
    return builder.compile()
