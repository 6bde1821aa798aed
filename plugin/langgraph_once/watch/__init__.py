"""Streams in, what a screen shows out: the view model of the page and of the terminal.

vocabulary.py  the view events, and their JSON: `to_dict`
follower.py    `Follower`: the parts of one consumer's runs to view events
messages.py    messages, with what was decided of each piece
judge.py       what the states prove: repeated, not kept, missing
states.py      keys that changed, artifacts
items.py       lanes and items, numbered
preview.py     values as JSON that a screen can hold
view.py        `View`: view events folded to items, for renderers and tests

A `Follower` for each side, stock and once, takes the parts of its stream and tells, in order:

    began    side, thread_id, run_id                      a run begins, or is joined
    lane     side, lane, path, number                     a graph speaks for the first time
    item     side, item, kind, lane, node, name, value, mark   a message, tool call, artifact, …
    said     side, item, text, mark, kind                 its text goes on
    changed  side, item, mark | value | status            what became of it
    counted  side, counts                                 repeated, missing, bytes, …
    ended    side, status, error                          finished, interrupted, failed

Items and lanes are numbered from 0 on each side, in the order of delivery. Nothing is deleted, so
the view at any moment is the fold of the events up to there. Decisions are those of
`stream.Deduplicator`; nothing is decided a second time.

    follower, view = Follower("once"), View()
    for event in follower.begin(): view.apply(event)
    for part in parts:                       # `MODES`, subgraphs, undecided: as they came
        for event in follower.feed(part): view.apply(event)
    for event in follower.end(): view.apply(event)
    view.sides["once"].counts.repeated          # 0
"""

from langgraph_once.watch.follower import MODES, Follower
from langgraph_once.watch.view import Item, Lane, Piece, SideView, View
from langgraph_once.watch.vocabulary import (
    Began,
    Counts,
    CountsChanged,
    Ended,
    ItemChanged,
    ItemOpened,
    Kind,
    LaneOpened,
    Mark,
    Side,
    Status,
    TextAppended,
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
    "Kind",
    "Lane",
    "LaneOpened",
    "Mark",
    "Piece",
    "Side",
    "SideView",
    "Status",
    "TextAppended",
    "View",
    "ViewEvent",
    "to_dict",
]
