from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

import pytest
from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_METHODS, SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.event_hooks import register_serde_event_listener

from langgraph_once.errors import ConfigError, PayloadError, TypeNotAllowedError
from langgraph_once.serde.trust.allowlist import Allowlist
from tests.unit_tests.serde.samples import Colour, Outer, Task
from tests.unit_tests.serde.strictly import strict_config

if TYPE_CHECKING:
    from collections.abc import Iterator

UNIMPORTED = "this"  # importing it prints a poem
TAG = "msgpack"


def strict(*names: str) -> Allowlist:
    return Allowlist.from_config(strict_config(allowed_types=names))


def lenient(enforcement: Any) -> Allowlist:
    return Allowlist.from_config(strict_config(enforcement=enforcement))


@pytest.fixture
def events() -> Iterator[list[dict[str, Any]]]:
    seen: list[dict[str, Any]] = []
    unregister = register_serde_event_listener(lambda event: seen.append(dict(event)))
    yield seen
    unregister()


def test_refuses_by_name_and_imports_nothing(events: list[dict[str, Any]]) -> None:
    assert UNIMPORTED not in sys.modules
    with pytest.raises(TypeNotAllowedError) as caught:
        strict().resolve(UNIMPORTED, "d", tag=TAG)
    assert caught.value.type_name == "this:d"
    assert caught.value.tag == TAG
    assert UNIMPORTED not in sys.modules
    assert events == [{"kind": "msgpack_blocked", "module": "this", "name": "d"}]


def test_the_module_alone_is_not_enough() -> None:
    allowed = strict(f"{Task.__module__}:Task")
    assert allowed.resolve(Task.__module__, "Task", tag=TAG)[0] is Task
    with pytest.raises(TypeNotAllowedError):
        allowed.resolve(Task.__module__, "Colour", tag=TAG)


def test_every_safe_type_of_upstream_is_allowed_silently(events: list[dict[str, Any]]) -> None:
    for module, name in SAFE_MSGPACK_TYPES:
        strict().check(module, (name,), tag=TAG)
    assert events == []


def test_warn_loads_and_logs_each_type_once(
    caplog: pytest.LogCaptureFixture, events: list[dict[str, Any]]
) -> None:
    allowed = lenient("warn")
    with caplog.at_level(logging.DEBUG):
        for _ in range(3):
            assert allowed.resolve(Task.__module__, "Task", tag=TAG)[0] is Task
        allowed.extended([("a", "B")]).resolve(Task.__module__, "Task", tag=TAG)
        allowed.resolve(Task.__module__, "Colour", tag=TAG)
    assert [
        f"{Task.__module__}:{name} (of this project)," in r.getMessage()
        for name, r in zip(("Task", "Colour"), caplog.records, strict=True)
    ] == [True, True]
    assert len(events) == 5
    assert events[0] == {
        "kind": "msgpack_unregistered_allowed",
        "module": Task.__module__,
        "name": "Task",
    }


def test_the_memory_of_warnings_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    allowed = lenient("warn")
    for number in range(1200):
        allowed.check("made.up", (f"T{number}",), tag=TAG)
    assert len(caplog.records) == 1000


def test_open_loads_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert lenient("open").resolve(Task.__module__, "Task", tag=TAG)[0] is Task
    assert caplog.records == []


@pytest.mark.parametrize("enforcement", ["warn", "open"])
def test_a_function_is_never_returned(enforcement: str) -> None:
    with pytest.raises(PayloadError, match="os:system is not a type"):
        lenient(enforcement).resolve("os", "system", tag=TAG)


@pytest.mark.parametrize("enforcement", ["warn", "open"])
def test_the_bytes_cannot_walk_into_a_module(enforcement: str) -> None:
    with pytest.raises(PayloadError):
        lenient(enforcement).resolve("subprocess", "os.PathLike", tag=TAG)


@pytest.mark.parametrize("enforcement", ["warn", "open"])
def test_nor_is_a_module_that_another_one_uses(enforcement: str) -> None:
    with pytest.raises(PayloadError):
        lenient(enforcement).load("subprocess", ("os",), tag=TAG)


@pytest.mark.parametrize("name", ["no.such.module:Thing", f"{Task.__module__}:Gone"])
def test_an_allowed_type_that_is_gone_is_named(name: str) -> None:
    with pytest.raises(PayloadError, match=name) as caught:
        strict(name).resolve(*name.split(":"), tag=TAG)
    assert caught.value.__cause__ is not None


def test_a_nested_class_is_found_by_the_name_the_bytes_give() -> None:
    allowed = strict(f"{Outer.__module__}:Outer.Inner")
    assert allowed.resolve(Outer.__module__, "Inner", tag=TAG)[0] is Outer.Inner


def test_a_schema_that_names_it_flatly_does_not_hide_it() -> None:
    flat = (Outer.__module__, "Inner")
    allowed = strict(f"{Outer.__module__}:Outer.Inner").extended([flat])
    assert allowed.resolve(*flat, tag=TAG)[0] is Outer.Inner
    assert strict().extended([flat, Outer.Inner]).resolve(*flat, tag=TAG)[0] is Outer.Inner


def test_two_nested_classes_of_one_name_are_a_mistake() -> None:
    with pytest.raises(ConfigError, match=r"m:A\.X and m:B\.X"):
        strict("m:A.X", "m:B.X")


def test_extending_keeps_what_was_and_returns_itself_when_nothing_is_new() -> None:
    allowed = strict(f"{Task.__module__}:Task")
    more = allowed.extended([Colour])
    assert more.resolve(Task.__module__, "Task", tag=TAG)[0] is Task
    assert more.resolve(Colour.__module__, "Colour", tag=TAG)[0] is Colour
    with pytest.raises(TypeNotAllowedError):
        allowed.check(Colour.__module__, ("Colour",), tag=TAG)
    assert more.extended([Colour, (Task.__module__, "Task"), ("uuid", "UUID")]) is more
    assert more.extended([]) is more


@pytest.mark.parametrize(
    "types", [None, 3, True, "my.module:Task", [3], [("my.module",)], ["Task"]]
)
def test_what_names_no_type_is_refused(types: Any) -> None:
    with pytest.raises(ConfigError, match="allowlist"):
        strict().extended(types)


def test_only_safe_methods_pass(events: list[dict[str, Any]]) -> None:
    for method in SAFE_MSGPACK_METHODS:
        strict().check_method(*method, tag=TAG)
    assert events == []
    with pytest.raises(TypeNotAllowedError):
        strict().check_method("subprocess", "Popen", "communicate", tag=TAG)
    with pytest.raises(PayloadError, match="utcfromtimestamp"):
        strict().check_method("datetime", "datetime", "utcfromtimestamp", tag=TAG)
    with pytest.raises(PayloadError):
        lenient("open").check_method("subprocess", "Popen", "communicate", tag=TAG)
    assert {
        "kind": "msgpack_method_blocked",
        "module": "datetime",
        "name": "datetime",
        "method": "utcfromtimestamp",
    } in events
