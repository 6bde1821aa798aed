"""The reading room of the library: a source that fails now and then, as sources do."""

__all__ = ["enter"]

CROWDED = {"offset tracking", "consistent snapshots"}

_turned_away: set[str] = set()


def enter(topic: str, task_ns: str) -> None:
    """Let a researcher in. At a crowded shelf it is turned away first, and let in when it returns.

    Args:
        topic: Whose shelf it wants.
        task_ns: The namespace of the task that asks. It begins with that of the researcher, which
            stays the same when the researcher is run again.

    Raises:
        ConnectionError: It was turned away.
    """
    researcher = task_ns.partition("|")[0]
    if topic.strip().casefold() not in CROWDED:
        return
    if researcher not in _turned_away:
        _turned_away.add(researcher)
        raise ConnectionError(f"the reading room has no seat for {topic}; come back in a moment")
    _turned_away.discard(researcher)
