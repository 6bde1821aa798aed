"""Rows of classes that have changed since: what an upgrade function gets, and may return."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import attrs
import pydantic
import pydantic.v1
import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, RootModel

from langgraph_once.errors import PayloadError
from langgraph_once.serde import OnceSerializer, OpaqueDict
from tests.unit_tests.serde.strictly import strict_config

HERE = __name__


@dataclass
class Order:
    """The row was written before `total` was in cents and called `cents`."""

    __once_version__ = 1
    number: str
    cents: int = 0
    tags: list[str] = field(default_factory=list)


@dataclass
class OldOrder:
    number: str
    total: float
    gone: bool = True


@dataclass(frozen=True, slots=True)
class Slotted:
    __once_version__ = 1
    cents: int


@dataclass(frozen=True, slots=True)
class OldSlotted:
    total: float


@pydantic.dataclasses.dataclass
class Checked:
    __once_version__ = 1
    cents: int


@pydantic.dataclasses.dataclass
class OldChecked:
    total: float


@attrs.define
class Attrs:
    __once_version__ = 1
    cents: int


@attrs.define
class OldAttrs:
    total: float


class Model(BaseModel):
    __once_version__ = 1
    model_config = ConfigDict(extra="allow")

    number: str
    cents: int = 0
    secret: str = Field("", exclude=True)
    noted: str = "no"
    _seen: int = PrivateAttr(0)
    _new: list[int] = PrivateAttr(default_factory=lambda: [7])


class OldModel(BaseModel):
    model_config = ConfigDict(extra="allow")

    number: str
    total: float
    secret: str = Field(default="", exclude=True)
    _seen: int = PrivateAttr(0)


class Narrow(BaseModel):
    __once_version__ = 1
    number: str


class Root(RootModel[list[int]]):
    __once_version__ = 1


class OldRoot(RootModel[list[float]]):
    pass


class V1(pydantic.v1.BaseModel):
    __once_version__: ClassVar[int] = 1
    cents: int
    other: str = "default"
    unset: str = "as ever"
    _seen: int = pydantic.v1.PrivateAttr(0)


class OldV1(pydantic.v1.BaseModel):
    total: float
    unset: str = "as ever"
    _seen: int = pydantic.v1.PrivateAttr(0)


class Pair(NamedTuple):
    number: str
    cents: int


Pair.__once_version__ = 1  # type: ignore[attr-defined]  # mypy takes it for a field in there


class OldPair(NamedTuple):
    total: float


class Colour(enum.Enum):
    __once_version__ = 1
    CRIMSON = "red"


class OldColour(enum.Enum):
    RED = 1


class Text(str):
    __once_version__ = 1
    language: str


class OldText(str):
    language: str


class Items(list[Any]):
    __once_version__ = 1


class OldItems(list[Any]):
    pass


class RunError(Exception):
    __once_version__ = 1


class OldRunError(Exception):
    pass


class Inherits(Order):
    pass


class OldInherits(OldOrder):
    pass


class OwnVersion(Order):
    __once_version__ = 2


SEEN: list[Any] = []
"""What the functions below were given."""


def cents(data: dict[str, Any], from_version: int) -> dict[str, Any]:
    SEEN.append((dict(data), from_version))
    data["cents"] = round(data.pop("total") * 100)
    data.pop("gone", None)
    return data


def note(data: dict[str, Any], from_version: int) -> dict[str, Any]:
    data = cents(data, from_version)
    data["noted"] = data.pop("note")  # an extra value becomes a field
    data["_seen"] += 1
    return data


def root(data: dict[str, Any], _from_version: int) -> dict[str, Any]:
    return {"root": [round(item * 100) for item in data["root"]]}


def pair(data: dict[str, Any], _from_version: int) -> dict[str, Any]:
    return {"number": "?", "cents": round(data["total"] * 100)}


def colour(data: str, _from_version: int) -> str:
    return {"RED": "CRIMSON"}[data]


def text(data: list[Any], _from_version: int) -> list[Any]:
    value, attributes = data
    return [value.upper(), attributes]


def items(data: list[Any], _from_version: int) -> list[Any]:
    return [item * 100 for item in data]


def failure(data: list[Any], _from_version: int) -> list[Any]:
    args, *rest = data
    return [[*args, "again"], *rest]


def raising(_data: Any, _from_version: int) -> Any:
    raise KeyError("the secret text")


def nothing(data: dict[str, Any], from_version: int) -> None:
    cents(data, from_version)


def unknown_field(data: dict[str, Any], _from_version: int) -> dict[str, Any]:
    return {**data, "mistyped": 1}


def root_of_pair(data: dict[str, Any], _from_version: int) -> dict[str, Any]:
    return {"root": data["total"]}


def two_parts(data: Any, _from_version: int) -> Any:
    return data, data


def read(old: Any, new: type, function: Any = None, **settings: Any) -> Any:
    """Write `old`, and read it where its class has become `new`."""
    names = [f"{HERE}:{cls.__name__}" for cls in (type(old), new)]
    writer = OnceSerializer(strict_config(allowed_types=(names[0],), compression="none"))
    upgrades = {} if function is None else {names[1]: f"{HERE}:{function.__name__}"}
    reader = OnceSerializer(
        strict_config(
            **{
                "allowed_types": names,
                "aliases": {names[0]: names[1]} if type(old) is not new else {},
                "upgrades": upgrades,
            }
            | settings
        )
    )
    return reader.loads_typed(writer.dumps_typed(["beside", old]))[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OldOrder("7", 1.5), Order("7", 150)),
        (OldSlotted(1.5), Slotted(150)),
        (OldChecked(1.5), Checked(150)),
        (OldAttrs(1.5), Attrs(150)),
    ],
    ids=repr,
)
def test_an_upgrade_of_dataclasses_and_attrs_classes_is_given_a_dictionary_of_attributes(
    old: Any, new: Any
) -> None:
    SEEN.clear()
    back = read(old, type(new), cents)
    assert (type(back), back) == (type(new), new)
    ((given, version),) = SEEN
    assert (given["total"], version) == (1.5, 0)


def old_model() -> OldModel:
    old = OldModel.model_validate({"number": "7", "total": 1.5, "note": "yes", "more": (1, 2)})
    old._seen = 3
    old.secret = "s"
    return old


def test_an_upgrade_of_a_model_is_given_all_that_it_holds() -> None:
    SEEN.clear()
    back = read(old_model(), Model, note)
    assert SEEN[0][0] == {
        "number": "7",
        "total": 1.5,
        "secret": "s",
        "note": "yes",
        "more": (1, 2),
        "_seen": 3,
    }
    assert vars(back) == {"number": "7", "cents": 150, "secret": "s", "noted": "yes"}
    assert back.__pydantic_extra__ == {"more": (1, 2)}
    assert back.__pydantic_private__ == {"_seen": 4, "_new": [7]}
    assert back.model_fields_set == {"number", "cents", "secret", "noted", "more"}


def test_fields_that_were_not_set_stay_so_and_learned_ones_get_their_defaults() -> None:
    back = read(OldModel(number="7", total=2), Model, cents)
    assert back.model_fields_set == {"number", "cents"}
    assert (back.secret, back.noted) == ("", "no")


def test_an_upgrade_of_a_root_model_is_given_its_root() -> None:
    assert read(OldRoot([1.5]), Root, root) == Root([150])


def test_an_upgrade_of_a_pydantic_1_model_is_given_fields_and_private_attributes() -> None:
    SEEN.clear()
    old = OldV1(total=1.5)
    old._seen = 3
    back = read(old, V1, cents)
    assert SEEN[0][0] == {"total": 1.5, "unset": "as ever", "_seen": 3}
    assert (back.cents, back._seen, back.__fields_set__) == (150, 3, {"cents"})


def old_text() -> OldText:
    made = OldText("hallo")
    made.language = "de"
    return made


def test_an_upgrade_of_other_kinds_is_given_what_the_document_says() -> None:
    assert read(OldPair(1.5), Pair, pair) == Pair("?", 150)
    assert read(OldColour.RED, Colour, colour) is Colour.CRIMSON
    made = read(old_text(), Text, text)
    assert (type(made), made, made.language) == (Text, "HALLO", "de")
    assert read(OldItems([1, 2]), Items, items) == Items([100, 200])
    assert read(OldRunError("no"), RunError, failure).args == ("no", "again")


def test_a_subclass_has_its_version_and_its_upgrade_from_one_class() -> None:
    allowed = tuple(f"{HERE}:{cls.__name__}" for cls in (OldInherits, Inherits, OwnVersion))
    for cls, upgraded in ((Inherits, True), (OwnVersion, False)):
        back = read(
            OldInherits("7", 1.5),
            cls,
            allowed_types=allowed,
            aliases={f"{HERE}:OldInherits": f"{HERE}:{cls.__name__}"},
            upgrades={f"{HERE}:Order": f"{HERE}:cents"},
        )
        assert (back.cents == 150, hasattr(back, "total")) == (upgraded, not upgraded)


@pytest.mark.parametrize(
    ("old", "new", "function", "told"),
    [
        (OldOrder("7", 1.5), Order, raising, "its upgrade function raised KeyError for version 0"),
        (OldOrder("7", 1.5), Order, nothing, "returned a NoneType .* must return a dictionary"),
        (OldOrder("7", 1.5), Order, two_parts, "returned a tuple .* must return a dictionary"),
        (Narrow(number="7"), Narrow, unknown_field, "no field 'mistyped', which its upgrade"),
        (OldPair(1.5), Pair, raising, "its upgrade function raised KeyError"),
        (OldPair(1.5), Pair, two_parts, "returned a tuple .* must return a dictionary"),
        (OldPair(1.5), Pair, root_of_pair, "its class has other fields today"),
        (OldColour.RED, Colour, raising, "its upgrade function raised KeyError"),
    ],
)
def test_what_goes_wrong_is_told_with_its_place(
    old: Any, new: Any, function: Any, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if type(old) is new:
        monkeypatch.setattr(new, "__once_version__", 0)
        row = OnceSerializer(strict_config(allowed_types=(f"{HERE}:{new.__name__}",))).dumps_typed(
            ["beside", old]
        )
        monkeypatch.undo()
        reader = OnceSerializer(
            strict_config(
                allowed_types=(f"{HERE}:{new.__name__}",),
                upgrades={f"{HERE}:{new.__name__}": f"{HERE}:{function.__name__}"},
            )
        )
        with pytest.raises(PayloadError, match=told) as caught:
            reader.loads_typed(row)
    else:
        with pytest.raises(PayloadError, match=told) as caught:
            read(old, new, function)
    assert f"{HERE}:" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("function", [None, cents])
def test_a_row_that_is_newer_than_its_class_is_refused(
    function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Order, "__once_version__", 4)
    row = OnceSerializer(strict_config(allowed_types=(f"{HERE}:Order",))).dumps_typed([Order("7")])
    monkeypatch.undo()
    upgrades = {} if function is None else {f"{HERE}:Order": f"{HERE}:cents"}
    settings: dict[str, Any] = {"allowed_types": (f"{HERE}:Order",), "upgrades": upgrades}
    told = "version 4 of its class wrote it, and `__once_version__` is 1 here"
    with pytest.raises(PayloadError, match=told):
        OnceSerializer(strict_config(**settings)).loads_typed(row)
    kept = OnceSerializer(strict_config(**settings, on_unavailable="opaque")).loads_typed(row)
    assert isinstance(kept[0], OpaqueDict)


def test_without_a_function_learned_fields_get_their_defaults() -> None:
    assert read(Order("7", 5), Order).tags == []


class Bare(BaseModel):
    number: str


def test_private_attributes_that_the_class_has_learned_get_their_defaults() -> None:
    back = read(Bare(number="7"), Model)
    assert back.__pydantic_private__ == {"_seen": 0, "_new": [7]}
    assert back._new is not read(Bare(number="7"), Model)._new
