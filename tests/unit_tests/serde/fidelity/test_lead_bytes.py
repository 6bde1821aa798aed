"""What changes at the beginning of a value that grows: behind it, all bytes stay as they are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage

from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.codecs.once1.format.layout import MARKED
from langgraph_once.serde.codecs.once1.format.scan import lead_bytes


@dataclass
class Plan:
    """Something in a message that is no message."""

    title: str


def behind_lead(value: Any) -> bytes:
    data = OnceSerializer().encoded(value)[1]
    return data[lead_bytes(data) :].removesuffix(MARKED)


SHARED = {"source": "a.md"}
ODD: dict[str, Any] = {
    "nothing": None,
    "documents": [Document("text", metadata={"page": 1})],
    "a dataclass": Plan("plan"),
    "a tuple": (1, "two"),
    "a datetime": datetime(2026, 5, 1, tzinfo=UTC),
    "something shared": [SHARED, SHARED],
    "a set": {1, 2},
}


def messages(count: int, odd: Any) -> list[Any]:
    found: list[Any] = [HumanMessage(f"text {n}", id=f"{n}") for n in range(count)]
    found[2].additional_kwargs["extra"] = odd
    return found


@pytest.mark.parametrize("name", ODD)
def test_what_is_behind_it_stays_when_a_list_grows(name: str) -> None:
    shorter = behind_lead(messages(20, ODD[name]))
    longer = behind_lead(messages(400, ODD[name]))
    assert len(shorter) > 1000
    assert longer.startswith(shorter)


def test_what_is_behind_it_stays_when_something_else_grows() -> None:
    documents = [Document(f"text {n}", metadata={"page": n}) for n in range(400)]
    for many in (documents, tuple(documents), [Plan("plan")] * 400, [(n, n) for n in range(400)]):
        assert behind_lead(many).startswith(behind_lead(many[:20]))


def test_a_value_with_nothing_in_it_has_a_lead_of_all_its_bytes() -> None:
    empty: tuple[Any, ...] = ([], (), {}, "", set(), 7)
    for value in empty:
        data = OnceSerializer().encoded(value)[1]
        assert 0 <= lead_bytes(data) <= len(data)


def test_damaged_bytes_are_told() -> None:
    data = OnceSerializer().encoded(messages(20, Plan("plan")))[1]
    for end in range(12):
        with pytest.raises(ValueError, match=r"cut off|promises more"):
            lead_bytes(data[:end])
