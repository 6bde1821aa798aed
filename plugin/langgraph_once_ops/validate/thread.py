"""What is wrong with what stands around a checkpoint: metadata, configs and stored writes."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple
from langgraph.checkpoint.serde.types import RESUME

from langgraph_once_ops.validate.checkpoint import check_checkpoint
from langgraph_once_ops.validate.finding import Finding, Location, check_id

if TYPE_CHECKING:
    from langgraph.checkpoint.base import CheckpointMetadata

_SOURCES: Final = ("input", "loop", "update", "fork")
_FIRST_STEP: Final = -1

_STUB_STEP: Final = -2
"""With durability "exit" and a `DeltaChannel`, LangGraph puts an empty checkpoint before the first
one, to hold writes. Its metadata says this, and no source."""

_THREAD_IDS: Final = (str, int, UUID)
"""Savers make text of them."""

_WRITE: Final = ("task id", "channel", "value")


def validate_metadata(metadata: CheckpointMetadata | Mapping[str, Any]) -> list[Finding]:
    """List everything that is wrong with the metadata of a checkpoint.

    Args:
        metadata: The metadata. What users put into it is not looked at.

    Returns:
        The findings; none for what LangGraph writes.
    """
    place = Location()
    _check_metadata(metadata, place)
    return place.findings


def validate_tuple(checkpoint_tuple: CheckpointTuple) -> list[Finding]:
    """List everything that is wrong with what a saver returns.

    Args:
        checkpoint_tuple: The checkpoint with its config, metadata, parent and pending writes.

    Returns:
        The findings, those of the checkpoint and its metadata among them.
    """
    place = Location()
    if not isinstance(checkpoint_tuple, CheckpointTuple):
        place.add_type(checkpoint_tuple, "a CheckpointTuple")
        return place.findings
    config, checkpoint, metadata, parent, writes = checkpoint_tuple
    parent_id = None if parent is None else _configurable(parent).get("checkpoint_id")
    _check_config(config, place.attribute("config"))
    _check_agreement(config, checkpoint, place.attribute("config"))
    check_checkpoint(checkpoint, parent_id, place.attribute("checkpoint"))
    _check_metadata(metadata, place.attribute("metadata"))
    if parent is not None:
        _check_config(parent, place.attribute("parent_config"))
        _check_parent(parent, config, place.attribute("parent_config"))
    if writes is not None:
        _check_writes(writes, place.attribute("pending_writes"))
    return place.findings


def validate_write(channel: str, index: int) -> list[Finding]:
    """List what is wrong with the index under which a saver has stored a write of a task.

    Each special channel (`__error__`, `__scheduled__`, `__interrupt__`, `__resume__`) has an
    index of its own, below zero, so that a later write replaces it. Before langgraph-checkpoint
    2 all but `__resume__` were counted with the ordinary channels, from zero.

    Args:
        channel: What was written to.
        index: The number of the write among those of its task.

    Returns:
        The findings.
    """
    place = Location().attribute("idx")
    special = WRITES_IDX_MAP.get(channel) if isinstance(channel, str) else None
    if not isinstance(channel, str):
        place = Location().attribute("channel")
        place.add_type(channel, "text: the name of a channel")
    elif not isinstance(index, int) or isinstance(index, bool):
        place.add_type(index, "a number")
    elif index < 0 and special is None:
        place.add("is below zero, which only the index of a special channel is")
    elif index != special and (index < 0 or channel == RESUME):
        place.add(f"is not the index of this special channel, which is {special}")
    return place.findings


def _check_metadata(metadata: object, place: Location) -> None:
    if not isinstance(metadata, Mapping):
        place.add_type(metadata, "a mapping")
        return
    step, source = metadata.get("step"), metadata.get("source")
    is_stub = source is None and isinstance(step, int) and step == _STUB_STEP
    if not is_stub and not (isinstance(source, str) and source in _SOURCES):
        place.at("source").add(f"must be one of {', '.join(_SOURCES)}")
    if not isinstance(step, int) or isinstance(step, bool):
        place.at("step").add_type(step, "a number")
    elif step < _FIRST_STEP and not is_stub:
        place.at("step").add(f"must be {_FIRST_STEP} or more")
    if "parents" in metadata:
        parents = place.at("parents")
        for _, id_, found in parents.entries(metadata["parents"], "a namespace"):
            check_id(id_, found)
    if (counters := metadata.get("counters_since_delta_snapshot")) is not None:
        counted = place.at("counters_since_delta_snapshot")
        for _, pair, found in counted.entries(counters, "the name of a channel"):
            _check_counters(pair, found)


def _check_counters(pair: Any, place: Location) -> None:
    is_pair = isinstance(pair, list | tuple) and len(pair) == 2
    if not is_pair or not all(type(count) is int and count >= 0 for count in pair):
        place.add("must be two counts: of updates and of steps since the last snapshot")


def _check_config(config: object, place: Location) -> None:
    if not isinstance(config, Mapping):
        place.add_type(config, "a mapping")
        return
    place = place.at("configurable")
    configurable = config.get("configurable")
    if not isinstance(configurable, Mapping):
        place.add_type(configurable, "a mapping")
        return
    if _thread_id(configurable) is None:
        place.at("thread_id").add_type(configurable.get("thread_id"), "the id of a thread")
    # A saver returns the config that it was asked with, in which the root may go without.
    ns = configurable.get("checkpoint_ns", "")
    if not isinstance(ns, str):
        place.at("checkpoint_ns").add_type(ns, "text: a namespace")
    check_id(configurable.get("checkpoint_id"), place.at("checkpoint_id"))


def _check_agreement(config: object, checkpoint: object, place: Location) -> None:
    id_ = checkpoint.get("id") if isinstance(checkpoint, Mapping) else None
    named = _configurable(config).get("checkpoint_id")
    if isinstance(id_, str) and isinstance(named, str) and id_ != named:
        place.at("configurable", "checkpoint_id").add("is not the id of the checkpoint")


def _check_parent(parent: object, config: object, place: Location) -> None:
    ours, theirs = _configurable(config), _configurable(parent)
    threads = {_thread_id(at) for at in (ours, theirs)} - {None}
    if len(threads) > 1:
        place.at("configurable", "thread_id").add("is another thread than that of the checkpoint")
    our_ns, their_ns = (at.get("checkpoint_ns", "") for at in (ours, theirs))
    if isinstance(our_ns, str) and isinstance(their_ns, str) and our_ns != their_ns:
        place.at("configurable", "checkpoint_ns").add("is not the namespace of the checkpoint")


def _check_writes(writes: object, place: Location) -> None:
    if not isinstance(writes, list | tuple):
        place.add_type(writes, "a list, or None")
        return
    for index, write in enumerate(writes):
        found = place.at(index)
        if not isinstance(write, list | tuple) or len(write) != len(_WRITE):
            found.add(f"must be three things: {', '.join(_WRITE)}")
            continue
        for number, text in enumerate(write[:2]):
            if not isinstance(text, str):
                found.at(number).add_type(text, f"text: a {_WRITE[number]}")
            elif not text:
                found.at(number).add(f"is empty, must be a {_WRITE[number]}")


def _thread_id(configurable: Mapping[str, Any]) -> str | None:
    thread_id = configurable.get("thread_id")
    with contextlib.suppress(ValueError):  # a number of thousands of digits
        if isinstance(thread_id, _THREAD_IDS) and not isinstance(thread_id, bool):
            return str(thread_id)
    return None


def _configurable(config: object) -> Mapping[str, Any]:
    configurable = config.get("configurable") if isinstance(config, Mapping) else None
    return configurable if isinstance(configurable, Mapping) else {}
