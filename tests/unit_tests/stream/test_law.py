"""The law: folding what was delivered gives the state, and no text was delivered twice."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, RemoveMessage

from langgraph_once import DedupConfig, Deduplicator
from langgraph_once.stream.shapes import Part
from tests.examples import examples

TEXTS = st.sampled_from(["ok", "yes", "ha ha", "A longer text.", ""])


class Law(RuleBasedStateMachine):
    """A graph that appends, edits, copies and removes messages, and a client that folds."""

    def __init__(self) -> None:
        super().__init__()
        self.dedup = Deduplicator(DedupConfig(state="new_messages"))
        self.state: list[BaseMessage] = []
        self.client: dict[str, str] = {}
        self.delivered = 0
        self.said = 0
        self.made = 0

    @rule(text=TEXTS, tokens=st.booleans(), copied=st.booleans(), returned=st.booleans())
    def a_node_says(self, text: str, tokens: bool, copied: bool, returned: bool) -> None:
        """Stream the text or not; return the message itself or, having streamed, a copy.

        LangGraph's handler sends a returned message on, unless it sent its id before.
        """
        task, message_id = f"node:{self.made}", self._new_id()
        if tokens:
            for piece in [*text.split(" "), ""]:
                self._send(AIMessageChunk(content=piece, id=message_id), task)
            text = text.replace(" ", "")
        kept_id = self._new_id() if copied and tokens else message_id
        message = AIMessage(text, id=kept_id)
        if returned or kept_id != message_id:
            self._send(message, task)
        self.state.append(message)
        self.said += len(text)

    @rule(at=st.integers(0, 9), text=TEXTS)
    def a_message_is_edited(self, at: int, text: str) -> None:
        if at < len(self.state) and str(self.state[at].text) != text:
            self.state[at] = AIMessage(text, id=self.state[at].id)
            self.said += len(text)

    @rule(at=st.integers(0, 9))
    def a_message_is_removed(self, at: int) -> None:
        if at < len(self.state):
            del self.state[at]

    @rule()
    def nothing_happens(self) -> None:
        """The same state is sent again."""

    @invariant()
    def the_fold_is_the_state(self) -> None:
        self._receive(Part((), "values", {"messages": list(self.state)}))
        assert Counter(self.client.values()) == Counter(str(m.text) for m in self.state)
        assert self.delivered <= self.said

    def _new_id(self) -> str:
        self.made += 1
        return f"m{self.made}"

    def _send(self, message: BaseMessage, task: str) -> None:
        self._receive(Part((), "messages", message, {"langgraph_checkpoint_ns": task}))

    def _receive(self, part: Part) -> None:
        for out in self.dedup.feed(part):
            found: Any = [out.data] if out.mode == "messages" else out.data["messages"]
            for message in found:
                self._fold(message)

    def _fold(self, message: BaseMessage) -> None:
        message_id, text = str(message.id), str(message.text)
        if isinstance(message, RemoveMessage):
            self.client.pop(message_id, None)
            return
        self.delivered += len(text)
        before = self.client.get(message_id, "") if isinstance(message, AIMessageChunk) else ""
        self.client[message_id] = before + text


TestLaw = Law.TestCase
TestLaw.settings = examples(60, stateful_step_count=25)
