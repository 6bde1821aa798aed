"""Graphs that are played to AG-UI twice: by `ag-ui-langgraph` itself, and by the typed events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, PIIMiddleware
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, RetryPolicy, interrupt
from langgraph_supervisor import create_supervisor

from graphs.models import ScriptedChatModel
from tests.unit_tests.events.threads import answers, call, chained, said

RETRY = RetryPolicy(max_attempts=2, initial_interval=0.001, jitter=False)
OSLO, BERGEN = call("look", "c1", q="oslo"), call("look", "c2", q="bergen")


@tool
def look(q: str = "") -> str:
    """Look something up."""
    return f"found {q}"


@tool
def fails(q: str = "") -> str:
    """Fail."""
    raise ValueError(q)


@tool
def ask(q: str) -> str:
    """Ask a person."""
    return f"{q} {interrupt(q)}"


@tool
def lists(q: str = "") -> list[Any]:
    """Give blocks."""
    return [{"type": "text", "text": f"found {q}"}]


class Pieces(ScriptedChatModel):
    """Streams these chunks."""

    pieces: list[Any]

    def _stream(self, messages: Any, *args: Any, **how: Any) -> Any:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield ChatGenerationChunk(message=piece.model_copy(deep=True))


def pieces(*chunks: Any) -> Any:
    return Pieces(script=lambda _: AIMessage(""), pieces=[*chunks])


def thought(text: str) -> AIMessageChunk:
    return AIMessageChunk(content=[{"type": "thinking", "thinking": text, "index": 0}])


def block(text: str) -> AIMessageChunk:
    return AIMessageChunk(content=[{"type": "text", "text": text, "index": 1}])


def piece(name: str | None, args: str, call_id: str | None, index: int = 0) -> AIMessageChunk:
    made: Any = {"name": name, "args": args, "id": call_id, "index": index}
    return AIMessageChunk(content="", tool_call_chunks=[made])


def agent(*turns: Any, tools: Any = (look, fails, ask, lists), **how: Any) -> Any:
    """An agent whose model says these in turn."""
    return create_agent(answers(*turns), [*tools], checkpointer=InMemorySaver(), **how)


def calling(*calls: Any, text: str = "") -> AIMessage:
    return AIMessage(text, tool_calls=[*calls])


def whole(text: str, *calls: Any) -> Any:
    """A node whose model does not stream."""
    return said(answers(AIMessage(text, tool_calls=[*calls]), disable_streaming=True))


def plain(message: Any) -> Callable[[Any], Any]:
    """A node that says this without a model."""
    return lambda _: {"messages": [message]}


def fails_once() -> Any:
    model, failed = answers("One two.", "One two."), list[int]()

    def node(state: Any) -> Any:
        update = said(model)(state)
        if not failed:
            failed.append(1)
            raise ConnectionError
        return update

    return chained(node, retry_policy=RETRY)


def breaks_off() -> Any:
    """A model that loses its connection."""
    return chained(said(pieces(AIMessageChunk(content="One "), ConnectionError("lost"))))


def breaks_off_in_call() -> Any:
    return chained(
        said(
            pieces(AIMessageChunk(content="One "), piece("look", '{"q": ', "c1"), ConnectionError())
        )
    )


def raises() -> Any:
    def node(_: Any) -> Any:
        raise ValueError("no")

    return chained(said(answers("One.")), node)


def pauses() -> Any:
    return chained(said(answers("One.")), lambda _: {"messages": [AIMessage(interrupt("Go on?"))]})


def copies() -> Any:
    model = answers("One two.")
    return chained(lambda s: {"messages": [AIMessage(str(model.invoke(s["messages"]).text))]})


def edits() -> Any:
    def node(state: Any) -> Any:
        return {"messages": [state["messages"][-1].model_copy(update={"content": "Edited."})]}

    return chained(said(answers("One.")), node)


def extends() -> Any:
    def node(state: Any) -> Any:
        last = state["messages"][-1]
        return {"messages": [last.model_copy(update={"content": f"{last.text} More."})]}

    return chained(said(answers("One.")), node)


def removes() -> Any:
    def node(state: Any) -> Any:
        return {"messages": [RemoveMessage(id=state["messages"][-1].id)]}

    return chained(said(answers("One.")), node)


def writes() -> Any:
    def node(_: Any) -> Any:
        get_stream_writer()({"progress": 1})
        return {}

    return chained(node, said(answers("One.")))


class Counting(MessagesState):
    """Messages, and a number."""

    count: int


def counts() -> Any:
    builder: Any = StateGraph(Counting)
    builder.add_node("one", lambda _: {"count": 1}).add_node("two", said(answers("Two.")))
    builder.add_edge(START, "one").add_edge("one", "two")
    return builder.compile(checkpointer=InMemorySaver())


def team() -> Any:
    worker = create_agent(answers(calling(OSLO), "Oslo is sunny."), [look], name="scout")
    handed = call("transfer_to_scout", "c0")
    boss = answers(calling(handed, text="The scout!"), "Glad.")
    return create_supervisor([worker], model=boss).compile(checkpointer=InMemorySaver())


def mailer() -> Any:
    asks: Any = HumanInTheLoopMiddleware(interrupt_on={"look": True})
    return agent(calling(OSLO, text="Looking."), "It is done.", middleware=[asks])


def redacts() -> Any:
    guard: Any = PIIMiddleware("email", strategy="redact", apply_to_output=True)
    return agent("Write to kim@example.org today.", middleware=[guard])


GRAPHS: dict[str, Callable[[], Any]] = {
    "an answer": lambda: chained(said(answers("One two three."))),
    "two answers": lambda: chained(said(answers("One.")), said(answers("Two."))),
    "an answer that comes whole": lambda: chained(whole("One.")),
    "an answer of no model": lambda: chained(plain(AIMessage("One."))),
    "an empty answer": lambda: chained(said(answers(""))),
    "a copied answer": copies,
    "an edited answer": edits,
    "an extended answer": extends,
    "a removed answer": removes,
    "a redacted answer": redacts,
    "a call": lambda: agent(calling(OSLO), "Sunny."),
    "text and a call": lambda: agent(calling(OSLO, text="Let me look."), "Sunny."),
    "two calls": lambda: agent(calling(OSLO, BERGEN), "Sunny."),
    "a call without arguments": lambda: agent(calling(call("look")), "Sunny."),
    "a call that comes whole": lambda: chained(whole("", OSLO), ToolNode([look])),
    "text and a call that come whole": lambda: chained(whole("I look.", OSLO), ToolNode([look])),
    "two calls that come whole": lambda: chained(whole("", OSLO, BERGEN), ToolNode([look])),
    "a call of a front-end tool": lambda: chained(said(answers(calling(call("confirm", q="?"))))),
    "a front-end call that comes whole": lambda: chained(whole("", call("confirm", q="?"))),
    "a tool that fails": lambda: chained(
        said(answers(calling(call("fails", q="no")))), ToolNode([fails], handle_tool_errors=True)
    ),
    "a tool that gives blocks": lambda: agent(calling(call("lists", q="oslo")), "Sunny."),
    "a result of no tool": lambda: chained(
        said(answers(calling(OSLO))), plain(ToolMessage("found it", tool_call_id="c1"))
    ),
    "reasoning": lambda: chained(said(pieces(thought("Hm, "), thought("so."), block("One.")))),
    "reasoning before a call": lambda: chained(
        said(pieces(thought("Hm."), piece("look", '{"q": "oslo"}', "c1"))), ToolNode([look])
    ),
    "an approval": mailer,
    "a tool that asks": lambda: agent(calling(call("ask", q="May I?")), "Done."),
    "a node that asks": pauses,
    "a retry": fails_once,
    "an error of a node": raises,
    "an error of a model": breaks_off,
    "an error in a call": breaks_off_in_call,
    "a custom event": writes,
    "a state": counts,
    "a graph inside": lambda: chained(chained(said(answers("Inside.")), is_inside=True)),
    "a supervisor": team,
}

TURNS: dict[str, Any] = {
    "an approval": Command(resume={"decisions": [{"type": "approve"}]}),
    "a tool that asks": Command(resume="yes"),
    "a node that asks": Command(resume="yes"),
}
"""What the second turn begins with, of graphs that wait."""
