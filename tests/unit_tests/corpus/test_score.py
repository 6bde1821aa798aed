"""The score of the corpus notices what is wrong: here the oracle is, and the graph is right."""

from __future__ import annotations

from typing import Any

import pytest

from tests.corpus.graphs import chain, says
from tests.corpus.models import BrokenConnectionError
from tests.corpus.scenario import ASKED, Run, Scenario, row
from tests.corpus.score import Outcome, score
from tests.corpus.units import Unit, call, draft, gone, said, usage
from tests.corpus.variants import Variant

MESSAGES = Variant("sync", "v1", ("messages",))
VALUES = Variant("async", "v2", ("values",))


def scenario(*units: Unit, **how: Any) -> Scenario:
    return row("plain", "under-test", "Two nodes.", two_nodes, *units, **how)


def two_nodes() -> Any:
    return chain(says("One thing."), says("Two things."))


def outcomes(of: Scenario, variant: Variant = MESSAGES) -> list[tuple[Outcome, str]]:
    """Without the question."""
    return [(verdict.outcome, verdict.why) for verdict in score(of, variant, "plain")][1:]


RIGHT = (Outcome.RIGHT, "")


@pytest.mark.parametrize("variant", [MESSAGES, VALUES])
def test_a_right_oracle_is_right(variant: Variant) -> None:
    made = scenario(said("One thing."), said("Two things."), usage(2))
    assert outcomes(made, variant) == [RIGHT, RIGHT, RIGHT]


@pytest.mark.parametrize("variant", [MESSAGES, VALUES])
def test_a_unit_too_many_is_lost_and_one_too_few_repeated(variant: Variant) -> None:
    made = scenario(said("One thing.", 2), said("Two things.", 0), call("search", {}))
    assert outcomes(made, variant) == [
        (Outcome.LOST, "wanted 2, has 1"),
        (Outcome.REPEATED, "wanted 0, has 1"),
        (Outcome.LOST, "wanted 1, has 0"),
    ]


def test_what_should_be_gone_and_is_kept_is_lost() -> None:
    made = scenario(said("One thing."), gone("Two things."))
    assert outcomes(made) == [RIGHT, (Outcome.LOST, "is gone, but the consumer keeps 1")]


def test_a_text_that_no_unit_names_counts_against_the_first() -> None:
    ((outcome, why),) = outcomes(scenario(said("One thing.")))
    assert outcome is Outcome.REPEATED
    assert why.startswith("also 'Two things.' under id chatcmpl-")


def test_a_draft_is_in_no_state() -> None:
    made = scenario(said("One thing."), draft("Two things."))
    assert outcomes(made, VALUES)[1] == (Outcome.REPEATED, "wanted 0, has 1")


@pytest.mark.parametrize("variant", [MESSAGES, VALUES])
def test_the_order_matters_where_it_should(variant: Variant) -> None:
    swapped = said("Two things."), said("One thing.")
    assert outcomes(scenario(*swapped), variant) == [RIGHT, (Outcome.LOST, "out of order")]
    assert outcomes(scenario(*swapped, ordered=False), variant) == [RIGHT, RIGHT]


@pytest.mark.parametrize("variant", [MESSAGES, VALUES])
def test_a_stream_that_ends_otherwise_than_it_should_is_an_error(variant: Variant) -> None:
    units = said("One thing."), said("Two things.")
    with pytest.raises(AssertionError, match="expected BrokenConnectionError"):
        outcomes(scenario(*units, runs=(Run(ASKED, raises=BrokenConnectionError),)), variant)
    broken = row("plain", "broken", "", lambda: chain(says("One thing.", breaks={0: 1})), *units)
    with pytest.raises(AssertionError, match="expected no error"):
        outcomes(broken, MESSAGES)
