"""Agents that wait for a person, as the packages make them: what is stored meanwhile is theirs.

Each is imported where it is asked for: a process that resumes a thread begins cold.
"""

from __future__ import annotations

import asyncio
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Final, NamedTuple
from uuid import UUID

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from pydantic import AwareDatetime, BaseModel, SecretStr

from tests.agents.asked import Reply
from tests.agents.provider import Models
from tests.agents.scripts import calls, replies

__all__ = ["WAITING", "Waiting"]

BEGIN: Final = {"messages": [HumanMessage("Please begin.", id="first")]}
APPROVED: Final[Any] = {"decisions": [{"type": "approve"}]}
SAYS_YES: Final = {"messages": [HumanMessage("More, please.", id="more")]}


class Waiting(NamedTuple):
    """A graph to compile, and what it is asked and told.

    Attributes:
        graph: Makes it, with this checkpointer.
        answer: What the person says.
        more: Another turn, after that.
    """

    graph: Callable[[Any], Any]
    answer: Any = "yes"
    more: Any = None
    asked: Any = BEGIN


@tool
def visit(city: str) -> str:
    """Visit a city, if a person agrees."""
    return f"{interrupt({'question': 'Shall I?', 'city': city})}: {city} is sunny."


VISITS: Final = calls("I go there.", "visit", city="Paris")


def deepagents(models: Models) -> Waiting:
    """A deep agent writes a file, if a person approves, and sends a subagent."""
    from deepagents import create_deep_agent

    file = {"file_path": "/notes.txt", "content": "Paris"}
    task = {"description": "Look at Paris.", "subagent_type": "scout"}
    todos = [{"content": "Go", "status": "in_progress"}]
    boss = models(
        replies(
            begin=calls("I plan.", "write_todos", todos=todos),
            todo=calls("I write it down.", "write_file", **file),
            notes=calls("I send the scout.", "task", **task),
            back="Done.",
            More="Still here.",
        )
    )
    scout: Any = {
        "name": "scout",
        "description": "Visits.",
        "system_prompt": "You visit.",
        "model": models(replies(Look=VISITS, sunny="The scout is back.")),
        "tools": [visit],
    }
    asks: Any = {"write_file": True}
    return Waiting(
        lambda saver: create_deep_agent(
            boss, subagents=[scout], interrupt_on=asks, checkpointer=saver
        ),
        answer=APPROVED,
        more=Command(resume="yes"),
    )


def supervisor(models: Models) -> Waiting:
    """A worker of a supervisor asks from within a tool of its own graph."""
    from langchain.agents import create_agent
    from langgraph_supervisor import create_supervisor

    worker = models(replies(transferred_to_scout=VISITS, sunny="The scout is back."))
    boss = models(
        replies(begin=calls("The scout!", "transfer_to_scout"), back="Glad.", More="Still here.")
    )
    team = create_supervisor(
        [create_agent(worker, [visit], name="scout")], model=boss, output_mode="full_history"
    )
    return Waiting(lambda saver: team.compile(checkpointer=saver), more=SAYS_YES)


def swarm(models: Models) -> Waiting:
    """The second of a swarm asks, and answers the next turn too."""
    from langchain.agents import create_agent
    from langgraph_swarm import create_handoff_tool, create_swarm

    first = models(replies(begin=calls("Bob knows that.", "transfer_to_bob")))
    second = models(
        replies(transferred_to_bob=VISITS, sunny="Bob has seen it.", More="Bob is still here.")
    )
    alice = create_agent(first, [create_handoff_tool(agent_name="bob")], name="alice")
    bob = create_agent(second, [visit], name="bob")
    team = create_swarm([alice, bob], default_active_agent="alice")
    return Waiting(lambda saver: team.compile(checkpointer=saver), more=SAYS_YES)


class Summed(MessagesState):
    """A state with what a summary stands for."""

    context: dict[str, Any]


def langmem(models: Models) -> Waiting:
    """The summary that langmem goes on with is an object of its own."""
    from langchain_core.prompts import ChatPromptTemplate
    from langmem.short_term import SummarizationNode

    model = models(replies(ummary="Short-summary.", begin="The first.", More="The second."))
    shortens = SummarizationNode(
        model=model | (lambda message: AIMessage(message.text)),
        final_prompt=ChatPromptTemplate(
            [("system", "There was {summary}"), ("placeholder", "{messages}")]
        ),
        max_tokens=9,
        max_tokens_before_summary=1,
        max_summary_tokens=1,
        token_counter=len,
        output_messages_key="messages",
    )

    def talk(state: Any) -> Any:
        return {"messages": [model.invoke([HumanMessage(str(state["messages"][-1].text))])]}

    builder = StateGraph(Summed).add_node("shorten", shortens).add_node("talk", talk)
    builder.add_node("ask", lambda _: {"messages": [HumanMessage(interrupt("More?"), id="m")]})
    builder.add_edge(START, "shorten").add_edge("shorten", "talk").add_edge("talk", "ask")
    said = [HumanMessage(text, id=str(at)) for at, text in enumerate(["One.", "Two.", "begin"])]
    return Waiting(
        lambda saver: builder.compile(checkpointer=saver), more=SAYS_YES, asked={"messages": said}
    )


