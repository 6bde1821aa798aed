"""The suite that LangGraph gives to authors of savers, whole."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from langgraph_once.checkpoint import OnceSqliteSaver, open_sqlite_saver
from tests.unit_tests.checkpoint.test_postgres_conformance import SERIALIZERS


@pytest.mark.parametrize(
    ("serde", "store_once"),
    [
        *((serde, True) for serde in SERIALIZERS if serde != "compatible"),
        ("plain", False),
        ("compatible", False),
        *(
            pytest.param(serde, False, marks=pytest.mark.slow)
            for serde in ("encrypted", "upstream's")
        ),
    ],
)
async def test_all_eight_capabilities_pass(path: Path, serde: str, store_once: bool) -> None:
    @checkpointer_test(name="OnceSqliteSaver")
    async def registered() -> AsyncIterator[OnceSqliteSaver]:
        async with open_sqlite_saver(
            path, serde=SERIALIZERS[serde](), store_once=store_once
        ) as saver:
            yield saver

    report = await validate(registered)

    failures = [failure for result in report.results.values() for failure in result.failures]
    assert failures == []
    passed = {name for name, result in report.results.items() if result.passed}
    assert passed == {capability.value for capability in Capability}
    assert len(passed) == 8
    assert all(result.tests_passed for result in report.results.values())
