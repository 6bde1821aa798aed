"""Types with parameters: named by what they are of and by the parameters."""

from __future__ import annotations

import gc
import sys
import typing
from itertools import islice, product
from typing import Any, Generic, Optional, TypedDict, TypeVar

import pytest
from langgraph._internal._serde import collect_allowlist_from_schemas
from ormsgpack import packb
from pydantic import BaseModel

from langgraph_once.errors import EncodeError, PayloadError, SizeLimitError, TypeNotAllowedError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.format import head_bytes, object_of
from langgraph_once.serde.names import class_names, found, name_of
from langgraph_once.serde.opaque import UnavailableError
from tests.unit_tests.serde.fidelity import kinds as k, model_kinds as m
from tests.unit_tests.serde.strictly import strict_config

T = TypeVar("T")
U = TypeVar("U")

HERE = __name__
PAGE = f"{m.__name__}:Page"


class Two(BaseModel, Generic[T, U]):
    first: T
    second: U | None = None


FloatPage = m.Page[float]


class Hostile(BaseModel, Generic[T]):
    item: Any = None

    @classmethod
    def __class_getitem__(cls, item: Any) -> Any:
        raise AssertionError("called")


class Later(TypedDict):
    page: m.Page[bytes]


def serde(*names: str, **settings: Any) -> OnceSerializer:
    return OnceSerializer(strict_config(compression="none", allowed_types=names, **settings))


def row_of(*names: Any) -> tuple[str, bytes]:
    """Return a row that is a list of types of these names."""
    return "once2", packb([object_of(head_bytes("named", name), None) for name in names])


def named(name: Any, *allowed: str) -> Any:
    return serde(*allowed).loads_typed(row_of(name))[0]


CLASSES: list[Any] = [
    m.Page[int],
    m.Page[k.Colour],
    m.Page[list[int]],
    m.Page[dict[str, Any]],
    m.Page[tuple[int, ...]],
    m.Page[int | None],
    m.Page[Optional[int]],  # noqa: UP045  # another class than the one above
    m.Page[None],
    m.Page[m.Page[int]],
    m.Page[list[m.Page[k.Colour | str]]],
    m.Page[k.Box[int]],
    Two[int, str],
]


@pytest.mark.parametrize("cls", CLASSES, ids=str)
def test_the_name_of_a_parametrised_class_leads_back_to_that_class(cls: Any) -> None:
    allowed = (PAGE, f"{HERE}:Two", f"{k.__name__}:Colour", f"{k.__name__}:Box")
    reader = serde(*allowed)
    value = cls.model_construct(items=[1], first=1, second=2)
    again = reader.loads_typed(reader.dumps_typed([value, cls]))
    assert type(again[0]) is again[1] is cls
    assert vars(again[0]) == vars(value)


def test_the_schema_of_a_graph_allows_it() -> None:
    types = collect_allowlist_from_schemas(schemas=[Later])
    assert types == {(m.__name__, "Page[bytes]")}
    reader = serde().with_msgpack_allowlist(types)
    page = m.Page[bytes](items=[b"a"])
    again = reader.loads_typed(reader.dumps_typed({"page": page}))["page"]
    assert type(again) is m.Page[bytes]
    assert again == page


def test_a_module_that_imports_the_generic_class_allows_it_too() -> None:
    # Where a module says `Page[float]` at its top, new pydantic gives the class that module.
    types = collect_allowlist_from_schemas(schemas=[FloatPage])
    assert types & {(HERE, "Page[float]"), (m.__name__, "Page[float]")}
    reader = serde().with_msgpack_allowlist(types)
    page = FloatPage(items=[1.5])
    assert reader.loads_typed(reader.dumps_typed([page])) == [page]


@pytest.mark.parametrize("missing", [PAGE, f"{k.__name__}:Colour"])
def test_each_class_in_it_must_be_allowed(missing: str) -> None:
    names = {PAGE, f"{k.__name__}:Colour"}
    value = m.Page[k.Colour](items=[k.Colour.RED])
    reader = serde(*names)
    data = reader.dumps_typed(value)
    assert reader.loads_typed(data) == value
    narrow = serde(*names - {missing})
    with pytest.raises(EncodeError, match=f'add "{missing}" to'):
        narrow.dumps_typed(m.Page[k.Colour](items=[]))
    with pytest.raises(TypeNotAllowedError) as caught:
        narrow.loads_typed(data)
    assert caught.value.type_name == missing


def test_nothing_is_imported_or_made_before_all_of_it_is_allowed() -> None:
    assert "this" not in sys.modules
    before = m.Page.__subclasses__()
    with pytest.raises(TypeNotAllowedError):
        named([PAGE, ["builtins:list", "this:s"], "builtins:int"], PAGE)
    assert "this" not in sys.modules
    assert {*m.Page.__subclasses__()} <= {*before}


@pytest.mark.parametrize(
    "name",
    [
        [],
        [PAGE],
        [PAGE, ""],
        [PAGE, 1],
        [PAGE, ["builtins:int"]],
        [PAGE, "builtins:int", "builtins:int"],
        [["builtins:list", "builtins:int"], "builtins:int"],
        ["types:UnionType", "builtins:int", "builtins.int"],
        ["typing:Union"],
        ["typing:Any", "builtins:int"],
        ["typing:Literal", "", {PAGE: "mro"}],
        ["typing:Literal", "", {"builtins:int": "real"}],
        ["typing:Literal", "", {f"{k.__name__}:Colour": "mro"}],
        [PAGE, *["builtins:int"] * 1000],
        1,
        None,
        "builtins",
        ":",
        "a:b:c",
    ],
    ids=repr,
)
def test_a_name_that_nothing_has_is_refused(name: Any) -> None:
    with pytest.raises((PayloadError, TypeNotAllowedError)):
        named(name, PAGE, f"{k.__name__}:Colour")


