"""The same for items of a store."""

import datetime
from typing import Any

import pytest
from langgraph.store.base import Item, SearchItem

from langgraph_once_ops.validate import validate_item
from tests.ops.validate.sound import (
    NAN,
    TIMES,
    WHOLE,
    Expected,
    told,
)

UTC = datetime.UTC
SELF: dict[str, Any] = {"a": [1]}
SELF["a"].append(SELF)
TWICE = ["hidden"]
DEEP: list[Any] = []
for _ in range(20_000):
    DEEP = [DEEP]

ITEMS: dict[str, tuple[str, Any, Expected]] = {
    "nothing": ("key", "k", []),
    "namespace-empty": ("namespace", (), [(".namespace", "is empty")]),
    "namespace-type": ("namespace", "users", [(".namespace", "type str")]),
    "label-empty": ("namespace", ("a", ""), [(".namespace[1]", "is empty")]),
    "label-type": ("namespace", (7, "a"), [(".namespace[0]", "type int, must be text: a label")]),
    "key-empty": ("key", "", [(".key", "is empty")]),
    "key-type": ("key", 7, [(".key", "type int, must be text")]),
    "value-type": ("value", ["hidden"], [(".value", "type list, must be a dict")]),
    "value-parts": (
        "value",
        {"a": {1}, "b": [b"", NAN, "hidden"], 7: {"c": object()}, "d": "\ud800"},
        [
            (".value[7]", "type int, must be text"),
            ('.value["a"]', "type set, which JSON cannot hold"),
            ('.value["b"][0]', "type bytes, which JSON cannot hold"),
            ('.value["b"][1]', "not finite"),
            ('.value[7]["c"]', "type object, which JSON cannot hold"),
            ('.value["d"]', "surrogate"),
        ],
    ),
    "value-in-itself": ("value", SELF, [('.value["a"][1]', "is what it stands in")]),
    "value-twice": ("value", {"a": TWICE, "b": [TWICE, TWICE]}, []),
    "value-deep": ("value", {"a": DEEP}, []),
    "created-type": ("created_at", 7, [(".created_at", "type int, must be a datetime")]),
    "created-without-zone": (
        "created_at",
        datetime.datetime(2026, 11, 23),  # noqa: DTZ001  # without a zone on purpose
        [(".created_at", "has no time zone")],
    ),
    "updated-elsewhere": (
        "updated_at",
        datetime.datetime(2026, 11, 24, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
        [(".updated_at", "another time zone")],
    ),
    "updated-before": (
        "updated_at",
        datetime.datetime(2026, 11, 22, tzinfo=UTC),
        [(".updated_at", "is before `created_at`")],
    ),
    "updated-at-once": ("updated_at", TIMES["created_at"], []),
}


@pytest.mark.parametrize("kind", ITEMS)
def test_damage_of_an_item_is_found(kind: str) -> None:
    name, value, expected = ITEMS[kind]
    for cls in (Item, SearchItem):
        item = cls(**WHOLE)
        setattr(item, name, value)
        told(validate_item(item), expected)


@pytest.mark.parametrize(
    ("score", "words"),
    [(None, ""), (0, ""), (-0.5, ""), (NAN, "finite"), ("1", "type str"), (True, "type bool")],
)
def test_the_score_of_an_item_must_be_a_finite_number_or_none(score: Any, words: str) -> None:
    found = validate_item(SearchItem(**WHOLE, score=score))
    told(found, [(".score", words)] if words else [])
