"""The page at `/once`: run a graph, and see what a stock client is sent beside what ours is.

routes.py   who may see it, its files, and `POST /once/watch`: view events of `compare`, as SSE
static/     the page: plain HTML, CSS and JavaScript modules, as they are served

The page asks `/once/watch`, which asks the server's own API with the headers of the browser: who
may run a graph there may run it here, and nobody else.
"""

from langgraph_once.platform.page.routes import page_routes

__all__ = ["page_routes"]
