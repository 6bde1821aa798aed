"""`MODEL` and `MODELS`: what is wrong with them is told, what has changed since is dealt with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ormsgpack
import pytest
from langchain_core.messages import HumanMessage
from pydantic import BaseModel, PrivateAttr

from langgraph_once.errors import PayloadError, SerdeError, SizeLimitError, TypeNotAllowedError
from langgraph_once.serde.codecs.once1 import Loader, Opaque, Registry, encode_slow
from langgraph_once.serde.codecs.once1.format.layout import MARK, Ext, pack
from tests.unit_tests.serde.fidelity.core_samples import encode, loader, read


class Before(BaseModel):
    """What `After` was when the rows were written."""

    a: int
    gone: str = ""


class After(BaseModel):
    """What `Before` is now."""

    a: int
    b: list[int] = [7]


class Secretive(BaseModel):
    """One that has learned a private attribute."""

    a: int
    gone: str = ""
    _own: int = PrivateAttr(default=0)


@dataclass
class Point:
    """A dataclass."""

    x: int
    y: int = 0


def name(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


LOADER = loader(*map(name, (Before, After, Secretive, Point)))
NO_REGISTRY = Registry()


def kinds(*each: list[Any]) -> bytes:
    return ormsgpack.packb([*each])


POINT = kinds([name(Point)])
BEFORE = kinds([name(Before), ["a"], False])


_REF = ormsgpack.Ext(Ext.REF, bytes(4))


def models(*content: Any, code: Ext = Ext.MODELS) -> bytes:
    return pack(ormsgpack.Ext(code, pack([*content])))


def test_a_list_is_written_with_a_byte_for_each_item() -> None:
    message = HumanMessage("a", id="1")
    data = encode([message, "text", Point(1, 2)], NO_REGISTRY)
    both = kinds([name(HumanMessage), ["content", "id"], True], [name(Point)])
    items = [vars(message), "text", {"x": 1, "y": 2}]
    assert data == models(both, b"\x01\x00\x02", items, MARK)
    assert encode(Point(1, 2), NO_REGISTRY) == models(POINT, items[2], MARK, code=Ext.MODEL)


@pytest.mark.parametrize(
    "data",
    [
        models(POINT, b"\x01", [{"x": 1, "y": 2}], b"ecno"),
        models(POINT, b"\x01", [{"x": 1, "y": 2}]),
        models(POINT, b"\x01\x01", [{"x": 1, "y": 2}], MARK),
        models(POINT, b"\x02", [{"x": 1, "y": 2}], MARK),
        models(POINT, "\x01", [{"x": 1, "y": 2}], MARK),
        models(POINT, b"\x01", {"x": 1, "y": 2}, MARK),
        models(POINT, b"\x01", [["x", "y"]], MARK),
        models(BEFORE, b"\x01", [{"a": 1, "z": 2}], MARK),
        models(POINT, b"\x01", [{"x": 1, "y": 2}], MARK, 1),
        models("no kinds", b"\x01", [{"x": 1, "y": 2}], MARK),
        models(kinds([name(Point), None]), b"\x01", [{"x": 1, "y": 2}], MARK),
        models(kinds([name(Before), [1], False]), b"\x01", [{"a": 1, "gone": ""}], MARK),
        models(kinds([name(Point), None, False]), b"\x01", [{"x": 1, "y": 2}], MARK),
        models(kinds(["builtins:dict"]), b"\x01", [{}], MARK),
        models(POINT + b"\x00" * 10_000, b"", [], MARK),
        models(code=Ext.MODELS),
        models(code=Ext.MODEL),
        models(kinds(), {"x": 1}, MARK, code=Ext.MODEL),
        pack(ormsgpack.Ext(Ext.MODELS, b"\x80")),
    ],
)
def test_damaged_models_are_refused(data: bytes) -> None:
    for blob in (data, pack(ormsgpack.Ext(Ext.TABLE, pack(data) + pack(b"\xd6\x0f" + bytes(4))))):
        with pytest.raises(SerdeError):
            read(blob, LOADER)


@pytest.mark.parametrize("cls", [Point, Before])
def test_objects_do_not_share_the_map_that_a_blob_gives_them(cls: type) -> None:
    values, ref = pack({"x": 1, "y": 2} if cls is Point else {"a": 1, "gone": ""}), _REF
    kind = POINT if cls is Point else BEFORE
    one = ormsgpack.Ext(Ext.MODEL, pack([kind, ref, MARK]))
    for root in ([one, one], ormsgpack.Ext(Ext.MODELS, pack([kind, b"\x01\x01", [ref] * 2, MARK]))):
        entries = pack(values) + pack(pack(root))
        first, second = read(pack(ormsgpack.Ext(Ext.TABLE, entries)), LOADER)
        assert first == second
        assert vars(first) is not vars(second)


def test_a_class_that_is_not_allowed_is_refused_with_its_place() -> None:
    data = encode({"points": [1, Point(2), [Point(3)]]}, NO_REGISTRY)
    with pytest.raises(TypeNotAllowedError, match="Point") as caught:
        read(data, loader(name(Before)))
    assert caught.value.path == '["points"][1]'


def moved(cls: type) -> Loader:
    """Return what reads rows of `Before` as another class."""
    return loader(name(cls), registry=Registry(aliases={name(Before): name(cls)}))


def test_a_field_that_the_class_has_learned_gets_its_default() -> None:
    data = models(BEFORE, b"\x01", [{"a": 1}], MARK)
    assert read(data, moved(After)) == [After(a=1)]
    assert read(data, moved(After))[0].model_fields_set == {"a"}


def test_a_field_that_the_class_has_lost_is_an_error_with_its_place() -> None:
    data = encode({"all": [Before(a=1, gone="x")]}, NO_REGISTRY)
    with pytest.raises(PayloadError, match="could not be rebuilt") as caught:
        read(data, moved(After))
    assert caught.value.path == '["all"][0]'


def test_a_class_that_has_learned_a_private_attribute_is_read_as_ever() -> None:
    data = encode([Before(a=1, gone="x")], NO_REGISTRY)
    plain = encode_slow([Before(a=1, gone="x")], NO_REGISTRY)
    assert read(data, moved(Secretive)) == read(plain, moved(Secretive))


def test_an_upgrade_is_called() -> None:
    registry = Registry(
        aliases={name(Before): name(After)},
        upgrades={name(After): lambda fields, _: {"a": fields["a"]}},
    )
    data = encode([Before(a=1, gone="x")], NO_REGISTRY)
    After.__once_version__ = 1  # type: ignore[attr-defined]  # added for the time of the test
    try:
        assert read(data, loader(name(After), registry=registry))[0].b == [7]
    finally:
        del After.__once_version__  # type: ignore[attr-defined]  # added for the time of the test


def test_what_cannot_be_rebuilt_is_opaque_where_that_is_wanted() -> None:
    value = [Point(1), {"deep": Before(a=2)}, Before(a=3)]
    data = encode(value, NO_REGISTRY)
    found = read(data, loader(name(Before)), on_unavailable="opaque")
    assert isinstance(found[0], Opaque)
    assert found[1:] == value[1:]
    assert read(encode(found, NO_REGISTRY), LOADER) == value


def test_the_objects_of_a_blob_are_bounded() -> None:
    data = models(POINT, b"\x01" * 50_000, [{"x": 1, "y": 2}] * 50_000, MARK)
    assert len(read(data, LOADER, max_objects=625_000)) == 50_000
    with pytest.raises(SizeLimitError):
        read(data, LOADER, max_objects=600_000)


def test_a_blob_does_not_grow_without_bounds_when_it_is_written_out() -> None:
    wide = kinds([name(Before), ["x" * 1000], False])
    data = models(wide, b"\x01" * 300_000, [{}] * 300_000, MARK)
    with pytest.raises(SerdeError):
        read(data, LOADER)