class Person(BaseModel):
    """What is known of a person."""

    name: str
    born: date
    likes: list[str] = []


class People(MessagesState):
    """The person that was extracted, and what extraction said beside it."""

    person: Person
    extraction: dict[str, Any]


def trustcall(models: Models) -> Waiting:
    """trustcall extracts a person, and patches it when a person has answered."""
    from trustcall import create_extractor

    patch: dict[str, Any] = {
        "json_doc_id": "Person",
        "planned_edits": "More",
        "patches": [{"op": "add", "path": "/likes/-", "value": "tea"}],
    }
    ada = {"name": "Ada", "born": "1815-12-10"}
    extracts = create_extractor(
        models(replies(begin=calls("", "Person", **ada))), tools=[Person], tool_choice="Person"
    )
    patches = create_extractor(
        models(replies(_=calls("", "PatchDoc", **patch))), tools=[Person], enable_inserts=False
    )

    def extract(state: Any) -> Any:
        found = extracts.invoke({"messages": state["messages"]})
        return {"person": found["responses"][0], "extraction": dict(found)}

    def change(state: Any) -> Any:
        said = [HumanMessage(interrupt(state["person"]))]
        known = {"Person": state["person"].model_dump(mode="json")}
        (person,) = patches.invoke({"messages": said, "existing": known})["responses"]
        return {"person": person, "messages": [AIMessage(f"Born in {state['person'].born:%Y}.")]}

    builder = StateGraph(People).add_node("extract", extract).add_node("change", change)
    builder.add_edge(START, "extract").add_edge("extract", "change")
    return Waiting(lambda saver: builder.compile(checkpointer=saver))


@dataclass
class Leg:
    """A part of a journey."""

    city: str
    at: datetime
    by: list[str]


def functional(models: Models) -> Waiting:
    """Tasks of the functional API, whose results are not computed again after the answer."""
    from langgraph.func import entrypoint, task

    model = models(replies(Paris="Paris is sunny.", Rome="Rome is rainy.", More="Still here."))

    @task
    def look(city: str) -> Leg:
        text = str(model.invoke(f"How is {city}?").text)
        return Leg(f"{city}: {text}", datetime(2025, 3, 1, 12, tzinfo=UTC), ["train"])

    def graph(saver: Any) -> Any:
        @entrypoint(checkpointer=saver)
        def travel(given: Any, *, previous: Any = None) -> Any:
            legs = [*(previous or [])]
            legs += [each.result() for each in [look(city) for city in ("Paris", "Rome")]]
            said = interrupt(legs[0])
            text = f"{said} {legs[-1].at:%H:%M} {legs[-1].by}"
            return entrypoint.final(value={"text": text, "legs": legs}, save=legs)

        return travel

    return Waiting(graph)


MCP_SERVER: Final = """
from pydantic import BaseModel
from mcp.server.fastmcp import FastMCP, Image
server = FastMCP("weather", log_level="ERROR")
class Report(BaseModel):
    city: str
    degrees: float
@server.tool()
def report(city: str) -> Report:
    return Report(city=city, degrees=21.5)
@server.tool(structured_output=False)
def picture(city: str) -> Image:
    return Image(data=b"a picture", format="png")
server.run()
"""


def mcp(models: Models) -> Waiting:
    """Tools of an MCP server give structured content as an artifact, and pictures."""
    from langchain_mcp_adapters.client import MultiServerMCPClient

    server = {"command": sys.executable, "args": ["-c", MCP_SERVER], "transport": "stdio"}

    async def results(made: list[Any]) -> list[ToolMessage]:
        client = MultiServerMCPClient({"weather": server})  # type: ignore[dict-item]
        tools = {each.name: each for each in await client.get_tools()}
        return [await tools[each["name"]].ainvoke({**each, "type": "tool_call"}) for each in made]

    paris = {"city": "Paris"}
    report, picture = calls("I ask.", "report", **paris), calls("", "picture", **paris)
    both = Reply(text="I ask.", calls=report.calls + picture.calls)
    model = models(replies(begin=both, degrees="It is warm."))

    def talk(state: Any) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    def look(state: Any) -> Any:
        return {"messages": asyncio.run(results(state["messages"][-1].tool_calls))}

    def tell(state: Any) -> Any:
        found = state["messages"][-2].artifact["structured_content"]
        said = interrupt(found)
        return {"messages": [AIMessage(f"{said}: {found['degrees'] + 1} degrees")]}

    builder = StateGraph(MessagesState).add_node("talk", talk).add_node("look", look)
    builder.add_node("tell", tell).add_edge(START, "talk").add_edge("talk", "look")
    builder.add_edge("look", "tell")
    return Waiting(lambda saver: builder.compile(checkpointer=saver))


