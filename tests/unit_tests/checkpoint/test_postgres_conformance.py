"""The suite that LangGraph gives to authors of savers, on PostgreSQL."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import SecretStr

from langgraph_once import OnceSerializer, SerdeConfig
from langgraph_once.checkpoint import OncePostgresSaver, open_postgres_saver
from langgraph_once.checkpoint.pieces import values

KEYS = {"k": SecretStr("MDEyMzQ1Njc4OWFiY2RlZg==")}
SERIALIZERS: dict[str, Callable[[], SerializerProtocol]] = {
    "plain": OnceSerializer,
    "compressed": lambda: OnceSerializer(SerdeConfig(compression="zstd")),
    "encrypted": lambda: OnceSerializer(SerdeConfig(encryption_keys=KEYS)),
    "upstream's": JsonPlusSerializer,
}


@pytest.mark.parametrize("cut", ["short values whole", "all values cut"])
@pytest.mark.parametrize("store_once", [True, False], ids=["once", "whole"])
@pytest.mark.parametrize("serde", SERIALIZERS)
async def test_all_eight_capabilities_pass(
    database: str, serde: str, store_once: bool, cut: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cut == "all values cut":
        if not store_once or serde == "upstream's":
            pytest.skip("nothing is cut")
        monkeypatch.setattr(values, "MIN_CUT_BYTES", 1)
    options: dict[str, Any] = {"serde": SERIALIZERS[serde](), "store_once": store_once}

    @checkpointer_test(name="OncePostgresSaver")
    async def registered() -> AsyncIterator[OncePostgresSaver]:
        async with open_postgres_saver(database, **options) as saver:
            yield saver

    report = await validate(registered)

    failures = [failure for result in report.results.values() for failure in result.failures]
    assert failures == []
    passed = {name for name, result in report.results.items() if result.tests_passed}
    assert passed == {capability.value for capability in Capability}
