"""The suite that LangGraph gives to authors of savers, whole."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability
from langgraph.checkpoint.serde.base import SerializerProtocol

from langgraph_once.checkpoint import OnceSqliteSaver, open_sqlite_saver
from tests.unit_tests.checkpoint.test_postgres_conformance import SERIALIZERS


@pytest.mark.parametrize("store_once", [True, False])
@pytest.mark.parametrize("serde", SERIALIZERS.values(), ids=SERIALIZERS)
async def test_all_eight_capabilities_pass(
    path: Path, serde: Callable[[], SerializerProtocol], store_once: bool
) -> None:
    @checkpointer_test(name="OnceSqliteSaver")
    async def registered() -> AsyncIterator[OnceSqliteSaver]:
        async with open_sqlite_saver(path, serde=serde(), store_once=store_once) as saver:
            yield saver

    report = await validate(registered)

    failures = [failure for result in report.results.values() for failure in result.failures]
    assert failures == []
    passed = {name for name, result in report.results.items() if result.passed}
    assert passed == {capability.value for capability in Capability}
    assert len(passed) == 8
    assert all(result.tests_passed for result in report.results.values())
