"""Workflows as public repositories write them: parallel, approved, handed over, shortened."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, Send, interrupt

from tests.agents.asked import Call, Reply
from tests.agents.provider import Models
from tests.agents.scripts import AGAIN, calls, lookup, replies, result, turn
from tests.corpus.graphs import Steps, node
from tests.corpus.scenario import ASKED, Run, Scenario, row
from tests.corpus.units import call, draft, gone, said

__all__ = [
    "approval",
    "functional",
    "handed_over",
    "map_reduce",
    "react_loop",
    "shortened",
]

PARIS = {"city": "Paris"}
ROME = {"city": "Rome"}
REPORT = "The report says that Paris is sunny."


def approval(models: Models) -> Scenario:
    """A person approves what an agent is to do, by an interrupt in a node of its own."""
    script = replies(
        begin=calls("I would send this mail.", "send", to="Ada"),
        sent="The mail is on its way.",
    )

    def graph() -> Any:
        @tool
        def send(to: str) -> str:
            """Send a mail."""
            return f"sent to {to}"

        model = models(script).bind_tools([send])

        def talk(state: Any) -> Steps:
            return {"messages": [(yield model, state["messages"])]}

        def approve(state: Any) -> Command[Any]:
            (made,) = state["messages"][-1].tool_calls
            answer = interrupt({"question": "Shall I?", "call": made})
            note = {"role": "user", "content": f"The boss says {answer}."}
            if answer == "yes":
                return Command(goto="tools")
            return Command(goto=END, update={"messages": [note]})

        def goes_on(state: Any) -> str:
            return "approve" if state["messages"][-1].tool_calls else END

        builder = StateGraph(MessagesState).add_node("talk", node(talk), retry_policy=AGAIN)
        builder.add_node("approve", approve, destinations=("tools", END))
        builder.add_node("tools", ToolNode([send]))
        builder.add_edge(START, "talk").add_edge("tools", "talk")
        builder.add_conditional_edges("talk", goes_on, ["approve", END])
        return builder.compile(checkpointer=InMemorySaver())

    return row(
        "plain",
        "approval",
        "A person approves a tool call, and the run is resumed.",
        graph,
        said("I would send this mail."),
        call("send", {"to": "Ada"}),
        result("sent to Ada"),
        said("The mail is on its way."),
        runs=(Run(ASKED), Run(Command(resume="yes"))),
    )


class Topics(TypedDict):
    """What is joined by lists that only grow."""

    messages: Annotated[list[AnyMessage], add_messages]
    drafts: Annotated[list[Any], operator.add]
    titles: Annotated[list[str], operator.add]


def map_reduce(models: Models) -> Scenario:
    """Sections are written in parallel and joined; lists grow by `operator.add`."""

    def graph() -> Any:
        writer = models(replies(tea="All about the tea.", milk="All about the milk."))
        editor = models(replies(Join="Tea and milk, joined."))

        def fan_out(state: Any) -> list[Send]:
            return [Send("write", {"topic": topic}) for topic in ("tea", "milk")]

        def write(state: Any) -> Steps:
            answer = yield writer, f"Write on {state['topic']}."
            return {"drafts": [answer], "titles": [state["topic"]]}

        def join(state: Any) -> Steps:
            text = " ".join(str(each.text) for each in state["drafts"])
            return {"messages": [(yield editor, f"Join: {len(text)}")]}

        builder = StateGraph(Topics).add_node("write", node(write), retry_policy=AGAIN)
        builder.add_node("join", node(join), retry_policy=AGAIN)
        builder.add_conditional_edges(START, fan_out, ["write"])
        return builder.add_edge("write", "join").compile()

    return row(
        "plain",
        "map-reduce",
        "Sections are written in parallel; messages and titles are joined by `operator.add`.",
        graph,
        said("All about the tea."),
        said("All about the milk."),
        said("Tea and milk, joined."),
        ordered=False,
    )


def functional(models: Models) -> Scenario:
    """The functional API: tasks in parallel, and an entrypoint that keeps the conversation."""
    more, wish = turn("And one more wish.")

    def graph() -> Any:
        researcher = models(replies(Paris="Paris is sunny today.", Rome="Rome is rainy today."))
        speaker = models(replies(begin="Take a coat to Rome.", more="Take two coats, then."))

        def research(city: str) -> int:
            return len(researcher.invoke(f"How is {city}?").text)

        def speak(messages: list[AnyMessage]) -> Any:
            return speaker.invoke(messages)

        tried_again: Any = task(retry_policy=AGAIN)
        researches, speaks = tried_again(research), tried_again(speak)

        @entrypoint(checkpointer=InMemorySaver())
        def talk(given: Any, *, previous: Any = None) -> Any:
            before: Any = add_messages(previous or [], given["messages"])
            if previous is None:
                for future in [researches(city) for city in ("Paris", "Rome")]:
                    future.result()
            answer = speaks(before).result()
            kept = add_messages(before, [answer])
            return entrypoint.final(value={"messages": kept}, save=kept)

        return talk

    return row(
        "plain",
        "functional",
        "Tasks of the functional API: some in parallel, and a conversation that is kept.",
        graph,
        said("Please begin.", streamed=0),  # the consumer itself put it in
        draft("Paris is sunny today."),
        draft("Rome is rainy today."),
        said("Take a coat to Rome."),
        wish,
        said("Take two coats, then."),
        asked=None,
        runs=(Run(ASKED), more),
        ordered=False,
    )


def react_loop(models: Models) -> Scenario:
    """An agent by hand that calls tools in parallel, for several rounds."""
    both = (Call(name="lookup", args=PARIS), Call(name="lookup", args=ROME))
    script = replies(
        begin=Reply(text="Two cities first.", calls=both),
        Rome=calls("And one city more.", "lookup", city="Oslo"),
        Oslo=calls("Once more, to be sure.", "lookup", **PARIS),
        report="That is all I found.",
    )

    def graph() -> Any:
        model = models(script).bind_tools([lookup])

        def talk(state: Any) -> Steps:
            return {"messages": [(yield model, state["messages"])]}

        builder = StateGraph(MessagesState).add_node("talk", node(talk), retry_policy=AGAIN)
        builder.add_node("tools", ToolNode([lookup]))
        builder.add_edge(START, "talk").add_edge("tools", "talk")
        builder.add_conditional_edges("talk", tools_condition)
        return builder.compile()

    return row(
        "plain",
        "react-loop",
        "Tools are called in parallel, for several rounds.",
        graph,
        said("Two cities first."),
        call("lookup", PARIS, 2),
        call("lookup", ROME),
        said("And one city more."),
        call("lookup", {"city": "Oslo"}),
        said("Once more, to be sure."),
        said(REPORT, 2, chat=False),
        result("The report says that Rome is sunny."),
        result("The report says that Oslo is sunny."),
        said("That is all I found."),
        ordered=False,
    )


def handed_over(models: Models) -> Scenario:
    """A supervisor by hand: an agent's tool hands over with a `Command` to the graph around."""

    def graph() -> Any:
        @tool
        def ask_the_scout() -> str:
            """Hand over to the scout."""
            return ""

        boss = models(replies(begin=calls("The scout shall see.", "ask_the_scout")))
        looks = replies(seen=calls("The scout looks.", "lookup", **PARIS), report="It is sunny.")
        scout = create_agent(models(looks), [lookup], name="scout")
        closes = models(replies(sunny="The boss says goodbye."))

        def decide(state: Any) -> Steps:
            answer = yield boss.bind_tools([ask_the_scout]), state["messages"]
            done = ToolMessage("to be seen", tool_call_id=answer.tool_calls[0]["id"])
            update = {"messages": [*state["messages"], answer, done]}
            return Command(graph=Command.PARENT, goto="scout", update=update)

        def close(state: Any) -> Steps:
            return {"messages": [(yield closes, state["messages"])]}

        inner = StateGraph(MessagesState)
        inner.add_node("decide", node(decide), retry_policy=AGAIN).add_edge(START, "decide")
        builder = StateGraph(MessagesState)
        builder.add_node("boss", inner.compile(), destinations=("scout",))
        builder.add_node("scout", scout, retry_policy=AGAIN)
        builder.add_node("close", node(close), retry_policy=AGAIN)
        builder.add_edge(START, "boss").add_edge("scout", "close")
        return builder.compile()

    return row(
        "L1",
        "handed-over",
        "A node inside hands over to a node of the graph around, with all messages.",
        graph,
        said("The scout shall see."),
        call("ask_the_scout", {}),
        result("to be seen"),
        said("The scout looks."),
        call("lookup", PARIS),
        result(REPORT),
        said("It is sunny."),
        said("The boss says goodbye."),
    )


