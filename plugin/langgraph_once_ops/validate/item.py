"""What is wrong with an item of a store."""

from __future__ import annotations

import math
from typing import Any

from langgraph.store.base import Item, SearchItem

from langgraph_once_ops.validate.finding import Finding, Location, check_time


def validate_item(item: Item) -> list[Finding]:
    """List everything that is wrong with an item of a store, or with one that a search found.

    Upstream's `SqliteStore` returns times without a zone, though they are in UTC: they are found.

    Args:
        item: An `Item` or a `SearchItem`.

    Returns:
        The findings.
    """
    place = Location()
    if not isinstance(item, Item):
        place.add_type(item, "an Item")
        return place.findings
    _check_namespace(getattr(item, "namespace", None), place.attribute("namespace"))
    key = getattr(item, "key", None)
    if not isinstance(key, str):
        place.attribute("key").add_type(key, "text")
    elif not key:
        place.attribute("key").add("is empty")
    value = getattr(item, "value", None)
    if isinstance(value, dict):
        _check_json(value, place.attribute("value"))
    else:
        place.attribute("value").add_type(value, "a dict")
    _check_times(item, place)
    if isinstance(item, SearchItem):
        _check_score(getattr(item, "score", None), place.attribute("score"))
    return place.findings


def _check_namespace(namespace: object, place: Location) -> None:
    if not isinstance(namespace, tuple):
        place.add_type(namespace, "a tuple of labels")
        return
    if not namespace:
        place.add("is empty")
    for label, found in place.items(namespace, "a label"):
        if not label:
            found.add("is empty")


def _check_times(item: Item, place: Location) -> None:
    created, updated = (
        check_time(getattr(item, name, None), place.attribute(name))
        for name in ("created_at", "updated_at")
    )
    if created is not None and updated is not None and updated < created:
        place.attribute("updated_at").add("is before `created_at`")


def _check_score(score: object, place: Location) -> None:
    if score is None:
        return
    if not isinstance(score, int | float) or isinstance(score, bool):
        place.add_type(score, "a number, or None")
    elif isinstance(score, float) and not math.isfinite(score):
        place.add("is not finite")


def _check_json(value: dict[Any, Any], place: Location) -> None:
    """Find each part that JSON cannot hold; values may be deep, or hold themselves."""
    path: list[object] = []
    holders: set[int] = set()
    seen: set[int] = set()
    todo: list[tuple[object, Any, bool]] = [(None, value, True)]
    while todo:
        key, part, is_new = todo.pop()
        if not is_new:
            path.pop()
            holders.remove(id(part))
        elif not isinstance(part, dict | list | tuple):
            if problem := _not_json(part):
                place.at(*path[1:], key).add(problem)
        elif id(part) in holders:
            place.at(*path[1:], key).add("is what it stands in, which JSON cannot say")
        elif id(part) not in seen:
            path.append(key)
            holders.add(id(part))
            seen.add(id(part))
            todo.append((key, part, False))
            inner = part.items() if isinstance(part, dict) else enumerate(part)
            todo += [(key, value, True) for key, value in reversed(list(inner))]
            for name in part if isinstance(part, dict) else ():
                if not isinstance(name, str):
                    place.at(*path[1:], name).add_type(name, "text: keys of JSON are")


def _not_json(leaf: object) -> str | None:
    if leaf is None or isinstance(leaf, int):
        return None
    if isinstance(leaf, float):
        return None if math.isfinite(leaf) else "is not finite, which JSON cannot say"
    if not isinstance(leaf, str):
        return f"is of type {type(leaf).__name__}, which JSON cannot hold"
    try:
        leaf.encode()
    except UnicodeEncodeError:
        return "is text with half a character (a lone surrogate), which no store can write"
    return None
