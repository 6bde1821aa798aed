"""The page at `/once`: it runs a graph, and shows what a stock client has of it beside ours.

routes.py  who may see it; all else is loaded for the first who may
watched.py its files, and the view events that it asks for, as SSE
static/    the page: plain HTML, CSS and JavaScript modules, as they are served
"""

from langgraph_once_ops.page.routes import page_routes

__all__ = ["page_routes"]
