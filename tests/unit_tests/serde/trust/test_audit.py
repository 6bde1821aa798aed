from __future__ import annotations

import json
import threading
from typing import Any

import ormsgpack
import pytest
from langgraph.checkpoint.serde.event_hooks import emit_serde_event
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langgraph_once.errors import ConfigError, EncodeError, SerdeError, TypeNotAllowedError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.trust import Audit
from tests.unit_tests.serde.samples import Colour, Task, allow, outcome
from tests.unit_tests.serde.strictly import strict_config

TASK, COLOUR = allow(Task, Colour)
ROW = JsonPlusSerializer().dumps_typed([Task("the secret text"), Task("x"), Colour.RED])


def strict(*allowed_types: str) -> OnceSerializer:
    return OnceSerializer(strict_config(allowed_types=allowed_types))


def emit(name: str, kind: str = "msgpack_blocked") -> None:
    module, _, name = name.partition(":")
    emit_serde_event({"kind": kind, "module": module, "name": name})


def proposed(audit: Audit, **options: Any) -> list[str]:
    """Return the proposed types, as both lines must give them."""
    for_json, for_env = audit.proposal(**options).split("\n")
    names: list[str] = json.loads("{" + for_json + "}")["allowed_types"]
    variable, _, value = for_env.partition("=")
    assert variable == "ONCE_SERDE__ALLOWED_TYPES"
    assert json.loads(value.strip("'")) == names
    return names


def test_the_audit_counts_what_is_refused() -> None:
    with Audit() as audit:
        for _ in range(2):
            assert isinstance(outcome(strict(), ROW), SerdeError)
        strict(TASK, COLOUR).loads_typed(ROW)
    assert audit.counts == {("msgpack_blocked", TASK): 2}
    assert audit.blocked == (TASK,)
    assert audit.unregistered == ()


def test_the_audit_counts_what_is_loaded_and_strict_enforcement_would_refuse() -> None:
    with Audit() as audit:
        OnceSerializer(strict_config(enforcement="open")).loads_typed(ROW)
    assert audit.counts == {
        ("msgpack_unregistered_allowed", TASK): 1,
        ("msgpack_unregistered_allowed", COLOUR): 1,
    }
    assert audit.blocked == ()
    assert audit.unregistered == (COLOUR, TASK)


def test_what_it_proposes_lets_the_value_be_read() -> None:
    with Audit() as audit:
        OnceSerializer(strict_config(enforcement="open")).loads_typed(ROW)
    assert proposed(audit) == [COLOUR, TASK]
    assert strict(*proposed(audit)).loads_typed(ROW)[2] is Colour.RED


def test_the_audit_hears_the_serializer_of_upstream() -> None:
    with Audit() as audit:
        JsonPlusSerializer(allowed_msgpack_modules=None).loads_typed(ROW)
    assert audit.blocked == (COLOUR, TASK)


def test_what_is_allowed_already_stays_and_comes_first() -> None:
    with Audit() as audit:
        emit("b:B")
        emit("a:A")
        emit("z:Z")
    assert proposed(audit, allowed_types=["z:Z", "app:Old"]) == ["z:Z", "app:Old", "a:A", "b:B"]
    assert proposed(Audit()) == []


def test_a_refused_method_call_is_blocked_and_not_proposed() -> None:
    call = ormsgpack.packb(["subprocess", "Popen", "ls", "communicate"])
    with Audit() as audit:
        assert isinstance(
            outcome(strict(), ("msgpack", ormsgpack.packb(ormsgpack.Ext(3, call)))), SerdeError
        )
    assert audit.blocked == ("subprocess:Popen",)
    assert proposed(audit) == []


@pytest.mark.parametrize("name", ["a:B\nONCE_X=1", "a:B'", 'a:"', "a b:C", ":", "a:Page[int]"])
def test_a_name_that_the_setting_refuses_is_not_proposed(name: str) -> None:
    with Audit() as audit:
        emit(name)
    assert audit.blocked == (name,)
    assert proposed(audit) == []


@pytest.mark.parametrize("enforcement", ["strict", "warn"])
def test_our_own_errors_are_not_proposed(enforcement: Any) -> None:
    """A task that failed with one is stored with it."""
    once = OnceSerializer(strict_config(enforcement=enforcement))
    with Audit() as audit:
        for error in (EncodeError("x"), TypeNotAllowedError("a:B"), ConfigError("key", "problem")):
            once.loads_typed(once.dumps_typed(error))
    assert proposed(audit) == []


@pytest.mark.parametrize(
    "name",
    [
        *("builtins:compile", "builtins:Exception", "langgraph_once.errors:EncodeError"),
        *("langgraph.types:Send", "langchain_core.messages.ai:AIMessage", "uuid:UUID"),
    ],
)
def test_what_is_not_the_users_to_allow_is_not_proposed(name: str) -> None:
    with Audit() as audit:
        emit(name)
        emit(name, "msgpack_unregistered_allowed")
        emit("langgraph_once_app:State")
    assert proposed(audit) == ["langgraph_once_app:State"]


def test_the_audit_listens_only_while_it_is_entered_and_may_go_on() -> None:
    audit = Audit()
    emit("a:Before")
    with audit:
        emit("a:First")
        with pytest.raises(RuntimeError, match="running"), audit:
            pass
        emit("a:First")
    emit("a:Between")
    with audit:
        emit("a:Second")
    assert audit.counts == {("msgpack_blocked", "a:First"): 2, ("msgpack_blocked", "a:Second"): 1}


def test_the_audit_stops_listening_when_the_block_raises() -> None:
    audit = Audit()
    with pytest.raises(KeyError), audit:
        raise KeyError
    emit("a:Late")
    assert audit.counts == {}


def test_the_memory_of_the_audit_is_bounded() -> None:
    with Audit() as audit:
        for number in range(1500):
            emit(f"made.up:T{number}")
        emit("made.up:T0")
    assert len(audit.counts) == 1000
    assert audit.counts["msgpack_blocked", "made.up:T0"] == 2
    assert audit.dropped == 500


def test_threads_are_counted_without_loss() -> None:
    def work() -> None:
        for number in range(500):
            emit(f"a:T{number % 7}")

    with Audit() as audit:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            assert set(audit.blocked) <= {f"a:T{number}" for number in range(7)}
        for thread in threads:
            thread.join()
    assert sum(audit.counts.values()) == 4000
