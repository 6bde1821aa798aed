"""The routes of the page: its files, and the stream of view events that it shows."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from importlib import resources
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from langgraph_once.compare import SideRequest, all_followed, counting_client
from langgraph_once.platform.access import is_from_another_site, is_known, is_local
from langgraph_once.watch import to_dict

__all__ = ["page_routes"]

Handler = Callable[[Request], Awaitable[Response]]
Shown = Literal["auto", "on", "off"]

KINDS: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

SECURITY: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}

OWN_HEADERS: Final = frozenset(
    {"host", "connection", "content-length", "content-type", "accept", "accept-encoding"}
    | {"transfer-encoding", "upgrade", "te", "trailer", "keep-alive", "expect", "origin"}
)
"""Headers that belong to one connection, and are not passed on."""

MAX_BODY_BYTES: Final = 2**20
PING_S: Final = 10
"""So often the stream says that it lives."""

Id = Annotated[str, Field(pattern=r"^[0-9a-fA-F-]{32,36}$")]


class _Side(BaseModel):
    model_config = ConfigDict(extra="forbid")

    side: Literal["stock", "once"]
    thread_id: Id | None = None
    run_ids: Annotated[tuple[Id, ...], Field(max_length=200)] = ()
    start: dict[Literal["input", "resume"], Any] | None = None


class _Watch(BaseModel):
    model_config = ConfigDict(extra="forbid")

    graph: Annotated[str, Field(min_length=1, max_length=200)]
    sides: Annotated[list[_Side], Field(min_length=1, max_length=2)]


def page_routes(shown: Shown) -> list[Route]:
    """The routes of the page; none of them answers anything but 404 to who may not see it.

    Args:
        shown: To whom it is shown: the setting `http.page`.
    """
    page = _page(shown)
    return [
        Route("/once", page),
        Route("/once/page/{name}", page),
        Route("/once/watch", _watch(shown), methods=["POST"]),
    ]


def _page(shown: Shown) -> Handler:
    # Read now: later it would block the server's event loop.
    folder = resources.files(__package__) / "static"
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}

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
        name = request.path_params.get("name", "index.html")
        if name not in files or not _may_see(request, shown):
            return _not_found()
        kind = KINDS[name.rpartition(".")[2]]
        return Response(files[name], headers={**SECURITY, "Content-Type": kind})

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
        if not _may_see(request, shown):
            return _not_found()
        if is_from_another_site(request) or not _is_json(request):
            told = "asked by a page of another site, or not as application/json"
            return JSONResponse({"detail": told}, status_code=403)
        try:
            asked = _Watch.model_validate_json(await _body(request))
        except ValidationError as error:
            return JSONResponse({"detail": _problem(error)}, status_code=422)
        events = _sse(asked, _own_url(request), _passed_on(request))
        # It ends when the server stops. One that goes on would keep the server from stopping: what
        # reads the server's own streams takes their end for a lost connection, and asks again.
        return EventSourceResponse(events, ping=PING_S, sep="\n")

    return watch


def _may_see(request: Request, shown: Shown) -> bool:
    """Whether this client may see the page."""
    if shown == "auto":
        return is_known(request) or is_local(request)
    return shown == "on"


def _is_json(request: Request) -> bool:
    """Whether it is said to be JSON, which no form of another site can say."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    return kind.strip().lower() == "application/json"


def _not_found() -> JSONResponse:
    return JSONResponse({"detail": "Not Found"}, status_code=404)


async def _body(request: Request) -> bytes:
    body = b""
    async for data in request.stream():
        body += data
        if len(body) > MAX_BODY_BYTES:
            return b""  # no JSON, which is what the client is told
    return body


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else str(first["msg"])


def _own_url(request: Request) -> str:
    """Where this server answers this process: the socket that the request came by.

    Not what the request says of its host, which may be anything.
    """
    host, port = request.scope.get("server") or ("127.0.0.1", 80)
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}{request.url.path.removesuffix('/once/watch')}"


def _passed_on(request: Request) -> dict[str, str]:
    """The headers of the browser, by which the server knows its user."""
    return {
        name: value
        for name, value in request.headers.items()
        if name not in OWN_HEADERS and not name.startswith("sec-fetch-")
    }


async def _sse(
    asked: _Watch, url: str, headers: Mapping[str, str]
) -> AsyncIterator[dict[str, str]]:
    """View events as an event stream, each with `at`: milliseconds since the stream began."""
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        sides = [SideRequest(graph=asked.graph, **dict(each)) for each in asked.sides]
        clients = [await stack.enter_async_context(counting_client(url, headers)) for _ in sides]
        events = await stack.enter_async_context(aclosing(all_followed(sides, clients)))
        async for event in events:
            at = round((time.monotonic() - began) * 1000)
            yield {"data": json.dumps({**to_dict(event), "at": at})}
    yield {"event": "end", "data": "{}"}
