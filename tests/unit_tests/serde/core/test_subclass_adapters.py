"""Adapters for types and what is derived from them: exact types first, then the nearest base."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any

import pytest

from langgraph_once.errors import ConfigError, EncodeError, PayloadError, TypeNotAllowedError
from langgraph_once.serde import Adapter, OnceSerializer, Opaque, SubclassAdapter
from tests.unit_tests.serde.strictly import strict_config

HERE = __name__
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


class Shape:
    """Not of a kind that the codec knows."""

    def __init__(self, size: int, *parts: Any) -> None:
        self.size = size
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]  # it can be changed


class Round(Shape):
    pass


class Ball(Round):
    __once_version__ = 1


class Label:
    def __init__(self, text: str = "") -> None:
        self.text = text


class LabelledBall(Ball, Label):
    """Derived from what two adapters may have declared."""


class Third(Fraction):
    pass


@dataclass
class Square:
    """A dataclass, which the codec knows."""

    size: int


def take(shape: Shape) -> Any:
    return shape.size, [*shape.parts]


def make(cls: Any, data: Any) -> Any:
    size, parts = data
    if type(size) is not int:
        raise ValueError("a size with a secret")
    return cls(size, *parts)


def make_shape(_cls: Any, data: Any) -> Shape:
    return Shape(data[0])


def grow(data: Any, from_version: int) -> Any:
    return data[0] + 10 * (1 - from_version), data[1]


SHAPES = SubclassAdapter(name="shape", bases=(Shape,), encode=take, decode=make)
ROUNDS = SubclassAdapter(name="round", bases=(Round,), encode=take, decode=make)
LABELS = SubclassAdapter(
    name="label", bases=(Label,), encode=lambda o: o.text, decode=lambda cls, data: cls(data)
)
BALL = Adapter(
    name="ball", types=(Ball,), encode=lambda b: b.size, decode=lambda data: Ball(data, "exact")
)
DOWNGRADING = replace(SHAPES, decode=make_shape)
OWN = tuple(f"{HERE}:{name}" for name in ("Shape", "Round", "Ball", "Label", "LabelledBall"))


def serde(*adapters: Any, allowed: tuple[str, ...] = OWN, **settings: Any) -> OnceSerializer:
    config = strict_config(allowed_types=allowed, compression="none", **settings)
    return OnceSerializer(config, adapters=adapters)


def writer_of(value: Any, *adapters: Any) -> str:
    """Return the name of the adapter that writes `value`."""
    data = serde(*adapters).dumps_typed([value])[1]
    (name,) = [name for name in ("shape", "round", "ball", "label") if _has(data, name)]
    return name


def _has(data: bytes, name: str) -> bool:
    return f"own:{name}".encode() in data


def test_the_very_class_comes_back_from_dotted_paths_in_the_settings() -> None:
    once = serde(adapters=(f"{HERE}:SHAPES",))
    value = {"shapes": [Shape(1), Round(2, Ball(3)), (Ball(4),)]}
    back = once.loads_typed(once.dumps_typed(value))
    assert back == value
    assert type(back["shapes"][1].parts[0]) is Ball


def test_what_is_shared_stays_one_object() -> None:
    ball = Ball(1)
    once = serde(SHAPES)
    first, second = once.loads_typed(once.dumps_typed([ball, Round(2, ball)]))
    assert second.parts[0] is first


@pytest.mark.parametrize("order", [1, -1])
def test_exact_types_come_first_then_the_nearest_base(order: int) -> None:
    everything = [SHAPES, ROUNDS, BALL][::order]
    assert writer_of(Shape(1), *everything) == "shape"
    assert writer_of(Round(1), *everything) == "round"
    assert writer_of(Ball(1), *everything) == "ball"
    assert writer_of(Ball(1), SHAPES, ROUNDS) == "round"
    assert writer_of(Ball(1), SHAPES) == "shape"


def test_rows_of_one_adapter_are_read_when_another_is_nearer_today() -> None:
    row = serde(SHAPES).dumps_typed(Ball(1))
    assert serde(ROUNDS, BALL, SHAPES).loads_typed(row) == Ball(1)


def test_your_base_comes_before_what_is_built_in_and_its_exact_types_before_your_base() -> None:
    own = SubclassAdapter(
        name="shape",
        bases=(Fraction, date),
        encode=lambda value: str(value),
        decode=lambda cls, data: (
            cls(data) if issubclass(cls, Fraction) else cls.fromisoformat(data)
        ),
    )
    once = serde(own, allowed=(f"{HERE}:Third", "fractions:Fraction", "datetime:date"))
    value = [Third(1, 3), Fraction(1, 2), date(2026, 11, 22), NOON]
    row = once.dumps_typed(value)
    assert row[1].count(b"own:shape") == len(value)
    back = once.loads_typed(row)
    assert (back, [*map(type, back)]) == (value, [*map(type, value)])


def test_a_subclass_adapter_comes_before_a_family_that_is_built_in() -> None:
    own = replace(SHAPES, bases=(Square,), encode=lambda square: (square.size, []))
    once = serde(own, allowed=(f"{HERE}:Square",))
    row = once.dumps_typed([Square(2)])
    assert _has(row[1], "shape")
    assert once.loads_typed(row) == [Square(2)]
    assert not _has(serde(allowed=(f"{HERE}:Square",)).dumps_typed([Square(2)])[1], "shape")


def test_a_class_that_two_bases_are_equally_near_to_is_refused_on_writing() -> None:
    both = LabelledBall(1)
    for adapters in ((SHAPES, LABELS), (LABELS, ROUNDS, SHAPES)):
        with pytest.raises(EncodeError, match=r"'label' and '\w+' are equally near") as caught:
            serde(*adapters).dumps_typed({"it": both})
        assert caught.value.path == "[key 0]"
    exact = replace(LABELS, name="label2", bases=(LabelledBall,), encode=take, decode=make)
    once = serde(SHAPES, LABELS, exact)
    assert once.loads_typed(once.dumps_typed(both)) == both


def test_one_adapter_may_declare_both_bases() -> None:
    once = serde(replace(SHAPES, bases=(Shape, Label)))
    assert once.loads_typed(once.dumps_typed(LabelledBall(1))) == LabelledBall(1)


@pytest.mark.parametrize(
    ("adapters", "told"),
    [
        ((SHAPES, replace(ROUNDS, name="shape")), r"'shape'.*'shape'.*the name 'shape'"),
        ((BALL, replace(SHAPES, name="ball")), "the name 'ball'"),
        ((SHAPES, replace(BALL, name="shape")), "the name 'shape'"),
        ((SHAPES, replace(ROUNDS, bases=(Label, Shape))), f"the base {HERE}:Shape"),
        ((replace(SHAPES, bases=(object,)),), "claims object"),
    ],
)
def test_a_clash_is_told_when_the_serializer_is_made(adapters: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        serde(*adapters)


def test_a_decoder_that_makes_another_class_is_refused() -> None:
    once = serde(DOWNGRADING)
    assert once.loads_typed(once.dumps_typed(Shape(1))) == Shape(1)
    with pytest.raises(PayloadError, match="its `decode` made a Shape") as caught:
        once.loads_typed(once.dumps_typed([Ball(1)]))
    assert caught.value.path is None


def test_only_what_the_allowlist_names_is_written_and_read() -> None:
    with pytest.raises(EncodeError, match=f'add "{HERE}:Ball" to `allowed_types`'):
        serde(SHAPES, allowed=OWN[:2]).dumps_typed(Ball(1))
    row = serde(SHAPES).dumps_typed(Ball(1))
    with pytest.raises(TypeNotAllowedError):
        serde(SHAPES, allowed=OWN[:2]).loads_typed(row)


def test_bytes_cannot_have_it_make_a_class_that_is_not_of_its_bases() -> None:
    tag, data = serde(SHAPES).dumps_typed(Shape(1, 7))
    forged = data.replace(b":Shape", b":Label")
    with pytest.raises(
        PayloadError, match="Label could not be rebuilt: it is another kind of class"
    ):
        serde(SHAPES).loads_typed((tag, forged))


def test_data_that_it_refuses_is_an_error_without_its_words() -> None:
    writer = replace(SHAPES, encode=lambda shape: ("big", []))
    row = serde(writer).dumps_typed(Ball(1))
    with pytest.raises(
        PayloadError, match="Ball could not be rebuilt: its adapter raised ValueError"
    ) as caught:
        serde(SHAPES).loads_typed(row)
    assert "secret" not in str(caught.value)


def test_without_the_adapter_a_row_is_refused_or_opaque() -> None:
    row = serde(SHAPES).dumps_typed([Ball(1)])
    with pytest.raises(PayloadError, match="no form 'own:shape'"):
        serde().loads_typed(row)
    (kept,) = serde(on_unavailable="opaque").loads_typed(row)
    assert isinstance(kept, Opaque)
    assert serde(SHAPES).loads_typed(serde().dumps_typed([kept])) == [Ball(1)]


def test_the_classes_of_a_subclass_adapter_have_versions_and_upgrades(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Ball, "__once_version__", 0)
    row = serde(SHAPES).dumps_typed(Ball(1))
    monkeypatch.undo()
    once = serde(SHAPES, upgrades={f"{HERE}:Ball": f"{HERE}:grow"})
    assert once.loads_typed(row) == Ball(11)
    assert once.loads_typed(once.dumps_typed(Ball(1))) == Ball(1)


def test_an_adapted_object_that_contains_itself_is_refused() -> None:
    ball = Ball(1)
    ball.parts = (ball,)
    with pytest.raises(EncodeError, match="contains itself"):
        serde(SHAPES).dumps_typed(ball)
