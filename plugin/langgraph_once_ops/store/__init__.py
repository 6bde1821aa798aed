"""All values of the store go in; they come out encrypted with the newest key, or plain."""

from langgraph_once_ops.store.rewriting import Rewritten, items_by_key, rewrite

__all__ = ["Rewritten", "items_by_key", "rewrite"]
