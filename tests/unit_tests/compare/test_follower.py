"""What a `Follower` tells of parts, and what a `View` makes of it."""

from __future__ import annotations

import json
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
from langgraph.types import Interrupt

from langgraph_once.compare import Follower, Side, SideView, View, to_dict
from langgraph_once.stream import Part
from langgraph_once.stream.annotation import Annotation, annotated

META = {"langgraph_node": "write", "langgraph_checkpoint_ns": "write:1"}
NOTE = Annotation(v=1, source="model", attempt=1, run="run")


def said(message: BaseMessage, meta: Any = META, ns: tuple[str, ...] = ()) -> Part:
    return Part(ns, "messages", message, meta)


def chunks(text: str, id: str = "m1", meta: Any = META) -> list[Part]:
    words = [f"{word} " for word in text.split()]
    last: Any = {"chunk_position": "last"}
    pieces = [AIMessageChunk(content=word, id=id) for word in words[:-1]]
    return [
        said(each, meta) for each in [*pieces, AIMessageChunk(content=words[-1], id=id, **last)]
    ]


def values(*messages: BaseMessage, **keys: Any) -> Part:
    return Part((), "values", {"messages": [*messages], **keys})


def followed(side: Side, *parts: Part, error: BaseException | None = None) -> SideView:
    follower, view = Follower(side), View()
    for event in follower.begin("thread", "run"):
        view.apply(event)
    for part in parts:
        for event in follower.feed(part):
            view.apply(event)
    for event in follower.end(error):
        view.apply(event)
    return view.sides[side]


def marks(side: SideView) -> list[tuple[str, str, list[str]]]:
    return [
        (item.text, item.mark, [piece.mark for piece in item.pieces])
        for item in side.items
        if item.kind == "message" and item.name != "human"
    ]


class TestMessages:
    def test_what_was_asked_is_shown_first_once_and_counted_nowhere(self) -> None:
        asked, more = HumanMessage("Hello?", id="h1"), HumanMessage("And you?", id="h2")
        follower, view = Follower("stock"), View()
        answer = AIMessage("Hi ", id="m1")
        runs = [
            [values(asked), *chunks("Hi"), values(asked, answer)],
            [values(asked, answer), values(asked, answer)],  # a resume asks nothing
            [values(asked, answer, more), *chunks("Fine", "m2")],
        ]
        for parts in runs:
            told = [*follower.begin("t", "r"), *(e for part in parts for e in follower.feed(part))]
            for event in (*told, *follower.end()):
                view.apply(event)
        said = [it for it in view.sides["stock"].items if it.kind == "message"]
        assert [(it.name, it.text) for it in said] == [
            ("human", "Hello?"),
            ("ai", "Hi "),
            ("human", "And you?"),
            ("ai", "Fine "),
        ]
        assert view.sides["stock"].counts.texts == 2

    def test_a_copy_is_shown_again_by_stock_and_left_out_by_once(self) -> None:
        copy = said(AIMessage("Hello you ", id="copy"))
        for side in ("stock", "once"):
            seen = followed(side, *chunks("Hello you"), copy)
            assert marks(seen) == [
                ("Hello you ", "kept", ["kept"]),
                ("Hello you ", "kept", ["repeated"]),
            ]
            shown_again, left_out = (1, 0) if side == "stock" else (0, 1)
            assert (seen.counts.repeated, seen.counts.left_out) == (shown_again, left_out)

    def test_a_missing_rest_is_shown_as_repaired(self) -> None:
        begun = [said(AIMessageChunk(content="Hello ", id="m1"))]
        seen = followed("once", *begun, said(AIMessage("Hello you", id="m1")))
        assert marks(seen) == [("Hello you", "kept", ["kept", "repaired"])]
        assert seen.counts.repaired == 1

    def test_a_last_chunk_that_says_all_again_is_cut(self) -> None:
        pieces = [AIMessageChunk(content=word, id="m1") for word in ("Hello ", "you")]
        last = AIMessageChunk(content="Hello you", id="m1", chunk_position="last")
        seen = followed("stock", *map(said, [*pieces, last]))
        assert marks(seen) == [("Hello youHello you", "kept", ["kept", "repeated"])]
        assert seen.counts.repeated == 1

    def test_what_is_taken_back_is_marked_and_may_be_said_again(self) -> None:
        meta = annotated(META, NOTE)
        removal = said(RemoveMessage("m1"), annotated(META, {**NOTE, "source": "retry"}))
        seen = followed("once", *chunks("A try", meta=meta), removal, *chunks("Better", "m2", meta))
        assert marks(seen) == [("A try ", "retracted", ["kept"]), ("Better ", "kept", ["kept"])]
        assert seen.counts.retracted == 1

    def test_a_draft_is_marked(self) -> None:
        meta = annotated(META, NOTE)
        end = said(AIMessageChunk(content="", id="m1"), annotated(META, {**NOTE, "draft": True}))
        seen = followed("once", *chunks("Only a thought", meta=meta), end)
        assert marks(seen) == [("Only a thought ", "not_kept", ["kept"])]

    def test_reasoning_is_told_apart_from_text(self) -> None:
        block: Any = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "Yes."}]
        (item,) = followed("once", said(AIMessage(block, id="m1"))).items
        assert [(piece.text, piece.kind) for piece in item.pieces] == [
            ("Hm.", "reasoning"),
            ("Yes.", "text"),
        ]


