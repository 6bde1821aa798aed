"""The state of the shop's assistant."""

from collections.abc import Sequence
from typing import Annotated

from langgraph.graph import MessagesState
from langgraph.graph.ui import AnyUIMessage, ui_message_reducer

__all__ = ["ShopState"]


class ShopState(MessagesState):
    """The conversation, and what is drawn beside it."""

    ui: Annotated[Sequence[AnyUIMessage], ui_message_reducer]
