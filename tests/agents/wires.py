"""What two providers send over their three wires: whole, and in server-sent events."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from tests.agents.asked import Call, Reply

__all__ = ["WIRES", "Wire"]

Event = dict[str, Any]

OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}


@dataclass(frozen=True)
class Wire:
    """How one provider answers."""

    whole: Callable[[Reply], Event]
    """The answer in one piece."""

    events: Callable[[Reply], Iterator[Event]]
    """The answer as it is streamed; an event with a `type` is sent under that name."""

    thinks: bool
    """Whether it has a place for reasoning."""


def chat_whole(reply: Reply) -> Event:
    """OpenAI chat completions."""
    calls = [_chat_call(call) for call in reply.calls]
    message = {"role": "assistant", "content": reply.text or None, "tool_calls": calls or None}
    choice = {"index": 0, "message": message, "finish_reason": _chat_end(reply)}
    return _chat("chat.completion", _id("chatcmpl-"), [choice], usage=CHAT_USAGE)


def chat_events(reply: Reply) -> Iterator[Event]:
    """OpenAI chat completions: deltas of one choice, usage last."""
    own = _id("chatcmpl-")

    def delta(end: str | None = None, **said: Any) -> Event:
        choice = {"index": 0, "delta": said, "finish_reason": end}
        return _chat("chat.completion.chunk", own, [choice])

    yield delta(role="assistant", content="")
    for word in _pieces(reply.text):
        yield delta(content=word)
    if reply.breaks:
        yield {"error": OVERLOADED}
        return
    for at, call in enumerate(reply.calls):
        opening = _chat_call(call)
        args = opening["function"].pop("arguments")
        opening["function"]["arguments"] = ""
        yield delta(tool_calls=[{"index": at, **opening}])
        for piece in _pieces(args):
            yield delta(tool_calls=[{"index": at, "function": {"arguments": piece}}])
    yield delta(_chat_end(reply))
    yield _chat("chat.completion.chunk", own, [], usage=CHAT_USAGE)


CHAT_USAGE = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}


def _chat(kind: str, own: str, choices: list[Any], **how: Any) -> Event:
    return {"id": own, "object": kind, "created": 1, "model": "m", "choices": choices, **how}


def _chat_call(call: Call) -> Event:
    made = {"name": call.name, "arguments": json.dumps(call.args)}
    return {"id": _id("call_"), "type": "function", "function": made}


def _chat_end(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def anthropic_whole(reply: Reply) -> Event:
    """Anthropic messages."""
    return _anthropic(_anthropic_blocks(reply), reply)


def anthropic_events(reply: Reply) -> Iterator[Event]:
    """Anthropic messages: one block after the other, each opened, grown and closed."""
    yield {"type": "message_start", "message": _anthropic([], None)}
    for at, block in enumerate(_anthropic_blocks(reply)):
        where = {"index": at}
        empty, deltas = _anthropic_deltas(block)
        yield {"type": "content_block_start", **where, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", **where, "delta": delta}
        if reply.breaks:
            yield {"type": "error", "error": OVERLOADED}
            return
        yield {"type": "content_block_stop", **where}
    ended = {"stop_reason": _anthropic_end(reply), "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def _anthropic(content: list[Event], ended: Reply | None) -> Event:
    usage = {"input_tokens": 3, "output_tokens": 5 if ended else 0}
    end = {"stop_reason": _anthropic_end(ended) if ended else None, "stop_sequence": None}
    head = {"id": _id("msg_"), "type": "message", "role": "assistant", "model": "m"}
    return {**head, "content": content, **end, "usage": usage}


def _anthropic_blocks(reply: Reply) -> list[Event]:
    blocks: list[Event] = []
    if reply.thought:
        blocks.append({"type": "thinking", "thinking": reply.thought, "signature": "signed"})
    if reply.search:
        blocks += _anthropic_search(reply.search)
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    for call in reply.calls:
        blocks.append({"type": "tool_use", "id": _id("toolu_"), "name": call.name})
        blocks[-1]["input"] = dict(call.args)
    return blocks


def _anthropic_search(query: str) -> Iterator[Event]:
    """A search of Anthropic's own: the call, and what was found, in the same message."""
    own = _id("srvtoolu_")
    call = {"type": "server_tool_use", "id": own, "name": "web_search", "input": {"query": query}}
    page = {"type": "web_search_result", "url": "https://example.com/a", "title": "A page"}
    found = [{**page, "encrypted_content": "sealed", "page_age": None}]
    yield call
    yield {"type": "web_search_tool_result", "tool_use_id": own, "content": found}


