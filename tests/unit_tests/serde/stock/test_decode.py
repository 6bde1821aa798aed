"""Reading what upstream writes: the same value, or an error; never something in its place."""

from __future__ import annotations

from datetime import datetime
from enum import Enum, Flag
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import ormsgpack
import pytest
from hypothesis import given
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel, field_validator

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import PayloadError, TypeNotAllowedError
from langgraph_once.serde import OnceSerializer, Opaque
from tests.unit_tests.serde.labels import label
from tests.unit_tests.serde.samples import (
    OWN_TYPES,
    OWN_VALUES,
    SAFE_VALUES,
    VALUES,
    Colour,
    OldModel,
    Outer,
    Profile,
    Refusing,
    Task,
    Words,
    allow,
)
from tests.unit_tests.serde.strictly import strict_config

UPSTREAM = JsonPlusSerializer(
    allowed_msgpack_modules=[tuple(name.split(":")) for name in OWN_TYPES]
)
PLAIN = strict_config(compression="none", allowed_types=OWN_TYPES)


def ext(code: int, *content: Any) -> bytes:
    return ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(list(content))))


def load(blob: bytes, *allowed: type) -> Any:
    return OnceSerializer(strict_config(allowed_types=allow(*allowed))).loads_typed(
        ("msgpack", blob)
    )


