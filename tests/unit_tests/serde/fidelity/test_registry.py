"""Which adapter or family is asked, and what is said about a wrong one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import ConfigError, PayloadError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1 import Adapter, Registry
from tests.unit_tests.serde.fidelity.core_samples import (
    CELSIUS,
    EXTENSIONS,
    OWN,
    REGISTRY,
    Box,
    BoxFamily,
    Celsius,
    Knot,
    KnotFamily,
    Outer,
    Versioned,
    encode,
    loader,
    read,
)

HERE = CELSIUS.decode.__module__
BOX_FAMILY = BoxFamily()
NOT_AN_ADAPTER = 3


def upgraded(data: Any, from_version: int) -> Any:
    return [{"content": (data[0]["content"], from_version)}]


def failing(data: Any, from_version: int) -> Any:
    raise KeyError("secret")


def test_two_adapters_cannot_have_one_name_or_type() -> None:
    other = replace(CELSIUS, name="other")
    with pytest.raises(ConfigError, match=r"'test-celsius'.*'other'.*Celsius"):
        Registry((CELSIUS, other))
    with pytest.raises(ConfigError, match=r"'test-celsius'.*'test-celsius'.*name 'test-celsius'"):
        Registry((CELSIUS, replace(CELSIUS, types=(Box,))))
    with pytest.raises(ConfigError, match="name 'test-box'"):
        Registry((BoxFamily(), BoxFamily()))


@pytest.mark.parametrize("native", [list, int, dict, tuple, memoryview])
def test_native_types_cannot_be_taken_over(native: type) -> None:
    with pytest.raises(ConfigError, match="native"):
        Registry((replace(CELSIUS, types=(native,)),))


def test_an_adapter_of_your_own_comes_before_the_built_in_one() -> None:
    own = Adapter(
        name="own-fraction", types=(Fraction,), encode=str, decode=lambda text: Fraction(text)
    )
    data = encode(Fraction(1, 3), Registry((own,)))
    assert b"own-fraction" in data
    assert read(data, loader(registry=Registry((own,)))) == Fraction(1, 3)
    old = encode(Fraction(1, 3), Registry())
    assert read(old, loader(registry=Registry((own,)))) == Fraction(1, 3)


def test_an_adapter_comes_before_a_family_and_an_earlier_family_before_a_later() -> None:
    class Greedy(BoxFamily):
        name = "greedy"

        def matches(self, cls: type) -> bool:
            return True

    assert b"greedy" in encode(Box(1), Registry((Greedy(), *EXTENSIONS)))
    assert b"greedy" not in encode(Celsius(1), Registry((Greedy(), *EXTENSIONS)))
    assert b"greedy" not in encode(Box(1), Registry((*EXTENSIONS, Greedy())))


def test_a_subclass_is_not_an_adapters() -> None:
    class Kelvin(Celsius):
        pass

    found = read(encode(Kelvin(1), REGISTRY), on_unavailable="opaque")
    assert (found.kind, found.payload) == ("family", Kelvin(1).__dict__)


def test_configured_adapters_are_imported() -> None:
    config = SerdeConfig(
        codec="once1", adapters=(f"{HERE}:CELSIUS", f"{__name__}:BOX_FAMILY"), allowed_types=OWN
    )
    serde = OnceSerializer(config)
    assert serde.loads_typed(serde.dumps_typed(Box(Celsius(3)))).content == Celsius(3)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"adapters": ("no_such_module:X",)}, "no_such_module:X cannot be imported"),
        ({"adapters": (f"{__name__}:missing",)}, ":missing cannot be imported"),
        ({"adapters": (f"{__name__}:NOT_AN_ADAPTER",)}, "neither"),
        ({"adapters": (f"{HERE}:BoxFamily",)}, "neither"),
        ({"upgrades": {"a:B": "no_such_module:f"}}, "a:B.*no_such_module:f cannot be imported"),
        ({"upgrades": {"a:B": f"{__name__}:NOT_AN_ADAPTER"}}, "not a function"),
        ({"aliases": {"a:A": "b:B", "b:B": "a:A"}}, "a:A -> b:B -> a:A"),
        ({"aliases": {"a:A": "a:A"}}, "a:A -> a:A"),
    ],
)
def test_a_wrong_entry_is_named(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        OnceSerializer(SerdeConfig(**settings))


def renamed(data: bytes, old: str, new: str) -> bytes:
    assert len(old) == len(new)
    return data.replace(old.encode(), new.encode())


def test_a_class_that_moved_is_found_by_its_aliases() -> None:
    data = renamed(encode([Knot(1), Knot], REGISTRY), "core_samples:Knot", "old_home_was:Moor")
    middle, old = "middle:Name", OWN[0].replace("core_samples:Knot", "old_home_was:Moor")
    registry = Registry(EXTENSIONS, aliases={old: middle, middle: OWN[0]})
    knot, cls = read(data, loader(registry=registry))
    assert (type(knot), cls) == (Knot, Knot)
    with pytest.raises(Exception, match="not allowed"):  # the new name must be allowed
        read(data, loader(old, registry=registry))


UPGRADES = {OWN[2]: upgraded, OWN[1]: upgraded}


def test_an_upgrade_is_called_where_the_versions_differ() -> None:
    registry = Registry(EXTENSIONS, upgrades=UPGRADES)
    data = encode([Versioned(1), Box(1)], registry)
    now, box = read(data, loader(registry=registry))
    assert (now.content, box.content) == (1, 1)
    Versioned.__once_version__ = 3
    try:
        assert read(data, loader(registry=registry))[0].content == (1, 2)
        assert read(data, loader())[0].content == 1
    finally:
        Versioned.__once_version__ = 2


def test_what_was_written_before_there_were_versions_has_version_zero() -> None:
    data = encode(Box("old"), REGISTRY)
    Box.__once_version__ = 1  # type: ignore[attr-defined]  # added for the time of the test
    try:
        registry = Registry(EXTENSIONS, upgrades=UPGRADES)
        assert read(data, loader(registry=registry)).content == ("old", 0)
        with pytest.raises(PayloadError, match=r"Box.*KeyError") as caught:
            read(data, loader(registry=Registry(EXTENSIONS, upgrades={OWN[1]: failing})))
        assert "secret" not in str(caught.value)
    finally:
        del Box.__once_version__  # type: ignore[attr-defined]  # added for the time of the test


def test_an_upgrade_reaches_objects_that_contain_themselves() -> None:
    knot = Knot("a")
    knot.links = [knot]
    data = encode(knot, REGISTRY)
    registry = Registry(EXTENSIONS, upgrades={OWN[0]: lambda data, _: {**data, "label": "b"}})
    Knot.__once_version__ = 1  # type: ignore[attr-defined]  # added for the time of the test
    try:
        again = read(data, loader(registry=registry))
    finally:
        del Knot.__once_version__  # type: ignore[attr-defined]  # added for the time of the test
    assert again.label == "b"
    assert again.links[0] is again


def test_a_nested_class_is_loaded_by_its_own_name_only() -> None:
    inner = Outer.Inner()
    data = encode(inner, REGISTRY)
    module = Outer.__module__
    for names in ((f"{module}:Outer.Inner",), (f"{module}:Inner",)):
        assert type(read(data, loader(*names))) is Outer.Inner
    for names in (
        (f"{module}:Other.Inner",),
        (f"{module}:Outer",),
        (f"other{module}:Outer.Inner",),
    ):
        with pytest.raises(Exception, match=r"Outer\.Inner is not allowed"):
            read(data, loader(*names))


def test_families_in_code_need_not_be_cyclic() -> None:
    assert KnotFamily().matches(Knot)
