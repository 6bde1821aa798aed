"""The newest threads of a database, and the checkpoints of one.

What each is, which nodes wrote it, and which it stands under.

They are read newest first, and of two neighbours only are the values held at once: what is new in
a checkpoint is known as soon as the one before it is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from langchain_core.messages import AIMessage
from langgraph.checkpoint.base import Checkpoint, CheckpointTuple
from langgraph.checkpoint.serde.types import INTERRUPT, _DeltaSnapshot
from langgraph.constants import START

from langgraph_once.checkpoint import CheckpointRef, OnceSaver, Statement, moment_of
from langgraph_once.config import ThreadStatus
from langgraph_once.errors import SerdeError
from langgraph_once.stream import around, found_in_update
from langgraph_once_ops.due import is_note, sends_in, status_of, task_states
from langgraph_once_ops.survey import Snapshot, tables_in

Status: TypeAlias = ThreadStatus | Literal["unreadable", ""]
"""Empty: the thread has only checkpoints of subgraphs."""

_GRAPH_KEYS: Final = ("graph_id", "assistant_id")


class ListedThread(NamedTuple):
    """A thread in the list.

    Attributes:
        graph: The graph or assistant that its metadata name; empty if they name none.
        last: When its newest checkpoint was made; None if the id does not tell.
        bytes: Of its rows, as they are stored.
    """

    thread_id: str
    graph: str
    checkpoints: int
    last: datetime | None
    status: Status
    bytes: int


def newest_threads(snapshot: Snapshot, saver: OnceSaver, limit: int) -> list[ListedThread]:
    """The threads with the newest checkpoints, newest first.

    Args:
        snapshot: The database.
        saver: Reads it.
        limit: How many at most.

    Raises:
        StorageError: It cannot be read.
    """
    rows = snapshot.ask(
        Statement(
            "SELECT thread_id, max(checkpoint_id), count(*) FROM checkpoints "
            "GROUP BY thread_id ORDER BY 2 DESC, 1 LIMIT ?",
            [limit],
        )
    )
    listed = []
    for thread_id, newest, count in rows:
        graph, status = _head(saver, str(thread_id))
        last, size = moment_of(str(newest)), _bytes(snapshot, thread_id)
        listed.append(ListedThread(str(thread_id), graph, count, last, status, size))
    return listed


def graph_of(saved: CheckpointTuple) -> str:
    """The graph or assistant that the metadata of a server's checkpoint name, or nothing."""
    metadata: Mapping[str, Any] = saved.metadata
    return next((str(metadata[key]) for key in _GRAPH_KEYS if key in metadata), "")


def _head(saver: OnceSaver, thread_id: str) -> tuple[str, Status]:
    try:
        for saved in saver.list(CheckpointRef(thread_id, "").config(), limit=1):
            return graph_of(saved), status_of(saved.undecoded)
    except SerdeError:  # `verify` says what is wrong; the other threads are listed all the same
        return "", "unreadable"
    return "", ""


def _bytes(snapshot: Snapshot, thread_id: str) -> int:
    return sum(
        int(size or 0)
        for table in tables_in(snapshot)
        for (size,) in snapshot.ask(
            Statement(
                f"SELECT sum({table.size}) FROM {table.name} WHERE thread_id = ?", [thread_id]
            )
        )
    )


_FIRST_STEP: Final = -1
_VERSIONS: Final = "channel_versions"


@dataclass(slots=True)
class CheckpointNode:
    """A checkpoint in the tree of its thread.

    Attributes:
        before: The checkpoint that it goes on from, whether that is there or not.
        around: Of a subgraph's: the checkpoint of the graph around it whose step it is part of.
        step: As its metadata say; None if they do not.
        source: What made it: `input`, `loop`, `update` or `fork`.
        created_at: The time in it, as ISO 8601.
        wrote: The nodes whose writes it holds; of an update, nobody notes the node.
        tokens: Of its new messages, as models told their usage. None: the checkpoint before it is
            not there, so nobody knows which are new.
        bytes: Of its rows, and of the values that no checkpoint before it has, as stored. Pieces
            that several checkpoints share are counted by `ThreadTree.shared` alone.
        interrupts: How many interrupts its tasks raised.
        waiting: How many of its tasks wait for an answer.
        failed: Whether a task of it failed, and did not succeed later.
        pending: Writes of its tasks that no later checkpoint holds yet.
        under: What it stands under in the tree; None at the top.
    """

    place: CheckpointRef
    before: CheckpointRef | None
    around: CheckpointRef | None
    step: int | None
    source: str
    created_at: str
    wrote: list[str] = field(default_factory=list)
    tokens: int | None = None
    bytes: int = 0
    interrupts: int = 0
    waiting: int = 0
    failed: bool = False
    pending: int = 0
    under: CheckpointRef | None = None

    @property
    def id(self) -> str:
        """Of the checkpoint."""
        return str(self.place.checkpoint_id)


