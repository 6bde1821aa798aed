"""The routes of the page: who may see it. The page itself is loaded for the first who may."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from langgraph_once.platform import is_from_another_site, may_see
from langgraph_once.settings import Settings

logger = logging.getLogger(__name__)

Shown = Literal["auto", "on", "off"]
Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


def page_routes(settings: Settings) -> list[Route]:
    """The routes of the page; none of them answers anything but 404 to who may not see it.

    Args:
        settings: What is in force: `http.page` says to whom it is shown.
    """
    shown = settings.http.page
    if shown != "off" and (own_url := os.environ.get("LANGGRAPH_API_URL")):
        # Where `langgraph dev` serves (langgraph-api 0.16.7); other servers do not say.
        logger.info("A page that runs your graphs, and shows their streams: %s/once", own_url)
    page, watch = _page(shown), _watch(shown)
    return [
        Route("/once", page),
        Route("/once/page/{name}", page),
        Route("/once/watch", watch, methods=["POST"]),
    ]


def _page(shown: Shown) -> Handler:
    async def page(request: Request) -> Response:
        """The page that runs a graph and shows both streams.

        ---
        summary: The page of langgraph-once
        responses:
          '200':
            description: The page.
          '404':
            description: The setting `page` is off, or this client may not see it.
        """
        if not may_see(request, shown):
            return _not_found()
        file, _ = await asyncio.to_thread(_loaded)
        return file(request.path_params.get("name", "index.html")) or _not_found()

    return page


def _watch(shown: Shown) -> Handler:
    async def watch(request: Request) -> Response:
        """Join or begin runs of a graph, and stream what their consumers get, as view events.

        ---
        summary: View events of two consumers of a graph
        responses:
          '200':
            description: An event stream; the data of each event is a view event as JSON.
          '403':
            description: A page of another site asks, or the request is not said to be JSON.
          '404':
            description: The setting `page` is off, or this client may not see it.
          '422':
            description: The request is not what it should be.
        """
        if not may_see(request, shown):
            return _not_found()
        if is_from_another_site(request) or not _is_json(request):
            told = "asked by a page of another site, or not as application/json"
            return JSONResponse({"detail": told}, status_code=403)
        _, watched = await asyncio.to_thread(_loaded)
        return await watched(request)

    return watch


def _loaded() -> tuple[Callable[[str], Response | None], Handler]:
    """What answers. Loading it reads files, which would block the server's event loop."""
    from langgraph_once_ops.page.watched import page_file, watched

    return page_file, watched


def _is_json(request: Request) -> bool:
    """Whether it is said to be JSON, which no form of another site can say."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    return kind.strip().lower() == "application/json"


def _not_found() -> JSONResponse:
    return JSONResponse({"detail": "Not Found"}, status_code=404)
