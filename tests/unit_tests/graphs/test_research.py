"""The research graph plans, fans out, reports, asks, and ends as the user decides."""

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from graphs.research import script
from graphs.research.bullets import join_bullets, split_bullets
from graphs.research.graph import builder, graph, researcher
from graphs.research.library import LIBRARY, look_up
from graphs.research.state import Finding
from langgraph_once.errors import ConfigError

QUESTION = "How do I get exactly-once delivery?"
CROWDED = "offset tracking"
TOPICS = ["idempotent consumers", "offset tracking", "transactional outbox"]

Graph = CompiledStateGraph[Any, Any, Any, Any]
Chunks = list[tuple[tuple[str, ...], str, Any]]


@pytest.fixture(autouse=True)
def _scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SAMPLES_MODEL", raising=False)


@pytest.fixture
def app() -> Graph:
    known = [(Finding.__module__, Finding.__name__)]
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=known))
    return builder.compile(checkpointer=saver)


@pytest.fixture
def thread() -> RunnableConfig:
    return {"configurable": {"thread_id": "1"}}


def ask(question: str = QUESTION) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": question}]}


def drain(app: Graph, given: Any, thread: RunnableConfig) -> Chunks:
    modes = ["messages", "updates"]
    return list(app.stream(given, thread, stream_mode=modes, subgraphs=True))  # type: ignore[arg-type]  # a list of any modes


async def adrain(app: Graph, given: Any, thread: RunnableConfig) -> Chunks:
    modes = ["messages", "updates"]
    stream = app.astream(given, thread, stream_mode=modes, subgraphs=True)  # type: ignore[arg-type]  # a list of any modes
    return [chunk async for chunk in stream]  # type: ignore[misc]  # its chunks are of any shape


def streamed(chunks: Chunks) -> Counter[str]:
    """The texts that models streamed, joined by message."""
    texts: dict[str, str] = {}
    for _, mode, data in chunks:
        if mode == "messages" and isinstance(data[0], AIMessage):
            texts[data[0].id or ""] = texts.get(data[0].id or "", "") + data[0].text
    return Counter(text for text in texts.values() if text)


def answers(values: dict[str, Any]) -> list[str]:
    """The texts of the AI messages in a state, in order."""
    messages: list[BaseMessage] = [*values["messages"], *values["notes"]]
    return [str(message.text) for message in messages if isinstance(message, AIMessage)]


def look_it_up(topic: str) -> str:
    """What a researcher says before it calls its tools; again, when it was turned away."""
    return f"I look up who wrote about {topic}, and what goes wrong with it."


def check_waiting(app: Graph, thread: RunnableConfig) -> None:
    state = app.get_state(thread)
    assert state.next == ("approve",)
    assert [interrupt.value for interrupt in state.interrupts] == [
        {
            "question": "May the report be published?",
            "topics": TOPICS,
            "report_id": state.values["messages"][-1].id,
        }
    ]


def test_sync_run_stops_for_approval_and_resumes_to_the_end(
    app: Graph, thread: RunnableConfig
) -> None:
    chunks = drain(app, ask(), thread)
    check_waiting(app, thread)
    chunks += drain(app, Command(resume="approve"), thread)
    check_finished(app, thread, chunks)


async def test_async_run_stops_for_approval_and_resumes_to_the_end(
    app: Graph, thread: RunnableConfig
) -> None:
    chunks = await adrain(app, ask(), thread)
    check_waiting(app, thread)
    chunks += await adrain(app, Command(resume="approve"), thread)
    check_finished(app, thread, chunks)


def check_finished(app: Graph, thread: RunnableConfig, chunks: Chunks) -> None:
    values = app.get_state(thread).values
    assert app.get_state(thread).next == ()
    assert [message.type for message in values["messages"]] == ["human", "ai", "ai", "ai"]
    assert [note.text for note in values["notes"]] == [LIBRARY[topic].summary for topic in TOPICS]
    assert values["findings"] == [
        Finding(topic=topic, sources=list(LIBRARY[topic].sources), tools_used=2) for topic in TOPICS
    ]
    texts = streamed(chunks)
    assert texts - Counter(answers(values)) == Counter(
        {look_it_up(topic): 1 + (topic == CROWDED) for topic in TOPICS}
    )
    assert all(texts[text] == 1 for text in answers(values))


@pytest.mark.parametrize("answer", ["approve", True, {"approved": True}])
def test_an_approval_publishes_the_report(
    app: Graph, thread: RunnableConfig, answer: object
) -> None:
    app.invoke(ask(), thread)
    values = app.invoke(Command(resume=answer), thread)
    assert values["messages"][-1].text == (
        "Published. The report on idempotent consumers, offset tracking and transactional outbox "
        "is now open to its readers."
    )


@pytest.mark.parametrize("answer", ["reject", False, {"approved": False}, "yes, later", 1])
def test_any_answer_but_an_approval_withdraws_the_report(
    app: Graph, thread: RunnableConfig, answer: object
) -> None:
    app.invoke(ask(), thread)
    values = app.invoke(Command(resume=answer), thread)
    assert values["messages"][-1].text == (
        "Withdrawn. The report on idempotent consumers, offset tracking and transactional outbox "
        "stays a draft in this thread."
    )


