"""The deduplicator: copies go, everything else stays, nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

from langgraph_once import DedupConfig, Deduplicator, Ledger
from langgraph_once.stream.shapes import Part

TASK = "agent:1"


def said(message: BaseMessage, task: str = TASK) -> Part:
    return Part(tuple(task.split("|")[:-1]), "messages", message, {"langgraph_checkpoint_ns": task})


def tokens(*texts: str, id: str = "m", task: str = TASK) -> list[Part]:
    return [said(AIMessageChunk(content=text, id=id), task) for text in texts]


def fed(dedup: Deduplicator, *parts: Part) -> list[Any]:
    return [out.data for part in parts for out in dedup.feed(part)]


@pytest.fixture
def messages() -> Deduplicator:
    return Deduplicator()


@pytest.fixture
def states() -> Deduplicator:
    return Deduplicator(DedupConfig(state="new_messages"))


class TestMessages:
    def test_every_token_passes_equal_ones_too(self, messages: Deduplicator) -> None:
        parts = tokens("ha ", "ha ", "ha ")
        assert fed(messages, *parts) == [part.data for part in parts]

    def test_a_whole_message_after_its_tokens_is_dropped(self, messages: Deduplicator) -> None:
        out = fed(messages, *tokens("Hel", "lo"), said(AIMessage("Hello", id="m")))
        assert [m.text for m in out] == ["Hel", "lo"]

    def test_d1_a_copy_under_a_new_id_is_dropped_once(self, messages: Deduplicator) -> None:
        fed(messages, *tokens("Hel", "lo"))
        assert fed(messages, said(AIMessage("Hello", id="copy"))) == []
        third = AIMessage("Hello", id="third")
        assert fed(messages, said(third)) == [third]

    def test_two_equal_answers_of_one_task_stand_for_two_copies(
        self, messages: Deduplicator
    ) -> None:
        fed(messages, *tokens("ok", id="a"), *tokens("ok", id="b"))
        copies = [said(AIMessage("ok", id=f"copy{i}")) for i in range(3)]
        assert [m.id for m in fed(messages, *copies)] == ["copy2"]

    def test_parallel_tasks_may_say_the_same(self, messages: Deduplicator) -> None:
        for task in ("worker:1", "worker:2", "worker:3"):
            whole = AIMessage("ok", id="same-id")
            assert fed(messages, said(whole, task)) == [whole]

    def test_later_steps_may_say_the_same(self, messages: Deduplicator) -> None:
        for step in range(3):
            out = fed(messages, *tokens("ok", id=f"m{step}", task=f"agent:{step}"))
            assert len(out) == 1

    @pytest.mark.parametrize(
        ("first", "second", "repeated"),
        [
            ("team:1|agent:2", "team:1", True),
            ("team:1", "team:1|agent:2", True),
            ("team:1|agent:2", "team:10", False),
            ("team:10|agent:2", "team:1", False),
            ("team:1", "team:10|agent:2", False),
        ],
    )
    def test_parent_and_child_repeat_each_other_and_others_do_not(
        self, messages: Deduplicator, first: str, second: str, repeated: bool
    ) -> None:
        fed(messages, *tokens("Hello", task=first))
        whole = AIMessage("Hello", id="m")
        assert fed(messages, said(whole, second)) == ([] if repeated else [whole])

    def test_a_node_may_return_what_it_streamed_and_say_it_again(
        self, messages: Deduplicator
    ) -> None:
        streamed, again = AIMessage("Hello", id="m"), AIMessage("Hello", id="again")
        out = fed(messages, *tokens("Hello"), said(streamed), said(again))
        assert out[1:] == [again]

    def test_a_human_who_says_what_the_model_said_is_no_copy(self, messages: Deduplicator) -> None:
        fed(messages, *tokens("yes"))
        human = HumanMessage("yes", id="h")
        assert fed(messages, said(human)) == [human]

    @pytest.mark.parametrize(
        ("first", "second", "is_edit"),
        [(0, 1, True), (1, 2, True), (1, 1, False), (2, 1, False), (None, 1, False)],
    )
    def test_one_id_in_a_later_step_is_an_edit_and_beside_it_another(
        self, messages: Deduplicator, first: int | None, second: int, is_edit: bool
    ) -> None:
        parts = [said(AIMessage("a", id="m"), "one:1"), said(AIMessage("b", id="m"), "two:2")]
        steps = ({} if step is None else {"langgraph_step": step} for step in (first, second))
        out = fed(
            messages, *(p._replace(meta={**p.meta, **s}) for p, s in zip(parts, steps, strict=True))
        )
        assert (RemoveMessage(id="m") in out) is is_edit
        assert [m.text for m in out if not isinstance(m, RemoveMessage)] == ["a", "b"]

    def test_an_edit_is_a_removal_and_the_message(self, messages: Deduplicator) -> None:
        edited = AIMessage("Goodbye", id="m")
        assert fed(messages, *tokens("Hello"), said(edited))[1:] == [RemoveMessage(id="m"), edited]
        assert fed(messages, said(edited)) == []

    def test_lost_tokens_are_repaired_by_a_chunk(self, messages: Deduplicator) -> None:
        (_, repair) = fed(messages, *tokens("Hel"), said(AIMessage("Hello", id="m")))
        assert (type(repair), repair.id, repair.content) == (AIMessageChunk, "m", "lo")
        assert fed(messages, said(AIMessage("Hello", id="m"))) == []

    def test_a_result_that_grew_takes_the_place_of_the_other(self, messages: Deduplicator) -> None:
        short, long = (ToolMessage(text, tool_call_id="c", id="t") for text in ("Sun", "Sunny"))
        out = fed(messages, said(short), said(long))
        assert [type(message) for message in out] == [ToolMessage, RemoveMessage, ToolMessage]

    def test_a_removed_message_may_be_said_again(self, messages: Deduplicator) -> None:
        removal, again = RemoveMessage(id="m"), AIMessage("Hello", id="m")
        assert fed(messages, *tokens("Hello"), said(removal), said(again))[1:] == [removal, again]

    def test_a_removal_names_the_id_the_consumer_knows(self, messages: Deduplicator) -> None:
        fed(messages, *tokens("Hello"), said(AIMessage("Hello", id="copy")))
        assert fed(messages, said(RemoveMessage(id="copy"))) == [RemoveMessage(id="m")]

    def test_tool_results_pass_once_by_id(self, messages: Deduplicator) -> None:
        one = ToolMessage("5", tool_call_id="c", id="t1")
        two = ToolMessage("5", tool_call_id="c", id="t2")
        assert fed(messages, said(one), said(one), said(two)) == [one, two]

    def test_what_is_not_understood_passes(self, messages: Deduplicator) -> None:
        event = {"event": "message-start"}
        part = Part((), "messages", event, {})
        assert fed(messages, part, part) == [event, event]
        nameless = AIMessage("no id")
        assert fed(messages, said(nameless), said(nameless)) == [nameless, nameless]
        custom = Part((), "custom", {"messages": [AIMessage("x", id="m")]})
        assert fed(messages, custom, custom) == [custom.data, custom.data]

    def test_states_stay_whole_by_default(self, messages: Deduplicator) -> None:
        one = values(AIMessage("Hello", id="m"))
        two = values(AIMessage("Hello", id="m"), AIMessage("Bye", id="n"))
        fed(messages, *tokens("Hello"))
        assert fed(messages, one, two) == [one.data, two.data]

    def test_a_state_that_did_not_change_is_not_repeated(self, messages: Deduplicator) -> None:
        part = values(AIMessage("Hello", id="m"))
        again = values(AIMessage("Hello", id="m"))
        assert fed(messages, part, again) == [part.data]


def update(*found: BaseMessage, node: str = "agent") -> Part:
    return Part((), "updates", {node: {"messages": list(found), "n": 1}})


def values(*found: BaseMessage, ns: tuple[str, ...] = ()) -> Part:
    return Part(ns, "values", {"messages": list(found), "n": 1})


def _messages_in(data: Any) -> list[BaseMessage]:
    if isinstance(data, BaseMessage):
        return [data]
    inner = data.get("agent", data)
    return list(inner["messages"])


class TestStates:
    def test_graphs_side_by_side_may_each_have_a_message_of_one_id(
        self, states: Deduplicator
    ) -> None:
        first, second = AIMessage("First", id="m"), AIMessage("Second", id="m")
        fed(states, said(first, "team:1|agent:2"))
        told = fed(
            states,
            Part(("team:3",), "updates", {"agent": {"messages": [second]}}),
            Part(("team:1",), "updates", {"agent": {"messages": [first]}}),
            values(second, ns=("team:3",)),
        )
        assert [list(_messages_in(data)) for data in told] == [[second], [], []]

    @pytest.mark.parametrize("mode", ["messages", "updates"])
    def test_a_graph_that_removes_its_message_removes_no_other(
        self, states: Deduplicator, mode: str
    ) -> None:
        first, second, removal = AIMessage("1", id="m"), AIMessage("2", id="m"), RemoveMessage("m")
        fed(states, said(first, "team:1|agent:2"), said(second, "team:3|agent:4"))
        removals = {
            "messages": said(removal, "team:3|agent:4"),
            "updates": Part(("team:3",), "updates", {"agent": {"messages": [removal]}}),
        }
        told = fed(states, removals[mode], values(first, ns=("team:1",)))
        assert [list(_messages_in(data)) for data in told] == [[removal], []]

    def test_an_edit_inside_replaces_what_the_graph_around_said(self, states: Deduplicator) -> None:
        fed(states, *tokens("First", id="run"), said(AIMessage("First", id="m")))
        edited = AIMessage("Second", id="m")
        (told,) = fed(states, Part(("team:3",), "updates", {"agent": {"messages": [edited]}}))
        assert [*_messages_in(told)] == [RemoveMessage(id="run"), edited]

    def test_d10_text_that_came_as_tokens_is_in_no_state(self, states: Deduplicator) -> None:
        hello = AIMessage("Hello", id="m")
        fed(states, *tokens("Hello", task="team:1|agent:2"))
        (inner, outer, state) = fed(
            states,
            Part(("team:1",), "updates", {"agent": {"messages": [hello]}}),
            update(hello, node="team"),
            values(hello),
        )
        assert inner == {"agent": {"messages": []}}
        assert outer == {"team": {"messages": [], "n": 1}}
        assert state == {"messages": [], "n": 1}

    def test_the_callers_chunk_is_not_changed(self, states: Deduplicator) -> None:
        part = values(AIMessage("Hello", id="m"))
        fed(states, *tokens("Hello"), part)
        assert len(part.data["messages"]) == 1

    def test_what_needs_no_change_is_the_same_object(self, states: Deduplicator) -> None:
        part = values(AIMessage("Hello", id="m"))
        assert fed(states, part)[0] is part.data

    def test_messages_that_never_streamed_come_once_in_a_state(self, states: Deduplicator) -> None:
        human, answer = HumanMessage("Hi", id="h"), AIMessage("Hello", id="m")
        out = fed(states, values(human), update(answer), values(human, answer))
        assert [s.get("messages", s.get("agent", {}).get("messages")) for s in out] == [
            [human],
            [answer],
            [],
        ]

    def test_an_edit_comes_again_and_back_again(self, states: Deduplicator) -> None:
        first, second = AIMessage("one", id="m"), AIMessage("two", id="m")
        out = fed(states, values(first), values(second), values(first), values(first))
        assert [state["messages"] for state in out] == [[first], [second], [first], []]

    def test_edited_arguments_of_a_call_come_again(self, states: Deduplicator) -> None:
        call = {"name": "pay", "args": {"euros": 5}, "id": "c"}
        asked = AIMessage("", id="m", tool_calls=[call])
        edited = AIMessage("", id="m", tool_calls=[{**call, "args": {"euros": 3}}])
        assert fed(states, values(asked), values(edited))[1]["messages"] == [edited]

    def test_a_message_that_left_the_state_is_removed(self, states: Deduplicator) -> None:
        one, two = AIMessage("one", id="1"), AIMessage("two", id="2")
        out = fed(states, values(one, two), values(two), values(one, two))
        assert [state["messages"] for state in out] == [
            [one, two],
            [RemoveMessage(id="1")],
            [one],
        ]

    def test_a_message_that_left_a_list_deep_inside_is_removed_there(
        self, states: Deduplicator
    ) -> None:
        one, two = AIMessage("One.", id="1"), AIMessage("Two.", id="2")
        deep = [Part((), "values", {"groups": [[*found], ["x"]]}) for found in ([one, two], [two])]
        out = fed(states, *deep)
        assert out[1] == {"groups": [[RemoveMessage(id="1")], ["x"]]}

    def test_a_removal_names_the_streamed_id_of_a_copy(self, states: Deduplicator) -> None:
        copy = AIMessage("Hello", id="copy")
        fed(states, *tokens("Hello"), said(copy), values(copy))
        assert fed(states, values()) == [{"messages": [RemoveMessage(id="m")], "n": 1}]

    def test_remove_all_lets_what_is_kept_come_again(self, states: Deduplicator) -> None:
        kept = AIMessage("kept", id="k")
        clear = RemoveMessage(id=REMOVE_ALL_MESSAGES)
        assert fed(states, update(kept), update(clear, kept))[1]["agent"]["messages"] == [
            clear,
            kept,
        ]

    def test_a_text_returned_twice_on_purpose_stays_twice(self, states: Deduplicator) -> None:
        streamed, again = AIMessage("Hello", id="m"), AIMessage("Hello", id="again")
        for order in ([streamed, again], [again, streamed]):
            states = Deduplicator(DedupConfig(state="new_messages"))
            fed(states, *tokens("Hello"), said(again))  # dropped: it looks like a copy
            assert fed(states, update(*order))[0]["agent"]["messages"] == [again]
            assert fed(states, values(*order))[0]["messages"] == []

    def test_one_id_in_two_lists_of_a_state_is_one_message(self, states: Deduplicator) -> None:
        copy = AIMessage("Hello", id="copy")
        fed(states, *tokens("Hello"), said(copy))
        both = Part((), "values", {"messages": [copy], "notes": [copy]})
        assert fed(states, both) == [{"messages": [], "notes": []}]

    def test_a_message_that_gets_its_id_after_its_update_comes_once(
        self, states: Deduplicator
    ) -> None:
        """The reducer names it; the update may go out before or after that."""
        nameless, named = AIMessage("Hello"), AIMessage("Hello", id="m")
        twin = AIMessage("Hello", id="twin")
        inner = ("team:1",)
        out = fed(
            states,
            Part(inner, "updates", {"agent": [nameless]}),
            Part(inner, "updates", {"other": [twin]}),
            values(twin, named, ns=inner),
            update(twin, named),
        )
        assert out == [
            {"agent": [nameless]},
            {"other": [twin]},
            {"messages": [], "n": 1},
            {"agent": {"messages": [], "n": 1}},
        ]

    @pytest.mark.parametrize("first_id", [None, "inner"])
    def test_what_a_graph_inside_told_comes_once_whether_it_had_its_id_yet(
        self, states: Deduplicator, first_id: str | None
    ) -> None:
        """A sync stream of LangGraph names a message while its reader may already have it."""
        told, again = AIMessage("Hello", id=first_id), AIMessage("Hello")
        out = fed(
            states,
            Part(("agent:1",), "updates", {"agent": {"messages": [told]}}),
            update(again),
            update(again),  # it stands for one alone
            values(AIMessage("Hello", id="outer"), AIMessage("Hello", id="second")),
        )
        assert [_messages_in(data) for data in out] == [[told], [], [again], []]

    def test_a_node_beside_a_graph_may_say_the_same_without_an_id(
        self, states: Deduplicator
    ) -> None:
        told, other = AIMessage("yes"), AIMessage("yes")
        out = fed(
            states,
            Part(("team:1",), "updates", {"agent": {"messages": [told]}}),
            Part((), "updates", {"other": {"messages": [other]}}),
        )
        assert out[1] == {"other": {"messages": [other]}}

    @pytest.mark.parametrize("data", [None, 3, "text", [], {}, [None], {"a": [{"b": ()}]}])
    def test_states_without_messages_pass(self, states: Deduplicator, data: Any) -> None:
        assert fed(states, Part((), "updates", data))[0] is data

    def test_a_message_alone_under_a_key_is_that_keys_value(self, states: Deduplicator) -> None:
        part = Part((), "values", {"final": AIMessage("Hello", id="m")})
        assert fed(states, *tokens("Hello"), part)[1] is part.data

    def test_a_state_that_has_it_in_a_list_too_tells_it_there(self, states: Deduplicator) -> None:
        hello = AIMessage("Hello", id="m")
        part = Part((), "values", {"final": hello, "messages": [hello]})
        assert fed(states, part)[0] is part.data

    def test_keys_of_the_platform_in_an_update_stay(self, states: Deduplicator) -> None:
        hello = AIMessage("Hello", id="m")
        part = Part((), "updates", {"__interrupt__": ({"review": [hello]},)})
        assert fed(states, *tokens("Hello"), part)[1] is part.data

    def test_folding_snapshots_by_id_gives_the_state(self, states: Deduplicator) -> None:
        a, b, c = (AIMessage(text, id=text) for text in "abc")
        edited = AIMessage("B", id="b")
        folded: Any = []
        for state in ([a], [a, b], [a, edited, c], [edited, c], [edited]):
            (out,) = fed(states, values(*state))
            folded = add_messages(folded, out["messages"])
            assert folded == state


def test_auto_cuts_states_only_beside_another_mode() -> None:
    one, two = AIMessage("one", id="1"), AIMessage("two", id="2")
    for modes, again in ((["values"], 2), (["values", "custom"], 2), (["values", "updates"], 1)):
        dedup = Deduplicator(DedupConfig(state="auto"), modes=modes)
        assert len(fed(dedup, values(one), values(one, two))[1]["messages"]) == again


def test_a_ledger_carries_over_to_the_next_stream() -> None:
    ledger, hello = Ledger(), AIMessage("Hello", id="m")
    config = DedupConfig(state="new_messages")
    fed(Deduplicator(config, ledger=ledger), *tokens("Hello"))
    assert fed(Deduplicator(config, ledger=ledger), values(hello)) == [{"messages": [], "n": 1}]
    assert len(ledger) == 1
