"""What is wrong with a project: in comes its `langgraph.json`, out come findings, all of them.

| file | question |
|---|---|
| `all_checks.py` | what is asked, in which order; which packages are missing, what leads nowhere? |
| `components.py` | are checkpointer, store, app and graphs what they must be? |
| `findings.py` | what is a finding, and what of an error of the user's code does it tell? |
"""

from langgraph_once.platform.check.all_checks import check_project
from langgraph_once.platform.check.findings import CheckFinding

__all__ = ["CheckFinding", "check_project"]
