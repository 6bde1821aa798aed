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
from langgraph_once.checkpoint import OncePostgresSaver, open_postgres_saver, values

KEYS = {"k": SecretStr("MDEyMzQ1Njc4OWFiY2RlZg==")}
SERIALIZERS: dict[str, Callable[[], SerializerProtocol]] = {
    "plain": OnceSerializer,
    "encrypted": lambda: OnceSerializer(SerdeConfig(encryption_keys=KEYS)),
    "upstream's": JsonPlusSerializer,
    "compatible": lambda: OnceSerializer(SerdeConfig(compatible=True)),
}


QUICK = {
    *(("plain", True, 16_384), ("plain", False, 16_384), ("upstream's", True, 16_384)),
    *((serde, True, 1) for serde in SERIALIZERS if serde in ("plain", "encrypted")),
    ("compatible", False, 16_384),
}
"""Each serializer, and each way to store values; the rest of all with all is slow."""

EACH = [
    *((serde, store_once, 16_384) for serde in SERIALIZERS for store_once in (True, False)),
    *((serde, True, 1) for serde in SERIALIZERS if serde in ("plain", "encrypted")),
]


@pytest.mark.parametrize(
    ("serde", "store_once", "cut_from"),
    [pytest.param(*each, marks=() if each in QUICK else pytest.mark.slow) for each in EACH],
)
async def test_all_eight_capabilities_pass(
    database: str, serde: str, store_once: bool, cut_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "MIN_CUT_BYTES", cut_from)
    options: dict[str, Any] = {
        "serde": SERIALIZERS[serde](),
        "store_once": store_once,
        "timeout_s": 5.0,
    }

    @checkpointer_test(name="OncePostgresSaver")
    async def registered() -> AsyncIterator[OncePostgresSaver]:
        async with open_postgres_saver(database, **options) as saver:
            yield saver

    report = await validate(registered)

    failures = [failure for result in report.results.values() for failure in result.failures]
    assert failures == []
    passed = {name for name, result in report.results.items() if result.tests_passed}
    assert passed == {capability.value for capability in Capability}
