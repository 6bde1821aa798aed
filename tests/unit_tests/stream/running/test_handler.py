"""What the handler finds, and what it writes beside it."""

from __future__ import annotations

import contextlib
import dataclasses
import operator
from typing import Annotated, Any, cast

import pytest
from langchain_core.callbacks import BaseCallbackHandler, CallbackManager
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
)
from langchain_core.runnables import RunnableConfig
from langgraph.errors import ParentCommand
from langgraph.func import entrypoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, Overwrite, RetryPolicy
from pydantic import BaseModel
from typing_extensions import TypedDict

from langgraph_once import DedupConfig
from tests.exact import exactly
from tests.unit_tests.stream.scenes import (
    ASKED,
    chain,
    fan_out,
    folded,
    graph_of,
    model,
    nested,
    says,
    says_copy,
)

RETRY = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ValueError)


def streamed(graph: Any, asked: Any = ASKED, **options: Any) -> list[Any]:
    return list(exactly(graph).stream(asked, stream_mode="messages", **options))


def texts(graph: Any, asked: Any = ASKED, **options: Any) -> list[str]:
    chunks = streamed(graph, asked, **options)
    return list(folded(c[-1] if options.get("subgraphs") else c for c in chunks).values())


def returns(update: Any) -> Any:
    return chain(lambda _: update)


class Notes(BaseModel):
    said: list[Any] = []


@dataclasses.dataclass
class Plan:
    steps: list[Any]


class AnyState(TypedDict):
    messages: Annotated[list[AnyMessage], operator.add]
    held: Any


def holding(value: Any) -> Any:
    builder = StateGraph(AnyState)
    builder.add_node("n", lambda _: {"held": value})
    builder.add_edge(START, "n")
    return builder.compile()


class TestFound:
    @pytest.mark.parametrize(
        "held",
        [
            {"a": {"b": [AIMessage("Hello.")]}},
            [[AIMessage("Hello.")]],
            Notes(said=[AIMessage("Hello.")]),
            Plan(steps=[{"x": AIMessage("Hello.")}]),
            (AIMessage("Hello."),),
        ],
        ids=["dicts", "lists", "model", "dataclass", "tuple"],
    )
    def test_l4_messages_deep_in_a_value(self, held: Any) -> None:
        assert texts(holding(held)) == ["Hello."]

    @pytest.mark.parametrize(
        "message",
        [
            ("ai", "Hello."),
            {"role": "assistant", "content": "Hello."},
            {"type": "ai", "content": "Hello.", "id": "m"},
            "Hello.",
        ],
        ids=["pair", "role", "type", "string"],
    )
    @pytest.mark.parametrize("wrap", [lambda m: [m], lambda m: m, lambda m: Overwrite([m])])
    def test_l4_what_the_reducer_makes_messages_of(self, message: Any, wrap: Any) -> None:
        assert texts(returns({"messages": wrap(message)})) == ["Hello."]

    def test_strings_of_other_keys_are_no_messages(self) -> None:
        assert texts(holding([("ai", "Hello."), "Hello."])) == []

    @pytest.mark.parametrize(
        "update",
        [{"messages": [AIMessage("Hello.")]}, [("messages", [AIMessage("Hello.")])]],
        ids=["dict", "pairs"],
    )
    def test_commands_with_every_form_of_update(self, update: Any) -> None:
        assert texts(returns(Command(update=update))) == ["Hello."]
        assert texts(returns([Command(update=update)])) == ["Hello."]

    @pytest.mark.parametrize("subgraphs", [False, True])
    def test_l1_a_command_to_the_parent(self, subgraphs: bool) -> None:
        update = {"messages": [AIMessage("Handed over.")]}
        inner = chain(lambda _: Command(graph=Command.PARENT, update=update))
        assert texts(chain(inner), subgraphs=subgraphs) == ["Handed over."]

    @pytest.mark.parametrize("to", ["team", "crew", "team|crew"])
    def test_a_command_to_a_graph_by_the_name_of_its_node(self, to: str) -> None:
        """LangGraph raises only those to the parent; a node may raise others."""

        def node(_: Any) -> None:
            raise ParentCommand(Command(graph=to, update={"messages": [AIMessage("Handed over.")]}))

        team = graph_of(crew=chain(node)).compile()
        assert texts(graph_of(team=team).compile()) == ["Handed over."]

    def test_a_command_that_is_raised_with_more_beside_it(self) -> None:
        """LangGraph looks at the first argument alone."""

        class Explained(ParentCommand):
            def __init__(self, command: Command[Any], *why: str) -> None:
                super().__init__(command)
                self.args = (command, *why)  # type: ignore[assignment]  # as of any exception

        def node(_: Any) -> None:
            update = {"messages": [AIMessage("Handed over.")]}
            raise Explained(Command(graph="crew", update=update), "too hard for me")

        assert texts(graph_of(crew=chain(node)).compile()) == ["Handed over."]

    def test_the_handler_finds_messages_in_entrypoint_final(self) -> None:
        @entrypoint()
        def flow(_: str) -> Any:
            return entrypoint.final(value={"out": [AIMessage("Hello.")]}, save=[AIMessage("No.")])

        assert texts(flow, "?") == ["Hello."]

    def test_large_strings_are_not_walked(self) -> None:
        class Loud(str):
            __slots__ = ()

            def __iter__(self) -> Any:
                raise AssertionError("walked")

        assert texts(holding(Loud("x" * 10))) == []