class TestJudge:
    asked = HumanMessage("Go.", id="h")

    def test_what_an_attempt_said_is_repeated_where_it_stands_again(self) -> None:
        whole = AIMessage("One two three ", id="m2")
        seen = followed(
            "stock",
            values(self.asked),
            *chunks("One two", "m1"),
            *chunks("One two three", "m2"),
            values(self.asked, whole),
        )
        assert marks(seen) == [
            ("One two ", "kept", ["kept"]),
            ("One two three ", "kept", ["repeated", "kept"]),
        ]
        assert seen.items[-1].kind == "state"
        (again,) = (item for item in seen.items if item.text == "One two three ")
        assert again.pieces[0].text == "One two "
        assert seen.counts.repeated == 1

    def test_of_three_equal_attempts_the_second_and_the_third_are_repeated(self) -> None:
        said_thrice = [each for id in ("m1", "m2", "m3") for each in chunks("The same", id)]
        seen = followed(
            "stock",
            values(self.asked),
            *said_thrice,
            values(self.asked, AIMessage("The same ", id="m3")),
        )
        assert [pieces for _, _, pieces in marks(seen)] == [["kept"], ["repeated"], ["repeated"]]
        assert seen.counts.repeated == 2

    def test_what_is_in_no_state_and_repeats_nothing_is_a_draft(self) -> None:
        kept = AIMessage("Yes ", id="m2")
        parts = [*chunks("Hm", "m1"), *chunks("Yes", "m2")]
        seen = followed("stock", values(self.asked), *parts, values(self.asked, kept))
        assert [mark for _, mark, _ in marks(seen)] == ["not_kept", "kept"]

    @pytest.mark.parametrize("side", ["stock", "once"])
    def test_what_was_rewritten_stands_with_who_was_not_told(self, side: Side) -> None:
        parts = [*chunks("half off"), values(AIMessage("half off", id="m1"))]
        if side == "once":
            parts += [said(RemoveMessage("m1")), said(AIMessage("a bit off", id="m1"))]
        seen = followed(side, values(), *parts, values(AIMessage("a bit off", id="m1")))
        told = {"stock": ("not_kept", "missing"), "once": ("retracted", "kept")}
        assert tuple(mark for _, mark, _ in marks(seen)) == told[side]

    def test_a_step_that_waits_is_not_over(self) -> None:
        done = AIMessage("Yes ", id="m2")
        waits = values(self.asked, done, __interrupt__=[Interrupt("?", id="i")])
        parts = [*chunks("Hm", "m1"), *chunks("Yes", "m2")]
        seen = followed("stock", values(self.asked), *parts, waits)
        assert [mark for _, mark, _ in marks(seen)] == ["kept", "kept"]

    def test_what_only_the_state_has_was_lost(self) -> None:
        handed = AIMessage("Over to you.", id="m2")
        seen = followed("stock", values(self.asked), *chunks("Hi"), values(self.asked, handed))
        assert marks(seen)[-1] == ("Over to you.", "missing", ["missing"])
        assert seen.counts.missing == 1

    @pytest.mark.parametrize("has_died", [True, False])
    def test_a_graph_that_died_and_ran_anew_was_shown_again(self, has_died: bool) -> None:
        """A node may also run a graph twice because it wants to."""
        call: Any = {"name": "search", "args": {}, "id": "c1", "type": "tool_call"}

        def ran(ns: tuple[str, ...], id: str, *, stops: bool) -> list[Part]:
            answer = AIMessage("I look.", id=id, tool_calls=[call])
            end = [] if stops else [ToolMessage("found", tool_call_id="c1", id=f"{id} tool")]
            told = [said(each, META, ns) for each in (answer, *end)]
            return [
                Part(ns, "values", {"messages": []}),
                *told,
                Part(ns, "values", {"messages": [answer, *end]}),
            ]

        first, second = ("search:1",), ("search:1", "1")
        seen = followed(
            "stock",
            values(self.asked),
            *ran(first, "a", stops=has_died),
            *ran(second, "b", stops=False),
            values(self.asked),
        )

        def found(lane: int) -> list[tuple[str, list[str]]]:
            items = [item for item in seen.items if item.lane == lane and item.name != "tool"]
            told = [item for item in items if item.kind != "state"]
            return [
                (item.kind, [piece.mark for piece in item.pieces] or [item.mark]) for item in told
            ]

        mark = "repeated" if has_died else "kept"
        assert found(1) == [("message", ["kept"]), ("tool_call", ["kept"])]
        assert found(2) == [("message", [mark]), ("tool_call", [mark])]
        assert seen.counts.repeated == has_died

    def test_what_an_edit_replaced_stays_with_who_is_not_told(self) -> None:
        edited = AIMessage("Better words.", id="m1")
        seen = followed("stock", values(self.asked), *chunks("Bad"), values(self.asked, edited))
        assert [(text, mark) for text, mark, _ in marks(seen)] == [
            ("Bad ", "not_kept"),
            ("Better words.", "missing"),
        ]

    def test_what_the_run_was_given_is_not_lost(self) -> None:
        old = AIMessage("From before.", id="old")
        seen = followed("stock", values(old, self.asked), values(old, self.asked))
        assert seen.counts.missing == 0

    def test_after_a_gap_nobody_is_blamed(self) -> None:
        gap = Part((), "gap", "the server no longer has all events of the run")
        seen = followed("stock", gap, values(), values(self.asked, AIMessage("Hi", id="m1")))
        assert seen.counts.missing == 0
        assert [item.kind for item in seen.items] == ["gap", "state"]

    def test_states_without_the_told_messages_prove_nothing(self) -> None:
        seen = followed("once", values(self.asked), *chunks("Hi"), values(self.asked))
        assert [mark for _, mark, _ in marks(seen)] == ["kept"]


