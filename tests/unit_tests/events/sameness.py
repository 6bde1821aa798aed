"""Whether two sources tell the same, whatever ids and clocks their runs had."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from langgraph_once.events import (
    ChannelConfig,
    ChannelMode,
    ChannelStreamingProcessor,
    Event,
    to_dict,
)
from tests.corpus.scenario import Scenario
from tests.unit_tests.events.corpus_plays import EVERYTHING, play

IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}")


def all_of(scenario: Scenario, **how: Any) -> ChannelStreamingProcessor:
    """A processor that tells all there is."""
    keys = scenario.graph().stream_channels_list
    key = "messages" if "messages" in keys else keys[0]
    channel = ChannelConfig(key=key, stream_mode=ChannelMode.BOTH)
    return ChannelStreamingProcessor([channel], EVERYTHING, include=["tasks", "custom"], **how)


@functools.cache
def all_told(scenario: Scenario) -> list[Event]:
    """What it tells of the graph itself, sync, played once."""
    return play(scenario, all_of(scenario))


def is_parallel(events: Iterable[Event]) -> bool:
    """Whether tasks of one graph ran side by side, in whatever order.

    An error handler does: LangGraph starts it on one thread, while another one tells the end of
    the task that failed (`PregelRunner.tick` and `commit`, langgraph 1.2).
    """
    running: Counter[Any] = Counter()
    for event in events:
        if (event.node or "").startswith("__error_handler__"):
            return True
        if event.type == "task_started":
            running[event.namespace] += 1
            if running[event.namespace] > 1:
                return True
        elif event.type == "task_finished":
            running[event.namespace] -= 1
        elif event.type == "stream_ended":
            running.clear()
    return False


def loose(events: Iterable[Event]) -> list[str]:
    """The events in any order, with any ids."""
    told = []
    for event in events:
        plain = to_dict(event)
        plain.pop("seq")
        plain.pop("total", None)
        if event.type.startswith("channel"):
            plain = {"type": event.type, "path": event.path}
        told.append(IDS.sub("id", str(plain)))
    return told


def shapes(events: Iterable[Event]) -> list[str]:
    """The events without what differs from run to run: random ids, clocks."""
    names: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return names.setdefault(found[0], f"id{len(names)}")

    return [IDS.sub(name, str(to_dict(event))) for event in events]


def assert_same(one: list[Event], other: list[Event]) -> None:
    """Both tell the same events, in the same order where order means something."""
    if is_parallel(one):
        assert Counter(loose(one)) == Counter(loose(other))
    else:
        assert shapes(one) == shapes(other)


def messages_and_asides(**how: Any) -> ChannelStreamingProcessor:
    """A processor that tells all but channels."""
    return ChannelStreamingProcessor(
        token_streaming=EVERYTHING, include=["custom", "interrupts", "tasks"], **how
    )


@functools.cache
def asides_told(scenario: Scenario) -> list[Event]:
    """What it tells of the graph itself, sync, played once."""
    return play(scenario, messages_and_asides())


def assert_same_but_for_form(one: list[Event], other: list[Event]) -> None:
    """Both say the same, whatever ids and content blocks they use, and however they cut it; the
    other tells no tasks."""
    first, second = ([*_of_texts(events)] for events in (one, other))
    if is_parallel(one):
        assert bare_by_task(first) == bare_by_task(second)
    else:
        assert bare(first) == bare(second)


def _of_texts(events: Iterable[Event]) -> Iterable[Event]:
    """The events without those of messages whose text stays: v3 has no word for what else they
    carry."""
    texts: dict[str | None, str] = {}
    for event in events:
        if event.type == "message_completed" or event.type == "message_replaced":
            before = texts.get(event.message_id)
            texts[event.message_id] = text = str(event.message.text)
            if event.type == "message_replaced" and text == before:
                continue
        yield event


def bare_by_task(events: Iterable[Event]) -> Counter[str]:
    """What was said, in whatever order tasks came to say it, without totals."""
    tasks: dict[Any, list[Event]] = {}
    for event in events:
        tasks.setdefault(event.where, []).append(event)
    lines = [line for task in tasks.values() for line in bare(task)]
    return Counter(str(line[:-1] if line[0] == "usage" else line) for line in lines)


def bare(events: Iterable[Event]) -> list[Any]:
    """What was said, where, without ids and without how it was cut."""
    told: list[Any] = []
    for event in events:
        if event.type in ("task_started", "task_finished", "message_discarded"):
            continue  # the protocol of v3 has no word for the last
        line = [event.type, event.path, event.node, *_said(event)]
        if told and event.type in ("token", "tool_call_progress") and told[-1][:-1] == line[:-1]:
            told[-1][-1] += line[-1]
        else:
            told.append(line)
    return told


def _said(event: Event) -> tuple[Any, ...]:  # noqa: C901  # one match
    match event.type:
        case "token":
            return event.kind, event.content_delta
        case "message_completed" | "message_replaced":
            return event.message.type, str(event.message.text), event.message.name
        case "message_superseded":
            return (event.reason,)
        case "tool_call_started":
            return event.name, event.index
        case "tool_call_progress":
            return event.name, event.index, event.args_delta
        case "tool_call_completed":
            return event.name, event.index, event.parsed_args
        case "tool_call_failed":
            return event.name, event.index, event.accumulated_args
        case "tool_result":
            return event.name, event.status, event.content
        case "usage":
            return event.usage["total_tokens"], event.total["total_tokens"]
        case "custom":
            return (event.data,)
        case "interrupt":
            return (event.value,)
        case "stream_error":
            return event.error_type, event.message
        case "stream_ended":
            return (event.status,)
        case _:
            return ()