class TestReplacedAndRemoved:
    def test_l2_an_edit_takes_the_place_of_what_was_streamed(self) -> None:
        def edits(state: Any) -> Any:
            return {"messages": [AIMessage("Edited.", id=state["messages"][-1].id)]}

        assert texts(chain(says("Careless."), edits)) == ["Edited."]

    def test_l2_an_edit_in_place(self) -> None:
        def edits(state: Any) -> Any:
            message = state["messages"][-1]
            message.content = "Edited."
            return {"messages": [message]}

        assert texts(chain(says("Careless."), edits)) == ["Edited."]

    def test_l3_a_removal_removes(self) -> None:
        def removes(state: Any) -> Any:
            return {"messages": [RemoveMessage(id=state["messages"][-1].id)]}

        assert texts(chain(says("Careless."), removes)) == []

    @pytest.mark.parametrize("how", ["clear", "overwrite"])
    def test_a_list_that_is_replaced_drops_the_others(self, how: str) -> None:
        def replaces(state: Any) -> Any:
            kept = [AIMessage("Summary."), state["messages"][-1]]
            if how == "overwrite":
                return {"messages": Overwrite(kept)}
            return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *kept]}

        assert texts(chain(says("One."), says("Two."), replaces)) == ["Two.", "Summary."]

    def test_what_a_child_removes_of_its_parents_stays_in_the_parent(self) -> None:
        inner = chain(lambda state: {"messages": [RemoveMessage(id=state["messages"][-1].id)]})
        graph = chain(says("Stays."), inner)
        assert texts(graph, subgraphs=True) == ["Stays."]
        assert graph.invoke(ASKED)["messages"][-1].text == "Stays."


