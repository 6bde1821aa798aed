"""What is wrong with a project: in comes its `langgraph.json`, out come findings, all of them.

| file | question |
|---|---|
| `all_checks.py` | what is asked, in which order, and which packages are missing? |
| `keys.py` | which keys does nobody read, and which texts would break the image? |
| `sockets.py` | are checkpointer and app what they must be? |
| `graph_checks.py` | are the graphs, and what factories make? |
| `setting_names.py` | do the types exist that settings name? |
| `findings.py` | what is a finding, and what of an error of the user's code does it tell? |
"""

from langgraph_once.platform.check.all_checks import check_project
from langgraph_once.platform.check.findings import CheckFinding

__all__ = ["CheckFinding", "check_project"]
