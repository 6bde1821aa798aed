"""Why a value is refused: our own reasons are shown, the messages of others never."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from langgraph_once.errors import EncodeError
from langgraph_once.serde.codecs.once1 import Registry
from langgraph_once.serde.codecs.once1.types.base.protocol import UnwritableError
from tests.unit_tests.serde.fidelity.core_samples import CELSIUS, Celsius, encode
from tests.unit_tests.serde.fidelity.kinds import Point


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (
            np.zeros(1, np.dtype("i4", metadata={"a": 1})),
            "the data type .* has metadata, or no size",
        ),
        (tuple.__new__(Point, (1,)), "has 2 fields, not 1"),
        (re.compile("a", re.DEBUG), "would print when it is loaded"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_reason_of_ours_is_shown(value: Any, reason: str) -> None:
    with pytest.raises(EncodeError, match=rf"cannot be written: .*{reason}, at \[0\]"):
        encode([value], Registry())


def refusing(error: Exception) -> Any:
    def encode_celsius(value: Any) -> Any:
        raise error

    return Registry((replace(CELSIUS, encode=encode_celsius),))


@pytest.mark.parametrize("error", [ValueError("secret"), TypeError("secret"), KeyError("secret")])
def test_the_message_of_an_adapter_is_not(error: Exception) -> None:
    with pytest.raises(EncodeError) as caught:
        encode([Celsius(1)], refusing(error))
    assert f"cannot be written ({type(error).__name__}), at [0]" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_an_adapter_that_means_to_give_a_reason_can() -> None:
    with pytest.raises(EncodeError, match="cannot be written: it is too hot, at"):
        encode([Celsius(1)], refusing(UnwritableError("it is too hot")))
