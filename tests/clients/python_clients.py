"""Clients of Python as people write them: the SDK in each mode, `RemoteGraph`, wait and join.

None of them knows of this package. What a mode carries is folded as its documentation says:
a chunk is added to the message with its id, a whole message takes the place of the one with
its id, a `values` is the list, an `updates` is merged into it as `add_messages` does.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.pregel.remote import RemoteException, RemoteGraph
from langgraph.types import Command
from langgraph_sdk.client import LangGraphClient

from tests.clients.recording import Asked, Recording, Shown, Snapshot, Turn, shown

Client: TypeAlias = Callable[[LangGraphClient, Asked], Awaitable[Recording]]
"""Shows what it is asked for, over the SDK's client as it comes."""

Event: TypeAlias = tuple[str, Any]
"""What came: its name, as `values` or `messages|ns`, and its data."""

Events: TypeAlias = Callable[[LangGraphClient, str, str, dict[str, Any]], AsyncIterator[Event]]
"""Streams one turn of a graph on a thread."""


class RunFailedError(RuntimeError):
    """The stream told of an error."""


class Screen:
    """The list of messages that a person sees, and all that was to be seen so far."""

    def __init__(self) -> None:
        self.messages: Snapshot = []
        self.snapshots: list[Snapshot] = []

    def look(self) -> None:
        """What is on the screen now is seen."""
        if not self.snapshots or self.snapshots[-1] != self.messages:
            self.snapshots.append(copy.deepcopy(self.messages))

    def type(self, said: list[dict[str, Any]]) -> None:
        """Show what the person typed, as chats do, before the server says anything."""
        self.messages += [shown(message) for message in said]

    def fold(self, name: str, data: Any) -> None:
        """Take in one event."""
        mode, _, ns = name.partition("|")
        match mode:
            case "values" if not ns and "messages" in data:
                self.messages = [shown(message) for message in data["messages"]]
            case "updates" if not ns:
                self._update(data)
            case "messages":
                message = data[0]
                put = self._append if message["type"].endswith("Chunk") else self._put
                put(shown(message))
            case "messages/partial" | "messages/complete":
                for message in data:
                    self._put(shown(message))
            case "error":
                raise RunFailedError(str(data))

    def _update(self, data: dict[str, Any]) -> None:
        for update in data.values():
            said = update.get("messages", []) if isinstance(update, dict) else []
            for given in said if isinstance(said, list) else [said]:
                message = {"type": given[0], "content": given[1]} if _is_pair(given) else given
                if message["type"] == "remove":
                    self._remove(message["id"])
                else:
                    self._put(shown(message))

    def _remove(self, id: str) -> None:
        everything = id == REMOVE_ALL_MESSAGES
        self.messages = [] if everything else [m for m in self.messages if m["id"] != id]

    def _find(self, id: str | None) -> int | None:
        found = (at for at, message in enumerate(self.messages) if message["id"] == id)
        return next(found, None) if id else None

    def _put(self, message: Shown) -> None:
        if (at := self._find(message["id"])) is None:
            self.messages.append(message)
        else:
            self.messages[at] = message

    def _append(self, chunk: Shown) -> None:
        if (at := self._find(chunk["id"])) is None:
            self.messages.append(chunk)
            return
        known = self.messages[at]
        calls = dict.fromkeys([*known["tool_calls"], *chunk["tool_calls"]])
        self.messages[at] = {
            **known,
            "text": known["text"] + chunk["text"],
            "tool_calls": list(calls),
        }


def _is_pair(message: Any) -> bool:
    """Whether a node returned (role, text), which a message becomes in the state."""
    return isinstance(message, list)


async def record(events: Events, client: LangGraphClient, asked: Asked) -> Recording:
    """What a client shows that reads `events` of each turn."""
    screen = Screen()
    turns: list[Turn] = []
    thread = asked["options"]["threadId"]
    for turn in asked["turns"]:
        screen.snapshots = []
        screen.type((turn.get("input") or {}).get("messages", []))
        screen.look()
        error = None
        try:
            async for name, data in events(client, asked["graph"], thread, turn):
                screen.fold(name, data)
                screen.look()
        except (RunFailedError, RemoteException) as failed:
            error = str(failed)
        turns.append(Turn(snapshots=screen.snapshots, error=error))
    return Recording(turns=turns)


