"""The research graph: plan, one researcher per topic, report, approval.

`plan` fans out by `Send` to the subgraph `researcher`; each researcher calls two tools at
once and hands in its summary. One of the tools fails now and then: the retry policy runs the
researcher again, which says again what it has said. `write` reports, and `approve` interrupts
the run until the user answers. Nodes are sync, so that the graph runs under `stream` and
`astream` alike: LangGraph moves them to threads, where nothing they do blocks the event loop.
"""

from typing import Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, RetryPolicy, Send, interrupt

from graphs.models import Script, chat_model, model_name
from graphs.research import script
from graphs.research.bullets import join_bullets, split_bullets
from graphs.research.state import Finding, ResearcherState, ResearchState
from graphs.research.tools import find_pitfall, search_sources

__all__ = ["builder", "graph", "researcher"]

MAX_TOPICS = 5

PLAN = (
    "You plan research. In one or two sentences say how you will answer the question, then list "
    "three topics to look into, each on a line of its own that begins with '- '."
)
RESEARCH = (
    "You research one topic. Say in one sentence what you look up and call both tools at the same "
    "time; then summarise in about forty words what their results mean."
)
WRITE = "You write a report of about eighty words that answers the question from the notes."
PUBLISH = "The report was approved. Tell the user in one sentence that it is published."
WITHDRAW = "The report was rejected. Tell the user in one sentence that it is withdrawn."

TOOLS = [search_sources, find_pitfall]


def plan(state: ResearchState) -> dict[str, object]:
    """Plan the work and take the topics from the plan's text."""
    answer = _model(script.plan).invoke([SystemMessage(PLAN), *state["messages"]])
    # A real model may forget the list; its question is then the only topic.
    topics = split_bullets(str(answer.text)) or [_question(state)]
    return {"messages": [answer], "topics": topics[:MAX_TOPICS]}


def assign(state: ResearchState) -> list[Send]:
    """One researcher per topic."""
    return [Send("researcher", {"topic": topic}) for topic in state["topics"]]


def agent(state: ResearcherState) -> dict[str, object]:
    """Ask for tools, or summarise what they gave."""
    model = _model(script.research).bind_tools(TOOLS)
    prompt = [SystemMessage(RESEARCH), HumanMessage(state["topic"])]
    return {"conversation": [model.invoke([*prompt, *state["conversation"]])]}


def route(state: ResearcherState) -> Literal["tools", "hand_in"]:
    """Run the tools that the agent asked for; when it asked for none, its summary is ready."""
    answer = state["conversation"][-1]
    return "tools" if isinstance(answer, AIMessage) and answer.tool_calls else "hand_in"


def hand_in(state: ResearcherState) -> dict[str, object]:
    """Hand the summary, the same message, to the supervisor."""
    results = [message for message in state["conversation"] if isinstance(message, ToolMessage)]
    sources = [
        source
        for result in results
        if result.name == search_sources.name
        for source in split_bullets(str(result.text))
    ]
    finding = Finding(topic=state["topic"], sources=sources, tools_used=len(results))
    return {"notes": [state["conversation"][-1]], "findings": [finding]}


def write(state: ResearchState) -> dict[str, object]:
    """Write the report from the notes of this turn."""
    topics = state["topics"]
    notes: list[AnyMessage] = state["notes"][-len(topics) :]
    request = "\n\n".join(
        [_question(state), join_bullets(topics), *(str(note.text) for note in notes)]
    )
    return {
        "messages": [_model(script.write).invoke([SystemMessage(WRITE), HumanMessage(request)])]
    }


def approve(state: ResearchState) -> Command[Literal["publish", "withdraw"]]:
    """Ask the user, and wait for the answer."""
    answer = interrupt(
        {
            "question": "May the report be published?",
            "topics": state["topics"],
            "report_id": state["messages"][-1].id,
        }
    )
    return Command(goto="publish" if _is_approval(answer) else "withdraw")


def publish(state: ResearchState) -> dict[str, object]:
    """Close the turn of an approved report."""
    return _close(state, PUBLISH, script.publish)


def withdraw(state: ResearchState) -> dict[str, object]:
    """Close the turn of a rejected report."""
    return _close(state, WITHDRAW, script.withdraw)


def _close(state: ResearchState, instruction: str, answers: Script) -> dict[str, object]:
    prompt = [SystemMessage(instruction), HumanMessage(join_bullets(state["topics"]))]
    return {"messages": [_model(answers).invoke(prompt)]}


def _is_approval(answer: object) -> bool:
    match answer:
        case True | "approve" | {"approved": True}:
            return True
        case _:
            return False


def _question(state: ResearchState) -> str:
    humans = (m for m in reversed(state["messages"]) if isinstance(m, HumanMessage))
    return str(next(humans).text)


def _model(answers: Script) -> BaseChatModel:
    return chat_model(model_name(), answers)


researcher = (
    StateGraph(ResearcherState)
    .add_node("agent", agent)
    .add_node("tools", ToolNode(TOOLS, messages_key="conversation"))
    .add_node("hand_in", hand_in)
    .add_edge(START, "agent")
    .add_conditional_edges("agent", route)
    .add_edge("tools", "agent")
    .add_edge("hand_in", END)
    .compile(name="researcher")
)

builder = (
    StateGraph(ResearchState)
    .add_node("plan", plan)
    .add_node("researcher", researcher, retry_policy=RetryPolicy(initial_interval=0.1))
    .add_node("write", write)
    .add_node("approve", approve)
    .add_node("publish", publish)
    .add_node("withdraw", withdraw)
    .add_edge(START, "plan")
    .add_conditional_edges("plan", assign, ["researcher"])
    .add_edge("researcher", "write")
    .add_edge("write", "approve")
    .add_edge("publish", END)
    .add_edge("withdraw", END)
)

graph = builder.compile()  # without a name, so that an assistant has that of `langgraph.json`

_model(script.plan)  # a wrong model name stops the start of the server, not its first run
