"""Who asks for a route of ours, which the server may serve without authentication."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final, Literal
from urllib.parse import urlsplit

from starlette.requests import Request

from langgraph_once.settings import is_dev_server

SAME_SITE: Final = frozenset({"same-origin", "none"})

FROM_PROXY: Final = re.compile(
    r"forwarded|via|max-forwards|client-ip|true-client-ip|x-request-(id|start)|x-queue-start"
    r"|(x-)?(ssl|remote|proxy|cdn|cf|fly|fastly|akamai|incap|ngrok|tailscale|surrogate)-.*"
    r"|x-(forwarded|real|original|client-ip|cluster|scheme|host|port|envoy|b3|amzn?|azure|arr|fd|ms"
    r"|appengine|cloud|vercel|nf|varnish|nginx|sucuri|waf|tunnel|rewrite)(-.*)?"
)
"""Headers that proxies, load balancers and tunnels add, and browsers and HTTP libraries do not."""


def may_see(request: Request, shown: Literal["auto", "on", "off"]) -> bool:
    """Whether this client may see the page, `shown` being the setting `http.page`."""
    if shown == "auto":
        return is_known(request) or is_local(request)
    return shown == "on"


def is_known(request: Request) -> bool:
    """Whether the server has authenticated this client."""
    return bool(getattr(request.scope.get("user"), "is_authenticated", False))


def is_local(request: Request) -> bool:
    """Whether the client is on the machine of a `langgraph dev`, with nobody in between.

    A proxy on that machine may pass on all that a browser says, and add nothing. It cannot be
    told from a browser. So no other server takes anybody for local: `langgraph dev` shows to whom
    reaches it no more by our routes than by its own.
    """
    client = request.client
    return (
        is_dev_server()
        and client is not None
        and _is_loopback(client.host)
        and _is_loopback(request.url.hostname)  # or a stranger's page has had its name lead here
        and not _is_from_proxy(request)
        and (_is_visit(request) or not is_from_another_site(request))
    )


def is_from_another_site(request: Request) -> bool:
    """Whether a page of another site asks, as far as a browser tells.

    `langgraph dev` lets the pages of all sites read what it answers (CORS). Browsers of before
    2023, and those that ask a plain `http` address of the network, send `Origin` alone.
    """
    site, origin = (request.headers.get(name) for name in ("sec-fetch-site", "origin"))
    if site == "same-origin":
        return False  # whatever a proxy has made of the host
    is_foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
    return is_foreign or site not in (None, *SAME_SITE)


def _is_visit(request: Request) -> bool:
    """Whether somebody follows a link to here: the page that holds the link sees no answer."""
    return request.method == "GET" and request.headers.get("sec-fetch-mode") == "navigate"


def _is_from_proxy(request: Request) -> bool:
    # nginx asks in HTTP/1.0 if nothing else is said, and no browser does.
    is_old = request.scope.get("http_version") == "1.0"
    return is_old or any(FROM_PROXY.fullmatch(name) for name in request.headers)


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address((host or "").strip("[]")).is_loopback
    except ValueError:
        return False
