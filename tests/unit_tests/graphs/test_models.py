"""The scripted model streams as providers do, and names of models are checked."""

import re
import sys
import time
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, cast

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call
from langchain_core.tools import tool

from graphs.models import ScriptedChatModel, chat_model
from langgraph_once.errors import ConfigError

TEXT = " Two  spaces,\n\na blank line, ümläute, ha ha ha, and a tail.\n"
CALLS = [
    tool_call(name="search", args={"topic": "offset tracking", "limit": 2}, id="call_1"),
    tool_call(name="now", args={}, id=None),
]


def speak(_: Sequence[BaseMessage]) -> AIMessage:
    return AIMessage(TEXT)


def call_tools(_: Sequence[BaseMessage]) -> AIMessage:
    return AIMessage("One moment.", tool_calls=CALLS)


def merge(chunks: Sequence[BaseMessage]) -> AIMessageChunk:
    first, *others = cast("list[AIMessageChunk]", list(chunks))
    return first + others


def content_of(message: AIMessage) -> tuple[object, ...]:
    """What a call answers, without what differs between calls: the ids that the model made."""
    calls = [(call["name"], call["args"]) for call in message.tool_calls]
    return message.text, calls, message.usage_metadata, message.response_metadata


@pytest.mark.parametrize("script", [speak, call_tools])
async def test_chunks_join_to_the_answer(
    script: Callable[[Sequence[BaseMessage]], AIMessage],
) -> None:
    model = ScriptedChatModel(script=script)
    answer = model.invoke("hello there")
    assert answer.text == script([]).text
    assert content_of(merge(list(model.stream("hello there")))) == content_of(answer)
    chunks = [chunk async for chunk in model.astream("hello there")]
    assert content_of(merge(chunks)) == content_of(answer)
    assert content_of(await model.ainvoke("hello there")) == content_of(answer)


def test_text_comes_in_words() -> None:
    chunks = list(ScriptedChatModel(script=lambda _: AIMessage("ha ha ha")).stream("hi"))
    assert [chunk.text for chunk in chunks] == ["ha", " ha", " ha", ""]


def test_every_chunk_of_a_call_has_the_id_of_the_call() -> None:
    model = ScriptedChatModel(script=speak)
    calls = [{chunk.id for chunk in model.stream("hi")} for _ in range(2)]
    assert [len(ids) for ids in calls] == [1, 1]
    assert calls[0] != calls[1]
    assert all(re.fullmatch(r"chatcmpl-[0-9a-f]{32}", str(*ids)) for ids in calls)


def test_usage_reason_and_position_are_on_the_last_chunk_alone() -> None:
    *others, last = cast(
        "list[AIMessageChunk]", list(ScriptedChatModel(script=speak).stream("hello there"))
    )
    assert all(
        (chunk.usage_metadata, chunk.response_metadata, chunk.chunk_position) == (None, {}, None)
        for chunk in others
    )
    assert last.chunk_position == "last"
    assert last.text == ""
    assert last.response_metadata == {"finish_reason": "stop", "model_name": "scripted"}
    assert last.usage_metadata == {"input_tokens": 2, "output_tokens": 13, "total_tokens": 15}


def test_tool_calls_come_in_pieces() -> None:
    chunks = list(ScriptedChatModel(script=call_tools).stream("hi"))
    pieces = [
        (piece["index"], piece["name"], piece["args"])
        for chunk in chunks
        for piece in chunk.tool_call_chunks
    ]
    assert pieces == [
        (0, "search", ""),
        (0, None, '{"topic"'),
        (0, None, ': "offse'),
        (0, None, "t tracki"),
        (0, None, 'ng", "li'),
        (0, None, 'mit": 2}'),
        (1, "now", ""),
        (1, None, "{}"),
    ]
    merged = merge(chunks)
    assert merged.response_metadata["finish_reason"] == "tool_calls"
    first, second = merged.tool_calls
    assert first == CALLS[0]
    assert second["args"] == {}
    assert re.fullmatch(r"call_[0-9a-f]{24}", str(second["id"]))


def test_callbacks_see_each_chunk_once() -> None:
    class Tokens(BaseCallbackHandler):
        def __init__(self) -> None:
            self.seen: list[str] = []

        def on_llm_new_token(self, token: object, **_: Any) -> None:
            self.seen.append(str(token))

    tokens = Tokens()
    chunks = list(ScriptedChatModel(script=speak).stream("hi", {"callbacks": [tokens]}))
    assert tokens.seen == [chunk.text for chunk in chunks]