def test_a_method_that_the_class_overrides_is_not_called() -> None:
    made = named([f"{HERE}:Hostile", "builtins:int"], f"{HERE}:Hostile")
    assert made.__pydantic_generic_metadata__["args"] == (int,)


def hostile_names(count: int, depth: int = 12) -> list[Any]:
    """Return names of ever new classes."""
    made = []
    for kinds in islice(product(("list", "set"), repeat=depth), count):
        inner: Any = "builtins:int"
        for kind in kinds:
            inner = [f"builtins:{kind}", inner]
        made.append([PAGE, inner])
    return made


def test_bytes_cannot_make_ever_new_classes() -> None:
    reader = serde(PAGE, f"{k.__name__}:Colour")
    row = reader.dumps_typed(m.Page[k.Colour | str])
    for at in range(0, 500, 50):
        names = hostile_names(500)[at : at + 50]
        assert len({*reader.loads_typed(row_of(*names))}) == 50
    gc.collect()
    assert len(m.Page.__subclasses__()) < 300
    assert reader.loads_typed(row) is m.Page[k.Colour | str]


def test_one_blob_names_no_more_than_can_be_made_in_time() -> None:
    with pytest.raises(SizeLimitError, match="parametrised classes"):
        serde(PAGE).loads_typed(row_of(*hostile_names(4000)))


def test_after_any_number_of_classes_new_ones_are_read() -> None:
    reader = serde(PAGE)
    for name in hostile_names(600):
        reader.loads_typed(row_of(name))
    value = [m.Page[int](items=[1]), m.Page[list[int]](items=[])]
    assert reader.loads_typed(reader.dumps_typed(value)) == value


def test_a_class_that_somebody_holds_is_found_again_after_it_was_forgotten() -> None:
    reader = serde(PAGE)
    cls = m.Page[dict[str, bytes]]
    row = reader.dumps_typed(cls(items=[]))
    for name in hostile_names(400):
        reader.loads_typed(row_of(name))
    assert type(reader.loads_typed(row)) is cls


LITERALS: list[Any] = [
    typing.Literal["a", 1],
    typing.Literal[True],
    typing.Literal[1],
    typing.Literal[b"\xff", None, -5],  # noqa: PYI061  (a union is another parameter)
    typing.Literal["", "a (b), c", "☃", "a:b", "builtins:None", "%41"],
    typing.Literal[k.Colour.RED, k.Mode.FAST],
    list[typing.Literal["x"]] | None,
]


@pytest.mark.parametrize("literal", LITERALS, ids=str)
def test_a_literal_is_a_parameter(literal: Any) -> None:
    cls: Any = m.Page[literal]
    reader = serde(PAGE, f"{k.__name__}:Colour", f"{k.__name__}:Mode")
    page = cls.model_construct(items=["a"])
    again = reader.loads_typed(reader.dumps_typed([page, cls]))
    assert type(again[0]) is again[1] is cls


def test_the_enum_of_a_literal_must_be_allowed() -> None:
    row = serde(PAGE, f"{k.__name__}:Colour").dumps_typed(m.Page[typing.Literal[k.Colour.RED]])
    with pytest.raises(TypeNotAllowedError):
        serde(PAGE).loads_typed(row)


@pytest.mark.parametrize("parameter", [typing.Annotated[int, "note"], typing.Callable[[int], str]])
def test_a_class_without_a_name_is_written_as_langgraph_does(parameter: Any) -> None:
    page = m.Page[parameter](items=[])
    reader = OnceSerializer()
    assert reader.loads_typed(reader.dumps_typed([page])) == [{"items": []}]


def test_aliases_are_those_of_the_generic_class() -> None:
    tag, data = serde(PAGE).dumps_typed(m.Page[int](items=[1]))
    old = data.replace(b":Page", b":Roll")
    assert old != data
    moved = serde(PAGE, aliases={f"{m.__name__}:Roll": PAGE})
    assert type(moved.loads_typed((tag, old))) is m.Page[int]


def upgraded(data: Any, from_version: int) -> Any:
    return {"items": [from_version, *data["items"]]}


def test_upgrades_are_those_of_the_generic_class(monkeypatch: pytest.MonkeyPatch) -> None:
    row = serde(PAGE).dumps_typed(m.Page[int](items=[1]))
    monkeypatch.setattr(m.Page, "__once_version__", 2, raising=False)
    reader = serde(PAGE, upgrades={PAGE: f"{HERE}:upgraded"})
    assert reader.loads_typed(row).items == [0, 1]


def test_the_classes_that_a_name_is_made_of() -> None:
    name = name_of(Two[int | None, list[typing.Literal[k.Colour.RED, "a"]]])
    assert [*class_names(name)] == [
        *(f"{HERE}:Two", "builtins:int", "builtins:list", f"{k.__name__}:Colour")
    ]
    with pytest.raises(UnavailableError):
        found([PAGE], lambda name: m.Page)


@pytest.mark.parametrize("target", [k.shout, k.Plain, list, len, dict[str, int], int | None, Any])
def test_a_class_or_function_comes_back_where_it_is_listed(target: Any) -> None:
    reader = serde(f"{k.__name__}:shout", f"{k.__name__}:Plain", "builtins:len")
    (again,) = reader.loads_typed(reader.dumps_typed([target]))
    assert again is target or again == target


@pytest.mark.parametrize("value", [lambda: 1, [].append, "x".join, [1].sort])
def test_what_cannot_be_found_by_its_name_is_refused(value: Any) -> None:
    with pytest.raises(EncodeError):
        serde().dumps_typed([value])
