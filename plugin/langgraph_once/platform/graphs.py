"""`graphs` in `langgraph.json`: your graphs, each of which streams everything once.

    "graphs": {
      "agent": {
        "path": "langgraph_once.platform.graphs:agent",
        "once": {"target": "myapp.graph:graph"}
      }
    }

The server looks a graph up in this module's globals, and does not call a module-level
`__getattr__`, so they are filled when the server imports the module.
"""

from __future__ import annotations

from langgraph_once.platform.startup import hand_on_transformers, user_mistakes_stop_the_server
from langgraph_once.platform.targets import wrap
from langgraph_once.settings import load_graph_targets

with user_mistakes_stop_the_server():
    for found in load_graph_targets():
        globals()[found.name] = wrap(found)
        hand_on_transformers(found.graph_id, found.target)