async def test_the_scripted_model_pauses_between_chunks() -> None:
    model = ScriptedChatModel(script=lambda _: AIMessage("one two three"), delay_s=0.01)
    started = time.monotonic()
    assert len(list(model.stream("hi"))) == 4
    assert len([chunk async for chunk in model.astream("hi")]) == 4
    assert time.monotonic() - started >= 0.08


def test_bound_tools_reach_the_model_and_leave_the_script_in_charge() -> None:
    @tool
    def search(topic: str) -> str:
        """Search."""
        return topic

    bound = ScriptedChatModel(script=call_tools).bind_tools([search])
    assert [call["name"] for call in bound.invoke("hi").tool_calls] == ["search", "now"]
    assert bound.kwargs["tools"][0]["function"]["name"] == "search"  # type: ignore[attr-defined]  # a binding, by its kind


def test_the_name_scripted_gives_the_scripted_model() -> None:
    assert chat_model("scripted", speak).invoke("hi").text == TEXT


@pytest.mark.parametrize("name", ["", "gpt-4o", "openai:", ":gpt-4o", "Scripted"])
def test_a_name_of_another_form_is_refused_with_the_allowed_ones(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        chat_model(name, speak)
    assert str(caught.value) == (
        'SAMPLES_MODEL: must be "scripted", or "provider:model" such as "openai:gpt-4.1-mini", '
        f"got {name!r}"
    )


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("openai:gpt-4.1-mini", "langchain-openai"),
        ("anthropic:claude-haiku-4-5", "langchain-anthropic"),
        ("google_genai:gemini-2.5-flash", "langchain-google-genai"),
    ],
)
def test_missing_packages_are_named(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "langchain", None)
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(ConfigError) as caught:
        chat_model(name, speak)
    assert caught.value.key == "SAMPLES_MODEL"
    assert f"pip install langchain {package}`" in caught.value.problem
    assert len(str(caught.value).splitlines()) == 1


@pytest.fixture
def init_chat_model(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[str], object]], None]:
    """Stands in for the optional `langchain` package."""

    def install(function: Callable[[str], object]) -> None:
        module = ModuleType("langchain.chat_models")
        module.init_chat_model = function  # type: ignore[attr-defined]  # a module made here
        monkeypatch.setitem(sys.modules, "langchain", ModuleType("langchain"))
        monkeypatch.setitem(sys.modules, "langchain.chat_models", module)

    return install


def test_a_provider_name_goes_to_init_chat_model(
    init_chat_model: Callable[[Callable[[str], object]], None],
) -> None:
    asked: list[str] = []

    def init(name: str) -> BaseChatModel:
        asked.append(name)
        return ScriptedChatModel(script=speak)

    init_chat_model(init)
    assert chat_model("openai:gpt-4.1-mini", call_tools).invoke("hi").text == TEXT
    assert asked == ["openai:gpt-4.1-mini"]


def test_a_refusal_is_one_line_without_the_input(
    init_chat_model: Callable[[Callable[[str], object]], None],
) -> None:
    def init(name: str) -> object:
        raise ValueError("Unsupported provider='opnai'.\ninput: api_key=sk-secret")

    init_chat_model(init)
    with pytest.raises(ConfigError) as caught:
        chat_model("opnai:gpt-4.1-mini", speak)
    assert str(caught.value) == (
        "SAMPLES_MODEL: 'opnai:gpt-4.1-mini' was refused (Unsupported provider='opnai'.); must be "
        '"scripted", or "provider:model" such as "openai:gpt-4.1-mini", with the provider\'s key '
        "in the environment"
    )
    assert isinstance(caught.value.__cause__, ValueError)


async def test_a_model_that_breaks_off_has_streamed_half_an_answer() -> None:
    model = chat_model(
        "scripted", lambda _: AIMessage("one two three four five"), breaks_off=lambda _: True
    )
    stream = model.astream("?")
    assert [(await anext(stream)).text for _ in range(3)] == ["one", " two", " three"]
    with pytest.raises(ConnectionError, match="ask it again"):
        await anext(stream)
    with pytest.raises(ConnectionError):
        model.invoke("?")
