"""The answers of the scripted model."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

__all__ = ["announce", "close"]


def announce(_: Sequence[BaseMessage]) -> AIMessage:
    """Before the other graph is asked."""
    return AIMessage("That is a question for the research department. I pass it on.")


def close(messages: Sequence[BaseMessage]) -> AIMessage:
    """After it has answered."""
    words = sum(len(str(message.text).split()) for message in messages if message.type == "ai")
    return AIMessage(f"The department has answered; all in all {words} words were said.")
