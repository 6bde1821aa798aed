"""The `msgpack` codec writes what upstream writes, to the byte, whatever the value."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, strategies as st

from tests.examples import examples
from tests.unit_tests.serde.fidelity.kinds import Plain
from tests.unit_tests.serde.law.classes import Anything
from tests.unit_tests.serde.law.pool import KINDS, Recipe
from tests.unit_tests.serde.law.wrappers import WRAPPERS
from tests.unit_tests.serde.stock.test_writes import ours, upstream

RECIPES = st.builds(
    Recipe,
    st.lists(st.sampled_from([*KINDS]), min_size=1, max_size=2).map(tuple),
    st.lists(st.sampled_from([*WRAPPERS]), max_size=3).map(tuple),
    st.integers(0, 2**32),
)


@pytest.mark.filterwarnings("ignore")  # pydantic warns of fields of wrong types
def test_each_kind_has_upstreams_bytes_or_upstreams_error(subtests: pytest.Subtests) -> None:
    for kind in KINDS:
        value = Recipe((kind,)).make()
        with subtests.test(kind):
            holders = [value], Plain("x", value), Anything.model_construct(value=value)
            for nested in (value, *holders):
                assert ours(nested) == upstream(nested)


@examples(100)
@given(RECIPES)
def test_any_value_has_upstreams_bytes_or_upstreams_error(recipe: Recipe) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        value = recipe.make()
        assert ours(value) == upstream(value)