class TestAttempts:
    def flaky(self, *texts_said: str) -> Any:
        said = list(texts_said)

        def node(state: Any) -> Any:
            answer = model(text := said.pop(0)).invoke(state["messages"])
            if said:
                raise ValueError(text)
            return {"messages": [answer]}

        return node

    def retried(self, node: Any) -> Any:
        builder = StateGraph(MessagesState)
        builder.add_node("n", node, retry_policy=RETRY)
        builder.add_edge(START, "n")
        return builder.compile()

    @pytest.mark.parametrize("words", [("Same.", "Same."), ("One.", "Two.", "Three.")])
    def test_d4_only_the_last_attempt_is_kept(self, words: tuple[str, ...]) -> None:
        chunks = streamed(self.retried(self.flaky(*words)))
        assert list(folded(chunks).values()) == [words[-1]]
        tokens = [c for c in chunks if isinstance(c[0], AIMessageChunk)]
        assert {meta["once"]["attempt"] for _, meta in tokens} == set(range(1, len(words) + 1))

    @pytest.mark.parametrize("words", [("One two.", "One two."), ("One two.", "Other words.")])
    def test_d4_hold_keeps_the_words_of_the_last_attempt_alone(self, words: Any) -> None:
        chunks = list(
            exactly(self.retried(self.flaky(*words)), DedupConfig(reexecution="hold")).stream(
                ASKED, stream_mode="messages"
            )
        )
        assert list(folded(chunks).values()) == [words[-1]]
        gone = [message for message, _ in chunks if isinstance(message, RemoveMessage)]
        assert bool(gone) == (words[0] != words[1])

    def test_d5_all_that_the_graph_inside_said_goes_with_it(self) -> None:
        inner = chain(says("Before."), self.flaky("Same.", "Same."))
        assert texts(self.retried(inner), subgraphs=True) == ["Before.", "Same."]

    def test_d4_a_model_that_breaks_and_is_asked_again(self) -> None:
        calls = iter([True, False])

        def breaks(text: str) -> Any:
            if next(calls):
                raise ValueError
            return AIMessage(text)

        # It breaks before a word: nothing to take back, nothing lost.
        asked = model("Hello.").with_retry(retry_if_exception_type=(ValueError,))
        graph = chain(lambda state: {"messages": [asked.invoke(state["messages"])]})
        assert texts(graph) == ["Hello."]


class TestAnnotation:
    def test_tokens_of_one_run_share_one_mapping(self) -> None:
        notes = [meta["once"] for _, meta in streamed(chain(says("One two three.")))]
        assert all(note is notes[0] for note in notes)
        assert notes[0].keys() == {"v", "source", "attempt", "run", "id", "at"}
        assert (notes[0]["v"], notes[0]["source"], notes[0]["attempt"]) == (1, "model", 1)

    def test_the_annotation_is_the_same_in_v1_and_v2(self) -> None:
        graph: Any = exactly(nested(says_copy("Hello."), 2))
        options: Any = {"stream_mode": "messages", "subgraphs": True}
        v1 = [chunk[1][1]["once"] for chunk in graph.stream(ASKED, **options)]
        v2 = [chunk["data"][1]["once"] for chunk in graph.stream(ASKED, version="v2", **options)]
        assert [(n.keys(), n["source"]) for n in v1] == [(n.keys(), n["source"]) for n in v2]

    def test_d9_all_tokens_of_a_run_have_one_id(self) -> None:
        def node(state: Any) -> Any:
            return {"messages": [renamed(script=lambda _: AIMessage("a b c")).invoke("?")]}

        renamed = _renaming(type(model("")))
        chunks = streamed(chain(node))
        assert list(folded(chunks).values()) == ["a b c"]

    @pytest.mark.parametrize("breaks", [False, True])
    def test_d9_an_edit_under_an_id_that_came_late(self, breaks: bool) -> None:
        """The answer bears the id of its last chunk; the first went out under another."""

        def node(_: Any) -> Any:
            late = _renaming(type(model("")), at_last=True)
            answer = late(script=lambda _: AIMessage("a b c")).invoke("?")
            if breaks:
                broken = _breaking(type(model("")))(script=lambda _: AIMessage("x y"))
                with contextlib.suppress(ValueError):
                    broken.invoke("?")
                model("Last.").invoke("?")
            return {"messages": [AIMessage("Edited.", id=answer.id)]}

        chunks = streamed(chain(node))
        assert list(folded(chunks).values()) == ["Last.", "Edited."][not breaks :]

    def test_d9_an_edit_of_what_was_left_early(self) -> None:
        def node(_: Any) -> Any:
            late = _renaming(type(model("")), at_last=True)(script=lambda _: AIMessage("a b"))
            stream = late.stream("?")
            ids = [next(stream).id for _ in range(3)]  # the last one has the provider's
            stream.close()
            return {"messages": [AIMessage("Edited.", id=ids[-1])]}

        assert list(folded(streamed(chain(node))).values()) == ["Edited."]

    def test_the_models_own_chunks_are_not_changed(self) -> None:
        kept: list[Any] = []

        def node(state: Any) -> Any:
            renamed = _renaming(type(model("")))
            kept.extend(renamed(script=lambda _: AIMessage("a b")).stream("?"))
            return {}

        streamed(chain(node))
        assert len({chunk.id for chunk in kept}) > 1


