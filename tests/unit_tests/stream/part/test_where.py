"""Places in a graph, and the patterns that pick them out."""

from __future__ import annotations

import pytest

from langgraph_once.events import Where, format_namespace
from langgraph_once.stream.places import Pattern, where_of


@pytest.mark.parametrize(
    ("namespace", "formatted"),
    [((), "main"), (("a:task",), "a:task"), (("a:t1", "b:t2"), "a:t1:b:t2")],
)
def test_a_namespace_in_one_line(namespace: tuple[str, ...], formatted: str) -> None:
    assert format_namespace(namespace) == formatted
    assert Where(namespace).formatted == formatted


def test_a_place_has_the_names_that_lead_to_it_without_ids_and_counts() -> None:
    assert Where(("team:1", "agent:2", "1")).path == ("team", "agent")


def test_a_place_is_read_from_the_metadata_of_a_message() -> None:
    meta = {"langgraph_checkpoint_ns": "team:1|model:2|1", "langgraph_node": "model"}
    assert where_of(("team:1",), meta) == Where(("team:1",), "model", "2")
    assert where_of((), {}) == Where()


ROOT_MODEL = Where((), "model", "1")
RESEARCH = Where(("research:1",), "model", "2")
DEEP = Where(("team:1", "research:2"), "model", "3")
DEEPER = Where(("research:1", "web:2"), "model", "3")
EVERYWHERE = [ROOT_MODEL, RESEARCH, DEEP, DEEPER]


@pytest.mark.parametrize(
    ("pattern", "picked"),
    [
        ("main", [ROOT_MODEL]),
        ("**", EVERYWHERE),
        ("research", [RESEARCH, DEEP]),
        ("resea*", [RESEARCH, DEEP]),
        ("model", EVERYWHERE),
        ("research/*", [RESEARCH, DEEPER]),
        ("research/**", [RESEARCH, DEEPER]),
        ("research/web", [DEEPER]),
        ("**/research", [RESEARCH, DEEP]),
        ("team/*/model", [DEEP]),
        ("team/**/model", [DEEP]),
        ("main/model", [ROOT_MODEL]),
        ("*", EVERYWHERE),
        ("1", []),
        ("research:1", []),
        ("sear", []),
    ],
)
def test_a_pattern_matches_names_and_paths_and_never_ids(pattern: str, picked: list[Where]) -> None:
    assert [where for where in EVERYWHERE if Pattern([pattern]).matches(where)] == picked


def test_a_node_is_picked_by_its_name() -> None:
    assert Pattern(["clarify"]).matches(Where((), "clarify"))
    assert not Pattern(["clarify"]).matches(Where((), "clarify2"))


def test_a_dot_in_a_name_is_a_dot() -> None:
    assert not Pattern(["a.b"]).matches(Where((), "axb"))