def how(turn: dict[str, Any]) -> dict[str, Any]:
    """A turn as arguments of the SDK."""
    if "resume" in turn:
        return {"command": {"resume": turn["resume"]}}
    return {"input": turn["input"]}


async def streams(
    client: LangGraphClient,
    graph: str,
    thread: str,
    turn: dict[str, Any],
    *,
    modes: Any,
    subgraphs: bool,
) -> AsyncIterator[Event]:
    """`runs.stream`."""
    async for part in client.runs.stream(
        thread,
        graph,
        **how(turn),
        stream_mode=modes,
        stream_subgraphs=subgraphs,
        if_not_exists="create",
    ):
        yield part.event, part.data


async def remote_streams(
    client: LangGraphClient, graph: str, thread: str, turn: dict[str, Any], *, subgraphs: bool
) -> AsyncIterator[Event]:
    """`RemoteGraph.astream`, which names its chunks in one way or the other."""
    given: Any = Command(resume=turn["resume"]) if "resume" in turn else turn["input"]
    modes: Any = ["messages", "updates", "values"]
    stream: AsyncIterator[Any] = RemoteGraph(graph, client=client).astream(
        given,
        {"configurable": {"thread_id": thread}},
        stream_mode=modes,
        subgraphs=subgraphs,
    )
    async for chunk in stream:
        if subgraphs:
            ns, mode, data = chunk
            yield "|".join([mode, *ns]), data
        else:
            yield chunk.event, chunk.data


async def waits(
    client: LangGraphClient, graph: str, thread: str, turn: dict[str, Any]
) -> AsyncIterator[Event]:
    """`runs.wait`, as the agent protocol has it."""
    values: Any = await client.runs.wait(
        thread, graph, **how(turn), if_not_exists="create", raise_error=False
    )
    yield _end(values)


async def joins(
    client: LangGraphClient, graph: str, thread: str, turn: dict[str, Any]
) -> AsyncIterator[Event]:
    """`runs.create` and `runs.join`."""
    run = await client.runs.create(thread, graph, **how(turn), if_not_exists="create")
    values: Any = await client.runs.join(thread, run["run_id"])
    yield _end(values)


def _end(values: dict[str, Any]) -> Event:
    failed = values.get("__error__")
    return ("error", failed) if failed else ("values", values)


def _of_sdk(modes: Any, *, subgraphs: bool) -> Client:
    return partial(record, partial(streams, modes=modes, subgraphs=subgraphs))


def _of_remote_graph(*, subgraphs: bool) -> Client:
    return partial(record, partial(remote_streams, subgraphs=subgraphs))


TOGETHER = ["messages-tuple", "updates", "values"]

PYTHON_CLIENTS: dict[str, Client] = {
    "messages": _of_sdk("messages", subgraphs=False),
    "messages sub": _of_sdk("messages", subgraphs=True),
    "messages-tuple": _of_sdk("messages-tuple", subgraphs=False),
    "messages-tuple sub": _of_sdk("messages-tuple", subgraphs=True),
    "messages+values": _of_sdk(["messages", "values"], subgraphs=False),
    "values": _of_sdk("values", subgraphs=False),
    "values sub": _of_sdk("values", subgraphs=True),
    "updates": _of_sdk("updates", subgraphs=False),
    "updates sub": _of_sdk("updates", subgraphs=True),
    "all": _of_sdk(TOGETHER, subgraphs=False),
    "all sub": _of_sdk(TOGETHER, subgraphs=True),
    "RemoteGraph": _of_remote_graph(subgraphs=False),
    "RemoteGraph sub": _of_remote_graph(subgraphs=True),
    "wait": partial(record, waits),
    "join": partial(record, joins),
}
"""Each client by its name; `sub` asks for the graphs inside as well."""
