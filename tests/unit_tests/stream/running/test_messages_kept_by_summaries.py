"""What a summary keeps comes again after "remove all", in every mode and in later turns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessageChunk, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from graphs.models import ScriptedChatModel
from langgraph_once import DedupConfig, Ledger, dedup
from tests.exact import exactly

THREAD: Any = {"configurable": {"thread_id": "1"}}
CUT = DedupConfig(state="new_messages")


def graph() -> Any:
    """As LangChain's SummarizationMiddleware: a summary in place of all but the last two."""

    def sums_up(state: MessagesState) -> dict[str, Any]:
        if len(messages := state["messages"]) < 4:
            return {"messages": []}
        everything = RemoveMessage(id=REMOVE_ALL_MESSAGES)
        return {"messages": [everything, AIMessage("A summary."), *messages[-2:]]}

    def says(state: MessagesState) -> dict[str, Any]:
        text = f"An answer to {state['messages'][-1].text}"
        model = ScriptedChatModel(script=lambda _: AIMessage(text))
        return {"messages": [model.invoke(state["messages"])]}

    builder: Any = StateGraph(MessagesState).add_sequence([sums_up, says])
    return builder.add_edge(START, "sums_up").compile(checkpointer=InMemorySaver())


class Fold(dict[str, str]):
    """What a consumer has, by id."""

    def feed(self, chunks: Iterable[tuple[str, Any]]) -> None:
        for mode, data in chunks:
            if mode == "messages":
                self._take(data[0])
            else:
                for state in [data] if mode == "values" else data.values():
                    for message in (state or {}).get("messages", []):
                        self._take(message)

    def _take(self, message: Any) -> None:
        if message.id == REMOVE_ALL_MESSAGES:
            self.clear()
        elif isinstance(message, RemoveMessage):
            self.pop(str(message.id), None)
        elif isinstance(message, BaseMessageChunk):
            self[str(message.id)] = self.get(str(message.id), "") + message.text
        else:
            self[str(message.id)] = message.text


MODES = [
    ["messages", "values"],
    ["messages", "updates"],
    ["updates", "values"],
    ["messages", "updates", "values"],
    ["updates"],
    ["values"],
]


@pytest.mark.parametrize("modes", MODES, ids="+".join)
@pytest.mark.parametrize("source", ["once", "dedup"])
def test_the_fold_is_the_state(source: str, modes: list[str]) -> None:
    plain, have, ledger = graph(), Fold(), Ledger()
    wrapped = exactly(plain, CUT)
    for turn in range(3):
        asked: Any = {"messages": [("user", f"question {turn}")]}
        if source == "once":
            have.feed(wrapped.stream(asked, THREAD, stream_mode=modes))
        else:
            chunks = plain.stream(asked, THREAD, stream_mode=modes)
            have.feed(dedup(chunks, stream_mode=modes, ledger=ledger, config=CUT))
    state = plain.get_state(THREAD).values["messages"]
    assert "A summary." in have.values()
    said = [message for message in state if modes != ["updates"] or message.type == "ai"]
    assert {message.id for message in said} <= have.keys()
    assert have.keys() <= {message.id for message in state}