def test_each_text_is_there_once_and_inside_no_other(app: Graph, thread: RunnableConfig) -> None:
    app.invoke(ask(), thread)
    values = app.invoke(Command(resume="approve"), thread)
    texts = answers(values)
    assert len(texts) == 6
    for one, other in itertools.permutations([*texts, QUESTION], 2):
        assert one not in other
    elsewhere = repr((values["findings"], values["topics"]))
    assert not [text for text in texts if text in elsewhere]


def test_every_text_of_the_library_is_there_once() -> None:
    entries = [LIBRARY[topic] for topic in LIBRARY] + [look_up("tea"), look_up("coffee")]
    texts = [text for entry in entries for text in (entry.summary, entry.lesson, entry.pitfall)]
    for one, other in itertools.permutations(texts, 2):
        assert one not in other


def test_a_run_is_the_same_for_the_same_question(app: Graph) -> None:
    runs = [app.invoke(ask(), {"configurable": {"thread_id": name}}) for name in "ab"]
    assert answers(runs[0]) == answers(runs[1])
    ids = [{message.id for message in run["messages"] + run["notes"]} for run in runs]
    assert ids[0].isdisjoint(ids[1])


def test_a_second_turn_writes_about_its_own_topics(app: Graph, thread: RunnableConfig) -> None:
    app.invoke(ask(), thread)
    app.invoke(Command(resume="approve"), thread)
    later = app.invoke(ask("Fencing tokens, consistent snapshots?"), thread)
    assert later["topics"] == ["fencing tokens", "consistent snapshots", "idempotent consumers"]
    assert len(later["notes"]) == 6
    report = later["messages"][-1].text
    assert [topic for topic in LIBRARY if LIBRARY[topic].lesson in report] == [
        "idempotent consumers",
        "fencing tokens",
        "consistent snapshots",
    ]


def test_a_researcher_calls_two_tools_at_once_and_keeps_its_conversation(
    app: Graph, thread: RunnableConfig
) -> None:
    inner = [
        message
        for ns, mode, update in drain(app, ask(), thread)
        if mode == "updates" and ns
        for values in update.values()
        for message in values.get("conversation", ())
    ]
    calls = [message.tool_calls for message in inner if getattr(message, "tool_calls", None)]
    assert [[call["name"] for call in both] for both in calls] == [
        ["search_sources", "find_pitfall"]
    ] * 4  # one is turned away and comes back
    results = [message for message in inner if isinstance(message, ToolMessage)]
    assert len({m.tool_call_id for m in results}) == 6
    assert {m.tool_call_id for m in results} < {call["id"] for both in calls for call in both}
    cards = [card for message in results for card in message.artifact or ()]
    assert {"title": "Burrows, The Chubby Lock Service", "year": "2006"} not in cards
    assert {"title": "Richardson, Microservices Patterns", "year": "2018"} in cards
    assert "conversation" not in app.get_state(thread).values


def test_a_note_is_the_message_that_the_researcher_streamed(
    app: Graph, thread: RunnableConfig
) -> None:
    chunks = drain(app, ask(), thread)
    inner = {data[0].id for ns, mode, data in chunks if mode == "messages" and ns}
    assert {note.id for note in app.get_state(thread).values["notes"]} < inner


def test_a_topic_that_the_library_lacks_is_researched_all_the_same() -> None:
    values = researcher.invoke({"topic": "tea"})  # type: ignore[call-overload]  # a part of its state
    assert values["notes"][0].text == look_up("tea").summary
    assert values["findings"] == [Finding(topic="tea", sources=[], tools_used=2)]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Plan:\n- one\n- two\n\n-  three \n- one\nThat is all - really.", ["one", "two", "three"]),
        ("  - indented\r\n-no item\n- ", ["indented"]),
        ("no list", []),
    ],
)
def test_topics_are_read_from_text(text: str, items: list[str]) -> None:
    assert split_bullets(text) == items
    assert split_bullets(join_bullets(items)) == items


def test_a_plan_without_a_list_and_one_that_is_too_long(
    app: Graph, thread: RunnableConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan_as(text: str) -> Callable[[object], AIMessage]:
        return lambda _: AIMessage(text)

    monkeypatch.setattr(script, "plan", plan_as("I shall think about it."))
    assert app.invoke(ask(), thread)["topics"] == [QUESTION]
    monkeypatch.setattr(script, "plan", plan_as(join_bullets("abcdefgh")))
    assert app.invoke(ask(), {"configurable": {"thread_id": "2"}})["topics"] == [*"abcde"]


def test_the_model_is_chosen_when_a_node_needs_it(
    app: Graph, thread: RunnableConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMPLES_MODEL", "no such model")
    with pytest.raises(ConfigError, match="SAMPLES_MODEL: must be"):
        app.invoke(ask(), thread)


def test_the_graph_is_compiled_without_a_checkpointer() -> None:
    assert graph.checkpointer is None
    assert script.plan([HumanMessage(QUESTION)]).text.count("\n- ") == 3
