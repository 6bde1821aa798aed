"""What is wrong with a `Checkpoint`, and which of two versions of a channel is the newer one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeGuard

from langgraph_once.errors import ChannelVersionError
from langgraph_once_ops.validate.finding import Finding, Location, check_id, check_timestamp

if TYPE_CHECKING:
    from langgraph.checkpoint.base import Checkpoint

NEWEST_FORMAT: Final = 4
"""The `v` of what LangGraph writes today; it reads all from 1 on."""

_BUMPS: Final = "__snapshot_bumps__"
"""In `versions_seen` no node: which entries the snapshot of a `DeltaChannel` advanced. Its keys
are each a node and a channel."""

_NONE: Final = object()

# Others may be anything, and refuse to say whether they are empty.
_PLAIN: Final = (list, dict, set, tuple, str, int, float, bool, type(None))

_Parts: TypeAlias = Mapping[Any, Any]


def validate_checkpoint(
    checkpoint: Checkpoint | Mapping[str, Any], *, parent_id: str | None = None
) -> list[Finding]:
    """List everything that is wrong with a checkpoint, of any format that LangGraph reads.

    Args:
        checkpoint: The checkpoint. A value is only looked at if its channel has no version.
        parent_id: The id of the checkpoint that it was made from, which is older.

    Returns:
        The findings; none for what LangGraph writes.
    """
    place = Location()
    check_checkpoint(checkpoint, parent_id, place)
    return place.findings


def check_checkpoint(checkpoint: object, parent_id: str | None, place: Location) -> None:
    """Find what is wrong with a checkpoint at its place."""
    if not isinstance(checkpoint, Mapping):
        place.add_type(checkpoint, "a mapping")
        return
    for key, check in _PARTS.items():
        if key in checkpoint:
            check(checkpoint[key], checkpoint, place.at(key))
        elif key != "updated_channels":  # which early formats do not have
            place.at(key).add("is missing")
    id_ = checkpoint.get("id")
    both = check_id(id_, Location()) and check_id(parent_id, Location())
    if both and str(id_) <= str(parent_id):
        problem = "is not after the id of its parent, so the parent passes for the later one"
        place.at("id").add(problem)


def _check_format(v: object, _: _Parts, place: Location) -> None:
    if not isinstance(v, int) or isinstance(v, bool):
        place.add_type(v, f"a number from 1 to {NEWEST_FORMAT}")
    elif not 1 <= v <= NEWEST_FORMAT:
        place.add(f"is no format that is known here, which are those from 1 to {NEWEST_FORMAT}")


def _check_versions(versions: object, _: _Parts, place: Location) -> None:
    first: object = None
    for _channel, version, found in place.entries(versions, "the name of a channel"):
        if not is_version(version):
            found.add_type(version, "a version: a number or text")
        elif first is None:
            first = version
        elif not _have_order(version, first):
            # `compare_versions` would order them, but a graph must run on this checkpoint, and
            # LangGraph takes the largest of its versions by `max`.
            found.add("is text beside numbers, or a number beside text: they have no order")


def _check_seen(seen: object, parts: _Parts, place: Location) -> None:
    versions = _versions(parts)
    for node, channels, at_node in place.entries(seen, "the name of a node"):
        for channel, version, found in at_node.entries(channels, "the name of a channel"):
            if not is_version(version):
                found.add_type(version, "a version: a number or text")
            elif node != _BUMPS and versions is not None:
                # Up to format 2 each node had a channel of its own name. LangGraph drops it when
                # it goes on with such a thread, and not always what was seen of it.
                own = isinstance(seen, Mapping) and channel in seen
                if channel in versions or not own:
                    _check_seen_version(version, versions.get(channel, _NONE), found)


def _check_seen_version(version: Any, current: Any, place: Location) -> None:
    if current is _NONE:
        place.add("is of a channel that has no version")
    elif not is_version(current):
        pass  # found where it stands
    elif not _have_order(version, current):
        place.add("has no order with the version of the channel: one is a number, the other text")
    elif compare_versions(version, current) > 0:
        place.add("is newer than the version of the channel")


def _check_values(values: object, parts: _Parts, place: Location) -> None:
    versions = _versions(parts)
    v = parts.get("v")
    format_1 = isinstance(v, int) and v == 1
    for channel in place.keys(values, "the name of a channel"):
        if versions is None or channel in versions or format_1:
            continue
        # Format 1 held an empty value of each channel that nobody had written to. A fork of such
        # a checkpoint takes them over into the format of its own time.
        value = values[channel]  # type: ignore[index]  # it has keys
        if type(value) not in _PLAIN or value:
            place.at(channel).add("is of a channel that has no version")


def _check_updated(channels: object, parts: _Parts, place: Location) -> None:
    versions = _versions(parts)
    if channels is None:
        return
    for channel, found in place.items(channels, "the name of a channel"):
        if versions is not None and channel not in versions:
            found.add("is a channel that has no version")


def _versions(parts: _Parts) -> _Parts | None:
    """Return those of the channels; None where they cannot be read, which is found once."""
    versions = parts.get("channel_versions")
    return versions if isinstance(versions, Mapping) else None


def _have_order(a: object, b: object) -> bool:
    return isinstance(a, str) == isinstance(b, str)


_PARTS: Final[dict[str, Callable[[Any, _Parts, Location], object]]] = {
    "v": _check_format,
    "id": lambda id_, _, place: check_id(id_, place),
    "ts": lambda ts, _, place: check_timestamp(ts, place),
    "channel_versions": _check_versions,
    "versions_seen": _check_seen,
    "channel_values": _check_values,
    "updated_channels": _check_updated,
}


_NUMBERED: Final = re.compile(r"([0-9]{1,400})\.(.*)", re.DOTALL)
"""`seq.hash`. Python refuses to make numbers of text much longer than this."""


def compare_versions(a: float | str, b: float | str) -> Literal[-1, 0, 1]:
    """Tell which of two versions is the newer one.

    What upstream's savers make is ordered as LangGraph orders it: numbers by value, text of the
    form `seq.hash` by its number, then by the rest. A number beside such text, as in a thread
    that moved from one saver to another, counts as its `seq`, and is older than the text of the
    same number. Other text, of a saver with versions of its own, is ordered as text.

    Args:
        a: A version.
        b: Another one.

    Returns:
        -1 if `a` is older, 1 if it is newer, 0 if neither.

    Raises:
        ChannelVersionError: One is no version (NaN, a bool, neither number nor text), or one is
            a number and the other text that has none.
    """
    left: Any = _order(a)
    right: Any = _order(b)
    if left is None or right is None:
        if not (isinstance(a, str) and isinstance(b, str)):
            raise ChannelVersionError(a, b)
        left, right = a, b
    return 1 if left > right else -1 if left < right else 0


def is_version(value: object) -> bool:
    """Whether LangGraph can order `value`: a number other than NaN, or text."""
    return isinstance(value, str) or _is_number(value)


def _is_number(value: object) -> TypeGuard[float]:
    if isinstance(value, float):
        return not math.isnan(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _order(version: object) -> tuple[float, str] | None:
    if isinstance(version, str):
        numbered = _NUMBERED.fullmatch(version)
        return (int(numbered[1]), numbered[2]) if numbered else None
    return (version, "") if _is_number(version) else None
