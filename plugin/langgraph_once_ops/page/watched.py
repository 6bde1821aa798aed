"""The page at `/once`: its files, and the stream of view events that it shows.

The page asks `/once/watch`, which asks the server's own API with the headers of the browser: who
may run a graph there may run it here, and nobody else.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing
from importlib import resources
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from langgraph_once.compare import SideRequest, all_followed, counting_client, to_dict

FILES: Final = {
    file.name: file.read_bytes()
    for file in (resources.files(__package__) / "static").iterdir()
    if file.is_file()
}
"""Read while the room is loaded: later it would block the server's event loop."""

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

# What a person types, with room for a pasted document.
MAX_BODY_BYTES: Final = 2**20
# Well below the 60 seconds after which nginx ends a silent connection.
PING_S: Final = 10
"""So often the stream says that it lives."""

Id = Annotated[str, Field(pattern=r"^[0-9a-fA-F-]{32,36}$")]


class _Side(BaseModel):
    model_config = ConfigDict(extra="forbid")

    side: Literal["stock", "once", "both"]
    thread_id: Id | None = None
    run_ids: Annotated[tuple[Id, ...], Field(max_length=200)] = ()
    start: dict[Literal["input", "resume"], Any] | None = None


class _Watch(BaseModel):
    model_config = ConfigDict(extra="forbid")

    graph: Annotated[str, Field(min_length=1, max_length=200)]
    sides: Annotated[list[_Side], Field(min_length=1, max_length=2)]


def page_file(name: str) -> Response | None:
    """A file of the page; None if it has no such file."""
    if name not in FILES:
        return None
    kind = KINDS[name.rpartition(".")[2]]
    return Response(FILES[name], headers={**SECURITY, "Content-Type": kind})


async def watched(request: Request) -> Response:
    """Join or begin runs of a graph, and stream what their consumers get, as view events."""
    try:
        asked = _Watch.model_validate_json(await _body(request))
    except ValidationError as error:
        return JSONResponse({"detail": _problem(error)}, status_code=422)
    events = _sse(asked, own_url(request), passed_on(request))
    # It ends when the server stops. One that goes on would keep the server from stopping: what
    # reads the server's own streams takes their end for a lost connection, and asks again.
    return EventSourceResponse(events, ping=PING_S, sep="\n")


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


def own_url(request: Request) -> str:
    """Where this server answers this process: the socket that the request came by.

    Not what the request says of its host, which may be anything.
    """
    host, port = request.scope.get("server") or ("127.0.0.1", 80)
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}{request.url.path.removesuffix('/once/watch')}"


def passed_on(request: Request) -> dict[str, str]:
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
