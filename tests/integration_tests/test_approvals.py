"""Approval UIs over `langgraph dev`: each stream of a thread is read by another process.

The law: after all streams what was told of the thread is its state.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph_sdk import get_sync_client

from demo.dev_server import DevServer
from langgraph_once.events import Event, Transcript, UsageEvent, from_dict
from langgraph_once.stream.shapes import revive
from tests.forked import Forked
from tests.integration_tests.approval_graphs import APPROVALS, BEGIN, MANIFEST

READER = "tests.integration_tests.approval_reader"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """One that serves each graph as it is, and wrapped by `once`."""
    folder = tmp_path_factory.mktemp("approvals")
    config = folder / "langgraph.json"
    config.write_text(json.dumps(MANIFEST))
    with DevServer(config, cwd=folder, options=["--n-jobs-per-worker", "8"]) as running:
        yield running


def read_elsewhere(server: DevServer, streams: list[dict[str, Any]]) -> Any:
    """The events of streams that another process reads, and what it says to be given next time."""
    with Forked("-m", READER, server.url) as process:
        process.stdin.write(json.dumps(streams) + "\n")
        process.stdin.flush()
        ended = process.wait()
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


class Conversation(NamedTuple):
    """What was told of a thread in each stream, and its state after it."""

    thread_id: str
    told: list[list[Event]]
    states: list[Any]
    ledgers: list[Any]


USUAL = {("client", ""), ("RemoteGraph", "_once"), ("OnceRemoteGraph", "_once")}
READERS = [
    pytest.param(
        (kind, end), marks=() if (kind, end) in USUAL else pytest.mark.product, id=f"{kind}{end}"
    )
    for kind in ("client", "RemoteGraph", "OnceRemoteGraph")
    for end in ("", "_once")
]


@pytest.fixture(scope="module", params=READERS)
def conversations(
    request: pytest.FixtureRequest, server: DevServer
) -> Iterator[dict[str, Conversation]]:
    """All of them, read by one kind of client: the streams of each round in one process."""
    kind, end = request.param
    with get_sync_client(url=server.url) as client:
        made = {
            # Of a plain graph a reader has to remember what it has; a wrapped one knows.
            name: Conversation(client.threads.create()["thread_id"], [], [], [None if end else ""])
            for name in APPROVALS
        }
        for at in range(1 + max(len(approval.answers) for approval in APPROVALS.values())):
            asked = {name: asked_at(at, name, known) for name, known in made.items()}
            asked = {name: each for name, each in asked.items() if each is not None}
            streams = [
                {
                    "kind": kind,
                    "graph": f"{name}{end}",
                    "thread_id": made[name].thread_id,
                    "asked": each,
                    "had": made[name].ledgers[-1],
                }
                for name, each in asked.items()
            ]
            read = read_elsewhere(server, streams)
            for name, (events, ledger) in zip(asked, read, strict=True):
                made[name].told.append([from_dict(event) for event in events])
                made[name].ledgers.append(ledger)
                made[name].states.append(client.threads.get_state(made[name].thread_id))
        yield made


def asked_at(at: int, name: str, known: Conversation) -> Any:
    """What the stream of this number begins with; None if there is none."""
    answers = APPROVALS[name].answers
    if at == 0:
        return {"input": BEGIN}
    return (
        {"command": answers[at - 1](waiting_in(known.states[-1]))} if at <= len(answers) else None
    )


def waiting_in(state: Any) -> list[Any]:
    """The interrupts of a state of the server."""
    return [waiting for task in state["tasks"] for waiting in task["interrupts"]]


def said(messages: Iterable[BaseMessage]) -> list[Any]:
    return sorted((each.type, each.id, str(each.text)) for each in messages if each.type != "human")


def calls_of(messages: list[BaseMessage]) -> list[Any]:
    """The calls in a state: id, name, arguments, results."""
    results = [each for each in messages if isinstance(each, ToolMessage)]
    return sorted(
        (
            made["id"],
            made["name"],
            made["args"],
            [each.content for each in results if each.tool_call_id == made["id"]],
        )
        for message in messages
        if isinstance(message, AIMessage)
        for made in message.tool_calls
    )


@pytest.mark.parametrize("name", APPROVALS)
def test_what_was_told_of_a_thread_is_its_state(
    conversations: dict[str, Conversation], name: str
) -> None:
    known, events = conversations[name], list[Event]()
    assert len(known.states) == 1 + len(APPROVALS[name].answers)
    for told, state in zip(known.told, known.states, strict=True):
        events += told
        waits = {each["id"]: each["value"] for each in waiting_in(state)}
        told_to_wait = {at: each.value for at, each in Transcript(events).interrupts.items()}
        assert told_to_wait == waits
    transcript, messages = Transcript(events), revive(known.states[-1]["values"])["messages"]
    # LangGraph tells no edit of what a model said, but in the state; a wrapped graph does.
    if not (name == "review" and known.ledgers[0] is not None):
        assert said(transcript.messages()) == said(messages)
    assert said(transcript.channels()["messages"]) == said(messages)
    assert calls_told(transcript) == calls_of(messages)
    paid = [(event.message_id, event.usage) for event in events if isinstance(event, UsageEvent)]
    assert len(paid) == len({message_id for message_id, _ in paid})
    # A model is paid, too, for what its task said before a pause and says anew after it.
    costs = {each.id: each.usage_metadata for each in messages if isinstance(each, AIMessage)}
    assert {at: usage for at, usage in paid if at in costs} == {a: b for a, b in costs.items() if b}


def calls_told(transcript: Transcript) -> list[Any]:
    """The calls of a transcript, as `calls_of` has those of a state."""
    return sorted(
        (made.tool_call_id, made.name, made.parsed_args, [told.content for told in made.results])
        for made in transcript.tool_calls(())
    )