def _renaming(plain: Any, *, at_last: bool = False) -> Any:
    class Renamed(plain):  # type: ignore[misc]  # a class known at run time
        """Gives only its first chunk, or its last one, an id of its own."""

        def _stream(self, *args: Any, **kwargs: Any) -> Any:
            chunks = list(super()._stream(*args))
            for at, chunk in enumerate(chunks):
                is_named = chunk is chunks[-1] if at_last else at == 0
                chunk.message.id = "provider" if is_named else None
                if kwargs.get("run_manager"):
                    kwargs["run_manager"].on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk

    return Renamed


def _breaking(plain: Any) -> Any:
    class Broken(plain):  # type: ignore[misc]  # a class known at run time
        """Breaks off after its first chunk."""

        def _stream(self, *args: Any, **kwargs: Any) -> Any:
            yield next(super()._stream(*args, **kwargs))
            raise ValueError

    return Broken


class Recorder(BaseCallbackHandler):
    """Keeps the last token."""

    run_inline = True

    def on_llm_new_token(self, token: Any, **about: Any) -> None:
        self.last = {**about, "token": token}


class Mute(FakeMessagesListChatModel):
    """Cannot stream."""


class TestSemanticsUsersKnow:
    def test_nostream_streams_no_token(self) -> None:
        def node(state: Any) -> Any:
            model("Secret.").with_config(tags=["nostream"]).invoke("?")
            return {"messages": [AIMessage("Public.")]}

        assert texts(chain(node)) == ["Public."]

    def test_what_a_model_says_that_cannot_stream_is_said_whole(self) -> None:
        def node(_: Any) -> Any:
            Mute(responses=[AIMessage("A draft.")]).invoke("?")
            return {"messages": [AIMessage("Public.")]}

        assert texts(chain(node)) == ["A draft.", "Public."]

    def test_what_a_model_says_when_it_has_failed_is_not_streamed(self) -> None:
        broken = _breaking(type(model("")))(script=lambda _: AIMessage("In time."))

        def node(_: Any, config: RunnableConfig) -> Any:
            recorder, callbacks = Recorder(), cast("CallbackManager", config["callbacks"])
            callbacks.add_handler(recorder)
            with contextlib.suppress(ValueError):
                broken.invoke("?", config)
            for handler in callbacks.handlers:
                handler.on_llm_new_token(**recorder.last)
            return {}

        assert [message.text for message, _ in streamed(chain(node))] == ["In", ""]

    def test_without_subgraphs_a_childs_tokens_stay_inside(self) -> None:
        chunks = streamed(nested(says("Hello."), 2))
        assert [type(message) for message, _ in chunks] == [AIMessage]

    def test_d6_an_echo_of_the_input_is_not_sent(self) -> None:
        graph = exactly(chain(lambda s: {"messages": s["messages"]}))
        asked = {"messages": [HumanMessage("Hi.", id="h")]}
        assert list(graph.stream(asked, stream_mode="messages")) == []

    def test_l5_equal_ids_in_parallel_tasks(self) -> None:
        graph = fan_out(lambda _: {"answers": [AIMessage("ok", id="same")]}, 3)
        assert len(streamed(graph)) == 3
