"""What a front end gets of the typed events, held against what `ag-ui-langgraph` sends itself.

Both play the same graph, ours wrapped. `DIFFERENCES` names each event that only one of them has,
and why. Left out everywhere is what only frames the events of a graph:

- `RAW`, `STATE_SNAPSHOT` and `MESSAGES_SNAPSHOT` of theirs. Ours takes messages back as it goes,
  by custom events, and tells the keys that are watched as `STATE_DELTA`.
- The custom event `usage` of ours, which AG-UI has no event for.
- The ids of tasks in the names of steps: with them two tasks of a node are two steps.
"""

from __future__ import annotations

import asyncio
import difflib
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from ag_ui.core import RunAgentInput, UserMessage

from langgraph_once import once
from langgraph_once.events import ChannelConfig, ChannelStreamingProcessor, TokenStreamingConfig
from langgraph_once.events.render import AgUiRenderer
from tests.unit_tests.events.ag_ui_graphs import GRAPHS, TURNS
from tests.unit_tests.events.threads import ASKED

pytestmark = pytest.mark.filterwarnings(
    "ignore::langgraph.warnings.LangGraphDeprecatedSinceV10",  # what `ag-ui-langgraph` calls, and
    "ignore::DeprecationWarning",  # `langgraph-supervisor`
)

FRAMES = {"RAW", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "STATE_DELTA"}
TELLS = ("delta", "tool_call_name", "step_name", "content", "name", "message", "outcome")


async def theirs(name: str) -> list[Any]:
    """What AG-UI's own agent sends."""
    # Imported here: it takes a quarter of a second, which each worker of pytest would take.
    from ag_ui_langgraph import LangGraphAgent

    graph, thread, events = GRAPHS[name](), uuid.uuid4().hex, list[Any]()
    for turn in [None, *filter(None, [TURNS.get(name)])]:
        agent = LangGraphAgent(name="agent", graph=graph, emit_interrupt_outcome=True)
        asked = RunAgentInput(
            thread_id=thread,
            run_id="r",
            state={},
            messages=[UserMessage(id="asked", content="Please.")] if turn is None else [],
            tools=[],
            context=[],
            forwarded_props={} if turn is None else {"command": {"resume": turn.resume}},
        )
        try:
            events += [event async for event in agent.run(asked)]
        except (ConnectionError, ValueError):  # it raises what it told as RUN_ERROR
            assert name.startswith("an error")
    return events


async def ours(name: str, *keys: str) -> list[Any]:
    """What the typed events say in AG-UI."""
    graph, events = once(GRAPHS[name]()), list[Any]()
    config: Any = {"configurable": {"thread_id": uuid.uuid4().hex}}
    processor = ChannelStreamingProcessor(
        [ChannelConfig(key=key) for key in keys],
        TokenStreamingConfig(enabled_namespaces={"**"}),
        include=["tasks", "interrupts", "custom"],
    )
    for turn in [ASKED, *filter(None, [TURNS.get(name)])]:
        renderer = AgUiRenderer(thread_id="t", run_id="r", expose_errors=True)
        try:
            async for event in processor.stream(graph, turn, config):
                events += renderer.render(event)
        except (ConnectionError, ValueError):
            assert name.startswith("an error")
    return events


def told(events: Iterable[Any]) -> Iterator[str]:
    """Events as lines, without ids; pieces of one text are one line."""
    before, text = None, ""
    for event in events:
        kind = event.type.value
        if kind in FRAMES or getattr(event, "name", None) == "usage":
            continue
        said = [str(value) for key in TELLS if (value := getattr(event, key, None)) is not None]
        if kind.startswith("STEP"):
            said = [event.step_name.partition(":")[0]]
        if kind == "RUN_FINISHED":
            said = [getattr(event.outcome, "type", None) or "success"]
        if before is not None and kind != before:
            yield f"{before} {text}"
        if kind.endswith(("_CONTENT", "_ARGS")):
            before, text = kind, "".join([text if kind == before else "", *said])
            continue
        before = None
        yield " ".join([kind, *said])


