"""v3: what a repeated attempt says again is in `run.messages` once; what it says anew is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, example, given, strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.stream import StreamTransformer
from langgraph.types import Command, RetryPolicy, interrupt

from langgraph_once import once
from langgraph_once.stream import v2_part
from langgraph_once.stream.v3 import VOID
from tests.corpus.models import BrokenConnectionError, answers
from tests.corpus.wires import anthropic
from tests.examples import examples
from tests.unit_tests.stream.scenes import ASKED, chain, fails_after, fan_out, folded
from tests.unit_tests.stream.test_law_graphs import QUIET, TEXTS, Script

pytestmark = pytest.mark.filterwarnings(
    "ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning"
)

RETRY = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=Exception, max_attempts=4)
HELLO, OTHER, THIRD = "Hello after some trouble.", "Hello again, all of you.", "Hello."
BESIDE = "I am beside it."
HALF = 3
"""After so many chunks a model breaks: an empty one and two words."""

THREAD: Any = {"configurable": {"thread_id": "1"}}
Shown = list[tuple[str, bool]]
"""Each message of `run.messages`, and of the graphs inside: its text, and whether it is void."""


def asks(runnable: Any) -> Any:
    return lambda state: {"messages": [runnable.invoke(state["messages"])]}


def retried(node: Any) -> Any:
    graph = chain(node)
    graph.nodes["n0"].retry_policy = [RETRY]
    return graph


def with_fallback(first: str, second: str) -> Any:
    return answers(first, breaks={0: HALF}).with_fallbacks([answers(second)])


def with_retry(*replies: str) -> Any:
    model = answers(*replies, breaks={0: HALF})
    return model.with_retry(wait_exponential_jitter=False, stop_after_attempt=2)


def interrupted(*replies: str, times: int = 1) -> Any:
    """A node that asks a person after each answer of its model, and then runs anew."""
    model = answers(*replies)

    def node(state: Any) -> Any:
        said = []
        for at in range(times):
            said.append(model.invoke(state["messages"]))
            interrupt(at)
        return {"messages": said}

    return node


def kept(*nodes: Any) -> Any:
    """A graph with a checkpointer that runs nodes side by side."""
    builder = StateGraph(MessagesState)
    for at, node in enumerate(nodes):
        builder.add_node(f"n{at}", node)
        builder.add_edge(START, f"n{at}")
    return builder.compile(checkpointer=InMemorySaver())


def inside(node: Any) -> Any:
    return kept(chain(node))


def is_void(message: Any) -> bool:
    output = message.output_message
    return output is not None and VOID.items() <= output.response_metadata.items()


def read(run: Any) -> Shown:
    found: Shown = []
    for name, item in run.interleave("messages", "subgraphs"):
        messages = [item] if name == "messages" else item.messages
        found += [("".join(message.text), is_void(message)) for message in messages]
    return found


async def aread(run: Any) -> Shown:
    return [
        ("".join([piece async for piece in message.text]), is_void(message))
        async for message in run.messages
    ]


def shown(graph: Any, resumes: int = 0) -> Shown:
    """What a run and those that resume it show, one after the other."""
    graph = once(graph)
    found = read(graph.stream_events(ASKED, THREAD, version="v3"))
    for at in range(resumes):
        found += read(graph.stream_events(Command(resume=at), THREAD, version="v3"))
    return found


SAME: dict[str, tuple[Callable[[], Any], int, list[str]]] = {
    "a retry after a full answer": (lambda: retried(fails_after(answers(HELLO), 2)), 0, [HELLO]),
    "an interrupt after an answer": (lambda: kept(interrupted(HELLO)), 1, [HELLO]),
    "the same in a graph inside": (lambda: inside(interrupted(HELLO)), 1, [HELLO]),
    "three times in one node": (
        lambda: kept(interrupted(*(HELLO, HELLO, OTHER), *(HELLO, OTHER, THIRD) * 2, times=3)),
        3,
        [HELLO, OTHER, THIRD],
    ),
    "beside a parallel sibling": (
        lambda: kept(interrupted(HELLO), asks(answers(BESIDE))),
        1,
        [HELLO, BESIDE],
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_what_is_said_again_is_shown_once(name: str) -> None:
    graph, resumes, texts = SAME[name]
    assert sorted(shown(graph(), resumes)) == sorted((text, False) for text in texts)


LONGER, SHORTER = f"{HELLO} And more.", "Hello after some"

OTHERS: dict[str, tuple[Callable[[], Any], int, Shown]] = {
    "the same, after a retry that fails midway": (
        lambda: retried(asks(answers(HELLO, breaks={0: HALF}))),
        0,
        [("Hello after", True), (HELLO, False)],
    ),
    "the same, from a fallback": (
        lambda: chain(asks(with_fallback(HELLO, HELLO))),
        0,
        [("Hello after", True), (HELLO, False)],
    ),
    "the same, after the last word": (
        lambda: retried(asks(answers(HELLO, breaks={0: 5}))),
        0,
        [(HELLO, True), (HELLO, False)],
    ),
    "a retry that fails midway": (
        lambda: retried(asks(answers(HELLO, OTHER, breaks={0: HALF}))),
        0,
        [("Hello after", True), (OTHER, False)],
    ),
    "three attempts": (
        lambda: retried(asks(answers(HELLO, OTHER, HELLO, breaks={0: HALF, 1: HALF}))),
        0,
        [("Hello after", True), ("Hello again,", True), (HELLO, False)],
    ),
    "with_fallbacks": (
        lambda: chain(asks(with_fallback(HELLO, OTHER))),
        0,
        [("Hello after", True), (OTHER, False)],
    ),
    "with_retry": (
        lambda: chain(asks(with_retry(HELLO, OTHER))),
        0,
        [("Hello after", True), (OTHER, False)],
    ),
    "a longer answer": (
        lambda: retried(fails_after(answers(HELLO, LONGER))),
        0,
        [(HELLO, False), (LONGER, False)],
    ),
    "a shorter answer": (
        lambda: retried(fails_after(answers(HELLO, SHORTER))),
        0,
        [(HELLO, False), (SHORTER, False)],
    ),
    "an interrupt": (
        lambda: kept(interrupted(HELLO, OTHER)),
        1,
        [(HELLO, False), (OTHER, False)],
    ),
    "no other answer": (
        lambda: retried(fails_in(answers(HELLO, breaks={0: HALF}))),
        0,
        [("Hello after", True)],
    ),
}


def fails_in(runnable: Any) -> Any:
    """A node that asks no model in its second attempt."""
    attempts = iter(["?", None])
    return lambda _: (asked := next(attempts)) and runnable.invoke(asked) and None


@pytest.mark.parametrize("name", OTHERS)
def test_an_answer_that_differs_from_the_failed_one_is_shown_in_full(name: str) -> None:
    graph, resumes, expected = OTHERS[name]
    assert shown(graph(), resumes) == expected


def ends_soon(graph: Any, messages_of: Callable[[Any], Any] = lambda run: run.messages) -> bool:
    """Whether the message that broke off ends while the graph still runs."""
    run: Any = once(graph).stream_events(ASKED, version="v3")
    first = next(iter(messages_of(run)))
    assert first.output.text
    assert is_void(first)
    return not run._exhausted


def test_with_no_other_answer_it_ends_at_the_next_state() -> None:
    attempts = iter([answers(HELLO, breaks={0: HALF}), None])

    def node(_: Any) -> Any:
        model = next(attempts)
        return {"messages": [model.invoke("?") if model else HumanMessage("None.")]}

    graph = chain(node, asks(answers(OTHER)))
    graph.nodes["n0"].retry_policy = [RETRY]
    assert ends_soon(graph)


def test_a_message_of_a_graph_that_runs_once_more_ends_as_the_next_run_begins() -> None:
    graph = retried(chain(asks(answers(HELLO, breaks={0: HALF}))))
    assert ends_soon(graph, lambda run: next(iter(run.subgraphs)).messages)


async def test_async_run_messages_have_a_repeated_answer_once() -> None:
    graph = once(retried(fails_after(answers(HELLO))))
    assert await aread(await graph.astream_events(ASKED, version="v3")) == [(HELLO, False)]


def test_an_attempt_that_repeats_and_breaks_off_is_not_shown() -> None:
    graph = retried(fails_after(answers(HELLO, breaks={1: HALF})))
    assert shown(graph) == [(HELLO, False)]


def test_an_answer_that_does_not_stream_is_shown_once() -> None:
    graph = retried(fails_after(answers(HELLO, disable_streaming=True)))
    assert shown(graph) == [(HELLO, False)]


def test_an_answer_that_calls_a_tool_is_shown_once() -> None:
    call: Any = {"name": "search", "args": {"query": "flights"}, "id": "call_1"}
    thinks = AIMessage(HELLO, tool_calls=[call], additional_kwargs={"reasoning_content": "Hm. So."})
    graph = once(retried(fails_after(answers(thinks, wire=anthropic), 2)))
    run: Any = graph.stream_events(ASKED, version="v3")
    (message,) = run.messages
    (made,) = message.output.tool_calls
    assert (made["args"], str(message.reasoning)) == (call["args"], "Hm. So.")


def test_other_arguments_are_another_answer() -> None:
    calls: Any = [{"name": "search", "args": {"query": at}, "id": "c"} for at in ("here", "there")]
    both = [AIMessage(HELLO, tool_calls=[call]) for call in calls]
    run: Any = once(retried(fails_after(answers(*both)))).stream_events(ASKED, version="v3")
    made = [call["args"]["query"] for message in run.messages for call in message.output.tool_calls]
    assert made == ["here", "there"]


def test_what_a_node_says_twice_stays_twice() -> None:
    """Each message that was shown stands for one that is said again."""
    model, dies = answers(HELLO), iter([True, False])

    def node(state: Any) -> Any:
        said = [model.invoke("?"), model.invoke("?")]
        if next(dies):
            raise ValueError
        return {"messages": [*said, model.invoke("?")]}

    assert shown(retried(node)) == [(HELLO, False)] * 3


def test_what_comes_again_behind_another_answer_is_shown_once() -> None:
    model, dies = answers(HELLO, OTHER, HELLO), iter([True, False])

    def node(_: Any) -> Any:
        said = [model.invoke("?")]
        if next(dies):
            raise ValueError
        return {"messages": [*said, model.invoke("?")]}

    assert shown(retried(node)) == [(HELLO, False), (OTHER, False)]


COPIES: dict[str, Callable[[AIMessage], AIMessage | HumanMessage]] = {
    "without an id": lambda said: AIMessage(said.text, name="team"),
    "with an id of its own": lambda said: AIMessage(said.text, id="own"),
    "in another role": lambda said: HumanMessage(said.text),
    "without the space at its end": lambda said: AIMessage(said.text.strip()),
    "without it, with an id of its own": lambda said: AIMessage(said.text.strip(), id="own"),
    "with other white space": lambda said: AIMessage(said.text.replace(" ", "\n")),
    "itself": lambda said: said,
}


def copies(inner: Any, name: str) -> Callable[[Any], Any]:
    """Return a node that returns a copy of what a graph inside it said."""
    return lambda state: {"messages": [COPIES[name](inner.invoke(state)["messages"][-1])]}


def told_in_each_graph(graph: Any) -> list[list[str]]:
    """Return what the `run.messages` of each graph have, the outermost first."""
    told: list[list[str]] = [[], [], []]

    def read_all(run: Any, level: int) -> None:
        for kind, item in run.interleave("messages", "subgraphs"):
            if kind == "subgraphs":
                read_all(item, level + 1)
            else:
                told[level].append("".join(item.text))

    read_all(graph.stream_events(ASKED, version="v3"), 0)
    return told


@pytest.mark.parametrize("name", COPIES)
def test_what_a_graph_inside_said_is_shown_to_each_reader_that_plain_langgraph_shows_it(
    name: str,
) -> None:
    """Each graph has a `run.messages`: who reads that of the outermost has no other text."""

    def graph() -> Any:
        return chain(copies(chain(asks(answers(f"{HELLO} "))), name))

    assert told_in_each_graph(once(graph())) == told_in_each_graph(graph())


@pytest.mark.parametrize("outer", ["itself", "with an id of its own"])
@pytest.mark.parametrize("name", COPIES)
def test_a_copy_that_a_graph_around_it_returns_again_is_shown_where_plain_langgraph_shows_it(
    name: str, outer: str
) -> None:
    def graph() -> Any:
        inner = chain(copies(chain(asks(answers(f"{HELLO} "))), name))
        return chain(copies(inner, outer))

    assert told_in_each_graph(once(graph())) == told_in_each_graph(graph())


def test_an_edit_of_what_a_node_was_given_is_shown_as_little_as_by_plain_langgraph() -> None:
    def edits(state: Any) -> Any:
        return {"messages": [state["messages"][-1].model_copy(update={"content": OTHER})]}

    def graph() -> Any:
        return chain(edits, asks(answers(HELLO)))

    assert told_in_each_graph(once(graph())) == told_in_each_graph(graph()) == [[HELLO], [], []]


def test_a_copy_that_the_next_node_edits_is_shown_once() -> None:
    def graph() -> Any:
        first = copies(chain(asks(answers(HELLO))), "with an id of its own")
        return chain(first, lambda _: {"messages": [AIMessage(OTHER, id="own")]})

    assert told_in_each_graph(once(graph())) == told_in_each_graph(graph())


class Teams(Script):
    """Random graphs, in some of which a node runs a graph and returns a copy of what that says."""

    def node(self, kind: str, said: Any) -> Any:
        if kind != "wraps":
            return super().node(kind, said)
        graph = self.graph(said)
        return lambda state: {"messages": [AIMessage(graph.invoke(state)["messages"][-1].text)]}


TEAMS = st.recursive(
    st.tuples(st.sampled_from(QUIET), TEXTS),
    lambda inner: st.tuples(
        st.sampled_from(["graph", "wraps"]), st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=5,
)


def texts_by_graph(run: Any, path: tuple[str, ...] = ()) -> set[tuple[tuple[str, ...], str]]:
    """The texts in `run.messages` of each graph of a run, without white space at their ends."""
    found = set()
    for name, item in run.interleave("messages", "subgraphs"):
        if name == "messages":
            found.add((path, " ".join("".join(item.text).split())))
        else:
            node = str(item.path[-1]).partition(":")[0]
            found |= texts_by_graph(item, (*path, node))
    return found


@examples(15, suppress_health_check=[HealthCheck.too_slow])
@given(nodes=st.lists(TEAMS, min_size=1, max_size=4))
@example(nodes=[("graph", [("writes_pair", "ok")])])
@example(nodes=[("streams", "ok"), ("wraps", [("edits", "ha ha ha")])])
def test_no_graph_s_messages_lack_a_text_that_plain_langgraph_shows_there(nodes: Any) -> None:
    def told(wrap: Any) -> set[tuple[tuple[str, ...], str]]:
        graph: Any = wrap(Teams().graph(nodes, checkpointer=InMemorySaver()))
        return texts_by_graph(graph.stream_events(ASKED, THREAD, version="v3"))

    plain, wrapped = told(lambda graph: graph), told(once)
    lacking = {(path, text) for path, text in plain - wrapped if text}  # a removal is empty there
    assert not lacking


def test_what_a_graph_inside_said_is_in_the_log_and_the_channel_once() -> None:
    inner: Any = chain(asks(answers(HELLO)))

    def node(state: Any) -> Any:
        return {"messages": [HumanMessage(inner.invoke(state)["messages"][-1].text)]}

    run: Any = once(chain(node)).stream_events(ASKED, version="v3")
    logged = [event for event in run if event["method"] in {"messages", "messages/removal"}]
    assert {tuple(event["params"]["namespace"]) for event in logged} != {()}
    assert all(event["params"]["namespace"] for event in logged)
    run = once(chain(node)).stream_events(ASKED, version="v3")
    parts = [part for part in map(v2_part, run.extensions["once"]) if part.mode == "messages"]
    assert all(part.ns for part in parts)
    assert list(folded([(part.data, part.meta) for part in parts]).values()) == [HELLO]


def test_parallel_tasks_that_say_the_same_are_all_shown() -> None:
    graph = fan_out(fails_after(answers(HELLO)), times=3)
    graph.nodes["worker"].retry_policy = [RETRY]
    assert shown(graph) == [(HELLO, False)] * 3


def test_the_last_message_fails_where_the_last_attempt_fails() -> None:
    graph = once(retried(asks(answers(HELLO, breaks=dict.fromkeys(range(4), HALF)))))
    run: Any = graph.stream_events(ASKED, version="v3")
    messages = iter(run.messages)
    failed = [next(messages) for _ in range(3)]
    assert [each.output.text for each in failed] == ["Hello after"] * 3
    assert all(map(is_void, failed))
    message = next(messages)
    with pytest.raises(BrokenConnectionError):
        list(message.text)
    with pytest.raises(BrokenConnectionError):
        next(messages)


class Shouts(StreamTransformer):
    """Writes what models say in capitals, before `run.messages` has it."""

    before_builtins: ClassVar[bool] = True

    def init(self) -> dict[str, Any]:
        return {}

    def process(self, event: Any) -> bool:
        payload: Any = event["params"]["data"][0] if event["method"] == "messages" else None
        for key in ("delta", "content") if isinstance(payload, dict) else ():
            if "text" in payload.get(key, ()):
                payload[key] = {**payload[key], "text": payload[key]["text"].upper()}
        return True


@pytest.mark.parametrize("compiled", [True, False])
def test_what_transformers_make_of_it_is_shown_once_and_nothing_else(compiled: bool) -> None:
    graph = retried(fails_after(answers(HELLO)))
    graph.stream_transformers = [Shouts] if compiled else []
    how: Any = {} if compiled else {"transformers": [Shouts]}
    run: Any = once(graph).stream_events(ASKED, version="v3", **how)
    assert read(run) == [(HELLO.upper(), False)]


def test_the_log_and_the_channel_have_both_attempts_and_the_removal() -> None:
    run: Any = once(retried(fails_after(answers(HELLO)))).stream_events(ASKED, version="v3")
    said = [event["params"]["data"] for event in run if event["method"] == "messages"]
    starts = [
        each for each, _ in said if isinstance(each, dict) and each["event"] == "message-start"
    ]
    removed = [each.id for each, _ in said if isinstance(each, RemoveMessage)]
    assert removed == [starts[0]["id"]]
    assert len(starts) == 2
    run = once(retried(fails_after(answers(HELLO)))).stream_events(ASKED, version="v3")
    parts = [part for part in map(v2_part, run.extensions["once"]) if part.mode == "messages"]
    assert list(folded((part.data, part.meta) for part in parts).values()) == [HELLO]
    assert any(isinstance(part.data, RemoveMessage) for part in parts)