class TestTheRest:
    def test_a_tool_call_grows_and_is_answered(self) -> None:
        piece: Any = {"index": 0, "type": "tool_call_chunk"}
        pieces: list[Any] = [
            {**piece, "name": "search", "id": "c1", "args": '{"que'},
            {**piece, "name": None, "id": None, "args": 'ry": "x"}'},
        ]
        parts = [
            said(AIMessageChunk(content="", id="m1", tool_call_chunks=[each])) for each in pieces
        ]
        end = said(AIMessageChunk(content="", id="m1", chunk_position="last"))
        answer = ToolMessage("found", tool_call_id="c1", name="search", id="t1", artifact=[1, 2])
        seen = followed("once", *parts, end, said(answer))
        call, *rest = seen.items
        assert (call.kind, call.name, call.text) == ("tool_call", "search", '{"query": "x"}')
        assert (call.status, call.value) == ("success", {"args": {"query": "x"}, "result": "found"})
        assert [(item.kind, item.name, item.value) for item in rest] == [
            ("message", "tool", None),
            ("artifact", "search", [1, 2]),
        ]

    @pytest.mark.parametrize(("id", "mark"), [("m1", "kept"), ("m2", "retracted")])
    def test_a_call_is_void_with_its_message_unless_that_is_said_anew(
        self, id: str, mark: str
    ) -> None:
        call: Any = {"name": "search", "args": {}, "id": "c1", "type": "tool_call"}
        meta = annotated(META, NOTE)
        first = said(AIMessage("A careless word.", id="m1", tool_calls=[call]), meta)
        removal = said(RemoveMessage("m1"), meta)
        seen = followed("once", first, removal, said(AIMessage("A better one.", id=id), meta))
        assert [item.mark for item in seen.items if item.kind == "tool_call"] == [mark]

    def test_states_are_told_by_the_keys_that_changed(self) -> None:
        seen = followed("once", values(topic="a", count=1), values(topic="a", count=2))
        assert [item.value for item in seen.items] == [{"topic": "a", "count": 1}, {"count": 2}]

    def test_new_elements_of_a_list_are_artifacts(self) -> None:
        first, second = {"id": "1", "title": "A"}, {"id": "2", "title": "B"}
        seen = followed("once", values(found=[first]), values(found=[first, second]))
        assert [i.value for i in seen.items if i.kind == "artifact"] == [first, second]

    def test_an_interrupt_waits_until_the_next_run(self) -> None:
        waits = values(__interrupt__=[Interrupt({"ok": "?"}, id="i1")])
        follower, view = Follower("once"), View()
        for event in [*follower.begin(), *follower.feed(waits), *follower.end()]:
            view.apply(event)
        side = view.sides["once"]
        assert side.status == "interrupted"
        assert [(item.name, item.value) for item in side.waiting] == [("i1", {"ok": "?"})]
        for event in follower.begin():
            view.apply(event)
        assert side.waiting == []
        assert [item.status for item in side.items if item.kind == "interrupt"] == ["answered"]

    def test_graphs_speak_in_lanes(self) -> None:
        inner = [("search:1",), ("search:2",), ("search:1",)]
        parts = [said(AIMessage(str(n), id=str(n)), META, ns) for n, ns in enumerate(inner)]
        seen = followed("once", *parts)
        assert [lane.label for lane in seen.lanes] == ["main", "search", "search 2"]
        assert [item.lane for item in seen.items] == [1, 2, 1]

    def test_an_error_ends_the_view_of_a_side(self) -> None:
        seen = followed("once", *chunks("Hi"), error=ValueError("no luck"))
        assert (seen.status, seen.error) == ("failed", "ValueError: no luck")
        assert seen.items[-1].kind == "error"

    def test_bytes_are_counted(self) -> None:
        follower, view = Follower("once"), View()
        follower.received(100, 10)
        for event in follower.feed(chunks("Hi")[0]):
            view.apply(event)
        counts = view.sides["once"].counts
        assert (counts.bytes, counts.wire_bytes, counts.parts, counts.texts) == (100, 10, 1, 1)

    def test_ledgers_last_over_runs(self) -> None:
        follower, view = Follower("stock"), View()
        answer = AIMessage("Hello ", id="m1")
        for part in ([*chunks("Hello")], [said(answer)]):
            for event in [*follower.begin(), *(e for p in part for e in follower.feed(p))]:
                view.apply(event)
        assert view.sides["stock"].counts.repeated == 1


def test_events_are_json_and_long_values_are_cut_off() -> None:
    follower = Follower("once")
    parts = [*chunks("Hi"), values(text="x" * 20_000, thing=object())]
    told = [
        to_dict(e)
        for e in [*follower.begin("t", "r"), *(e for p in parts for e in follower.feed(p))]
    ]
    assert len(json.dumps(told)) < 10_000
    assert told[0] == {"op": "Began", "side": "once", "thread_id": "t", "run_id": "r"}
    ops = {"Began", "LaneOpened", "ItemOpened", "TextAppended", "CountsChanged"}
    assert {each["op"] for each in told} == ops


@pytest.mark.parametrize("data", [None, 3, "text", ["a"], {"messages": "odd"}])
@pytest.mark.parametrize("mode", ["messages", "updates", "values", "custom", "new_mode"])
def test_odd_parts_do_not_stop_the_follower(mode: str, data: Any) -> None:
    assert followed("stock", Part((), mode, data)).status == "finished"
