"""The tools of the shop's assistant."""

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.graph.ui import delete_ui_message, push_ui_message
from langgraph.prebuilt import ToolRuntime

from graphs.models import chat_model, model_name
from graphs.tools import script
from graphs.tools.catalogue import PRICES_EUR, print_card

__all__ = ["describe", "prepare_offer"]

DESCRIBE = "You write one sentence for the card of an item in a furniture shop."


@tool
def describe(item: str, runtime: ToolRuntime) -> str:
    """Write the card of an item, and print it."""
    model = chat_model(model_name(), script.describe)
    card = str(model.invoke([SystemMessage(DESCRIBE), HumanMessage(item)]).text)
    print_card(str(runtime.tool_call_id))
    return card


@tool
def prepare_offer(customer: str, items: list[str], greeting: str, runtime: ToolRuntime) -> str:
    """Prepare an offer, and draw it beside the conversation."""
    spinner, card = (f"{kind}-{runtime.tool_call_id}" for kind in ("spinner", "offer"))
    push_ui_message("spinner", {"text": f"An offer for {customer}"}, id=spinner)
    push_ui_message("offer", {"greeting": greeting, "lines": []}, id=card)
    lines: list[list[str | int]] = []
    for done, item in enumerate(items, 1):
        lines = [*lines, [item, PRICES_EUR.get(item.casefold(), 100)]]
        push_ui_message("offer", {"lines": lines}, id=card, merge=True)
        runtime.stream_writer({"tool": "prepare_offer", "done": done, "of": len(items)})
    delete_ui_message(spinner)
    total = sum(int(price) for _, price in lines)
    return f"The offer for {customer} has {len(lines)} items and comes to {total} euros."
