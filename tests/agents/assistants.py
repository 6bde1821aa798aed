"""Assistants as public repositories write them: nodes by hand, answers in every form."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command
from pydantic import BaseModel

from tests.agents.asked import Reply
from tests.agents.provider import Models
from tests.agents.scripts import AGAIN, calls, replies, result, turn
from tests.corpus.graphs import Steps, node
from tests.corpus.scenario import ASKED, Run, Scenario, row
from tests.corpus.units import Unit, call, call_piece, draft, said

__all__ = [
    "copied_answer",
    "dict_answers",
    "email_triage",
    "guarded",
    "rag",
    "web_search",
]

MEMORY = {"content": "Likes tea"}


def dict_answers(models: Models) -> Scenario:
    """An agent that keeps memories: its nodes return messages as dictionaries."""
    script = replies(
        begin=calls("I shall keep that.", "remember", **MEMORY),
        kept="It is kept for good.",
        more="Tea it was, I think.",
    )
    more, wish = turn("And one more wish.")

    def graph() -> Any:
        @tool
        def remember(content: str) -> str:
            """Keep a memory."""
            return content

        model = models(script).bind_tools([remember])

        def talk(state: Any) -> Steps:
            system = {"role": "system", "content": "You remember."}
            answer = yield model, [system, *state["messages"]]
            if answer.tool_calls:
                return {"messages": [answer]}
            return {"messages": [{"role": "assistant", "content": str(answer.text)}]}

        def keep(state: Any) -> Any:
            made = state["messages"][-1].tool_calls
            kept = [
                {"role": "tool", "content": f"kept {each['args']}", "tool_call_id": each["id"]}
                for each in made
            ]
            return {"messages": kept}

        def goes_on(state: Any) -> str:
            return "keep" if state["messages"][-1].tool_calls else END

        builder = StateGraph(MessagesState).add_node("talk", node(talk), retry_policy=AGAIN)
        builder.add_node("keep", keep).add_edge(START, "talk").add_edge("keep", "talk")
        builder.add_conditional_edges("talk", goes_on, ["keep", END])
        return builder.compile(checkpointer=InMemorySaver())

    return row(
        "L4",
        "dict-answers",
        "Nodes return answers and results of tools as dictionaries with a role.",
        graph,
        said("I shall keep that."),
        call("remember", MEMORY),
        result(f"kept {MEMORY}"),
        said("It is kept for good."),
        wish,
        said("Tea it was, I think."),
        runs=(Run(ASKED), more),
    )


class Triage(BaseModel):
    """What to do with an email."""

    decision: Literal["respond", "ignore"]


class Mail(MessagesState):
    """An email, and what was decided."""

    decision: str


def email_triage(models: Models) -> Scenario:
    """An email assistant: a router that decides by a tool call, and answers as pairs."""
    decides = calls("", "Triage", decision="respond")

    def graph() -> Any:
        router = models(replies(_=decides)).with_structured_output(
            Triage, method="function_calling"
        )
        writer = models(replies(Respond="Dear Ada, the call is at noon."))

        def triage(state: Any) -> Steps:
            found = yield router, [("system", "You sort mail."), *state["messages"]]
            wish = ("user", f"Respond to the email ({found.decision}).")
            update = {"decision": found.decision, "messages": [wish]}
            return Command(goto="write", update=update)

        def write(state: Any) -> Steps:
            answer = yield writer, state["messages"]
            return {"messages": [("ai", str(answer.text))]}

        def close(state: Any) -> Any:
            return {"messages": "The email has been sent."}

        builder = StateGraph(Mail)
        builder.add_node("triage", node(triage), destinations=("write",), retry_policy=AGAIN)
        builder.add_node("write", node(write), retry_policy=AGAIN).add_node("close", close)
        builder.add_edge(START, "triage").add_edge("write", "close")
        return builder.compile()

    return row(
        "L4",
        "email-triage",
        "A router decides by a tool call that no state keeps; answers are pairs and a string.",
        graph,
        Unit(piece=call_piece("Triage", {"decision": "respond"}), updated=0, stated=0),
        said("Respond to the email (respond)."),
        said("Dear Ada, the call is at noon."),
        said("The email has been sent."),
    )


def rag(models: Models) -> Scenario:
    """A chat over documents: the tool gives text for the model, and documents as an artifact."""
    query = {"query": "tea"}
    script = replies(
        begin=calls("I look into the library.", "retrieve", **query),
        Source="Tea is a drink, says the library.",
    )

    def graph() -> Any:
        @tool(response_format="content_and_artifact")
        def retrieve(query: str) -> tuple[str, list[Document]]:
            """Look for documents."""
            found = [Document(f"Page {at} on {query}", metadata={"page": at}) for at in (1, 2)]
            return f"Source: two pages on {query}.", found

        model = models(script)

        def ask(state: Any) -> Steps:
            answer = yield model.bind_tools([retrieve]), state["messages"]
            return {"messages": [answer]}

        def generate(state: Any) -> Steps:
            results = [each for each in state["messages"] if isinstance(each, ToolMessage)]
            pages = [page.page_content for each in results for page in each.artifact]
            prompt = [SystemMessage("\n".join(pages)), HumanMessage(str(results[-1].content))]
            return {"messages": [(yield model, prompt)]}

        builder = StateGraph(MessagesState).add_node("ask", node(ask), retry_policy=AGAIN)
        builder.add_node("tools", ToolNode([retrieve]))
        builder.add_node("generate", node(generate), retry_policy=AGAIN)
        builder.add_edge(START, "ask").add_edge("tools", "generate")
        builder.add_conditional_edges("ask", tools_condition)
        return builder.compile(checkpointer=InMemorySaver())

    return row(
        "plain",
        "rag-artifacts",
        "A tool gives text for the model and documents as an artifact.",
        graph,
        said("I look into the library."),
        call("retrieve", query),
        result("Source: two pages on tea."),
        said("Tea is a drink, says the library."),
    )


def guarded(models: Models) -> Scenario:
    """A guard asks a model about the answer, and has it written again where it was refused."""

    def graph() -> Any:
        script = replies(begin="A rude answer, alas.", Be_polite="A polite answer, at last.")
        writer = models(script)
        judge = models(replies(rude="REFUSED as rude.", A_polite="GRANTED as polite."))

        def write(state: Any) -> Steps:
            answer = yield writer, state["messages"]
            verdict = yield judge, [("user", str(answer.text))]
            if str(verdict.text).startswith("REFUSED"):
                wish = [*state["messages"], answer, ("user", "Be polite, please.")]
                answer = yield writer, wish
            return {"messages": [answer]}

        def check(state: Any) -> Steps:
            verdict = yield judge, [("user", str(state["messages"][-1].text))]
            assert str(verdict.text).startswith("GRANTED")
            return {"messages": []}

        builder = StateGraph(MessagesState)
        builder.add_node("write", node(write), retry_policy=AGAIN)
        builder.add_node("check", node(check), retry_policy=AGAIN)
        builder.add_edge(START, "write").add_edge("write", "check")
        return builder.compile()

    return row(
        "plain",
        "guarded",
        "A guard refuses an answer, which is written again; another node asks the guard again.",
        graph,
        draft("A rude answer, alas."),
        draft("REFUSED as rude."),
        said("A polite answer, at last."),
        draft("GRANTED as polite."),
        ordered=False,
    )


def web_search(models: Models) -> Scenario:
    """A model whose provider searches the web within its answer."""
    reply = Reply(text="The web says that tea is good.", search="tea")
    kind = {"type": "web_search_20250305", "name": "web_search"}
    more, wish = turn("And one more wish.")

    def graph() -> Any:
        script = replies(begin=reply, more=Reply(text="The web says so still.", search="tea"))
        model = models(script)

        def talk(state: Any) -> Steps:
            searching = model.bind(tools=[kind]) if models.searches else model
            return {"messages": [(yield searching, state["messages"])]}

        builder = StateGraph(MessagesState).add_node("talk", node(talk), retry_policy=AGAIN)
        return builder.add_edge(START, "talk").compile(checkpointer=InMemorySaver())

    return row(
        "plain",
        "web-search",
        "The provider searches the web within the answer: the blocks of its tool are content.",
        graph,
        said("The web says that tea is good."),
        wish,
        said("The web says so still."),
        runs=(Run(ASKED), more),
    )


class Queries(BaseModel):
    """What to search for."""

    query: list[str]


class Research(MessagesState):
    """Queries, and what was found."""

    queries: list[str]


def copied_answer(models: Models) -> Scenario:
    """A research agent that ends with a new message of what a model said."""
    queries: dict[str, Any] = {"query": ["tea", "milk"]}

    def graph() -> Any:
        planner = models(replies(_=calls("", "Queries", **queries))).with_structured_output(
            Queries, method="function_calling"
        )
        writer = models(replies(Summarize="Tea goes well with milk."))

        def plan(state: Any) -> Steps:
            return {"queries": (yield planner, state["messages"]).query}

        def finalize(state: Any) -> Steps:
            found = ", ".join(state["queries"])
            answer = yield writer, f"Summarize what was found on {found}."
            return {"messages": [AIMessage(content=answer.content)]}

        builder = StateGraph(Research).add_node("plan", node(plan), retry_policy=AGAIN)
        builder.add_node("finalize", node(finalize), retry_policy=AGAIN)
        return builder.add_edge(START, "plan").add_edge("plan", "finalize").compile()

    return row(
        "D1",
        "copied-answer",
        "The last node returns a new message of what a model said.",
        graph,
        Unit(piece=call_piece("Queries", queries), updated=0, stated=0),
        said("Tea goes well with milk."),
    )
