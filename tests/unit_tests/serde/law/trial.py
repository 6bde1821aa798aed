"""One value before the law: written and read by ours, and read by ours where LangGraph wrote it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from langgraph_once.errors import SerdeError
from langgraph_once.serde import OnceSerializer
from tests.unit_tests.serde.fidelity.sameness import difference
from tests.unit_tests.serde.law.judge import LOST, breach, stock_gives, stock_row
from tests.unit_tests.serde.law.pool import Recipe

Row = tuple[str, bytes]


def breaches(recipe: Recipe, ours: OnceSerializer) -> Iterator[str]:
    """Yield how a value breaks the law; nothing where it holds it."""
    with warnings.catch_warnings(action="ignore"):
        value = recipe.make()
        stock = stock_gives(value)
        if stock is LOST:
            yield from _harm(value, ours)
            return
        yield from _told("our row", _own_row, value, stock, ours)
        yield from _told("LangGraph's row", _stock_row, value, stock, ours)


def _told(row: str, check: Any, value: Any, stock: Any, ours: OnceSerializer) -> Iterator[str]:
    try:
        found = check(value, ours)
    except Exception as error:
        yield f"{row}: {type(error).__name__}: {error}"[:300]
        return
    if (told := breach(value, stock, found)) or (told := drift(found, ours)):
        yield f"{row}: {told}"


def _own_row(value: Any, ours: OnceSerializer) -> Any:
    return ours.loads_typed(ours.dumps_typed(value))


def _stock_row(value: Any, ours: OnceSerializer) -> Any:
    return ours.loads_typed(stock_row(value))


def drift(found: Any, ours: OnceSerializer) -> str | None:
    """Return how what was read changes when it is written again."""
    try:
        again = ours.loads_typed(ours.dumps_typed(found))
    except Exception as error:
        return f"written again: {type(error).__name__}: {error}"[:300]
    told = difference(found, again, identity=False)
    return f"written again: {told}" if told else None


def _harm(value: Any, ours: OnceSerializer) -> Iterator[str]:
    """Yield what goes wrong with a value that LangGraph cannot store: it may be refused."""
    try:
        ours.loads_typed(ours.dumps_typed(value))
    except SerdeError:
        return
    except Exception as error:
        yield f"refused without saying so: {type(error).__name__}: {error}"[:300]
