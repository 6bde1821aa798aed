"""What messages say, as pieces; and a buffer that grows by chunks as a stock client's does."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from tests.corpus.units import USAGE_TOKENS, Piece, call_piece, text_piece

THOUGHTS = frozenset({"reasoning", "thinking", "reasoning_content"})
CALLS = frozenset({"tool_use", "input_json_delta", "tool_call", "tool_call_chunk", "function_call"})
OF_THE_PROVIDER = frozenset(
    {
        "server_tool_call",
        "server_tool_result",
        "server_tool_use",
        "web_search_call",
        "web_search_tool_result",
    }
)
"""Blocks of tools that the provider runs: no scenario has them as units."""


class Buffer:
    """One message as the consumer has it: everything that came under its id, joined."""

    def __init__(self) -> None:
        self._text = ""
        self._thought = ""
        self._calls: dict[Any, list[Any]] = {}
        self._blocks: list[Piece] = []
        self._usage = 0
        self.in_tokens = False

    def append(self, message: BaseMessage) -> None:
        """Join `message`, a chunk or a whole one, to what there is."""
        thought_before = self._thought
        self._append_content(message.content)
        if self._thought == thought_before:  # else it is the same, said in both places
            self._thought += str(message.additional_kwargs.get("reasoning_content", ""))
        if usage := getattr(message, "usage_metadata", None):
            self._usage += usage["total_tokens"]
        pieces = getattr(message, "tool_call_chunks", None)
        if pieces is not None:
            self.in_tokens = True
            for piece in pieces:
                self._append_call_chunk(piece)
        elif isinstance(message, AIMessage):
            for made in (*message.tool_calls, *message.invalid_tool_calls):
                args = made["args"] if isinstance(made["args"], str) else json.dumps(made["args"])
                self._calls[len(self._calls), "whole"] = [made["name"], args]

    def pieces(self, known: Iterable[Piece]) -> tuple[Counter[Piece], str]:
        """The complete pieces in it, and the rest that is none of those that are known."""
        found: Counter[Piece] = Counter()
        rest = []
        for kind, text in (("text", self._text), ("thought", self._thought)):
            for piece in known:
                if piece.kind == kind and piece.says and piece.says in text:
                    found[piece] += text.count(piece.says)
                    text = text.replace(piece.says, "")
            rest.append(text)
        for piece in (*self._made_calls(), *self._blocks):
            if piece in known:
                found[piece] += 1
            else:
                rest.append(piece.says)
        if (usage := Piece("usage", str(USAGE_TOKENS))) in known and self._usage:
            found[usage] += self._usage // USAGE_TOKENS
        if not found and not any(rest):
            found[text_piece("")] += 1
        return found, "".join(rest)

    def _append_content(self, content: Any) -> None:
        if isinstance(content, str):
            self._text += content
            return
        for part in content:
            if isinstance(part, str):
                self._text += part
            elif part["type"] in THOUGHTS:
                self._thought += "".join(_thoughts(part))
            elif "text" in part:
                self._text += str(part["text"])
            elif part["type"] not in CALLS | OF_THE_PROVIDER:
                plain = {key: value for key, value in part.items() if key != "index"}
                self._blocks.append(Piece("block", json.dumps(plain, sort_keys=True)))

    def _append_call_chunk(self, piece: Mapping[str, Any]) -> None:
        place = piece.get("index")
        if place is None:
            place = (len(self._calls), "whole")
        made = self._calls.setdefault(place, [None, ""])
        made[0] = made[0] or piece.get("name")
        made[1] += piece.get("args") or ""

    def _made_calls(self) -> Iterator[Piece]:
        for name, args in self._calls.values():
            try:
                yield call_piece(name, json.loads(args or "{}"))
            except ValueError:
                yield Piece("call", f"{name}{args}")


def _thoughts(part: Mapping[str, Any]) -> Iterator[str]:
    yield str(part.get("thinking") or part.get("reasoning") or part.get("text") or "")
    for summary in part.get("summary", ()):
        yield str(summary.get("text", ""))
