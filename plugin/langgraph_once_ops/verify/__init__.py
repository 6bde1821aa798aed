"""A database goes in; what is damaged in it comes out."""

from langgraph_once_ops.verify.verify import Verdict, Verifier, repair, verify

__all__ = ["Verdict", "Verifier", "repair", "verify"]