def shortened(models: Models) -> Scenario:
    """A long conversation is shortened by hand: all messages go, a summary and the last stay."""
    more, wish = turn("And one more wish.")

    def graph() -> Any:
        script = replies(begin="A first long answer.", more="A second long answer.")
        speaker = models(script)
        sums = models(replies(_="We talked of things."))

        def talk(state: Any) -> Steps:
            return {"messages": [(yield speaker, state["messages"])]}

        def shorten(state: Any) -> Steps:
            if len(state["messages"]) < 4:
                return {"messages": []}
            summary = yield sums, state["messages"]
            kept = [AIMessage(f"Before: {summary.text}"), *state["messages"][-2:]]
            return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), *kept]}

        builder = StateGraph(MessagesState).add_node("talk", node(talk), retry_policy=AGAIN)
        builder.add_node("shorten", node(shorten), retry_policy=AGAIN)
        builder.add_edge(START, "talk").add_edge("talk", "shorten")
        return builder.compile(checkpointer=InMemorySaver())

    return row(
        "L3",
        "shortened",
        "All messages are removed, and a summary with the last ones takes their place.",
        graph,
        gone("Please begin."),
        gone("A first long answer."),
        draft("We talked of things.", again=True),
        said("Before: We talked of things."),
        wish,
        said("A second long answer."),
        asked=None,
        runs=(Run(ASKED), more),
        ordered=False,
    )
