"""The shop's assistant draws, tells its progress, tries again, and takes back what it promised."""

from __future__ import annotations

from typing import Any

from graphs.tools.graph import graph

ASKED: Any = {"messages": [("user", "A wool rug and an oak table, please.")]}


def run(*modes: str) -> list[Any]:
    return list(graph.stream(ASKED, stream_mode=list(modes)))  # type: ignore[arg-type]  # a list of any modes


def test_progress_is_told_and_the_drawing_grows() -> None:
    told = [data for _, data in run("custom")]
    assert [(each["done"], each["of"]) for each in told if "done" in each] == [(1, 2), (2, 2)]
    drawn = [(each["type"], each.get("name")) for each in told if "type" in each]
    assert drawn == [("ui", "spinner"), *[("ui", "offer")] * 3, ("remove-ui", None)]
    *_, (_, state) = run("values")
    (offer,) = state["ui"]
    assert offer["props"]["greeting"].startswith("Thank you")
    assert offer["props"]["lines"] == [["oak table", 640], ["wool rug", 260]]


def test_arguments_are_streamed_in_pieces() -> None:
    pieces = [
        piece["args"]
        for _, (message, _) in run("messages")
        for piece in getattr(message, "tool_call_chunks", ())
    ]
    assert len(pieces) > 20


def test_the_tool_that_failed_is_run_again_and_the_other_is_not() -> None:
    *_, (_, state) = run("values")
    asks, card, offer, answer = state["messages"][1:]
    assert [call["name"] for call in asks.tool_calls] == ["describe", "prepare_offer"]
    assert card.text == "Our oak table is made by hand, lasts for decades, and looks well anywhere."
    assert offer.text == "The offer for our guest has 2 items and comes to 900 euros."
    assert answer.text.endswith("I take off 10 percent.")


def test_the_guardrail_puts_another_text_under_the_id() -> None:
    chunks = run("messages", "values")
    promised = {message.id for mode, (message, _) in chunks[:-1] if mode == "messages"}
    assert chunks[-1][1]["messages"][-1].id in promised
