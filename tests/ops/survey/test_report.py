"""Samples of made-up threads: what is estimated, and how often its interval is right."""

from __future__ import annotations

import math
import random
from itertools import islice

import pytest

from langgraph_once_ops.survey import report
from langgraph_once_ops.survey.report import Draws, Estimate, mean_total, share_of


def made_up(seed: int, count: int = 2000) -> tuple[dict[str, float], dict[str, float]]:
    """By thread, what it is thought to take and what it does: most are short, a few huge."""
    chance = random.Random(seed)
    thought = {f"{number}": chance.lognormvariate(0, 2) for number in range(count)}
    return thought, {name: each * chance.uniform(0.4, 1.6) for name, each in thought.items()}


def drawn(thought: dict[str, float], count: int) -> list[tuple[str, float]]:
    draws = Draws(thought)
    return [(name, draws.chance(name)) for name in islice(draws, count)]


def test_of_twenty_intervals_nineteen_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    right, widest = 0, 0.0
    for seed in range(200):
        monkeypatch.setattr(report, "_SEED", seed)
        thought, truth = made_up(seed)
        found = mean_total([truth[name] / chance for name, chance in drawn(thought, 100)])
        right += found.low <= sum(truth.values()) <= found.high
        widest = max(widest, found.relative_error)
    assert right >= 180
    assert widest < 0.15


def test_a_share_of_what_is_known_is_closer(monkeypatch: pytest.MonkeyPatch) -> None:
    right = 0
    for seed in range(200):
        monkeypatch.setattr(report, "_SEED", seed)
        wholes, noise = made_up(seed)
        parts = {name: whole * 0.7 + 0.01 * noise[name] for name, whole in wholes.items()}
        pairs = drawn(noise, 100)
        found = share_of(
            sum(wholes.values()),
            [parts[name] / chance for name, chance in pairs],
            [wholes[name] / chance for name, chance in pairs],
        )
        right += found.low <= sum(parts.values()) <= found.high
        assert found.relative_error < 0.02
    assert right >= 180


def test_threads_are_drawn_by_their_weight() -> None:
    names = [name for name, _ in drawn({"a": 1.0, "b": 0.0, "c": 3.0}, 4000)]
    assert names.count("b") == 0
    assert names.count("c") == pytest.approx(3000, rel=0.05)
    assert drawn({"a": 1.0, "c": 3.0}, 50) == drawn({"a": 1.0, "c": 3.0}, 50)


def test_what_is_left_is_the_rest_of_what_is_taken() -> None:
    assert Estimate(3.0, 2.0, 4.0).taken_from(10) == Estimate(7.0, 6.0, 8.0)
    assert Estimate(9.0, 6.0, 12.0).taken_from(10) == Estimate(1.0, 0.0, 4.0)


def test_one_thread_says_nothing_of_the_spread() -> None:
    assert mean_total([5.0]) == Estimate(5.0, -math.inf, math.inf)
    assert share_of(10.0, [0.0], [0.0]) == Estimate.exactly(0)
    assert Estimate.exactly(7).relative_error == 0
