"""A user's `langgraph.json`, wired to this package: in comes its text, out comes a plan.

| file | question |
|---|---|
| `plan.py` | what changes, what is left as it is, and does a server start with that? |
| `find_graphs.py` | which graphs are in the project, and by which name is a file imported? |
"""

from langgraph_once.platform.wiring.find_graphs import find_graphs
from langgraph_once.platform.wiring.plan import Plan, tried_plan

__all__ = ["Plan", "find_graphs", "tried_plan"]
