"""Graphs that wait for a person, as approval UIs have them, and what the person answers.

They are made, and `deepagents` is imported, where they are served: else each worker of pytest
would take half a second for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send, interrupt

from graphs.models import ScriptedChatModel

BEGIN: Any = {"messages": [{"role": "user", "content": "Please begin.", "id": "asked"}]}
WRAPPED = "langgraph_once.platform.graphs"

Answer = Callable[[Sequence[Any]], Any]
"""Makes the command of a resume out of the interrupts that wait."""


class Approval(NamedTuple):
    """What makes a graph, and what a person answers each time that it waits."""

    graph: Callable[[], Any]
    answers: tuple[Answer, ...]


def made(name: str, call_id: str, **args: Any) -> Any:
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def says(*turns: AIMessage) -> ScriptedChatModel:
    """A model whose turn tells the conversation: the server makes it anew for each run."""

    def script(messages: Sequence[BaseMessage]) -> AIMessage:
        said = sum(isinstance(message, AIMessage) for message in messages)
        return turns[min(said, len(turns) - 1)].model_copy(deep=True)

    return ScriptedChatModel(script=script)


@tool
def send(to: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


@tool
def look(q: str) -> str:
    """Look something up."""
    return f"found {q}"


@tool
def ask(q: str) -> str:
    """Ask a person."""
    return f"{q} {interrupt(q)}"


KIM, LEE = made("send", "c1", to="kim"), made("send", "c2", to="lee")
SENDS = AIMessage("Sending it.", tool_calls=[KIM])
DONE = AIMessage("It is done.")
ASKS = AIMessage("Let me ask.", tool_calls=[made("ask", "c1", q="May I?")])
BOTH = AIMessage("Both.", tool_calls=[KIM, LEE])


def agent(*turns: AIMessage, **how: Any) -> Any:
    """An agent that may send only what a person agrees to."""
    asks: Any = HumanInTheLoopMiddleware({"send": True}, **how)
    return create_agent(says(*turns), [send, look, ask], middleware=[asks])


def asking(*turns: AIMessage) -> Any:
    """An agent one of whose tools asks a person itself."""
    return create_agent(says(*turns), [look, ask])


def writer() -> Any:
    """A deep agent that may write a file only if a person agrees."""
    from deepagents import create_deep_agent

    file = made("write_file", "c1", file_path="/notes.txt", content="Oslo")
    model: Any = says(AIMessage("I write it down.", tool_calls=[file]), DONE)
    return create_deep_agent(model, interrupt_on={"write_file": True})


def delegating() -> Any:
    """A deep agent whose subagent has a tool that asks a person."""
    from deepagents import create_deep_agent

    task = made("task", "c1", description="Look at Oslo.", subagent_type="scout")
    inner = AIMessage("Let me ask.", tool_calls=[made("ask", "c9", q="May I?")])
    scout: Any = {
        "name": "scout",
        "description": "Looks at places.",
        "system_prompt": "You look.",
        "model": says(inner, AIMessage("The scout is back.")),
        "tools": [ask],
    }
    model: Any = says(AIMessage("I send the scout.", tool_calls=[task]), DONE)
    return create_deep_agent(model, subagents=[scout])


def siblings() -> Any:
    """Two tasks side by side ask a person, each after what its model said; a third does not."""

    def topic(state: Any) -> Any:
        said = says(AIMessage(f"On {state['topic']}.")).invoke("?")
        answer = interrupt(state["topic"]) if state["topic"] != "tea" else "fine"
        return {"messages": [said, AIMessage(f"{state['topic']} is {answer}.")]}

    builder: Any = StateGraph(MessagesState)
    builder.add_node("topic", topic)
    topics = [Send("topic", {"topic": each}) for each in ("tea", "milk", "salt")]
    builder.add_conditional_edges(START, lambda _: topics, ["topic"])
    return builder.compile()


def review() -> Any:
    """A person edits the draft of a model, in the node that asked for it."""

    def draft(state: Any) -> Any:
        said = says(AIMessage("A first draft.")).invoke("?")
        said.content = f"{said.text} {interrupt(said.text)}"
        return {"messages": [said]}

    return StateGraph(MessagesState).add_node("draft", draft).add_edge(START, "draft").compile()


def decides(*decisions: Any) -> Answer:
    return lambda _: {"resume": {"decisions": [*decisions]}}


def yes(_: Sequence[Any]) -> Any:
    return {"resume": "yes"}


def each(answer: Callable[[Any], Any]) -> Answer:
    """Answers all interrupts at once, each by its id."""
    return lambda waiting: {"resume": {one["id"]: answer(one["value"]) for one in waiting}}


def first(answer: Any) -> Answer:
    """Answers one of those that wait."""
    return lambda waiting: {"resume": {waiting[0]["id"]: answer}}


APPROVE: Any = {"type": "approve"}
EDIT: Any = {"type": "edit", "edited_action": {"name": "send", "args": {"to": "lee"}}}
REJECT: Any = {"type": "reject", "message": "Do not send it."}
RESPOND: Any = {"type": "respond", "message": "I sent it myself."}

MAIL = partial(agent, SENDS, DONE)
MIXED = AIMessage("All.", tool_calls=[KIM, made("look", "c2", q="oslo"), made("ask", "c3", q="?")])
TWO_ASK = AIMessage("Two.", tool_calls=[made("ask", "c1", q="tea"), made("ask", "c2", q="milk")])
ASK_LOOK = AIMessage("Two.", tool_calls=[made("ask", "c1", q="tea"), made("look", "c2", q="oslo")])

APPROVALS: dict[str, Approval] = {
    "approve": Approval(MAIL, (decides(APPROVE),)),
    "edit": Approval(MAIL, (decides(EDIT),)),
    "reject": Approval(MAIL, (decides(REJECT),)),
    "respond": Approval(MAIL, (decides(RESPOND),)),
    "approve_one_reject_the_other": Approval(
        partial(agent, BOTH, DONE), (decides(APPROVE, REJECT),)
    ),
    "approve_per_call": Approval(
        partial(agent, BOTH, DONE, interrupt_mode="per_call"),
        (each(lambda value: APPROVE if value["args"]["to"] == "kim" else RESPOND),),
    ),
    "approve_beside_tools_that_run_and_ask": Approval(
        partial(agent, MIXED, DONE), (decides(APPROVE), yes)
    ),
    "approve_twice": Approval(
        partial(agent, SENDS, AIMessage("And again.", tool_calls=[LEE]), DONE),
        (decides(APPROVE), decides(EDIT)),
    ),
    "deepagents": Approval(writer, (decides(APPROVE),)),
    "deepagents_subagent_asks": Approval(delegating, (yes,)),
    "tool_asks": Approval(partial(asking, ASKS, DONE), (yes,)),
    "tool_asks_beside_one_that_runs": Approval(partial(asking, ASK_LOOK, DONE), (yes,)),
    "two_tools_ask": Approval(partial(asking, TWO_ASK, DONE), (each(lambda value: value),)),
    "two_tools_ask_answered_in_turn": Approval(
        partial(asking, TWO_ASK, DONE), (first("one"), first("two"))
    ),
    "siblings": Approval(siblings, (each(lambda _: "good"),)),
    "siblings_answered_in_turn": Approval(siblings, (first("good"), first("better"))),
    "review": Approval(review, (yes,)),
}

SERVED = "tests.integration_tests.approval_served"
MANIFEST: dict[str, Any] = {
    "dependencies": ["."],
    "graphs": {
        key: entry
        for name in APPROVALS
        for key, entry in (
            (name, f"{SERVED}:{name}"),
            (
                f"{name}_once",
                {"path": f"{WRAPPED}:{name}_once", "once": {"target": f"{SERVED}:{name}"}},
            ),
        )
    },
    "checkpointer": {"path": "langgraph_once.platform.checkpointer.saver"},
}
