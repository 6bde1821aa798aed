"""A database goes in; what is damaged in it comes out."""

from langgraph_once_ops.verify.verify import Verdict, repair, verify

__all__ = ["Verdict", "repair", "verify"]
