"""Streams in, what a screen shows out: the view model of the page and of the terminal.

view.py      the view events, their JSON, and `View`, which folds them
follower.py  `Follower`: the parts of one consumer's runs to view events
judge.py     what the states prove: repeated, not kept, missing
items.py     what is shown, numbered: messages, with what was decided of each piece, and all else
"""

from langgraph_once.watch.follower import MODES, Follower
from langgraph_once.watch.view import (
    Began,
    Counts,
    CountsChanged,
    Ended,
    Item,
    ItemChanged,
    ItemOpened,
    LaneOpened,
    Mark,
    Side,
    SideView,
    TextAppended,
    View,
    ViewEvent,
    to_dict,
)

__all__ = [
    "MODES",
    "Began",
    "Counts",
    "CountsChanged",
    "Ended",
    "Follower",
    "Item",
    "ItemChanged",
    "ItemOpened",
    "LaneOpened",
    "Mark",
    "Side",
    "SideView",
    "TextAppended",
    "View",
    "ViewEvent",
    "to_dict",
]
