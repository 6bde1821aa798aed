"""All that shows: what a stock consumer of a graph is sent, beside what ours is.

view.py      the view events, their JSON, and `View`, which folds them
items.py     what is shown, numbered: messages, with what was decided of each piece, and all else
judge.py     what the states prove: repeated, not kept, missing
follower.py  `Follower`: the parts of one consumer's runs to view events
client.py    an SDK client that counts the bytes of its event streams
sides.py     `SideRequest`: what one consumer asks a server for; `followed`: its runs as view
             events; `all_followed`: those of several, each event as it comes
page.py      the page at `/once`: its files, and the view events that it asks for, as SSE
static/      the page: plain HTML, CSS and JavaScript modules, as they are served
terminal/    `langgraph-once demo`; needs the extra `cli`

Nothing of this is imported before somebody asks for the page or the commands. Each side has a
thread of its own, so the graph runs once for each. All runs are resumable, and go on when nobody
listens: `SideRequest(run_ids=…)` joins them again from their beginning.
"""

from langgraph_once.inspect.client import counting_client
from langgraph_once.inspect.follower import MODES, Follower
from langgraph_once.inspect.sides import SideRequest, all_followed, followed
from langgraph_once.inspect.view import (
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
    "counting_client",
    "followed",
    "to_dict",
]
