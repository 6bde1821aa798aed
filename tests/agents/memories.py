"""Agents that remember, and extraction: langmem and trustcall."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore
from langmem import create_memory_manager, create_search_memory_tool
from langmem.short_term import SummarizationNode
from pydantic import BaseModel
from trustcall import create_extractor

from tests.agents.provider import Models
from tests.agents.scripts import calls, replies, result, turn
from tests.corpus.graphs import Steps, chain, node
from tests.corpus.scenario import ASKED, Run, Scenario, row
from tests.corpus.units import Unit, call, call_piece, draft, gone, said
from tests.corpus.variants import Variant

__all__ = ["extraction", "extraction_patched", "memory_manager", "memory_tools", "running_summary"]


class Person(BaseModel):
    """What is known of a person."""

    name: str
    age: int


def extraction(models: Models) -> Scenario:
    """trustcall extracts a person, and a node tells who it is."""
    ada: dict[str, Any] = {"name": "Ada", "age": 36}
    script = replies(begin=calls("", "Person", **ada))

    def graph() -> Any:
        extractor = create_extractor(models(script), tools=[Person], tool_choice="Person")

        def extract(state: Any) -> Steps:
            found = yield extractor, {"messages": state["messages"]}
            (person,) = found["responses"]
            return {"messages": [AIMessage(f"{person.name} is {person.age} years old.")]}

        return chain(node(extract))

    return row(
        "plain",
        "trustcall",
        "What is extracted is told by another node.",
        graph,
        call("Person", ada, inner=True),
        result('{"name":"Ada","age":36}', inner=True, again=True),
        said("Ada is 36 years old."),
    )


def extraction_patched(models: Models) -> Scenario:
    """trustcall patches what is known of a person: what the model says is not what is kept."""
    known, older = {"name": "Ada", "age": 36}, {"name": "Ada", "age": 37}
    patch: dict[str, Any] = {
        "json_doc_id": "Person",
        "planned_edits": "Older",
        "patches": [{"op": "replace", "path": "/age", "value": 37}],
    }

    def graph() -> Any:
        model = models(replies(_=calls("", "PatchDoc", **patch)))
        extractor = create_extractor(model, tools=[Person], enable_inserts=False)

        def extract(state: Any) -> Steps:
            asked = {"messages": state["messages"], "existing": {"Person": known}}
            (person,) = (yield extractor, asked)["responses"]
            return {"messages": [AIMessage(f"{person.name} is {person.age} years old.")]}

        return chain(node(extract))

    return row(
        "D1",
        "trustcall-patch",
        "What is known is patched: the answer that is kept makes another call of it.",
        graph,
        Unit(piece=call_piece("PatchDoc", patch), updated=0, stated=0, inner=True),
        call("Person", older, inner=True),
        result('{"name":"Ada","age":37}', inner=True, again=True),
        said("Ada is 37 years old."),
    )


def memory_manager(models: Models) -> Scenario:
    """langmem keeps what it is told, with trustcall, after the agent has answered."""
    memory = {"content": "Likes Paris"}

    def graph() -> Any:
        talks = models(replies(begin="I am all ears."))
        manager = create_memory_manager(models(replies(_=calls("", "Memory", **memory))))

        def remember(state: Any) -> Steps:
            found = yield manager, {"messages": state["messages"]}
            return {"messages": [AIMessage(f"I remember {len(found)} thing.")]}

        builder = StateGraph(MessagesState).add_node("agent", create_agent(talks))
        builder.add_node("remember", node(remember))
        return builder.add_edge(START, "agent").add_edge("agent", "remember").compile()

    return row(
        "plain",
        "langmem-manager",
        "A memory is made of the conversation, in a graph that no node shows.",
        graph,
        said("I am all ears."),
        call("Memory", memory, inner=True),
        result('{"content":"Likes Paris"}', inner=True, again=True),
        said("I remember 1 thing."),
        only=shows_no_prompt,
    )


def shows_no_prompt(variant: Variant) -> bool:
    """The state of langmem's graph holds a prompt that repeats the whole conversation."""
    return not (variant.subgraphs and "values" in variant.modes)


def memory_tools(models: Models) -> Scenario:
    """langmem's tool searches a store."""

    def graph() -> Any:
        search = create_search_memory_tool(("memories",), response_format="content")
        asked = calls("I search.", "search_memory", query="Paris")
        script = replies(begin=asked, _="I found nothing.")
        return create_agent(models(script), [search], store=InMemoryStore())

    return row(
        "plain",
        "langmem-tools",
        "A tool searches a store.",
        graph,
        said("I search."),
        call("search_memory", {"query": "Paris"}),
        result("[]"),
        said("I found nothing."),
    )


def text_alone(message: AIMessage) -> AIMessage:
    """What a message says, without blocks."""
    return AIMessage(message.text)


class Summed(MessagesState):
    """A state with what a summary stands for."""

    context: dict[str, Any]


def running_summary(models: Models) -> Scenario:
    """langmem summarizes the history for the model only; the state keeps all of it."""
    more, wish = turn("My second wish.")

    def graph() -> Any:
        model = models(
            replies(
                Create_a_summary="Short-summary.",
                begin="The first answer.",
                second="The second answer.",
            )
        )
        shortens = SummarizationNode(
            model=model | text_alone,  # langmem writes down blocks as they are
            final_prompt=ChatPromptTemplate(
                [("system", "There was a summary."), ("placeholder", "{messages}")]
            ),
            max_tokens=9,
            max_tokens_before_summary=2,
            max_summary_tokens=1,
            token_counter=len,
            output_messages_key="messages",
        )

        def talk(state: Any) -> Steps:
            return {"messages": [(yield model, state["messages"])]}

        builder = StateGraph(Summed).add_node("shorten", shortens).add_node("talk", node(talk))
        builder.add_edge(START, "shorten").add_edge("shorten", "talk")
        return builder.compile(checkpointer=InMemorySaver())

    return row(
        "L3",
        "langmem-summary",
        "A running summary takes the place of the history.",
        graph,
        gone("Please begin."),
        gone("The first answer."),
        draft("Short-summary.", again=True),
        said("There was a summary."),
        wish,
        said("The second answer."),
        asked=None,
        runs=(Run(ASKED), more),
        ordered=False,
    )