SIDE_BY_SIDE = {"two calls", "two calls that come whole"}
"""Graphs with tasks whose order is chance: their events are compared as they sort."""

WHOLE = ("+ TEXT_MESSAGE_START", "+ TEXT_MESSAGE_CONTENT One.", "+ TEXT_MESSAGE_END")
EARLIER = "- STEP_FINISHED n0", "- STEP_STARTED n1"
LATER = "+ STEP_FINISHED n0", "+ STEP_STARTED n1"

DIFFERENCES: dict[str, tuple[str, *tuple[str, ...]]] = {
    "an answer that comes whole": ("Theirs comes with the last snapshot alone.", *WHOLE),
    "an answer of no model": ("Theirs comes with the last snapshot alone.", *WHOLE),
    "an edited answer": ("Theirs is in a snapshot.", "+ CUSTOM message_replaced"),
    "an extended answer": (
        "Theirs is in a snapshot. Ours goes on under the id of the message.",
        "+ TEXT_MESSAGE_START",
        "+ TEXT_MESSAGE_CONTENT  More.",
        "+ TEXT_MESSAGE_END",
        "+ CUSTOM message_replaced",
    ),
    "a removed answer": ("Theirs is in a snapshot.", "+ CUSTOM message_removed"),
    "a redacted answer": ("Theirs is in a snapshot.", "+ CUSTOM message_replaced"),
    "two calls": (
        "Each call is a task, and each task is a step; theirs knows one by its node.",
        "+ STEP_FINISHED tools",
        "+ STEP_STARTED tools",
    ),
    "a call that comes whole": (
        "Theirs tells the call when its tool has run, ours when it was made.",
        *EARLIER,
        *LATER,
    ),
    "text and a call that come whole": (
        "The same, and the text comes with the last snapshot alone.",
        *EARLIER,
        "+ TEXT_MESSAGE_START",
        "+ TEXT_MESSAGE_CONTENT I look.",
        "+ TEXT_MESSAGE_END",
        *LATER,
    ),
    "a front-end call that comes whole": (
        "Theirs never tells it but in a snapshot: no tool runs.",
        "+ TOOL_CALL_START confirm",
        '+ TOOL_CALL_ARGS {"q": "?"}',
        "+ TOOL_CALL_END",
    ),
    "a tool that fails": (
        "Theirs comes with the last snapshot alone.",
        "+ TOOL_CALL_RESULT Error: ValueError('no')\n Please fix your mistakes.",
    ),
    "a result of no tool": (
        "Theirs comes with the last snapshot alone.",
        "+ TOOL_CALL_RESULT found it",
    ),
    "reasoning before a call": (
        "Theirs loses the arguments that come in the same chunk as the name.",
        '+ TOOL_CALL_ARGS {"q": "oslo"}',
    ),
    "an approval": (
        "Theirs tells the call anew with its result; ours was told before the pause.",
        "- TOOL_CALL_START look",
        '- TOOL_CALL_ARGS {"q": "oslo"}',
        "- TOOL_CALL_END",
    ),
    "a tool that asks": (
        "Theirs tells the call anew with its result; ours was told before the pause.",
        "- TOOL_CALL_START ask",
        '- TOOL_CALL_ARGS {"q": "May I?"}',
        "- TOOL_CALL_END",
    ),
    "a node that asks": (
        "Theirs comes with the last snapshot alone.",
        "+ TEXT_MESSAGE_START",
        "+ TEXT_MESSAGE_CONTENT yes",
        "+ TEXT_MESSAGE_END",
    ),
    "a retry": (
        "Theirs shows the text of both attempts until the last snapshot.",
        "+ CUSTOM message_superseded",
    ),
    "an error of a node": ("What is open is closed before the error.", "+ STEP_FINISHED n1"),
    "an error of a model": (
        "What is open is closed before the error.",
        "+ STEP_FINISHED n0",
        "+ TEXT_MESSAGE_END",
    ),
    "an error in a call": (
        "What is open is closed before the error, and a call says that it never came to its end.",
        '+ TOOL_CALL_ARGS {"q": ',
        "+ STEP_FINISHED n0",
        "+ TOOL_CALL_END",
        "+ CUSTOM tool_call_failed",
    ),
    "a custom event": ("Theirs passes it on as RAW.", "+ CUSTOM custom"),
    "a graph inside": (
        "The node around a graph is a step too, though both have one name.",
        "+ STEP_STARTED n0",
        "+ STEP_FINISHED n0",
    ),
    "a supervisor": (
        "Steps are of tasks, which run inside one another. Names of messages come as changes.",
        "- STEP_FINISHED supervisor",
        "+ CUSTOM message_replaced",
        "- STEP_FINISHED tools",
        "+ STEP_FINISHED supervisor",
        "- STEP_FINISHED scout",
        "+ CUSTOM message_replaced",
        "+ CUSTOM message_replaced",
        "- STEP_STARTED scout",
        "+ TEXT_MESSAGE_START",
        "+ TEXT_MESSAGE_CONTENT Transferring back to supervisor",
        "+ TEXT_MESSAGE_END",
        "+ TOOL_CALL_START transfer_back_to_supervisor",
        "+ TOOL_CALL_ARGS {}",
        "+ TOOL_CALL_END",
        "+ TOOL_CALL_RESULT Successfully transferred back to supervisor",
        "- STEP_FINISHED supervisor",
        "+ CUSTOM message_replaced",
        "- STEP_STARTED supervisor",
        "+ STEP_FINISHED tools",
    ),
}
"""Of each graph, why the two differ; what only theirs has (`-`), and what only ours has (`+`)."""


