"""A database and a new graph go in; a report of the threads comes out that the graph would break.

Nothing is written, and no node runs.

| file | question |
|---|---|
| `rehearsal.py` | what does each thread meet under the new graph? |
| `flow.py` | what becomes of the tasks that are due? Which nodes lie ahead, and which no more? |
| `state.py` | what becomes of the values? |
| `heads.py` | what are the newest checkpoints of a thread, and what would the new graph do next? |
| `shape.py` | what of a graph matters to a stored thread? |
| `report.py` | what was found, how sure is it, and how is it told? |
"""

from langgraph_once_ops.rehearse.rehearsal import Rehearsal
from langgraph_once_ops.rehearse.report import CERTAINTIES, Certainty, Finding, Report
from langgraph_once_ops.rehearse.shape import Shape, shape_of

__all__ = ["CERTAINTIES", "Certainty", "Finding", "Rehearsal", "Report", "Shape", "shape_of"]
