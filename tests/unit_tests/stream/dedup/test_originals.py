"""Which message a part speaks of: another model's is none that broke off; white space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, RemoveMessage

from langgraph_once import DedupConfig, adedup, dedup
from tests.corpus.models import answers
from tests.corpus.wires import numbered
from tests.exact import exactly
from tests.unit_tests.stream.scenes import ASKED, chain, folded

UNNAMED = numbered("none")
PADDED, PLAIN = "\n Hello there.\n", "Hello there."


def falls_back() -> Any:
    """A node whose model, of a provider that gives no ids, breaks off; another's answers."""
    broken = answers("Primary speaks at length.", wire=UNNAMED, breaks={0: 3})
    model = broken.with_fallbacks([answers(AIMessage("Secondary.", id="chatcmpl-2"))])
    return chain(lambda _: {"messages": [model.invoke("?")]})


def returns_of(text: str, make: Any) -> Any:
    """A node that makes a message anew of what its model streams."""
    model = answers(AIMessage(text, id="chatcmpl-1"))
    return chain(lambda _: {"messages": [make(str(model.invoke("?").text))]})


def over_a_network(chunks: Iterable[Any], **of_model: Any) -> Iterator[Any]:
    """As a client reads them: the metadata of each are an object of their own."""
    for message, metadata in chunks:
        name = of_model.get(message.id.split("-")[0], "one")
        yield message, {**metadata, "ls_model_name": name}


class TestOfAnotherModel:
    def test_a_message_of_another_model_keeps_its_id(self) -> None:
        told = dedup(falls_back().stream(ASKED, stream_mode="messages"), stream_mode="messages")
        assert folded(told)["chatcmpl-2"] == "Secondary."

    async def test_an_async_message_of_another_model_keeps_its_id(self) -> None:
        chunks = falls_back().astream(ASKED, stream_mode="messages")
        told = [chunk async for chunk in adedup(chunks, stream_mode="messages")]
        assert folded(told)["chatcmpl-2"] == "Secondary."

    def test_over_a_network_its_name_tells(self) -> None:
        chunks = over_a_network(falls_back().stream(ASKED, stream_mode="messages"), chatcmpl="two")
        assert folded(dedup(chunks, stream_mode="messages"))["chatcmpl-2"] == "Secondary."

    def test_one_model_that_names_some_chunks_says_one_message(self) -> None:
        model = answers("One message of one run.", wire=numbered("first"))
        graph = chain(lambda _: {"messages": [model.invoke("?")]})
        for carry in (iter, over_a_network):
            chunks = carry(graph.stream(ASKED, stream_mode="messages"))
            told = folded(dedup(chunks, stream_mode="messages"))
            assert list(told.values()) == ["One message of one run."]


class TestWhiteSpace:
    @pytest.mark.parametrize("own", [None, "own"])
    def test_the_states_text_takes_the_place_of_the_streamed(self, own: str | None) -> None:
        graph = exactly(returns_of(PADDED, lambda text: AIMessage(text.strip(), id=own)))
        told = list(graph.stream(ASKED, stream_mode="messages"))
        assert list(folded(told).values()) == [PLAIN]
        gone, new = told[-2:]
        assert isinstance(gone[0], RemoveMessage)
        assert new[0].id == (own or gone[0].id)
        assert new[1]["once"]["respaced"]

    def test_a_longer_one_gets_its_rest(self) -> None:
        graph = exactly(returns_of(PLAIN, lambda text: AIMessage(f"{text}\n")))
        *_, (rest, metadata) = graph.stream(ASKED, stream_mode="messages")
        assert (rest.content, rest.chunk_position) == ("\n", "last")
        assert metadata["once"]["repairs"]

    def test_a_stock_reader_keeps_what_was_streamed(self) -> None:
        plain = returns_of(PADDED, lambda text: AIMessage(text.strip(), id="own"))
        graph = exactly(plain, DedupConfig(form="stock"))
        told = list(graph.stream(ASKED, stream_mode="messages"))
        assert all(isinstance(message, AIMessageChunk) for message, _ in told)
        assert list(folded(told).values()) == [PADDED]

    def test_without_the_handler_nobody_knows_whether_both_are_meant(self) -> None:
        plain = returns_of(PADDED, lambda text: AIMessage(text.strip()))
        told = folded(dedup(plain.stream(ASKED, stream_mode="messages"), stream_mode="messages"))
        assert sorted(told.values()) == sorted([PADDED, PLAIN])

    @pytest.mark.filterwarnings("ignore:The v3 streaming:langchain_core._api.LangChainBetaWarning")
    def test_v3_shows_it_once_and_its_channel_has_the_states_text(self) -> None:
        graph = exactly(returns_of(PADDED, lambda text: AIMessage(text.strip(), id="own")))
        run: Any = graph.stream_events(ASKED, version="v3")
        assert [str(message.text) for message in run.messages] == [PADDED]
        run = graph.stream_events(ASKED, version="v3")
        said = [p["data"] for p in run.extensions["once"] if p["type"] == "messages"]
        assert list(folded(said).values()) == [PLAIN]
