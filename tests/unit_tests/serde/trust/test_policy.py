"""Every cell of the table that decides, with a real type for each: reading and writing obey it."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any, get_args

import pytest
from langgraph.checkpoint.serde.event_hooks import register_serde_event_listener
from langgraph.checkpoint.serde.jsonplus import EXT_CONSTRUCTOR_KW_ARGS
from ormsgpack import Ext, packb

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError, PayloadError, TypeNotAllowedError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.trust.policy import (
    Code,
    Decision,
    Enforcement,
    Trust,
    Use,
    decide,
)
from tests.unit_tests.serde.hostile.report import COMMAND, PATH, TABLE_MARK, table_lines

ENFORCEMENTS: tuple[Enforcement, ...] = get_args(Enforcement)
STRICTEST_FIRST: tuple[Enforcement, ...] = ("strict", "safe", "warn", "open")
USES: tuple[Use, ...] = get_args(Use)
CLASSES = {Code.NONE: "Plain", Code.DATA: "Thing", Code.HOOK: "Hooked", Code.CALL: "Caller"}
SOURCE = """
from dataclasses import dataclass

@dataclass
class Plain:
    x: int = 1

class Thing:
    "An object, which family `object` makes; of what is only imported, nobody knows what runs."
    def __init__(self):
        self.x = 1

@dataclass
class Hooked:
    x: int = 1
    def __del__(self):
        pass

class Caller:
    "No data: LangGraph writes none, so a row that names it is made to call it."
    def __new__(cls, **given):
        return object.__new__(cls)
"""


class Place:
    """A module, under one setting, whose types stand as they should."""

    def __init__(self, folder: Path, enforcement: Enforcement, trust: Trust) -> None:
        self.name = f"policy_{enforcement}_{trust.name.lower()}"
        (folder / f"{self.name}.py").write_text(SOURCE)
        self.config = SerdeConfig(
            enforcement=enforcement,
            compression="none",
            on_unavailable="raise",
            allowed_types=tuple(f"{self.name}:{name}" for name in CLASSES.values())
            if trust is Trust.LISTED
            else (),
            source=(str(folder),) if trust is Trust.OWN else (),
        )

    def made(self, code: Code) -> Any:
        importlib.invalidate_caches()
        return getattr(importlib.import_module(self.name), CLASSES[code])()

    def row(self, code: Code) -> tuple[str, bytes]:
        if code is Code.CALL:
            content = packb([self.name, CLASSES[code], {}])
            return "msgpack", packb(Ext(EXT_CONSTRUCTOR_KW_ARGS, content))
        return OnceSerializer(SerdeConfig(enforcement="open", compression="none")).dumps_typed(
            [self.made(code)]
        )

    def lose(self, code: Code) -> None:
        delattr(sys.modules[self.name], CLASSES[code])


@pytest.fixture(name="place")
def _place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Enforcement, Trust], Place]]:
    monkeypatch.syspath_prepend(tmp_path)
    before = {*sys.modules}
    yield lambda enforcement, trust: Place(tmp_path, enforcement, trust)
    for name in {*sys.modules} - before:
        if name.startswith("policy_"):
            del sys.modules[name]


@pytest.fixture(name="told")
def _told(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[Decision], None]]:
    """What was told of a type since, compared with what was decided."""
    events: list[Any] = []
    unregister = register_serde_event_listener(events.append)
    caplog.set_level(logging.WARNING)

    def check(decision: Decision) -> None:
        accepted = [each for each in events if each["kind"] == "msgpack_unregistered_allowed"]
        assert bool(accepted) == decision.is_event
        assert bool(caplog.records) == decision.is_logged

    yield check
    unregister()


@pytest.mark.parametrize("code", Code)
@pytest.mark.parametrize("trust", Trust)
@pytest.mark.parametrize("enforcement", ENFORCEMENTS)
def test_reading_does_what_is_decided(
    enforcement: Enforcement, trust: Trust, code: Code, place: Any, told: Any
) -> None:
    there = place(enforcement, trust)
    row = there.row(code)
    there.made(code)
    if trust is Trust.LOST:
        there.lose(code)
    if trust is Trust.ELSEWHERE:
        del sys.modules[there.name]
    decision = decide(enforcement, "read", trust, code)
    serde = OnceSerializer(there.config)
    if decision is Decision.LOST or (trust is Trust.LOST and enforcement in ("warn", "open")):
        with pytest.raises(PayloadError, match="was not found"):
            serde.loads_typed(row)
        decision = decide(enforcement, "read", trust)  # by its name: who finds it asks for the rest
    elif decision.refuses:
        with pytest.raises(TypeNotAllowedError) as caught:
            serde.loads_typed(row)
        assert bool(caught.value.hook) == (decision is Decision.CODE)
        assert (
            trust is not Trust.ELSEWHERE
            or decision is Decision.CODE
            or (there.name not in sys.modules)
        )
        decision = decide(enforcement, "read", trust)
    else:
        read = serde.loads_typed(row)
        found = read if code is Code.CALL else read[0]
        assert type(found) is getattr(sys.modules[there.name], CLASSES[code])
    told(decision)


@pytest.mark.parametrize("code", [code for code in Code if code is not Code.CALL])
@pytest.mark.parametrize("trust", Trust)
@pytest.mark.parametrize("enforcement", ENFORCEMENTS)
def test_writing_does_what_is_decided(
    enforcement: Enforcement, trust: Trust, code: Code, place: Any, told: Any
) -> None:
    there = place(enforcement, trust)
    serde = OnceSerializer(there.config)
    if trust is Trust.ELSEWHERE:
        serde.dumps_typed("the first value, after which modules are late")
    value = there.made(code)
    if trust is Trust.LOST:
        there.lose(code)
    decision = decide(enforcement, "write", trust, code)
    if decision.refuses:
        with pytest.raises(EncodeError):
            serde.dumps_typed([value])
    else:
        assert there.name.encode() in serde.dumps_typed([value])[1]
    told(decision)


@pytest.mark.parametrize("use", USES)
def test_what_stands_worse_or_runs_more_is_never_let_in_sooner(use: Use) -> None:
    for enforcement, trust in product(ENFORCEMENTS, Trust):
        refused = [decide(enforcement, use, trust, code).refuses for code in Code]
        assert refused == sorted(refused)
    for enforcement, code in product(ENFORCEMENTS, Code):
        refused = [decide(enforcement, use, trust, code).refuses for trust in Trust]
        assert refused == sorted(refused)
    for trust, code in product(Trust, Code):
        for stricter, laxer in pairwise(STRICTEST_FIRST):
            lax = decide(laxer, use, trust, code)
            assert decide(stricter, use, trust, code).refuses or not lax.refuses


def test_by_default_no_row_runs_code_of_what_is_only_imported() -> None:
    for trust, code in product((Trust.IMPORTED, Trust.ELSEWHERE, Trust.LOST), Code):
        if code or trust is not Trust.IMPORTED:
            assert decide("safe", "read", trust, code).refuses
        assert not decide("safe", "write", trust, code).refuses


def test_nothing_that_is_not_listed_is_called() -> None:
    for enforcement, trust in product(ENFORCEMENTS, [trust for trust in Trust if trust]):
        assert decide(enforcement, "read", trust, Code.CALL).refuses


def test_the_document_shows_the_table() -> None:
    shown = PATH.read_text().split(TABLE_MARK)[1].strip()
    assert shown.splitlines() == [*table_lines()], f"{COMMAND} table"
