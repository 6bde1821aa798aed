"""A stored thread goes in; its checkpoints come out as a tree, and two of them compared.

listing.py     the newest threads of a database, and how each stands
thread_tree.py the checkpoints of a thread: what each wrote, and which it stands under
changes.py     what two checkpoints have in common, by channel and by message
drawn.py       all of that for people and for machines
"""

from langgraph_once_ops.history.changes import ChannelChange, MessageChange, changes
from langgraph_once_ops.history.drawn import (
    changes_as_dict,
    changes_as_text,
    listing_as_dict,
    listing_as_text,
    tree_as_dict,
    tree_as_text,
)
from langgraph_once_ops.history.listing import ListedThread, newest_threads
from langgraph_once_ops.history.thread_tree import CheckpointNode, ThreadTree, thread_tree

__all__ = [
    "ChannelChange",
    "CheckpointNode",
    "ListedThread",
    "MessageChange",
    "ThreadTree",
    "changes",
    "changes_as_dict",
    "changes_as_text",
    "listing_as_dict",
    "listing_as_text",
    "newest_threads",
    "thread_tree",
    "tree_as_dict",
    "tree_as_text",
]
