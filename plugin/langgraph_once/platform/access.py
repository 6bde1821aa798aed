"""Who asks for a route of ours, which the server may serve without authentication."""

from __future__ import annotations

from ipaddress import ip_address

from starlette.requests import Request

__all__ = ["is_from_another_site", "is_known", "is_local"]

SAME_SITE = frozenset({"same-origin", "none"})


def is_known(request: Request) -> bool:
    """Whether the server has authenticated this client."""
    return bool(getattr(request.scope.get("user"), "is_authenticated", False))


def is_local(request: Request) -> bool:
    """Whether the client is on this machine, and asks for it by a name of this machine.

    Behind a proxy on this machine the server knows the client by `X-Forwarded-For`, or else by
    the name that it was asked for: a proxy's, or that of a page which had it lead here.
    """
    client = request.client
    return client is not None and _is_loopback(client.host) and _is_loopback(request.url.hostname)


def is_from_another_site(request: Request) -> bool:
    """Whether a browser says that a page of another site asks."""
    return request.headers.get("sec-fetch-site", "none") not in SAME_SITE


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address((host or "").strip("[]")).is_loopback
    except ValueError:
        return False
