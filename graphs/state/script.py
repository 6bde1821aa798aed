"""The answer of the scripted model."""

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

__all__ = ["tell"]


def tell(messages: Sequence[BaseMessage]) -> AIMessage:
    """Say what was asked to be said."""
    return AIMessage(f"I looked around. {messages[-1].text}")