def _anthropic_deltas(block: Event) -> tuple[Event, list[Event]]:
    """How a block is opened, and what is added to it."""
    match block["type"]:
        case "thinking":
            thoughts = _pieces(block["thinking"])
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in thoughts]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [*deltas, signed]
        case "text":
            words = _pieces(block["text"])
            return {**block, "text": ""}, [{"type": "text_delta", "text": word} for word in words]
        case "web_search_tool_result":
            return block, []
        case _:
            args = _pieces(json.dumps(block["input"]))
            parts = [{"type": "input_json_delta", "partial_json": piece} for piece in args]
            return {**block, "input": {}}, parts


def _anthropic_end(reply: Reply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def responses_whole(reply: Reply) -> Event:
    """OpenAI Responses."""
    return _response(_items(reply), "completed")


def responses_events(reply: Reply) -> Iterator[Event]:
    """OpenAI Responses: one item after the other, then all of them again."""
    items = _items(reply)
    own = _response([], "in_progress")
    yield {"type": "response.created", "response": own}
    for at, item in enumerate(items):
        where = {"output_index": at, "item_id": item["id"]}
        yield from _item_events(item, where)
        if reply.breaks:
            yield {"type": "error", "code": "server_error", "message": "Overloaded", "param": None}
            return
        yield {"type": "response.output_item.done", **where, "item": item}
    done = {**_response(items, "completed"), "id": own["id"]}
    yield {"type": "response.completed", "response": done}


def _item_events(item: Event, where: Event) -> Iterator[Event]:
    """An item until it is done."""
    part = {**where, "content_index": 0}
    match item["type"]:
        case "message":
            yield {"type": "response.output_item.added", **where, "item": {**item, "content": []}}
            empty = {**item["content"][0], "text": ""}
            yield {"type": "response.content_part.added", **part, "part": empty}
            for word in _pieces(item["content"][0]["text"]):
                yield {"type": "response.output_text.delta", **part, "delta": word, "logprobs": []}
        case "reasoning":
            part = {**where, "summary_index": 0}
            yield {"type": "response.output_item.added", **where, "item": {**item, "summary": []}}
            empty = {"type": "summary_text", "text": ""}
            yield {"type": "response.reasoning_summary_part.added", **part, "part": empty}
            for word in _pieces(item["summary"][0]["text"]):
                yield {"type": "response.reasoning_summary_text.delta", **part, "delta": word}
        case "web_search_call":
            begun = {key: value for key, value in item.items() if key != "action"}
            yield {"type": "response.output_item.added", **where, "item": begun}
            for stage in ("in_progress", "searching", "completed"):
                yield {"type": f"response.web_search_call.{stage}", **where}
        case _:
            yield {"type": "response.output_item.added", **where, "item": {**item, "arguments": ""}}
            for piece in _pieces(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", **where, "delta": piece}


def _items(reply: Reply) -> list[Event]:
    items: list[Event] = []
    if reply.thought:
        summary = [{"type": "summary_text", "text": reply.thought}]
        items.append({"type": "reasoning", "id": _id("rs_"), "summary": summary})
    if reply.search:
        search = {"type": "search", "query": reply.search}
        item = {"type": "web_search_call", "id": _id("ws_"), "status": "completed"}
        items.append({**item, "action": search})
    if reply.text:
        said = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        item = {"type": "message", "id": _id("msg_"), "role": "assistant", "status": "completed"}
        items.append({**item, "content": [said]})
    for call in reply.calls:
        made = {"name": call.name, "arguments": json.dumps(call.args), "status": "completed"}
        own = {"id": _id("fc_"), "call_id": _id("call_")}
        items.append({"type": "function_call", **own, **made})
    return items


def _response(items: list[Event], status: str) -> Event:
    details = {
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    usage = {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8, **details}
    head = {"id": _id("resp_"), "object": "response", "created_at": 1, "model": "m"}
    how = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {}}
    is_done = status == "completed"
    ends = {"status": status, "output": items, "usage": usage if is_done else None, "error": None}
    return {**head, **how, **ends, "incomplete_details": None, "instructions": None}


def _id(prefix: str) -> str:
    return prefix + uuid4().hex


def _pieces(text: str) -> list[str]:
    """`text` in words, each with the white space before it."""
    return re.findall(r"\s*\S+|\s+", text)


WIRES = {
    "chat": Wire(chat_whole, chat_events, thinks=False),
    "anthropic": Wire(anthropic_whole, anthropic_events, thinks=True),
    "responses": Wire(responses_whole, responses_events, thinks=True),
}
"""By name."""
