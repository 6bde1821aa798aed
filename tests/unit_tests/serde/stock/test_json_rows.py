"""JSON rows: envelopes are rebuilt by the methods their writers used, or refused."""

from __future__ import annotations

import json
from collections import deque
from datetime import date, datetime, time
from typing import Any

import pytest

from langgraph_once import OnceSerializer
from langgraph_once.errors import PayloadError, TypeNotAllowedError
from tests.data.blobs import model
from tests.unit_tests.serde.strictly import strict_config


def envelope(name: str, *args: Any, **changes: Any) -> dict[str, Any]:
    return {"lc": 2, "type": "constructor", "id": name.split("."), "args": args, **changes}


def read(value: Any, *allowed: str) -> Any:
    serializer = OnceSerializer(strict_config(allowed_types=allowed))
    return serializer.loads_typed(("json", json.dumps(value).encode()))


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        (envelope("builtins.bytes", "00ff", method="fromhex"), b"\x00\xff"),
        (envelope("builtins.bytearray", "00ff", method="fromhex"), bytearray(b"\x00\xff")),
        (envelope("datetime.date", "2025-03-01", method="fromisoformat"), date(2025, 3, 1)),
        (envelope("datetime.time", "12:30:00", method="fromisoformat"), time(12, 30)),
        (
            envelope("datetime.datetime", "2025-03-01T12:30:00", method="fromisoformat"),
            datetime(2025, 3, 1, 12, 30),  # noqa: DTZ001  # as it was written
        ),
        (envelope("builtins.set", [[1, [2]], 3]), {(1, (2,)), 3}),
        (envelope("collections.deque", [[1], 2]), deque([[1], 2])),
    ],
    ids=lambda case: type(case).__name__,
)
def test_a_value_in_a_json_row_comes_back(stored: Any, value: Any) -> None:
    back = read({"deep": [stored]})["deep"][0]
    assert (type(back), back) == (type(value), value)


@pytest.mark.parametrize("fallback", ["construct", "model_construct"])
def test_a_model_that_does_not_validate_is_rebuilt_without_validation(fallback: str) -> None:
    stored = envelope("tests.data.blobs.model.Profile", kwargs={"name": 5}, method=[None, fallback])
    back = read(stored, "tests.data.blobs.model:Profile")
    assert (type(back), back.name) == (model.Profile, 5)


@pytest.mark.parametrize(
    "stored",
    [
        envelope("uuid.UUID", "not one"),
        envelope("datetime.datetime", "not one", method="fromisoformat"),
        envelope("datetime.datetime", 5, method="fromtimestamp"),
        envelope("builtins.set", "text"),
        envelope("builtins.set", {"a": 1}),
        envelope("", "x"),
        envelope("uuid.UUID", id="uuid"),
        envelope("uuid.UUID", id=[1, 2]),
    ],
    ids=repr,
)
def test_what_cannot_be_rebuilt_is_an_error_and_never_none(stored: Any) -> None:
    with pytest.raises((PayloadError, TypeNotAllowedError)):
        read([stored])


@pytest.mark.parametrize("method", ["fromhex", "__init__", "system"])
def test_no_other_method_is_called(method: str) -> None:
    with pytest.raises((PayloadError, TypeNotAllowedError)):
        read(envelope("os.system", "true", method=method))
