"""A user's `langgraph.json`, wired to this package: in comes its text, out comes a plan.

| file | question |
|---|---|
| `tried_plan.py` | which plan does a server start with? |
| `plan.py` | what changes, and what is left as it is? |
| `find_graphs.py` | which graphs are in the project, and by which name is a file imported? |
| `json_text.py` | how is a text changed and all else kept? |
"""

from langgraph_once.platform.wiring.find_graphs import find_graphs
from langgraph_once.platform.wiring.plan import Plan
from langgraph_once.platform.wiring.tried_plan import tried_plan

__all__ = ["Plan", "find_graphs", "tried_plan"]
