"""What is wrong with a project: in comes its `langgraph.json`, out come findings, all of them.

| file | question |
|---|---|
| `project.py` | what is asked, in which order? |
| `keys.py` | which keys does nobody read? |
| `extras.py` | which packages are missing? |
| `sockets.py` | are checkpointer and app what they must be? |
| `image.py` | what would break the image? |
| `graphs.py` | are the graphs, and what factories make? |
| `named_types.py` | do the types exist that settings name? |
| `finding.py` | what is a finding, and what of an error of the user's code does it tell? |
"""

from langgraph_once.platform.check.finding import Finding
from langgraph_once.platform.check.project import check_project

__all__ = ["Finding", "check_project"]
