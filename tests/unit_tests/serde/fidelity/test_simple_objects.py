"""Objects are made of the values of their fields, if these are all there are."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from pydantic import BaseModel

from langgraph_once.serde.codecs.once1.read.simple_objects import (
    NotSimpleError,
    _model_maker,
    _object_maker,
)


@dataclasses.dataclass
class Point:
    x: int
    y: int


class Place(BaseModel):
    x: int
    y: int


MAKERS = {
    "object": (_object_maker(Point, ["x", "y"]), Point(1, 2)),
    "model": (_model_maker(Place, {"x", "y"}, has_extra=False), Place(x=1, y=2)),
}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("values", [{"x": 1, "y": 2}, {"y": 2, "x": 1}], ids=["same", "other"])
def test_the_order_of_the_fields_is_that_of_the_bytes(kind: str, values: Any) -> None:
    make, expected = MAKERS[kind]
    made = make(values)
    assert (made, [*vars(made)]) == (expected, [*values])


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize(
    "values", [{"x": 1}, {"x": 1, "z": 2}, {"x": 1, "y": 2, "z": 3}, {}, [1, 2], ["x", "y"], None]
)
def test_of_other_fields_none_is_made(kind: str, values: Any) -> None:
    with pytest.raises(NotSimpleError):
        MAKERS[kind][0](values)
