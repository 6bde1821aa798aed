"""Parametrised pydantic models are named by the generic class and its parameters."""

from __future__ import annotations

import sys
import typing
from itertools import product
from typing import Any, Generic, Optional, TypedDict, TypeVar

import pytest
from langgraph._internal._serde import collect_allowlist_from_schemas
from pydantic import BaseModel

from langgraph_once.errors import EncodeError, PayloadError, TypeNotAllowedError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.allowlist import Allowlist
from langgraph_once.serde.once1 import Loader, Registry
from langgraph_once.serde.once1.names import name_of
from langgraph_once.serde.once1.parametrised import parse
from tests.unit_tests.serde.strictly import strict_config

from . import kinds as k
from . import model_kinds as m

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
    return OnceSerializer(
        strict_config(codec="once1", compression="none", allowed_types=names, **settings)
    )


def named(name: str, *allowed: str) -> Any:
    config = strict_config(allowed_types=allowed)
    loader = Loader(Registry(), Allowlist.from_config(config))
    return loader.loaded_class(name, tag="once1")


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
def test_its_name_leads_back_to_the_very_class(cls: Any) -> None:
    allowed = (PAGE, f"{HERE}:Two", f"{k.__name__}:Colour", f"{k.__name__}:Box")
    reader = serde(*allowed)
    value = cls.model_construct(items=[1], first=1, second=2)
    again = reader.loads_typed(reader.dumps_typed([value, cls]))
    assert type(again[0]) is again[1] is cls
    assert vars(again[0]) == vars(value)


def test_the_name_is_what_it_was_in_the_first_release() -> None:
    assert name_of(m.Page[int]) == f"{PAGE}(builtins:int)"
    assert name_of(m.IntPage) == f"{PAGE}(builtins:int)"
    assert name_of(Two[int | None, list[Any]]) == (
        f"{HERE}:Two(types:UnionType(builtins:int, builtins:NoneType), builtins:list(typing:Any))"
    )


def test_the_name_given_at_the_top_of_a_module_is_still_read() -> None:
    reader = serde().with_msgpack_allowlist([(m.__name__, "Page[int]")])
    loader = Loader(Registry(), reader._allowlist)
    assert loader.loaded_class(f"{PAGE}[int]", tag="once1") is m.IntPage


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
    made = len(m.Page.__subclasses__())
    with pytest.raises(TypeNotAllowedError):
        named(f"{PAGE}(builtins:list(this:s), builtins:int)", PAGE)
    assert "this" not in sys.modules
    assert len(m.Page.__subclasses__()) == made


@pytest.mark.parametrize(
    "name",
    [
        "{}(",
        "{}()",
        "{}(builtins:int",
        "{}(builtins:int))",
        "{}(builtins:int)x",
        "{}(builtins:int,builtins:int)",
        "{}(builtins:int, )",
        "{}(int)",
        "{}((builtins:int))",
        "{}(builtins:int)(builtins:int)",
        "(builtins:int)",
        "{}(builtins:int, builtins:int)",
        "{}(typing:Any(builtins:int))",
        "types:UnionType()",
        "types:UnionType(builtins:int, builtins:str)",
        "typing:Union",
        "builtins:int(builtins:int)",
        "typing:Any",
        "{}(" * 30 + "builtins:int" + ")" * 30,
    ],
)
def test_a_name_that_no_class_has_is_refused(name: str) -> None:
    with pytest.raises((PayloadError, TypeNotAllowedError)):
        named(name.replace("{}", PAGE), PAGE)


def test_a_method_that_the_class_overrides_is_not_called() -> None:
    made = named(f"{HERE}:Hostile(builtins:int)", f"{HERE}:Hostile")
    assert made.__pydantic_generic_metadata__["args"] == (int,)


def test_bytes_cannot_make_ever_new_classes() -> None:
    loader = Loader(Registry(), Allowlist.from_config(strict_config(allowed_types=(PAGE,))))
    names = [
        f"{PAGE}({''.join(f'builtins:{kind}(' for kind in kinds)}builtins:int{')' * 10}"
        for kinds in product(("list", "set"), repeat=9)
    ]
    made = {loader.loaded_class(name, tag="once1") for name in names[:256]}
    assert len(made) == 256
    with pytest.raises(PayloadError, match="more than 256"):
        loader.loaded_class(names[256], tag="once1")
    assert loader.loaded_class(names[0], tag="once1") in made


@pytest.mark.parametrize(
    "parameter", [typing.Literal["a"], typing.Annotated[int, "note"], typing.Callable[[int], str]]
)
def test_a_parameter_that_is_not_made_of_classes_is_refused_with_the_reason(parameter: Any) -> None:
    page = m.Page[parameter](items=[])
    with pytest.raises(EncodeError, match="not made of classes"):
        serde(PAGE).dumps_typed(page)


def test_a_parameter_without_a_name_is_refused() -> None:
    class Local(BaseModel):
        pass

    with pytest.raises(EncodeError, match="does not lead back"):
        serde(PAGE).dumps_typed(m.Page[Local](items=[]))


def test_aliases_are_those_of_the_generic_class() -> None:
    tag, data = serde(PAGE).dumps_typed(m.Page[int](items=[1]))
    old = data.replace(b":Page(", b":Roll(")
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


def test_a_name_taken_apart_is_put_together_again() -> None:
    for cls in CLASSES:
        assert str(parse(name_of(cls))) == name_of(cls)
