"""Parts of JSON with objects again, and values that only look like messages or interrupts."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Interrupt

from langgraph_once.stream import Part
from langgraph_once.stream.shapes import revive, revive_part

HELLO = HumanMessage("Hi", id="h")
JSON_HELLO = HELLO.model_dump()


def test_a_message_is_an_object_again() -> None:
    part = revive_part(Part((), "messages", JSON_HELLO, {"n": 1}))
    assert part == Part((), "messages", HELLO, {"n": 1})


@pytest.mark.parametrize("mode", ["values", "updates", "custom", "tasks"])
def test_messages_in_json_of_other_modes_are_revived(mode: str) -> None:
    part = revive_part(Part(("a:1",), mode, {"k": [JSON_HELLO]}, event_id="7"))
    assert part == Part(("a:1",), mode, {"k": [HELLO]}, event_id="7")


def test_interrupts_beside_a_state_are_objects_again() -> None:
    sent: Any = [{"value": JSON_HELLO, "id": "i"}]
    part = revive_part(Part((), "values", {}, {"interrupts": sent}))
    assert part.meta["interrupts"] == (Interrupt(HELLO, id="i"),)
    assert sent == [{"value": JSON_HELLO, "id": "i"}], "what was given is not changed"


def test_a_part_with_an_object_is_the_same_part() -> None:
    part = Part((), "messages", HELLO, {"interrupts": []})
    assert revive_part(part) is part


def test_what_cannot_be_a_message_stays_as_it_is() -> None:
    wrong = {**AIMessage("x", id="a").model_dump(), "tool_calls": 5}
    assert revive([wrong]) == [wrong]


@pytest.mark.parametrize("waiting", [[{"value": 1}], [{"id": "i"}], ["later"], "later", {"a": 1}])
def test_what_is_no_interrupt_stays_as_it_is(waiting: Any) -> None:
    found = revive({"__interrupt__": waiting})["__interrupt__"]
    assert found == (tuple(waiting) if isinstance(waiting, list) else waiting)


def test_containers_of_other_kinds_stay_what_they_are() -> None:
    own = defaultdict(list, {"a": [1]})
    assert revive({"own": own, "pair": (1, [2])})["own"] is own
    assert revive((JSON_HELLO,)) == (JSON_HELLO,)


def test_fields_among_the_additional_ones_take_the_place_of_nothing_else() -> None:
    usage, other = ({"input_tokens": n, "output_tokens": 1, "total_tokens": n + 1} for n in (1, 2))
    empty = AIMessage("x", id="a", additional_kwargs={"usage_metadata": usage}).model_dump()
    revived = revive(empty)
    assert (revived.usage_metadata, revived.additional_kwargs) == (usage, {})
    revived = revive({**empty, "usage_metadata": other})
    assert revived.usage_metadata == other
    assert revived.additional_kwargs == {"usage_metadata": usage}
