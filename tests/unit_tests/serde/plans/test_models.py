"""Models come back as their parts, without validation, unless they do not fit their class."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Generic, Literal, TypeVar

import pydantic.v1
import pytest
from pydantic import (
    AnyUrl,
    Base64Bytes,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    Json,
    PostgresDsn,
    PrivateAttr,
    RootModel,
    SecretStr,
    ValidationInfo,
    computed_field,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from langgraph_once.serde import OpaqueDict, OpaqueList
from langgraph_once.serde.opaque import UnwritableError
from langgraph_once.serde.plans.models import ModelForm
from tests.unit_tests.serde.labels import label
from tests.unit_tests.serde.plans.forms import (
    assert_comes_back,
    back,
    each,
    make,
    moved,
    shown,
    stock_shown,
    take,
)

T = TypeVar("T")


class Plain(BaseModel):
    name: str
    count: int = 0
    tags: list[str] = []


class Child(Plain):
    more: str = ""


class Holder(BaseModel):
    item: Plain
    value: Any = None


class Page(BaseModel, Generic[T]):
    items: list[T]


class Private(BaseModel):
    name: str
    _token: str = PrivateAttr(default="none")
    _cache: dict[str, Any] = PrivateAttr(default_factory=dict)
    _unset: int = PrivateAttr()


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str


class Words(RootModel[list[str]]):
    pass


class Computing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    width: int

    @computed_field  # type: ignore[prop-decorator]  # mypy has no decorated properties
    @property
    def area(self) -> int:
        return self.width**2

    @functools.cached_property
    def perimeter(self) -> int:
        return self.width * 4


class Odd(BaseModel):
    """Its dump is not what it is made of, and its validators change it each time."""

    count: int
    share: float = 0.5
    data: Base64Bytes = b"YQ=="
    payload: Json[Any] = "[1]"
    hidden: str = Field(default="", exclude=True)
    kind: Annotated[Literal["odd"], Field(alias="theKind")] = "odd"

    @field_validator("count")
    @classmethod
    def grow(cls, value: int) -> int:
        return value + 1

    @field_serializer("share")
    def as_percent(self, value: float) -> str:
        return f"{value:.0%}"

    @model_serializer
    def packed(self) -> dict[str, Any]:
        return {"sum": 3}

    def model_post_init(self, context: Any, /) -> None:
        self.share /= 2


class FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str


class Account(BaseModel):
    password: SecretStr
    site: HttpUrl = HttpUrl("https://example.org")


class Learning(BaseModel):
    """A default that takes the other values."""

    name: str
    made: str = Field(default_factory=lambda data: data["name"] * 2)


class OldAddress(pydantic.v1.BaseModel):
    city: str


class OldPerson(pydantic.v1.BaseModel):
    name: str
    address: Any = None
    _token: str = pydantic.v1.PrivateAttr(default="none")


class OldOpen(pydantic.v1.BaseModel):
    name: str

    class Config:
        extra = "allow"


class OldScaling(pydantic.v1.BaseModel):
    amount: int

    @pydantic.v1.validator("amount")
    def double(cls, value: int) -> int:  # noqa: N805  # it gets the class
        return value * 2


def changed(value: Any, **attributes: Any) -> Any:
    for name, attribute in attributes.items():
        setattr(value, name, attribute)
    return value


def cached() -> Computing:
    made = Computing(width=2)
    assert made.perimeter == 8
    return made


def without(value: Any, *names: str) -> Any:
    for name in names:
        delattr(value, name)
    return value


SAMPLES: dict[str, Any] = {
    "plain": Plain(name="a"),
    "fields set": Plain(name="a", count=0),
    "nested, child in a field of its base": Holder(item=Child(name="a", more="b"), value=(1, {2})),
    "generic": Page[int](items=[1]),
    "generic of a generic": Page[Page[str]](items=[Page[str](items=["a"])]),
    "generic without parameter": Page(items=[(1,), "a"]),
    "private attributes": changed(Private(name="a"), _token="b", _cache={1: (2,)}),
    "private attribute unset": without(Private(name="a"), "_token"),
    "extra values": Open(name="a", colour=(1, 2)),  # type: ignore[call-arg]  # any extra values
    "no extra values": Open(name="a"),
    "root": Words(["a"]),
    "cached property": cached(),
    "odd": Odd(count=1, hidden="h"),
    "frozen": FrozenModel(name="a"),
    "secret and URL": Account(password=SecretStr("p")),
    "assigned": changed(Plain(name="a"), count="many"),
    "model_construct": Plain.model_construct({"name"}, name=1),
    "model_construct, required field missing": Plain.model_construct(count=1),
    "model_copy(update=)": Plain(name="a").model_copy(update={"name": 3, "new": (1,)}),
    "deleted": without(Plain(name="a", count=3), "count"),
    "default of values": Learning(name="a"),
    "1: model": OldPerson(name="a", address=OldAddress(city="c")),
    "1: fields set": OldPerson.construct({"name"}, name="a", address=None),
    "1: private attributes": changed(OldPerson(name="a"), _token="b"),
    "1: extra values": OldOpen(name="a", tags=("b",)),  # type: ignore[call-arg]  # as above
    "1: validator": OldScaling(amount=1),
    "1: secret": pydantic.v1.SecretStr("s"),
}


@pytest.mark.parametrize("value", [*SAMPLES.values()], ids=[*SAMPLES])
def test_a_model_comes_back_as_it_was(value: Any) -> None:
    assert_comes_back(value)
    assert_comes_back([value, value])


@pytest.mark.parametrize(
    "value",
    [AnyUrl("https://example.org/a?b=c#d"), PostgresDsn("postgresql://a:b@h1,h2/db")],
    ids=str,
)
def test_a_url_comes_back_as_it_was(value: Any) -> None:
    assert_comes_back(value)


def test_a_model_may_contain_itself() -> None:
    value = Holder(item=Plain(name="a"))
    value.value = [value]
    again = back(value)
    assert again.value[0] is again


def test_one_model_stays_one() -> None:
    plain = Plain(name="a")
    first, second = back([plain, Holder(item=plain, value=plain)])
    assert first is second.item is second.value


@pytest.mark.parametrize(
    "value",
    [
        *(Plain(name="a", tags=["b"]), FrozenModel(name="a"), Open(name="a", more=[1])),  # type: ignore[call-arg]  # as above
        *(Private(name="a"), Words(["a"]), OldPerson(name="a"), OldOpen(name="a", more=1)),  # type: ignore[call-arg]  # as above
    ],
    ids=label,
)
def test_without_its_class_it_is_what_langgraph_hands_on(value: Any) -> None:
    found = shown(value)
    assert found == stock_shown(value)
    assert type(found) is (OpaqueList if isinstance(value, Words) else OpaqueDict)


class Added(BaseModel):
    """What `Plain` became, where only fields with defaults were added."""

    name: str
    count: int = 0
    tags: list[str] = []
    fresh: list[int] = [7]
    _own: list[int] = PrivateAttr(default_factory=list)

    @field_validator("name")
    @classmethod
    def refuse(cls, _value: str) -> str:
        raise AssertionError


class Renamed(BaseModel):
    """What `Plain` became: `name` has another name, which its validator knows."""

    full_name: str
    count: int = 0

    @model_validator(mode="before")
    @classmethod
    def of_old(cls, data: Any) -> Any:
        if "name" in data:
            data["full_name"] = data.pop("name").upper()
        return data


class Demanding(BaseModel):
    """What `Plain` became: a field is new, and one is gone."""

    name: str
    must: int


class Narrow(BaseModel):
    name: str


class NarrowOpen(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str


class OldNarrow(pydantic.v1.BaseModel):
    name: str
    new: int = 5


class OldDemanding(pydantic.v1.BaseModel):
    name: str
    must: int


def test_new_fields_get_their_defaults_and_no_validator_runs() -> None:
    found = moved(Plain(name="a"), Added)
    assert vars(found) == {"name": "a", "count": 0, "tags": [], "fresh": [7]}
    assert found.model_fields_set == {"name"}
    assert found._own == []
    assert moved(Plain(name="a"), Added)._own is not found._own


def test_a_row_that_does_not_fit_its_class_is_read_as_langgraph_reads_it() -> None:
    found = moved(Plain(name="a", count=3), Renamed)
    assert (found.full_name, found.count) == ("A", 3)
    assert moved(Plain(name="a"), Narrow) == Narrow(name="a")
    assert moved(Plain(name="a"), NarrowOpen).__pydantic_extra__ == {"count": 0, "tags": []}
    demanding = moved(Plain(name="a"), Demanding)
    assert (demanding.name, hasattr(demanding, "must")) == ("a", False)


def test_a_row_of_pydantic_1_that_does_not_fit_is_read_as_langgraph_reads_it() -> None:
    found = moved(OldPerson(name="a", address=1), OldNarrow)
    assert (found.dict(), found.__fields_set__) == ({"name": "a", "new": 5}, {"name"})
    assert moved(OldPerson(name="a"), OldDemanding).name == "a"
    assert moved(OldNarrow(name="a"), OldPerson)._token == "none"


class Slotted(Plain):
    __slots__ = ("left",)


def test_a_model_with_slots_is_written_as_langgraph_writes_it() -> None:
    with pytest.raises(UnwritableError):
        take(Slotted(name="a"))
    found = back([Slotted(name="a", count=2)])[0]
    assert (type(found), found.count) == (Slotted, 2)


def test_a_model_that_was_never_initialised_cannot_be_taken() -> None:
    with pytest.raises(UnwritableError, match="never initialised"):
        take(object.__new__(Plain))


class OldUnset(pydantic.v1.BaseModel):
    name: str
    _token: str = pydantic.v1.PrivateAttr()


def test_a_private_attribute_that_was_never_set_is_not_set() -> None:
    found = back([OldUnset(name="a")])[0]
    assert found == OldUnset(name="a")
    assert not hasattr(found, "_token")


def test_what_others_have_put_into_a_model_that_no_field_takes_cannot_be_taken() -> None:
    unnamed, strange = Plain(name="a"), OldAddress.construct()
    unnamed.__pydantic_fields_set__.add(1)  # type: ignore[arg-type]  # no name, as is tested
    strange.__dict__["stray"] = 1
    with pytest.raises(UnwritableError, match="is not text"):
        ModelForm().extra(unnamed)
    with pytest.raises(UnwritableError, match="that is no field"):
        take(strange)


@pytest.mark.parametrize("where", ["__dict__", "__pydantic_private__", "__pydantic_extra__"])
def test_what_has_no_name_is_not_written_since_it_could_not_be_read(where: str) -> None:
    class Holds(BaseModel, extra="allow"):
        _token: str = PrivateAttr("")

    value = Holds()
    getattr(value, where)[1] = 2
    with pytest.raises(UnwritableError, match="is not text"):
        take(value)


def test_the_fields_set_stand_in_the_head_and_the_values_are_the_data() -> None:
    value = Plain(name="a", count=1)
    assert take(value) == vars(value)
    assert ModelForm().extra(value) == (["count", "name"],)
    assert ModelForm().extra(Plain(name="a", count=1, tags=[])) == (None,)


WHOLE = {"name": "a", "count": 1, "tags": []}


@pytest.mark.parametrize(
    ("cls", "data", "extra"),
    [
        *each(Plain, WHOLE, extra=[]),
        *each(Plain, WHOLE, extra=[1]),
        *each(Plain, WHOLE, extra=[[1]]),
        *each(Plain, WHOLE, extra=[None, True, 1]),
        *each(Plain, [], "a", None, [WHOLE, None, None, {}], [[]] * 5, extra=[None]),
        (Plain, [WHOLE, None, None, {1: 2}, []], [None]),
        (Plain, [WHOLE, [], None, {}, []], [None]),
        (Plain, [WHOLE, None, None, {}, [1]], [None]),
        (Private, [{"name": "a"}, None, {1: 2}, {}, []], [None]),
        *each(OldPerson, [], {}, [{}, [], []], [{1: 1}, [], {}], extra=[]),
        (OldPerson, [{"name": "a"}, [1], {}], []),
        *each(AnyUrl, 1, "no url", extra=[]),
    ],
    ids=label,
)
def test_data_of_another_shape_are_refused(cls: type, data: Any, extra: list[Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        make(cls, data, *extra)


def test_values_that_bytes_say_to_be_private_are_no_attributes() -> None:
    made = make(Private, [{"name": "a"}, None, {"_other": 1}, {}, []], None)
    assert made.__pydantic_private__ == {"_token": "none", "_cache": {}}


def test_validation_info_is_never_asked_for() -> None:
    class Strict(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def refuse(cls, _value: str, _info: ValidationInfo) -> str:
            raise AssertionError

    assert make(Strict, {"name": "a"}, None).name == "a"
