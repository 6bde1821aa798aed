"""What a run was given is no news when a node returns it; what looks alike and is new, is."""

from __future__ import annotations

import gc
import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Overwrite

from langgraph_once.stream.content import content_of
from langgraph_once.stream.handler import OnceMessagesHandler
from langgraph_once.stream.messages_within import found_in_input
from langgraph_once.stream.run import GivenToGraph, GivenToTask
from tests.corpus.models import answers
from tests.exact import exactly
from tests.unit_tests.stream.scenes import folded


class Replaced(TypedDict):
    messages: list[Any]


class Added(TypedDict):
    messages: Annotated[list[Any], operator.add]


class Talk(TypedDict):
    messages: Annotated[list[BaseMessage], add_messages]
    topic: str


class Topic(TypedDict):
    topic: str


YES = "Yes."
GIVEN: Any = {"messages": [HumanMessage("Is it?"), AIMessage(YES)]}
NAMED: Any = {"messages": [HumanMessage("Is it?", id="q"), AIMessage(YES, id="a")], "topic": "?"}


def graph_of(schema: Any, *nodes: Any, sees: Any = None) -> Any:
    builder: Any = StateGraph(schema)
    for at, node in enumerate(nodes):
        builder.add_node(f"n{at}", node, **({"input_schema": sees} if sees else {}))
        builder.add_edge(f"n{at - 1}" if at else START, f"n{at}")
    return builder.compile()


def said(graph: Any, given: Any) -> list[str]:
    fresh = {**given, "messages": [m.model_copy() for m in given["messages"]]}
    told = exactly(graph).stream(fresh, stream_mode="messages", subgraphs=True)
    return list(folded(chunk for _, chunk in told).values())


@pytest.mark.parametrize("written", [Overwrite, lambda kept: {"__overwrite__": kept}])
def test_a_list_that_an_input_overwrites_was_given(written: Any) -> None:
    given = GivenToGraph({"messages": written([("user", "Hi.")])})
    assert given.has(content_of(HumanMessage("Hi.")), lambda _: True)
    assert not given.has(content_of(HumanMessage("Ho.")), lambda _: True)


def returns(*messages: Any) -> Any:
    return lambda _: {"messages": list(messages)}


class TestWithoutIds:
    def test_a_list_that_is_replaced_says_it_again(self) -> None:
        def node(state: Any) -> Any:
            return {"messages": [*state["messages"], AIMessage("New.")]}

        assert said(graph_of(Replaced, node), GIVEN) == ["New."]
        overwrites = graph_of(Added, lambda s: {"messages": Overwrite(node(s)["messages"])})
        assert said(overwrites, GIVEN) == ["New."]

    def test_a_list_that_is_added_to_says_it_once_more(self) -> None:
        def node(state: Any) -> Any:
            return {"messages": state["messages"][-1:]}

        assert said(graph_of(Added, node), GIVEN) == [YES]

    def test_an_answer_equal_to_the_input_at_another_place_is_said_anew(self) -> None:
        def node(state: Any) -> Any:
            return {"messages": [*state["messages"], AIMessage(YES)]}

        assert said(graph_of(Replaced, node), GIVEN) == [YES]

    def test_a_copy_of_what_is_streamed_stands_for_that(self) -> None:
        model = answers(YES)

        def node(state: Any) -> Any:
            return {"messages": [*state["messages"], AIMessage(str(model.invoke("?").text))]}

        assert said(graph_of(Replaced, node), GIVEN) == [YES]

    def test_an_input_that_a_node_changes_in_place_is_news(self) -> None:
        def node(state: Any) -> Any:
            state["messages"][-1].content = "No."
            return {"messages": state["messages"]}

        assert said(graph_of(Replaced, node), GIVEN) == ["No."]

    def test_an_input_without_ids_that_each_node_hands_on_comes_once(self) -> None:
        def node(state: Any) -> Any:
            return {"messages": [m.model_copy() for m in state["messages"]]}

        assert said(graph_of(Replaced, node, node, node), GIVEN) == []

    def test_behind_what_is_another_nothing_is_handed_on(self) -> None:
        """The same answer to another question may be a new one."""

        def node(_: Any) -> Any:
            return {"messages": [HumanMessage("Is it now?"), AIMessage(YES)]}

        assert said(graph_of(Replaced, node), GIVEN) == ["Is it now?", YES]

    def test_what_has_an_id_and_comes_under_another_is_told(self) -> None:
        """The list drops the one under the old id."""

        def node(state: Any) -> Any:
            return {"messages": [m.model_copy(update={"id": None}) for m in state["messages"]]}

        assert said(graph_of(Replaced, node), NAMED) == ["Is it?", YES]

    def test_no_graph_names_what_has_an_id(self) -> None:
        given = GivenToTask()
        given.add(NAMED, [*found_in_input(NAMED)])
        assert not given.claims(content_of(AIMessage(YES)))

    def test_a_question_asked_twice_is_made_two_messages_of(self) -> None:
        """Each string stands for one message that a graph inside makes."""
        inner = graph_of(Talk, returns(AIMessage("Answer.", id="new")))
        graph = graph_of(Added, inner)
        told = exactly(graph).stream({"messages": ["Hm?"]}, stream_mode="messages", subgraphs=True)
        assert list(folded(chunk for _, chunk in told).values()) == ["Answer."]
        echo = graph_of(Added, inner, returns(HumanMessage("Hm?", id="by-a-node")))
        told = exactly(echo).stream({"messages": ["Hm?"]}, stream_mode="messages", subgraphs=True)
        assert list(folded(chunk for _, chunk in told).values()) == ["Answer.", "Hm?"]


class TestPastANode:
    def test_the_history_does_not_come_again(self) -> None:
        graph = graph_of(Talk, returns(*NAMED["messages"], AIMessage("New.")), sees=Topic)
        assert said(graph, NAMED) == ["New."]

    @pytest.mark.parametrize(
        "between",
        [
            [AIMessage("No.", id="a")],
            [RemoveMessage(id="a")],
        ],
        ids=["edited", "removed"],
    )
    def test_an_input_that_was_edited_or_removed_since_comes_again(
        self, between: list[Any]
    ) -> None:
        graph = graph_of(Talk, returns(*between), returns(AIMessage(YES, id="a")), sees=Topic)
        assert said(graph, NAMED) == [YES]

    def test_another_text_under_its_id_is_an_edit(self) -> None:
        graph = graph_of(Talk, returns(AIMessage("No.", id="a")), sees=Topic)
        assert said(graph, NAMED) == ["No."]

    def test_the_same_text_under_another_id_is_news(self) -> None:
        graph = graph_of(Talk, returns(AIMessage(YES, id="b")), sees=Topic)
        assert said(graph, NAMED) == [YES]


def test_what_a_task_was_given_is_forgotten_with_it() -> None:
    """A thread may have any number of messages, and a stream any number of steps."""
    sizes: list[int] = []

    def count(_: Any) -> Any:
        gc.collect()
        *_, handler = (e for e in gc.get_objects() if issubclass(type(e), OnceMessagesHandler))
        sizes.append(sum(len(each) for each in vars(handler).values() if isinstance(each, set)))
        return {}

    many = [HumanMessage("Well?", id=f"q{at}") for at in range(50)]
    said(graph_of(Talk, count, lambda _: {}, count), {"messages": many, "topic": ""})
    assert sizes == [0, 0]
