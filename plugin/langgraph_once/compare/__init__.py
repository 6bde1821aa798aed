"""A graph of a server goes in; what a stock consumer has of it comes out, beside what ours has.

view.py       the view events, their JSON, and `View`, which folds them
items.py      what is shown, numbered: messages, with what was decided of each piece, and all else;
              `Judge`: what the states prove: repeated, not kept, missing
follower.py   `Follower`: the parts of one consumer's runs to view events
comparison.py `SideRequest`: what one consumer asks a server for; `counting_client`: by what client;
              `followed`: its runs as view events; `all_followed`: those of several, as they come;
              `compared`: both sides, counted: `langgraph-once demo`

Nothing of this is imported before somebody asks for the page or that command. Each side has a
thread of its own, so the graph runs once for each; `both` is one run for both. All runs are
resumable, and go on when nobody listens: `SideRequest(run_ids=…)` joins them from their beginning.
"""

from langgraph_once.compare.comparison import (
    SideRequest,
    all_followed,
    as_json,
    compared,
    counting_client,
    faults,
    followed,
    is_unwrapped,
    table,
)
from langgraph_once.compare.follower import MODES, Follower
from langgraph_once.compare.view import (
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
    "SideRequest",
    "SideView",
    "TextAppended",
    "View",
    "ViewEvent",
    "all_followed",
    "as_json",
    "compared",
    "counting_client",
    "faults",
    "followed",
    "is_unwrapped",
    "table",
    "to_dict",
]
