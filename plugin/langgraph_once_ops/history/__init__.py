"""A stored thread goes in; its checkpoints come out as a tree, and two of them compared.

thread_tree.py the newest threads of a database, and how each stands; the checkpoints of one: what
               each wrote, and which it stands under
changes.py     what two checkpoints have in common, by channel and by message
command.py     all of that for people and for machines
"""

from langgraph_once_ops.history.changes import ChannelChange, MessageChange, changes
from langgraph_once_ops.history.command import (
    changes_as_dict,
    changes_as_text,
    listing_as_dict,
    listing_as_text,
    tree_as_dict,
    tree_as_text,
)
from langgraph_once_ops.history.thread_tree import (
    CheckpointNode,
    ListedThread,
    ThreadTree,
    newest_threads,
    thread_tree,
)

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