class Found(MessagesState):
    """What was found in a library."""

    documents: Annotated[list[Document], operator.add]
    by_source: dict[str, Document]


def rag(models: Models) -> Waiting:
    """Documents of a vector store are in the state, and an artifact."""
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    library = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    library.add_documents(
        [
            Document(
                f"Page {at} on tea", id=f"p{at}", metadata={"page": at, "seen": date(2025, 3, at)}
            )
            for at in (1, 2, 3)
        ]
    )
    model = models(replies(begin=calls("I look.", "retrieve", query="tea"), Page="Tea is a drink."))

    @tool(response_format="content_and_artifact")
    def retrieve(query: str) -> tuple[str, list[Document]]:
        """Look for documents."""
        found = library.similarity_search(query, k=2)
        return " ".join(each.page_content for each in found), found

    def ask(state: Any) -> Any:
        return {"messages": [model.bind_tools([retrieve]).invoke(state["messages"])]}

    def look(state: Any) -> Any:
        (made,) = state["messages"][-1].tool_calls
        message = retrieve.invoke({**made, "type": "tool_call"})
        by_source = {each.id: each for each in library.similarity_search("tea", k=2)}
        return {"messages": [message], "documents": message.artifact, "by_source": by_source}

    def generate(state: Any) -> Any:
        chosen = interrupt(state["documents"])
        pages = sorted(each.metadata["seen"].day for each in state["documents"])
        answer = model.invoke([HumanMessage(state["documents"][0].page_content)])
        return {"messages": [answer, AIMessage(f"{chosen} {pages}")], "documents": []}

    builder = StateGraph(Found).add_node("ask", ask).add_node("look", look)
    builder.add_node("generate", generate).add_edge(START, "ask").add_edge("ask", "look")
    builder.add_edge("look", "generate")
    return Waiting(lambda saver: builder.compile(checkpointer=saver))


def sqlmodel(models: Models) -> Waiting:
    """The state is a model of SQLModel, and rows of a table are in it."""
    from tests.agents.tables import Hero, Heroes

    model = models(replies(begin="A hero came."))

    def talk(state: Any) -> Any:
        text = str(model.invoke("Please begin.").text)
        return {"text": text, "hero": Hero(id=1, name="Ada", born=date(1815, 12, 10))}

    def ask(state: Any) -> Any:
        team = [*state.team, Hero(id=2, name=interrupt(state.hero))]
        return {"team": team, "text": f"{state.text} {type(state.hero).__name__}"}

    builder = StateGraph(Heroes).add_node("talk", talk).add_node("ask", ask)
    builder.add_edge(START, "talk").add_edge("talk", "ask")
    return Waiting(
        lambda saver: builder.compile(checkpointer=saver), more={"text": "b"}, asked={"text": "a"}
    )


class Kind(Enum):
    """Of a booking."""

    HOTEL = "hotel"


class Guest(BaseModel):
    """Who comes."""

    name: str
    born: date | None = None


class Booking(BaseModel):
    """What a model made of a conversation."""

    id: UUID
    kind: Kind
    at: AwareDatetime
    stays: timedelta
    price: Decimal
    code: SecretStr
    guests: list[Guest]


class Booked(MessagesState):
    """What was booked."""

    booking: Booking
    arrivals: list[datetime]


def structured(models: Models) -> Waiting:
    """What a model answers as JSON becomes an object, with dates and more."""
    booking: dict[str, Any] = {
        "id": "7b0c1cd0-5f1e-4c84-9c4b-30cf0c3e4a55",
        "kind": "hotel",
        "at": "2025-03-01T12:30:00+01:00",
        "stays": "P3D",
        "price": "99.90",
        "code": "pst",
        "guests": [{"name": "Ada", "born": "1815-12-10"}, {"name": "Bob"}],
    }
    model = models(replies(begin=calls("", "Booking", **booking))).with_structured_output(
        Booking, method="function_calling"
    )

    def book(state: Any) -> Any:
        made: Any = model.invoke(state["messages"])
        return {"booking": made, "arrivals": [made.at, made.at + made.stays]}

    def confirm(state: Any) -> Any:
        made = state["booking"]
        said = interrupt({"booking": made, "until": state["arrivals"][-1]})
        text = f"{said} {made.at.utcoffset()} {made.kind.name} {made.price * 3}"
        return {"messages": [AIMessage(text)], "arrivals": [*state["arrivals"], made.at]}

    builder = StateGraph(Booked).add_node("book", book).add_node("confirm", confirm)
    builder.add_edge(START, "book").add_edge("book", "confirm")
    return Waiting(lambda saver: builder.compile(checkpointer=saver))


WAITING: Final[dict[str, Callable[[Models], Waiting]]] = {
    each.__name__: each
    for each in (
        *(deepagents, supervisor, swarm, langmem, trustcall),
        *(functional, mcp, rag, sqlmodel, structured),
    )
}
"""By the package, or what it is about."""
