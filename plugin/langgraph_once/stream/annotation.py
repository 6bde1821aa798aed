"""What our handler writes beside each message, so that whoever reads it need not guess.

One key of the metadata, `once`, holds a small mapping. All tokens of one model run carry the
very same mapping, so it costs nothing per token, and a reader may tell runs by identity.

Callers of a run and models write into the same metadata. What they put under our key is data,
however much it looks like ours. So an annotation names the task of its message, and is
believed where the metadata, in which LangGraph itself writes that task, say the same. Nobody knows
that name before the run, so it holds in this process and over the wire, on servers with our handler
and on others. The handler writes over what stands under the key; where the reader is not sent the
annotation, it is an attribute, and the key is left to the user. Only code of the graph that copies
the name on purpose could pretend, and what that says is what it wants to be shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NotRequired, TypeAlias, TypedDict

from langgraph_once.stream.places import NODE_KEY, NS_SEP, TASK_NS_KEY, node_names, task_in

ANNOTATION_KEY: Final = "once"
NUMBER_KEY: Final = "once_n"
"""Beside the annotation, on a wire: 1, 2, 3 … for the parts of a stream that carry one. Flat and
last in the metadata, so that a token costs one dict, and its reader finds the number at the end of
the line. Like the rest it is believed beside an annotation that is ours."""
SIDE_KEY: Final = "once_side"
"""Whose a message is, where one run is recorded for two consumers: `stock` or `once`."""

SCHEMA_VERSION: Final = 1
MODEL_KEY: Final = "ls_model_type"
TEXTS: Final = ("source", "id", "named", "run", "name")

Source: TypeAlias = Literal["model", "node", "command", "push", "retry", "resume"]
"""Where a message comes from: a chat model; what a node returned, or raised as a `Command` to
its parent; `push_message`; the removal of what an earlier attempt said, or of what a stream that
was cut short may have said."""


Flag: TypeAlias = Literal["repairs", "respaced", "rerun", "new", "draft"]
"""What a deduplicator or the handler finds out later, and tells whoever reads the message next."""


class Annotation(TypedDict):
    """The value under `once`.

    Attributes:
        v: Version of this schema.
        source: Where the message comes from.
        attempt: Which execution of the task within this stream, from 1.
        at: The task of the message, as its metadata name it; `annotated` writes it. It is believed
            because of this. The release before did not write it.
        id: The id under which the message was streamed, where its own may differ.
        named: The provider's id, on a chunk of a message whose first chunks had none.
        run: The model run that made it.
        name: The name that the model run was given (`run_name`), on what it streams.
        tags: The tags of the model run whose message this is, where it was not streamed
            (`nostream`).
        steps: For a task inside others: the step in which each runs, outermost first.
        nameless: Its task returned it without an id. If it is a copy, its original lent it one.
        made: Its reducer made it, and its id. LangGraph streams it only where a graph around its
            own returns it.
        unnamed: The state will know it by another id, which its reducer makes up.
        repairs: A chunk that ends a message, perhaps a finished one, with text that was missing.
        hidden: Nobody is sent it, as `DedupConfig(hide=…)` says; it tells what repeats it.
        draft: An empty chunk that says of the message it ends: no task put that into the state.
        streamed: It is what its model run said, though perhaps in another form than the run's
            pieces.
        resumed: Its task was done when an earlier stream was cut short. That may have said some
            of it.
        given: The task was given another message under this id, whose place this one takes.
        wins: Tasks beside it wrote under its id into the same list, which keeps this one.
        respaced: It takes the place of a message that says the same with other white space at its
            ends.
        rerun: A removal of what its task said before it ran again; the message behind takes its
            place.
        new: A deduplicator has found that it copies no other message. One behind that, in a client
            say, was not sent what it repeats, and cannot tell.
    """

    v: int
    source: Source
    attempt: int
    at: NotRequired[str]
    id: NotRequired[str]
    named: NotRequired[str]
    run: NotRequired[str]
    name: NotRequired[str]
    tags: NotRequired[list[str]]
    steps: NotRequired[list[int]]
    nameless: NotRequired[bool]
    made: NotRequired[bool]
    unnamed: NotRequired[bool]
    repairs: NotRequired[bool]
    hidden: NotRequired[bool]
    draft: NotRequired[bool]
    streamed: NotRequired[bool]
    resumed: NotRequired[bool]
    given: NotRequired[bool]
    wins: NotRequired[bool]
    respaced: NotRequired[bool]
    rerun: NotRequired[bool]
    new: NotRequired[bool]


class PrivateMetadata(dict[str, Any]):
    """Metadata whose annotation is an attribute, and so is read here and sent to nobody."""

    __slots__ = ("note",)

    def __init__(self, metadata: Mapping[str, Any], note: Annotation) -> None:
        super().__init__(metadata)
        self.note: Annotation = note


def annotated(
    metadata: Mapping[str, Any], annotation: Annotation, *, sent: bool = True
) -> dict[str, Any]:
    """A copy of `metadata` that carries `annotation`; a private one, unless that is `sent`."""
    if not sent or type(metadata) is PrivateMetadata:
        return PrivateMetadata(metadata, annotation)
    annotation["at"] = task_in(metadata)
    return {**metadata, ANNOTATION_KEY: annotation}


def written_by(task: str, source: Source, *, sent: bool, **flags: bool) -> dict[str, Any]:
    """The metadata of a message whose task ran where no handler of ours heard it.

    Args:
        task: The task.
        source: Where the message comes from.
        sent: Whether the consumer is to read the annotation.
        flags: Those of the annotation that hold.
    """
    note: Any = Annotation(v=SCHEMA_VERSION, source=source, attempt=1)
    note.update({flag: True for flag, holds in flags.items() if holds})
    node = "".join(node_names(task.split(NS_SEP))[-1:])
    return annotated({NODE_KEY: node, TASK_NS_KEY: task}, note, sent=sent)


def note_in(metadata: dict[str, Any]) -> Annotation:
    """The annotation that `annotated` put into `metadata`, to be completed."""
    note: Annotation = (
        metadata.note if type(metadata) is PrivateMetadata else metadata[ANNOTATION_KEY]
    )
    return note


def flagged(metadata: Mapping[str, Any], flag: Flag) -> dict[str, Any]:
    """A copy of `metadata` whose annotation has a flag besides."""
    note = annotation_of(metadata) or Annotation(v=SCHEMA_VERSION, source="node", attempt=1)
    more: Any = {**note, flag: True}
    return annotated(metadata, more)


def annotation_of(metadata: Mapping[str, Any]) -> Annotation | None:
    """The annotation in `metadata`, if there is one that is ours and this version understands."""
    if type(metadata) is PrivateMetadata:
        return metadata.note
    found: Annotation | None = metadata.get(ANNOTATION_KEY)
    if not isinstance(found, dict) or not _is_ours(found):
        return None
    if found.get("at") == task_in(metadata):
        return found
    # The release before named no task. Of what it says, these flags hide nothing if forged.
    shows = {flag: True for flag in ("new", "repairs") if found.get(flag) is True}
    believed: Any = {"v": SCHEMA_VERSION, "source": "node", "attempt": 1, **shows}
    return believed if shows else None


def source_in(metadata: Mapping[str, Any], annotation: Annotation | None) -> Source | None:
    """Where a message comes from; without an annotation only a model's, whose type LangChain puts
    into the metadata, can be told."""
    if annotation is not None:
        return annotation["source"]
    return "model" if MODEL_KEY in metadata else None


def _is_ours(found: Mapping[str, Any]) -> bool:
    lists = (found.get("steps", []), int), (found.get("tags", []), str)
    return (
        found.get("v") == SCHEMA_VERSION
        and type(found.get("attempt")) is int
        and "source" in found
        and all(isinstance(found.get(key, ""), str) for key in TEXTS)
        and all(isinstance(each, list) and {*map(type, each)} <= {kind} for each, kind in lists)
    )
