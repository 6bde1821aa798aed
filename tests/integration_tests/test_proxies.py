"""A real proxy on the machine of a `langgraph dev`: who comes by it is not taken for local."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from demo.dev_server import DevServer

PATHS = ("/once", "/once/page/main.js", "/once/config")
SIGNS: Mapping[str, Mapping[str, str]] = {
    "nginx, all but X-Real-IP removed": {"X-Real-IP": "192.0.2.7"},
    "HAProxy with RFC 7239": {"Forwarded": "for=192.0.2.7;proto=https"},
    "Varnish": {"Via": "1.1 varnish", "X-Varnish": "1"},
    "cloudflared": {"CF-Connecting-IP": "192.0.2.7", "CF-Ray": "1", "Cdn-Loop": "cloudflare"},
    "Envoy": {"X-Request-Id": "1", "X-Envoy-External-Address": "192.0.2.7"},
    "tailscale serve": {"Tailscale-User-Login": "ada@example.com"},
}


@contextmanager
def proxy(port: int, added: Mapping[str, str], http: str = "HTTP/1.1") -> Iterator[str]:
    """A proxy that asks for `localhost`, whatever it was asked for, and adds these headers."""

    class Connection(HTTPConnection):
        _http_vsn_str = http

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass_on()

        def do_POST(self) -> None:
            self._pass_on(self.rfile.read(int(self.headers["Content-Length"])))

        def _pass_on(self, body: bytes | None = None) -> None:
            connection = Connection("localhost", port)
            headers = {**dict(self.headers), **added, "Host": f"localhost:{port}"}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            told = answer.read()
            connection.close()
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()


def statuses(url: str) -> set[int]:
    shown = {httpx.get(f"{url}{path}").status_code for path in PATHS}
    return shown | {httpx.post(f"{url}/once/watch", json={}).status_code}


def test_without_a_proxy_it_is_open_to_this_machine(server: DevServer) -> None:
    pytest.importorskip("langgraph_once_ops", reason="the page is of operations")
    assert statuses(server.url) == {200, 422}


@pytest.mark.parametrize("sign", SIGNS)
def test_a_proxy_that_shows_itself_closes_the_page(server: DevServer, sign: str) -> None:
    with proxy(server.port, SIGNS[sign]) as url:
        assert statuses(url) == {404}


def test_nginx_with_nothing_set_closes_the_page(server: DevServer) -> None:
    """It asks in HTTP/1.0, for the host of `proxy_pass`, and adds no header."""
    with proxy(server.port, {"Connection": "close"}, "HTTP/1.0") as url:
        assert statuses(url) == {404}


@pytest.mark.parametrize("origin", ["https://other.example", "null"])
def test_the_page_of_another_site_reads_no_setting(server: DevServer, origin: str) -> None:
    """`langgraph dev` would let it: it answers the pages of all sites."""
    answer = httpx.get(f"{server.url}/once/config", headers={"Origin": origin})
    assert answer.status_code == 404
    assert answer.headers["access-control-allow-origin"] == "*"