@pytest.mark.parametrize("name", GRAPHS)
def test_the_events_are_those_of_ag_uis_own_agent(name: str) -> None:
    order = sorted if name in SIDE_BY_SIDE else list[str]
    own, typed = (order(told(asyncio.run(play(name)))) for play in (theirs, ours))
    found = [line for line in difflib.ndiff(own, typed) if line[0] in "+-"]
    assert found == [*DIFFERENCES.get(name, ("",))[1:]]


def shown(events: Iterable[Any]) -> list[tuple[str, str]]:
    """The messages that a front end shows in the end, by ours alone: role and text."""
    messages: dict[str, tuple[str, str]] = {}
    for event in events:
        match event.type.value:
            case "TEXT_MESSAGE_START":
                messages.setdefault(event.message_id, (event.role, ""))
            case "TEXT_MESSAGE_CONTENT":
                role, text = messages[event.message_id]
                messages[event.message_id] = role, text + event.delta
            case "TOOL_CALL_RESULT":
                messages[event.message_id] = "tool", event.content
            case "CUSTOM" if event.name == "message_replaced":
                messages[event.value["message_id"]] = "assistant", event.value["message"]["content"]
            case "CUSTOM" if event.name == "message_removed":
                messages.pop(event.value["message_id"], None)
            case "CUSTOM" if event.name == "message_superseded":
                messages.pop(event.value["old_id"], None)
    return sorted(each for each in messages.values() if each[1])


ENDED = [name for name in GRAPHS if not name.startswith("an error") and name != "a supervisor"]
"""Theirs sends no snapshot after an error; workers of a supervisor say more than it keeps."""


@pytest.mark.parametrize("name", ENDED)
def test_a_front_end_ends_with_the_messages_of_their_last_snapshot(name: str) -> None:
    snapshots = [e for e in asyncio.run(theirs(name)) if e.type.value == "MESSAGES_SNAPSHOT"]
    kept = [(e.role, e.content) for e in snapshots[-1].messages if e.role in ("assistant", "tool")]
    assert shown(asyncio.run(ours(name))) == sorted(each for each in kept if each[1])


def test_keys_that_are_watched_end_as_in_their_last_snapshot() -> None:
    snapshots = [e for e in asyncio.run(theirs("a state")) if e.type.value == "STATE_SNAPSHOT"]
    (change,) = [e for e in asyncio.run(ours("a state", "count")) if e.type.value == "STATE_DELTA"]
    count = snapshots[-1].snapshot["count"]
    (said,) = change.model_dump(mode="json")["delta"]
    assert said == {"op": "add", "path": "/count", "value": count}
