"""Never worse than LangGraph: what it writes or wrote comes back as it was, or as it gives it back.

A kind in `BREACHES` must break the law, a kind that is not there must hold it: who mends a kind
takes its line out.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zlib import crc32

import pytest
from hypothesis import given, strategies as st

from langgraph_once.serde import OnceSerializer
from tests.examples import examples
from tests.unit_tests.serde.law.breaches import BREACHES, ELSEWHERE, WRAPPER_BREACHES
from tests.unit_tests.serde.law.judge import LOST, stock_gives
from tests.unit_tests.serde.law.kinds_optional import KINDS as OPTIONAL
from tests.unit_tests.serde.law.other_process import breaches_elsewhere
from tests.unit_tests.serde.law.pool import KINDS, MISSING, Recipe
from tests.unit_tests.serde.law.trial import breaches
from tests.unit_tests.serde.law.wrappers import WRAPPERS

if TYPE_CHECKING:
    from collections.abc import Iterator

OURS = OnceSerializer()
NAMES: Final = sorted({*KINDS, *MISSING})
SOUND: Final = sorted(WRAPPERS.keys() - WRAPPER_BREACHES)
A_QUICK_SHARE: Final = 5
"""Of that many wrappers, each kind is put into one, unless the test is slow."""

BATCHES: Final = 50
BATCH: Final = 2000


def _simple(kind: str) -> Iterator[Recipe]:
    """Yield a kind alone, then in each wrapper."""
    yield from (Recipe((kind,), (), seed) for seed in (0, 1))
    yield from (Recipe((kind,), (wrapper,), 2) for wrapper in WRAPPERS)


def _is_chosen(recipe: Recipe) -> bool:
    if not recipe.wrappers:
        return True
    named = f"{recipe.kinds[0]} {recipe.wrappers[0]}"
    return crc32(named.encode()) % A_QUICK_SHARE == 0


@cache
def _carried() -> list[str]:
    """Return the kinds that LangGraph carries, and that hold the law."""
    lawful = [kind for kind in KINDS if kind not in BREACHES]
    return [kind for kind in lawful if stock_gives(Recipe((kind,)).make()) is not LOST]


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    """Draw one kind or two, in up to three wrappers."""
    kinds = draw(st.lists(st.sampled_from(_carried()), min_size=1, max_size=2))
    wrappers = draw(st.lists(st.sampled_from(SOUND), max_size=3))
    return Recipe((*kinds,), (*wrappers,), draw(st.integers(0, 2**32)))


def test_the_tables_name_kinds_of_the_pool_in_order_and_once() -> None:
    for table in (BREACHES, ELSEWHERE):
        assert {*table} <= {*NAMES}
    assert [*BREACHES] == sorted(BREACHES)
    assert BREACHES.keys().isdisjoint(ELSEWHERE)
    assert WRAPPER_BREACHES.keys() <= WRAPPERS.keys()


@pytest.mark.parametrize("kind", NAMES)
def test_a_kind_holds_the_law_unless_the_table_says_how_it_breaks_it(kind: str) -> None:
    if kind in OPTIONAL:
        pytest.importorskip(OPTIONAL[kind].package)
    if kind in BREACHES:
        told = any([*breaches(recipe, OURS)] for recipe in _simple(kind))
        assert told, f"{kind!r} holds the law now: take it out of `BREACHES`"
        return
    for recipe in filter(_is_chosen, _simple(kind)):
        assert not [*breaches(recipe, OURS)], f"{recipe} breaks the law"


@examples(300)
@given(recipes())
def test_kinds_in_each_other_hold_the_law(recipe: Recipe) -> None:
    assert not [*breaches(recipe, OURS)], f"{recipe} breaks the law"


@pytest.mark.parametrize("wrapper", sorted(WRAPPER_BREACHES))
def test_a_wrapper_in_the_table_breaks_the_law_in_another(wrapper: str) -> None:
    inside = (Recipe(("text",), (wrapper, outer)) for outer in WRAPPERS)
    told = any([*breaches(recipe, OURS)] for recipe in inside)
    assert told, f"{wrapper!r} holds the law now: take it out of `WRAPPER_BREACHES`"


def test_in_another_process_a_kind_holds_the_law_unless_a_table_has_it(tmp_path: Path) -> None:
    tried = [Recipe((kind,), wrappers) for kind in sorted(KINDS) for wrappers in ((), ("state",))]
    told = breaches_elsewhere(tried, tmp_path / "rows")
    new = {kind: why for kind, why in told.items() if kind not in {*BREACHES, *ELSEWHERE}}
    assert not new, new
    mended = ELSEWHERE.intersection(_carried()) - told.keys()
    assert not mended, f"take out of `ELSEWHERE`, for they hold the law there now: {mended}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", NAMES)
def test_each_kind_holds_the_law_in_each_wrapper(kind: str) -> None:
    if kind in OPTIONAL:
        pytest.importorskip(OPTIONAL[kind].package)
    if kind in BREACHES:
        pytest.skip("breaks the law today")
    for recipe in _simple(kind):
        assert not [*breaches(recipe, OURS)], f"{recipe} breaks the law"


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_a_hundred_thousand_values_hold_the_law(batch: int) -> None:
    """Each batch draws its own."""

    @examples(BATCH, database=None)
    @given(recipes())
    def holds(recipe: Recipe) -> None:
        assert not [*breaches(recipe, OURS)], f"{recipe} breaks the law"

    holds()
