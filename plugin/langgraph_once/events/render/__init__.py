"""Events in; the forms of others out.

sse.py      Server-Sent Events, through `sse-starlette`; what outsiders may see of an event
ag_ui.py    events of the AG-UI protocol
console.py  text for a terminal
(JSON is `vocabulary/codec.py`.)
"""

from langgraph_once.events.render.ag_ui import AgUiRenderer, to_ag_ui
from langgraph_once.events.render.console import to_console
from langgraph_once.events.render.sse import to_sse
from langgraph_once.events.vocabulary.codec import to_dict

__all__ = ["AgUiRenderer", "to_ag_ui", "to_console", "to_dict", "to_sse"]
