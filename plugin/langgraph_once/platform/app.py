"""`http.app` in `langgraph.json`: our routes, and event streams that are compressed.

    "http": {"app": "langgraph_once.platform.app:app"}

The server wraps its own routes in the middleware of this app, too. It runs custom routes without
authentication unless `http.enable_custom_route_auth` is set, so nothing here shows a secret or a
value of a thread. It reads what follows `---` in a docstring as OpenAPI.
"""

from __future__ import annotations

import asyncio
import logging
import os
from importlib.metadata import version
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from langgraph_once.checkpoint import ask_database
from langgraph_once.errors import StorageError
from langgraph_once.manifest import Manifest
from langgraph_once.platform.sse import SseCompression, SseDeduplication
from langgraph_once.platform.startup import check_settings, user_mistakes_stop_the_server
from langgraph_once.settings import Settings, has_auth, load_graph_targets, load_settings

__all__ = ["app"]

logger = logging.getLogger(__name__)

LOCAL = frozenset({"127.0.0.1", "::1"})


async def health(_: Request) -> JSONResponse:
    """Say that this package serves, and its version; or that the database of threads does not.

    ---
    summary: Health of langgraph-once
    responses:
      '200':
        description: It serves, and the database answers; the version of the package.
      '503':
        description: The database of threads does not answer; the log of the server says why.
    """
    said: dict[str, Any] = {"ok": True, "version": version("langgraph-once")}
    try:
        if Manifest.from_environment(os.environ).has_our_saver:
            await asyncio.to_thread(ask_database, load_settings().database)
    except StorageError as error:
        # Everybody may ask: which database, and why, is for who reads the log.
        logger.warning("%s", error)
        said |= {"ok": False, "problem": "the database of threads does not answer"}
    return JSONResponse(said, status_code=200 if said["ok"] else 503)


async def config(request: Request) -> JSONResponse:
    """Show the settings in force, without secrets.

    ---
    summary: Settings of langgraph-once
    responses:
      '200':
        description: The settings in force, without secrets.
      '404':
        description: The setting `expose_config` is off, or this client may not see them.
    """
    settings = load_settings()
    exposed = settings.http.expose_config
    if not (_may_see_config(request) if exposed == "auto" else exposed):
        return JSONResponse({"detail": "Not Found"}, status_code=404)
    graphs = {
        found.graph_id: {"target": found.target, "dedup": {"state": found.dedup.state}}
        for found in load_graph_targets()
    }
    return JSONResponse({**settings.public(), "graphs": graphs})


def _may_see_config(request: Request) -> bool:
    """Whether the server has authenticated this client, or authenticates nobody but is local.

    Behind a proxy on this machine the server knows the client by `X-Forwarded-For`.
    """
    user = request.scope.get("user")
    if getattr(user, "is_authenticated", False):
        return True
    return not has_auth() and request.client is not None and request.client.host in LOCAL


def stream_middleware(settings: Settings) -> list[Middleware]:
    """What event streams go through on their way out, outermost first."""
    http = settings.http
    return [
        Middleware(SseCompression, encodings=http.sse_encodings),
        Middleware(SseDeduplication, by_default=http.sse_dedup, config=settings.dedup),
    ]


with user_mistakes_stop_the_server():
    # The server imports this before anything else of ours, and before it starts to start.
    loaded = load_settings()
    check_settings(loaded)
    app = Starlette(
        routes=[Route("/once/health", health), Route("/once/config", config)],
        middleware=stream_middleware(loaded),
    )