@dataclass(slots=True)
class ThreadTree:
    """A thread.

    Attributes:
        nodes: Its checkpoints by place, the oldest first.
        status: How it stands.
        graph: The graph or assistant that its metadata name, or nothing.
        tokens: Of all its messages, each counted once.
        shared: Bytes of pieces that values of several checkpoints share.
    """

    thread_id: str
    nodes: dict[CheckpointRef, CheckpointNode]
    status: Status = ""
    graph: str = ""
    tokens: int = 0
    shared: int = 0

    def forks(self) -> int:
        """How often the thread went on twice from one checkpoint."""
        befores = [node.before for node in self.nodes.values() if node.before in self.nodes]
        return len(befores) - len({*befores})


def thread_tree(
    snapshot: Snapshot, saver: OnceSaver, thread_id: str, *, limit: int | None = None
) -> ThreadTree | None:
    """The checkpoints of a thread; None if it has none.

    Args:
        snapshot: The database.
        saver: Reads it.
        thread_id: The thread.
        limit: Only so many of the newest; all if None.

    Raises:
        SerdeError: A checkpoint cannot be read.
        StorageError: The database cannot be read.
    """
    reading = _Reading(thread_id)
    for saved in saver.list({"configurable": {"thread_id": thread_id}}, limit=limit):
        reading.take(saved.undecoded)
    tree = reading.finish()
    _add_bytes(snapshot, tree, reading.versions)
    return tree if tree.nodes else None


@dataclass(slots=True)
class _Later:
    """A checkpoint whose predecessor is still to be read."""

    node: CheckpointNode
    seen: Mapping[str, Any]
    messages: set[str]
    whole: set[str]
    """The channels whose values it has; those of delta channels are in writes."""


class _Reading:
    """Takes the checkpoints of a thread, newest first."""

    def __init__(self, thread_id: str) -> None:
        self.versions: dict[CheckpointRef, Mapping[str, Any]] = {}
        self._nodes: list[CheckpointNode] = []
        self._later: dict[CheckpointRef, list[_Later]] = defaultdict(list)
        self._usage: dict[str, int] = {}
        self._read: dict[tuple[str, str], tuple[Any, set[str] | None]] = {}
        self._tree = ThreadTree(thread_id, {})

    def take(self, saved: CheckpointTuple) -> None:
        node, checkpoint = _node(saved), saved.checkpoint
        if node.place.checkpoint_ns == "" and not self._tree.status:
            self._tree.status, self._tree.graph = status_of(saved), graph_of(saved)
        self.versions[node.place] = checkpoint[_VERSIONS]
        self._nodes.append(node)
        whole: set[str] = set()
        messages = self._messages_of(node.place.checkpoint_ns, checkpoint, whole)
        self._tell_later(saved, node, messages)
        later = _Later(node, checkpoint["versions_seen"], messages, whole)
        if node.before is not None:
            self._later[node.before].append(later)
        elif node.step == _FIRST_STEP:  # a subgraph is given messages, and they are not new
            node.tokens = 0 if node.place.checkpoint_ns else self._tokens(messages)
            node.wrote = _wrote(later.seen, {})

    def finish(self) -> ThreadTree:
        tree = self._tree
        tree.nodes = {node.place: node for node in reversed(self._nodes)}
        tree.tokens = sum(self._usage.values())
        for node in self._nodes:
            node.under = _under(node, tree.nodes)
        return tree

    def _tell_later(self, saved: CheckpointTuple, node: CheckpointNode, messages: set[str]) -> None:
        """What is new in the checkpoints that go on from this one."""
        writes = saved.pending_writes or ()
        went_on = False
        for later in self._later.pop(node.place, ()):
            new = (value for _, channel, value in writes if channel not in later.whole)
            later.node.tokens = self._tokens((later.messages | self._messages(new)) - messages)
            later.node.wrote = _wrote(later.seen, saved.checkpoint["versions_seen"])
            if later.node.source == "loop":
                went_on = True
                later.node.wrote = sorted({*later.node.wrote, *_sent_to(saved)})
        node.pending = 0 if went_on else sum(not is_note(channel) for _, channel, _ in writes)

    def _messages_of(self, checkpoint_ns: str, checkpoint: Checkpoint, whole: set[str]) -> set[str]:
        """The ids of the messages in a checkpoint; a channel that did not change is not read.

        `whole` takes the channels whose values are there.
        """
        found: set[str] = set()
        values, versions = checkpoint["channel_values"], checkpoint[_VERSIONS]
        for name in values:
            version = versions.get(name)
            read_version, messages = self._read.get((checkpoint_ns, name), (None, None))
            if version is None or version != read_version:
                value = values[name]
                messages = None if isinstance(value, _DeltaSnapshot) else self._messages([value])
                self._read[checkpoint_ns, name] = version, messages
            if messages is not None:
                whole.add(name)
                found |= messages
        return found

    def _messages(self, values: Iterable[Any]) -> set[str]:
        """The ids of messages that tell what a model used for them, which is noted."""
        found: set[str] = set()
        for value in values:
            for message in found_in_update({"": value}).messages:
                if isinstance(message, AIMessage) and message.id and message.usage_metadata:
                    self._usage[message.id] = message.usage_metadata["total_tokens"]
                    found.add(message.id)
        return found

    def _tokens(self, messages: Iterable[str]) -> int:
        return sum(self._usage[each] for each in messages)