def same(one: Any, other: Any) -> bool:
    """Equality that also compares types, inside containers and dataclasses too."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[k], other[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "__dict__") and not isinstance(one, type):
        return one == other and all(
            same(v, vars(other).get(k)) for k, v in vars(one).items() if not k.startswith("_")
        )
    return bool(one == other)


@pytest.mark.parametrize("value", SAFE_VALUES, ids=label)
def test_safe_values_come_back_as_upstream_returns_them(value: Any) -> None:
    blob = UPSTREAM.dumps_typed(value)
    expected = UPSTREAM.loads_typed(blob)
    assert same(OnceSerializer(strict_config()).loads_typed(blob), expected)


@pytest.mark.parametrize("value", OWN_VALUES, ids=label)
def test_own_values_come_back_where_their_types_are_allowed(value: Any) -> None:
    blob = UPSTREAM.dumps_typed(value)
    assert same(OnceSerializer(PLAIN).loads_typed(blob), UPSTREAM.loads_typed(blob))
    open_to_all = OnceSerializer(strict_config(enforcement="open"))
    assert same(open_to_all.loads_typed(blob), UPSTREAM.loads_typed(blob))


@pytest.mark.parametrize("value", OWN_VALUES, ids=label)
def test_own_values_are_refused_where_they_are_not(value: Any) -> None:
    with pytest.raises(TypeNotAllowedError) as caught:
        OnceSerializer(strict_config()).loads_typed(UPSTREAM.dumps_typed(value))
    assert caught.value.type_name in OWN_TYPES
    assert caught.value.tag == "msgpack"


@given(VALUES)
def test_any_value_comes_back_as_upstream_returns_it(value: Any) -> None:
    blob = UPSTREAM.dumps_typed(value)
    assert same(OnceSerializer(strict_config()).loads_typed(blob), UPSTREAM.loads_typed(blob))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<i4", ">f8", "?", "<c16", "S3"])
def test_arrays_come_back_as_upstream_returns_them(order: Any, dtype: str) -> None:
    np = pytest.importorskip("numpy")
    array = np.array([[1, 0], [0, 3]], dtype=dtype, order=order)
    blob = UPSTREAM.dumps_typed(array)
    ours, theirs = OnceSerializer(strict_config()).loads_typed(blob), UPSTREAM.loads_typed(blob)
    assert (ours.dtype, ours.shape, ours.flags.f_contiguous) == (
        theirs.dtype,
        theirs.shape,
        theirs.flags.f_contiguous,
    )
    assert (ours == theirs).all()


def test_a_set_of_tuples_stays_one_where_upstream_returns_lists() -> None:
    value = {(1, (2, "a")), (3, 4)}
    blob = UPSTREAM.dumps_typed(value)
    assert UPSTREAM.loads_typed(blob) != value
    assert OnceSerializer(strict_config()).loads_typed(blob) == value


def test_a_root_model_stays_one_where_upstream_returns_a_list() -> None:
    blob = UPSTREAM.dumps_typed(Words(["a"]))
    assert load(blob[1], Words) == Words(["a"])


def test_a_nested_enum_stays_one_where_upstream_returns_its_value() -> None:
    assert load(UPSTREAM.dumps_typed(Outer.Inner.ONE)[1], Outer.Inner) is Outer.Inner.ONE


def test_a_model_that_refuses_its_own_dump_is_rebuilt_without_validation() -> None:
    value = Refusing.model_construct(even=3)
    assert load(UPSTREAM.dumps_typed(value)[1], Refusing) == value


def test_models_are_validated_where_they_can_be() -> None:
    blob = ext(
        5, Profile.__module__, "Profile", {"name": "x", "net": "::/64"}, "model_validate_json"
    )
    assert load(blob, Profile) == Profile(name="x", net="::/64")  # type: ignore[arg-type]  # text is validated to a network


def test_deep_nesting_that_upstream_writes_is_read() -> None:
    value: Any = None
    for _ in range(300):
        value = Task("t", value)
    assert load(UPSTREAM.dumps_typed(value)[1], Task) == value


NETWORK = ormsgpack.Ext(0, ormsgpack.packb(["ipaddress", "IPv6Network", "::/64"]))
ENDLESS = {"value": {}, "key": "k", "namespace": NETWORK, "created_at": "", "updated_at": ""}
"""The constructor of an item goes through its namespace: here 2**64 addresses."""


@pytest.mark.parametrize(
    ("blob", "named"),
    [
        (ext(0, "uuid", "UUID", "not a uuid"), "uuid:UUID"),
        (ext(0, "decimal", "Decimal", "x"), "decimal:Decimal"),
        (ext(1, "datetime", "date", [2025, 13, 1]), "datetime:date"),
        (ext(1, "re", "compile", ["(", 0]), "re:compile"),
        (ext(2, "datetime", "time", {"hour": 99}), "datetime:time"),
        (ext(2, "langgraph.types", "Interrupt", ["a"]), "langgraph.types:Interrupt"),
        (ext(3, "datetime", "datetime", "never", "fromisoformat"), "datetime:datetime"),
        (ext(4, OldModel.__module__, "OldModel", 5), f"{OldModel.__module__}:OldModel"),
        (ext(4, "langgraph.store.base", "Item", {"key": "k"}), "langgraph.store.base:Item"),
        (ext(2, "langgraph.store.base", "Item", ENDLESS), "langgraph.store.base:Item"),
        (ext(0, Colour.__module__, "Colour", "green"), f"{Colour.__module__}:Colour"),
        (ext(2, Task.__module__, "Task", {"size": 3}), f"{Task.__module__}:Task"),
        (ext(6, "<i4", [3], "C", b"12345"), "numpy:ndarray"),
        (ext(6, "O", [1], "C", b"12345678"), "numpy:ndarray"),
    ],
)
def test_what_cannot_be_rebuilt_is_an_error_that_names_the_type(blob: bytes, named: str) -> None:
    for wrapped in (blob, ormsgpack.packb([1])[:-1] + blob):
        with pytest.raises(PayloadError, match=named) as caught:
            load(wrapped, OldModel, Colour, Task)
        assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    "content",
    [
        None,
        5,
        "text",
        [],
        ["uuid"],
        ["uuid", "UUID"],
        ["uuid", "UUID", 1, 2, 3],
        [1, 2, 3],
        ["uuid", None, ""],
        ["x" * 400, "UUID", ""],
        {"a": 1},
        [b"uuid", b"UUID", "x"],
    ],
)
@pytest.mark.parametrize("code", [0, 1, 2, 3, 4, 5])
def test_an_extension_of_the_wrong_shape_is_refused(code: int, content: Any) -> None:
    with pytest.raises((PayloadError, TypeNotAllowedError)):
        load(ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(content))))


@pytest.mark.parametrize("code", [8, 9, 100, 127, -1, -2, -128])
def test_an_unknown_extension_is_refused(code: int) -> None:
    with pytest.raises(PayloadError, match="could not be rebuilt"):
        load(b"\x91\xd4" + code.to_bytes(1, signed=True) + b"\xc0")


def test_an_interrupt_in_a_constructor_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Task, name: str, inner: Any = None) -> None:
        raise KeyboardInterrupt

    blob = UPSTREAM.dumps_typed([Task("x")])[1]
    monkeypatch.setattr(Task, "__init__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load(blob, Task)


def kept(blob: bytes) -> Any:
    return OnceSerializer(SerdeConfig(enforcement="strict")).loads_typed(("msgpack", blob))


@pytest.mark.parametrize(
    ("blob", "shown"),
    [
        (ext(0, "gone_module", "Gone", "text"), "text"),
        (ext(0, "gone_module", "Gone", 7), 7),
        (ext(0, "gone_module", "Gone", 0.5), 0.5),
        (ext(1, "gone_module", "Gone", [1, 2]), [1, 2]),
        (ext(2, "gone_module", "Gone", {"a": 1}), {"a": 1}),
        (ext(3, "gone_module", "Gone", "text", "method"), "text"),
        (ext(3, "datetime", "datetime", "2025-01-01", "fromtimestamp"), "2025-01-01"),
        (ext(4, Task.__module__, "Task", {"a": 1}), {"a": 1}),
        (ext(5, "gone_module", "Gone", {"a": b"x"}, "model_validate_json"), {"a": b"x"}),
        (ext(0, "uuid", "UUID", "no uuid"), "no uuid"),
        (ext(0, "subprocess", "Popen", ["ls"]), ["ls"]),
    ],
)
def test_what_langgraph_hands_on_stands_for_what_cannot_be_made(blob: bytes, shown: Any) -> None:
    found = kept(blob)
    assert (
        found
        == shown
        == JsonPlusSerializer(allowed_msgpack_modules=None).loads_typed(("msgpack", blob))
    )
    assert isinstance(found, type(shown))
    named = ormsgpack.unpackb(blob, ext_hook=lambda _, content: ormsgpack.unpackb(content))
    assert found.type_name == f"{named[0]}:{named[1]}"
    writer = OnceSerializer(SerdeConfig(compatible=True))
    assert writer.dumps_typed(found) == ("msgpack", blob)
    ours = OnceSerializer()
    again = ours.loads_typed(ours.dumps_typed([found]))[0]
    assert writer.dumps_typed(again) == ("msgpack", blob)


@pytest.mark.parametrize("blob", [ext(6, "O", [1], "C", b"12345678"), ext(9, 1), ext(0, "uuid")])
def test_an_opaque_stands_where_langgraph_has_nothing(blob: bytes) -> None:
    assert UPSTREAM.loads_typed(("msgpack", blob)) is None
    assert type(kept(blob)) is Opaque


class Access(Flag):
    READ = 1
    WRITE = 4


class Shade(Enum):
    DARK = (0, (1, 2))


@pytest.mark.parametrize("value", [*Access, Access(0), Access(5), Access.READ, Shade.DARK])
def test_flags_of_all_bits_and_enums_of_tuples_are_read(value: Any) -> None:
    assert OnceSerializer().loads_typed(UPSTREAM.dumps_typed(value)) is value


class Moment(datetime):
    pass


def test_subclasses_of_datetime_are_made_where_the_text_says_all() -> None:
    naive, zoned = Moment(2025, 1, 2, 3), Moment(2025, 1, 2, tzinfo=ZoneInfo("Europe/Berlin"))
    found = OnceSerializer().loads_typed(UPSTREAM.dumps_typed([naive, zoned]))
    assert found == [naive, zoned.isoformat()]
    assert type(found[0]) is Moment


def test_a_validator_runs_and_where_it_refuses_the_model_is_made_without() -> None:
    blob = UPSTREAM.dumps_typed([Even(even=2), Even.model_construct(even=3)])
    found = OnceSerializer().loads_typed(blob)
    assert found == [Even(even=2), Even.model_construct(even=3)]
    assert Even.seen == [2, 2, 3, 2]


class Even(BaseModel):
    seen: ClassVar[list[int]] = []
    even: int

    @field_validator("even")
    @classmethod
    def is_even(cls, even: int) -> int:
        cls.seen.append(even)
        if even % 2:
            raise ValueError("odd")
        return even
