"""Events as others want them: JSON, Server-Sent Events, AG-UI, a console."""

from langgraph_once.events.codec import to_dict
from langgraph_once.events.render.ag_ui import AgUiRenderer, to_ag_ui
from langgraph_once.events.render.console import to_console
from langgraph_once.events.render.sse import to_sse

__all__ = ["AgUiRenderer", "to_ag_ui", "to_console", "to_dict", "to_sse"]