def _node(saved: CheckpointTuple) -> CheckpointNode:
    place, metadata = CheckpointRef.of(saved.config), saved.metadata
    parents: Mapping[str, str] = metadata.get("parents") or {}
    outer, call = around(place.checkpoint_ns)
    is_called = call and outer in parents
    writes = saved.pending_writes or ()
    tasks = task_states(writes)
    return CheckpointNode(
        place,
        CheckpointRef.of(saved.parent_config) if saved.parent_config else None,
        CheckpointRef(place.thread_id, outer, parents[outer]) if is_called else None,
        metadata.get("step"),
        str(metadata.get("source", "")),
        str(saved.checkpoint.get("ts", "")),
        interrupts=sum(channel == INTERRUPT for _, channel, _ in writes),
        waiting=len(tasks.waiting),
        failed=bool(tasks.failed),
    )


def _wrote(seen: Mapping[str, Any], seen_before: Mapping[str, Any]) -> list[str]:
    """The nodes that an edge had started: they have seen what they had not seen before."""
    return sorted(
        name
        for name, versions in seen.items()
        if (versions or {}) != (seen_before.get(name) or {})
        and (name == START or not name.startswith("__"))
    )


def _sent_to(saved: CheckpointTuple) -> Iterator[str]:
    """The nodes that a `Send` in a checkpoint starts."""
    return (each.node for each in sends_in(saved.checkpoint))


def _under(
    node: CheckpointNode, nodes: Mapping[CheckpointRef, CheckpointNode]
) -> CheckpointRef | None:
    """What a checkpoint stands under: the one it goes on from, or that of the graph around it."""
    before = nodes.get(node.before) if node.before else None
    # A subgraph that remembers its calls goes on from the last checkpoint of the call before.
    is_same_call = before is not None and before.around == node.around
    choices = [node.before, node.around] if is_same_call else [node.around, node.before]
    # Ids grow with time. In a damaged thread, a checkpoint might else stand under itself.
    there = (nodes[each] for each in choices if each is not None and each in nodes)
    return next((each.place for each in there if each.id < node.id), None)


def _add_bytes(
    snapshot: Snapshot,
    tree: ThreadTree,
    versions: Mapping[CheckpointRef, Mapping[str, Any]],
) -> None:
    """Take the sizes of rows, each for the first checkpoint that has what is in it."""
    first: dict[tuple[str, str, str], CheckpointNode] = {}
    for place, node in tree.nodes.items():
        for channel, version in versions[place].items():
            first.setdefault((place.checkpoint_ns, channel, str(version)), node)
    for table in tables_in(snapshot):
        if table.name == "once_pieces":
            columns, at = "'', '', ''", None
        elif table.name == "checkpoint_blobs":
            columns, at = "checkpoint_ns, channel, version", first
        else:
            columns, at = (
                "checkpoint_ns, checkpoint_id, ''",
                {(place.checkpoint_ns, node.id, ""): node for place, node in tree.nodes.items()},
            )
        sql = f"SELECT {columns}, sum({table.size}) FROM {table.name} WHERE thread_id = ?"
        for *key, size in snapshot.ask(Statement(f"{sql} GROUP BY 1, 2, 3", [tree.thread_id])):
            if at is None:
                tree.shared += int(size)
            elif (found := at.get(tuple(key))) is not None:
                found.bytes += int(size)
