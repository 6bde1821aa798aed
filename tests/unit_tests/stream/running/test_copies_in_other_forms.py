"""The same content in another form is no edit: a model's pieces and the message made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, folded

pytestmark = pytest.mark.filterwarnings("ignore:The v3 streaming protocol")


class Provider(BaseChatModel):
    """A model that streams just these chunks."""

    chunks: list[AIMessageChunk]

    @property
    def _llm_type(self) -> str:
        return "chunks"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise AssertionError("it streams")

    def _stream(
        self,
        messages: list[BaseMessage],  # its name is part of the call
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self.chunks:
            said = ChatGenerationChunk(message=chunk.model_copy())
            if run_manager:
                run_manager.on_llm_new_token(str(chunk.content), chunk=said)
            yield said


def piece(content: str = "", **more: Any) -> AIMessageChunk:
    return AIMessageChunk(content=content, id="m1", **more)


def call(index: int, args: str, *, name: str | None = None, id: str | None = None) -> Any:
    made = {"name": name, "args": args, "id": id, "index": index, "type": "tool_call_chunk"}
    return piece(tool_call_chunks=[made])


LAST = piece(chunk_position="last")

FORMS = {
    "reasoning beside the content": [
        piece(additional_kwargs={"reasoning_content": "Let me think."}),
        piece("The answer."),
    ],
    "calls side by side whose ids come late": [
        call(0, "", name="first"),
        call(1, '{"x"', name="second"),
        call(0, "{}", id="c1"),
        call(1, ":1}", id="c2"),
    ],
    "arguments that are no JSON": [call(0, '{"x": ', name="first", id="c1"), call(0, "oops")],
    "text in blocks": [
        AIMessageChunk(content=[{"type": "text", "text": "One", "index": 0}], id="m1"),
        AIMessageChunk(content=[{"type": "text", "text": " two.", "index": 0}], id="m1"),
    ],
}


def graph_of(chunks: list[AIMessageChunk]) -> Any:
    model = Provider(chunks=[*chunks, LAST])
    return chain(lambda state: {"messages": [model.invoke(state["messages"])]})


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_taken_back_and_nothing_comes_again(form: str) -> None:
    chunks = list(exactly(graph_of(FORMS[form])).stream(ASKED, stream_mode="messages"))
    assert {type(message) for message, _ in chunks} == {AIMessageChunk}
    assert len(chunks) == len(FORMS[form]) + 1


@pytest.mark.parametrize("form", FORMS)
def test_v3_has_each_message_once_and_the_channel_all_of_it(form: str) -> None:
    graph = graph_of(FORMS[form])
    theirs: Any = graph.stream_events(ASKED, version="v3")
    ours: Any = exactly(graph).stream_events(ASKED, version="v3")
    expected = [message.output for message in theirs.messages]
    assert [m.output.content for m in ours.messages] == [m.content for m in expected]
    run: Any = exactly(graph).stream_events(ASKED, version="v3")
    said = [part["data"][0] for part in run.extensions["once"] if part["type"] == "messages"]
    assert {type(message) for message in said} == {AIMessageChunk}
    folded = said[0]
    for message in said[1:]:
        folded += message
    (whole,) = expected
    assert folded.text == whole.text
    calls = [*whole.tool_calls, *whole.invalid_tool_calls]  # LangChain reads what breaks off
    assert [(c["id"], c["name"]) for c in folded.tool_calls] == [
        (c["id"], c["name"]) for c in calls
    ]
    assert whole.invalid_tool_calls or folded.tool_calls == whole.tool_calls


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_node_that_changes_the_streamed_message_itself_has_edited_it(version: Any) -> None:
    model = Provider(chunks=[piece("A careless phrase."), LAST])

    def node(state: Any) -> Any:
        said = model.invoke(state["messages"])
        said.content = "A considerate phrase."
        return {"messages": [said]}

    chunks = list(exactly(chain(node)).stream(ASKED, stream_mode=["messages"], version=version))
    data = [chunk["data"] if version == "v2" else chunk[1] for chunk in chunks]
    *_, removal, edited = [message for message, _ in data]
    assert removal.id == edited.id == "m1"
    assert edited.text == "A considerate phrase."


def test_an_answer_whose_id_came_late_is_returned_itself_and_its_text_is_another() -> None:
    answers = Provider(chunks=[AIMessageChunk(content="Yes"), piece("."), LAST])

    def node(state: Any) -> Any:
        answer = answers.invoke(state["messages"])
        return {"messages": [answer, AIMessage(str(answer.text))]}

    chunks: Any = exactly(chain(node)).stream(ASKED, stream_mode="messages")
    assert list(folded(chunks).values()) == ["Yes.", "Yes."]
