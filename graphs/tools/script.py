"""The answers of the scripted model: the assistant's, and those of the tool that asks a model."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from graphs.tools.catalogue import PRICES_EUR

__all__ = ["assist", "describe"]


def assist(messages: Sequence[BaseMessage]) -> AIMessage:
    """Two tool calls at once, one with long arguments; with their results, a bold promise."""
    if isinstance(messages[-1], ToolMessage):
        return AIMessage(
            "Your offer is on the screen, and a card for the first item is printed. If you order "
            "today, I take off 50 percent."
        )
    question = str(messages[-1].text).casefold()
    items = [item for item in PRICES_EUR if item in question] or list(PRICES_EUR)[:3]
    offer = {
        "customer": "our guest",
        "items": items,
        "greeting": "Thank you for your visit. We have put together what you asked for, and we "
        "keep it aside for you until the end of the week.",
    }
    return AIMessage(
        f"I have the card of the {items[0]} printed and prepare an offer.",
        tool_calls=[
            tool_call(name="describe", args={"item": items[0]}, id=None),
            tool_call(name="prepare_offer", args=offer, id=None),
        ],
    )


def describe(messages: Sequence[BaseMessage]) -> AIMessage:
    """One sentence for the card of an item."""
    item = next(str(m.text) for m in reversed(messages) if isinstance(m, HumanMessage))
    return AIMessage(f"Our {item} is made by hand, lasts for decades, and looks well anywhere.")
