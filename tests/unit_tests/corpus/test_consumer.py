"""The consumer of the corpus counts what a stock client has."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from tests.corpus.consumer import Consumer
from tests.corpus.units import Unit, call, said, text_piece

HELLO = "Hello there."
META = {"langgraph_checkpoint_ns": "n0:1"}
CALL: Any = {"name": "search", "args": {"q": "x"}, "id": "c", "type": "tool_call"}


def consumer(*units: Unit, **how: bool) -> Consumer:
    options = {"whole_states": False, "own_modes": False, **how}
    return Consumer(units or (said(HELLO),), **options)


def tokens(to: Consumer, *texts: str, id: str = "m", task: str = "n0:1") -> None:
    for text in texts:
        chunk = AIMessageChunk(content=text, id=id)
        to.feed((), "messages", (chunk, {"langgraph_checkpoint_ns": task}))


def whole(to: Consumer, message: BaseMessage) -> None:
    to.feed((), "messages", (message, META))


def update(to: Consumer, *found: Any, ns: tuple[str, ...] = ()) -> None:
    to.feed(ns, "updates", {"n0": {"messages": list(found)}})


def has(of: Consumer, text: str = HELLO) -> tuple[int, int]:
    """How often it has the text now, and had it at most."""
    return of.live[text_piece(text)], of.peak[text_piece(text)]


class TestMessages:
    def test_tokens_join_to_one_text(self) -> None:
        reader = consumer()
        tokens(reader, "Hello", " there", ".")
        assert has(reader) == (1, 1)
        assert reader.strays == []

    def test_a_lost_token_leaves_a_stray(self) -> None:
        reader = consumer()
        tokens(reader, "Hello", ".")
        assert has(reader) == (0, 0)
        assert reader.strays == [("m", "Hello.")]

    def test_a_token_twice_leaves_a_stray(self) -> None:
        reader = consumer()
        tokens(reader, "Hello", " there", ".", ".")
        assert reader.strays == [("m", ".")]

    def test_a_full_message_is_appended_to_its_tokens(self) -> None:
        reader = consumer()
        tokens(reader, HELLO)
        whole(reader, AIMessage(HELLO, id="m"))
        assert has(reader) == (2, 2)

    def test_a_removal_clears_the_id_and_nothing_else(self) -> None:
        reader = consumer()
        tokens(reader, HELLO)
        tokens(reader, HELLO, id="other")
        whole(reader, RemoveMessage(id="m"))
        assert has(reader) == (1, 2)

    def test_what_is_taken_back_first_is_never_there_twice(self) -> None:
        reader = consumer()
        tokens(reader, HELLO)
        whole(reader, RemoveMessage(id="m"))
        tokens(reader, HELLO, id="again")
        assert has(reader) == (1, 1)
        assert reader.arrived[text_piece(HELLO)] == 2

    def test_tokens_of_parallel_tasks_do_not_mix(self) -> None:
        reader = consumer()
        tokens(reader, "Hello", task="a:1")
        tokens(reader, "Hello", task="b:2")
        tokens(reader, " there.", task="a:1")
        tokens(reader, " there.", task="b:2")
        assert has(reader) == (2, 2)

    def test_an_empty_message_made_of_tokens_is_a_stray(self) -> None:
        reader = consumer()
        tokens(reader, "", id="ghost")
        assert reader.strays == [("ghost", "")]

    def test_a_call_counts_when_its_arguments_are_complete(self) -> None:
        unit = call("search", {"q": "x"})
        reader = consumer(unit)
        for name, args in (("search", ""), (None, '{"q":'), (None, ' "x"}')):
            piece: Any = {"name": name, "args": args, "id": None, "index": 0}
            whole(reader, AIMessageChunk(content="", id="m", tool_call_chunks=[piece]))
        assert reader.live[unit.piece] == 1
        whole(reader, AIMessage("", id="m", tool_calls=[CALL]))
        assert reader.live[unit.piece] == 2


class TestStates:
    def test_an_update_after_the_tokens_is_a_repetition(self) -> None:
        reader = consumer()
        tokens(reader, HELLO)
        update(reader, AIMessage(HELLO, id="m"))
        assert has(reader) == (2, 2)

    @pytest.mark.parametrize("ns", [(), ("n1:2",)])
    def test_new_content_takes_the_place_of_the_old_under_its_id(self, ns: Any) -> None:
        reader = consumer(said("old"), said("new"))
        tokens(reader, "old")
        update(reader, AIMessage("new", id="m"), ns=ns)
        assert has(reader, "old") == (0, 1)
        assert has(reader, "new") == (1, 1)

    def test_equal_ids_of_graphs_side_by_side_are_different_messages(self) -> None:
        reader = consumer(said("old"), said("new"))
        update(reader, AIMessage("old", id="m"), ns=("n1:1",))
        update(reader, AIMessage("new", id="m"), ns=("n2:2",))
        assert has(reader, "old") == has(reader, "new") == (1, 1)

    def test_remove_all_clears_everything(self) -> None:
        reader = consumer()
        tokens(reader, HELLO)
        update(reader, RemoveMessage(id=REMOVE_ALL_MESSAGES))
        assert has(reader) == (0, 1)

    @pytest.mark.parametrize("form", [("ai", HELLO), {"role": "ai", "content": HELLO}, HELLO])
    def test_what_the_reducer_would_make_a_message_is_one(self, form: Any) -> None:
        reader = consumer()
        update(reader, form)
        assert has(reader) == (1, 1)

    def test_a_message_alone_under_a_key_is_no_repetition(self) -> None:
        reader = consumer()
        tokens(reader, HELLO)
        reader.feed((), "values", {"answer": AIMessage(HELLO, id="m")})
        assert has(reader) == (1, 1)

    def test_a_whole_state_may_repeat_what_the_one_before_held(self) -> None:
        reader = consumer(whole_states=True)
        for _ in range(2):
            reader.feed((), "values", {"messages": [AIMessage(HELLO, id="m")]})
        assert has(reader) == (1, 1)
        reader.feed((), "values", {"messages": []})
        assert has(reader) == (0, 1)

    def test_a_cut_state_may_not(self) -> None:
        reader = consumer()
        for _ in range(2):
            reader.feed((), "values", {"messages": [AIMessage(HELLO, id="m")]})
        assert has(reader) == (2, 2)

    def test_the_parents_state_repeats_the_childs(self) -> None:
        reader = consumer(whole_states=True)
        for ns in (("n0:1",), ()):
            reader.feed(ns, "values", {"messages": [AIMessage(HELLO, id="m")]})
        assert has(reader) == (2, 2)

    def test_only_a_cached_update_repeats_to_a_reader_of_updates_alone(self) -> None:
        reader = consumer(whole_states=True, own_modes=True)
        made = {"n0": {"messages": [AIMessage(HELLO, id="m")]}}
        reader.feed((), "updates", made)
        reader.feed((), "updates", made)
        assert has(reader) == (1, 1)
        reader.feed((), "updates", {**made, "__metadata__": {"cached": True}})
        assert has(reader) == (2, 2)
