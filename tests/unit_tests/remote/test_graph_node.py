"""What a remote graph owes to the task that runs it: namespaces, messages, interrupts, answers."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)
from langgraph._internal._scratchpad import PregelScratchpad
from langgraph.errors import GraphInterrupt, ParentCommand
from langgraph.pregel._messages import StreamMessagesHandler, StreamMessagesHandlerV2
from langgraph.pregel.protocol import StreamProtocol
from langgraph.types import Command, Interrupt

from langgraph_once import DedupConfig
from langgraph_once.remote.graph import Recipients, Wanted
from langgraph_once.remote.node import Caller
from langgraph_once.stream import GAP_MODE, Part, annotation_of
from langgraph_once.stream.forms import ExactForm
from langgraph_once.stream.handler import OnceMessagesHandler
from langgraph_once.stream.places import TASK_NS_KEY
from langgraph_once.stream.run import PENDING, Run
from tests.unit_tests.stream.scenes import chain, says

TASK = "team:1|call:2"
NS = ("team:1", "call:2")
ASKED = Interrupt("May I?", id="i")


class Around:
    """The graphs around a task.

    Args:
        answer: What was resumed with, by no id.
        handlers: Those of `messages`.
        asked: Further keys under `configurable`.
        modes: Of the stream of all else.
        earlier: How many graphs the task has run.
    """

    def __init__(
        self,
        *,
        answer: Any = None,
        handlers: Any = (StreamMessagesHandler,),
        modes: Any = ("updates",),
        earlier: int = 0,
        **asked: Any,
    ) -> None:
        self.told: list[Any] = []
        self.taken: list[bool] = []
        self.handlers = [kind(self.told.append, True) for kind in handlers]

        def take(consume: bool) -> Any:
            self.taken.append(consume)
            return answer

        scratchpad = PregelScratchpad(
            step=3,
            stop=9,
            call_counter=itertools.count().__next__,
            interrupt_counter=itertools.count().__next__,
            get_null_resume=take,
            resume=[],
            subgraph_counter=itertools.count(earlier).__next__,
        )
        configurable = {
            "__pregel_task_id": "2",
            "checkpoint_ns": TASK,
            "__pregel_stream": StreamProtocol(self.told.append, set(modes)),
            "__pregel_scratchpad": scratchpad,
            **asked,
        }
        self.config: Any = {
            "configurable": configurable,
            "callbacks": self.handlers,
            "metadata": {"langgraph_step": 3},
        }

    @property
    def caller(self) -> Caller:
        """The task."""
        caller = Caller.of(self.config, None)
        assert caller is not None
        return caller


def message(said: Any, *ns: str, **meta: Any) -> Part:
    return Part(ns, "messages", said, {TASK_NS_KEY: "answer:9", **meta})


def token(text: str, **fields: Any) -> AIMessageChunk:
    return AIMessageChunk(content=text, id="a", **fields)


def heard(around: Around, *parts: Part) -> list[Any]:
    """What the graphs around are told of these parts, to the end."""
    caller = around.caller
    for part in parts:
        caller.forward(caller.placed(part))
    caller.finish()
    return around.told


def test_a_call_from_no_task_has_no_parent() -> None:
    assert Caller.of(None, None) is None
    assert Caller.of({"configurable": {"thread_id": "t"}}, None) is None


class TestNamespaces:
    def test_a_part_is_below_the_task(self) -> None:
        caller = Around().caller
        assert caller.placed(Part((), "updates", {})).ns == NS
        assert caller.placed(Part(("inner:3",), "updates", {})).ns == (*NS, "inner:3")

    def test_a_message_names_the_tasks_around_its_own(self) -> None:
        placed = Around().caller.placed(message(token("Ha"), "inner:3"))
        assert placed.meta[TASK_NS_KEY] == f"{TASK}|answer:9"
        assert placed.ns == (*NS, "inner:3")
        nameless = message(token("Ha"))._replace(meta={})
        assert TASK_NS_KEY not in Around().caller.placed(nameless).meta

    def test_the_second_graph_of_a_task_has_a_number(self) -> None:
        assert Around(earlier=1).caller.placed(Part((), "updates", {})).ns == (*NS, "1")

    @pytest.mark.parametrize(("given", "steps"), [({"steps": [7, 8]}, [7, 8]), ({}, [5])])
    def test_a_note_tells_the_steps_of_all_graphs(self, given: Any, steps: list[int]) -> None:
        own = message(token("Ha"), langgraph_step=5)
        note = {"v": 1, "source": "model", "attempt": 1, **given}
        note["at"] = own.meta["langgraph_checkpoint_ns"]
        placed = Around().caller.placed(own._replace(meta={**own.meta, "once": note}))
        told: Any = annotation_of(placed.meta)
        assert told["steps"] == [-1, 3, *steps]
        assert note.get("steps") == given.get("steps")  # the server's stays as it was


class TestModes:
    def test_messages_are_asked_for_where_someone_listens_to_them(self) -> None:
        both = ("updates", "messages")
        assert Around(modes=both).caller.modes == {"updates", "messages"}
        assert Around(modes=both, handlers=()).caller.modes == {"updates"}

    def test_a_handler_of_the_nearest_graph_alone_does_not_listen(self) -> None:
        around = Around()
        around.handlers[0].subgraphs = False
        assert around.caller.modes == {"updates"}

    def test_no_stream_at_all(self) -> None:
        around = Around(handlers=())
        del around.config["configurable"]["__pregel_stream"]
        assert around.caller.modes == frozenset()
        assert heard(around, Part((), "updates", {})) == []

    def test_only_what_is_wanted_is_told(self) -> None:
        told = heard(Around(), Part((), "updates", {"a": {}}), Part((), "custom", 5))
        assert told == [(NS, "updates", {"a": {}})]

    def test_a_state_is_told_with_its_interrupts(self) -> None:
        state = Part((), "values", {"n": 1}, {"interrupts": (ASKED,)})
        around = Around(modes=("values",))
        assert heard(around, state) == [(NS, "values", {"n": 1, "__interrupt__": (ASKED,)})]


class TestMessages:
    def test_each_message_of_a_remote_node_is_told_once(self) -> None:
        told = heard(
            Around(),
            message(token("Ha")),
            message(token("", chunk_position="last")),
            message(AIMessage("Ha", id="copy")),
        )
        assert [said.content for _, _, (said, _) in told] == ["Ha", ""]

    def test_a_v3_stream_around_a_remote_node_hears_whole_messages(self) -> None:
        half = message(token("Ha"))
        whole = heard(
            Around(handlers=(StreamMessagesHandlerV2,)),
            half,
            message(token(" ha", chunk_position="last")),
        )
        assert [said for _, _, (said, _) in whole] == [AIMessage("Ha ha", id="a")]
        assert len(heard(Around(handlers=(StreamMessagesHandlerV2,)), half)) == 1  # at the end

    def test_a_v3_stream_around_hears_each_one_as_it_ends(self) -> None:
        """And no result of a tool, which v3 tells in another channel."""
        others = AIMessageChunk(content="Hi", id="b"), ToolMessage("5", tool_call_id="c", id="t")
        told = heard(
            Around(handlers=(StreamMessagesHandlerV2,)),
            *map(message, (token("Hel"), *others, token("lo", chunk_position="last"))),
            message(AIMessage("Whole.", id="w")),
        )
        assert [said for _, _, (said, _) in told] == [
            AIMessage("Hello", id="a"),
            AIMessage("Whole.", id="w"),
            AIMessage("Hi", id="b"),
        ]

    def test_the_metadata_told_are_the_hearers_own(self) -> None:
        kinds = (StreamMessagesHandler, StreamMessagesHandler)
        first, second = heard(Around(handlers=kinds), part := message(token("Ha")))
        first[2][1]["x"] = 1
        assert "x" not in part.meta
        assert "x" not in second[2][1]

    def test_what_the_node_returns_of_what_was_told_is_known(self) -> None:
        around = Around()
        heard(around, message(token("Ha")), message(token(" ha")))
        assert around.handlers[0].seen == {"a"}
        assert len(around.told) == 2

    def test_what_the_thread_held_before_is_no_news(self) -> None:
        states = [Part((), "values", {"messages": [HumanMessage("Hi", id=i)]}) for i in "xy"]
        around = Around()
        heard(around, *states)
        assert around.handlers[0].seen == {"x"}

    def test_a_graph_inside_does_not_tell_what_the_thread_held(self) -> None:
        inner = Part(("inner:3",), "values", {"messages": [HumanMessage("Hi", id="x")]})
        around = Around()
        heard(around, inner)
        assert around.handlers[0].seen == set()

    def test_what_is_said_again_takes_the_place_of_what_was(self) -> None:
        around = Around()
        caller = around.caller
        caller.forward(caller.placed(message(token("Ha"))))
        caller.ran_again()
        caller.forward(caller.placed(message(AIMessageChunk(content="Ho", id="b"))))
        caller.finish()
        said = [each for _, _, (each, _) in around.told]
        assert RemoveMessage(id="a") in said
        assert said[-1].content == "Ho"

    def test_what_was_held_and_did_not_come_again_goes_at_the_end(self) -> None:
        around = Around()
        caller = Caller(around.config, DedupConfig(reexecution="hold"))
        at = message(token("Ha")).meta["langgraph_checkpoint_ns"]
        about = {"once": {"v": 1, "source": "retry", "attempt": 2, "at": at}}
        caller.forward(caller.placed(message(token("Ha"))))
        caller.forward(caller.placed(message(RemoveMessage(id="a"), **about)))
        assert len(around.told) == 1
        caller.finish()
        assert [said for _, _, (said, _) in around.told][1:] == [RemoveMessage(id="a")]

    def test_what_the_thread_held_our_handler_compares_by_itself(self) -> None:
        PENDING.set(Run(chain(says("Hi")), DedupConfig(), ExactForm()))
        around = Around(handlers=(OnceMessagesHandler,))
        heard(around, Part((), "values", {"messages": [HumanMessage("Hi", id="x")]}))
        assert around.handlers[0].seen == set()


class TestInterrupts:
    def test_all_interrupts_of_a_remote_run_interrupt_the_task(self) -> None:
        others = [Interrupt("And?", id="j"), Interrupt("Deep?", id="k")]
        parts = [
            Part((), "updates", {"__interrupt__": (ASKED,)}),
            Part((), "updates", {"__interrupt__": (others[0],)}),
            Part(("inner:3",), "updates", {"__interrupt__": (others[1],)}),  # told above as well
        ]
        with pytest.raises(GraphInterrupt) as caught:
            heard(Around(), *parts)
        assert caught.value.args == ((ASKED, others[0]),)

    def test_without_one_it_goes_on(self) -> None:
        heard(Around(), Part((), "updates", {"a": {"__interrupt__": 1}}))


class TestResuming:
    WAITING: ClassVar[Any] = {"next": ["ask"], "interrupts": [{"id": "i", "value": "May I?"}]}
    STOPPED: ClassVar[Any] = {"next": ["ask"], "interrupts": []}

    def test_a_resume_of_a_remote_node_is_told_by_the_config(self) -> None:
        assert not Around().caller.is_resuming
        assert Around(__pregel_resuming=True).caller.is_resuming

    def test_a_thread_that_is_not_halfway_runs_with_its_input(self) -> None:
        around = Around(answer="yes")
        assert around.caller.resumed({"x": 1}, {}) == {"x": 1}
        assert around.caller.resumed({"x": 1}, {"next": []}) == {"x": 1}
        assert around.taken == []

    def test_a_command_of_the_node_is_what_it_wants(self) -> None:
        command: Any = Command(resume="no")
        assert Around(answer="yes").caller.resumed(command, self.WAITING) is command

    def test_the_answer_goes_to_who_asked(self) -> None:
        around = Around(answer="yes")
        assert around.caller.resumed({"x": 1}, self.WAITING) == Command(resume="yes")
        assert around.taken == [True]  # or the parent's own interrupt gets it too

    def test_an_answer_by_interrupt_id_resumes_the_remote_node_of_that_id_alone(self) -> None:
        around = Around(answer="yes", __pregel_resume_map={"i": "one", "j": "two"})
        assert around.caller.resumed({}, self.WAITING) == Command(resume={"i": "one"})

    def test_a_resume_for_another_task_resumes_no_remote_node(self) -> None:
        around = Around(__pregel_resume_map={"j": "two"})
        assert around.caller.resumed({"x": 1}, self.WAITING) is None

    def test_a_thread_that_waits_for_no_answer_just_goes_on(self) -> None:
        around = Around(answer="yes")
        assert around.caller.resumed({"x": 1}, self.STOPPED) is None
        assert around.taken == []


class TestReading:
    """What who reads the run gets of it, and what the graphs around."""

    def test_the_server_is_asked_for_what_either_wants(self) -> None:
        wanted = Wanted(frozenset({"values"}), subgraphs=False)
        alone, called = Recipients(wanted, None), Recipients(wanted, Around().caller)
        silent = Recipients(wanted, Around(handlers=(), modes=()).caller)
        assert alone.modes == silent.modes == {"values"}
        assert called.modes == {"values", "updates", "messages"}
        assert [each.subgraphs for each in (alone, called, silent)] == [False, True, False]

    @pytest.mark.parametrize("subgraphs", [False, True])
    def test_parts_of_graphs_inside_are_for_who_asked(self, subgraphs: bool) -> None:
        wanted = Wanted(frozenset({"updates", "messages"}), subgraphs)
        reading = Recipients(wanted, Around().caller)
        near, far, other = (
            Part((), "updates", {}),
            Part(("inner:3",), "updates", {}),
            Part((), "custom", 5),
        )
        assert [len(list(reading.feed(part))) for part in (near, far, other)] == [1, subgraphs, 0]
        # The server says it there alone.
        assert len(list(reading.feed(message(token("Ha"), "inner:3")))) == 1

    def test_a_gap_is_told_where_there_is_a_word_for_it(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        gap = Part((), GAP_MODE, "why")
        for tells_gaps in (False, True):
            modes = {"values", GAP_MODE} if tells_gaps else {"values"}
            wanted = Wanted(frozenset(modes), subgraphs=False)
            assert len(list(Recipients(wanted, None).feed(gap))) == tells_gaps
        assert [record.message for record in caplog.records] == [
            "something may be missing from a remote run: why"
        ] * 2

    def test_a_command_for_the_parent_names_the_graph_that_it_is_for(self) -> None:
        wanted = Wanted(frozenset({"values"}), subgraphs=False)
        command: Any = Command(graph=Command.PARENT, update={"x": 1})
        told = Recipients(wanted, Around().caller).addressed(ParentCommand(command))
        assert (told.args[0].graph, told.args[0].update) == (TASK, {"x": 1})
        assert Recipients(wanted, None).addressed(ParentCommand(command)).args[0].graph == ""
