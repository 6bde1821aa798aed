"""What is wrong with the ids of checkpoints and with times: what history is ordered by."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import RFC_4122, UUID

from langgraph_once_ops.validate.finding import Location

_BY_TIME: Final = 6


def check_id(value: object, place: Location) -> bool:
    """Whether `value` is the id of a checkpoint; find why it is not.

    Savers order ids as text, so a UUID in another spelling is not right either.
    """
    if not isinstance(value, str):
        place.add_type(value, "text: a UUID of version 6")
        return False
    try:
        parsed = UUID(value)
    except ValueError:
        place.add("is no UUID; ids of checkpoints are UUIDs of version 6")
        return False
    if str(parsed) != value:
        place.add("is a UUID that is not spelt in lower case, in groups of 8, 4, 4, 4 and 12")
        return False
    if parsed.variant != RFC_4122 or parsed.version != _BY_TIME:
        place.add("is a UUID, but not of version 6, which is ordered by time")
        return False
    return True


def check_timestamp(value: object, place: Location) -> None:
    """Find why `value` is no time in ISO 8601 and UTC."""
    if not isinstance(value, str):
        place.add_type(value, "text: a time in ISO 8601")
        return
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        place.add("is no time in ISO 8601")
        return
    check_time(time, place)


def check_time(time: object, place: Location) -> datetime | None:
    """Find why `time` is not one in UTC; return it if it can be compared with one."""
    if not isinstance(time, datetime):
        place.add_type(time, "a datetime")
        return None
    offset = time.utcoffset()
    if offset is None:
        place.add("has no time zone, must be in UTC")
    elif offset:
        place.add("is in another time zone, must be in UTC")
    return None if offset is None else time
