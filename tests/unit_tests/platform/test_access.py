"""Who is on the machine of a `langgraph dev`, with nobody in between."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from starlette.requests import Request

from langgraph_once.platform.access import is_from_another_site, is_local

HOST = "localhost:2024"
OWN, FOREIGN = f"http://{HOST}", "https://other.example"


def asked(
    headers: Mapping[str, str] | None = None, *, method: str = "GET", http_version: str = "1.1"
) -> Request:
    given = {"host": HOST, **(headers or {})}
    return Request(
        {
            "type": "http",
            "method": method,
            "path": "/once",
            "query_string": b"",
            "http_version": http_version,
            "client": ("127.0.0.1", 5000),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        }
    )


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"accept": "*/*", "user-agent": "curl/8", "cookie": "a=b", "authorization": "Bearer x"},
        {"x-api-key": "k", "x-requested-with": "XMLHttpRequest"},
        {"origin": OWN, "referer": f"{OWN}/once", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-ch-ua": "x", "dnt": "1"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
    ids=["bare", "curl", "own headers", "the page", "the address bar", "a link of another site"],
)
def test_a_browser_or_a_program_on_the_machine_is_local(headers: Mapping[str, str]) -> None:
    assert is_local(asked(headers))


@pytest.mark.parametrize(
    "name",
    [
        "forwarded",
        "via",
        "x-forwarded-for",
        "x-forwarded-proto",
        "x-forwarded",
        "x-real-ip",
        "x-client-ip",
        "x-cluster-client-ip",
        "x-original-forwarded-for",
        "x-original-url",
        "x-request-id",
        "x-request-start",
        "x-envoy-external-address",
        "x-b3-traceid",
        "x-amzn-trace-id",
        "x-amz-cf-id",
        "x-azure-clientip",
        "x-arr-ssl",
        "x-appengine-user-ip",
        "x-cloud-trace-context",
        "x-vercel-id",
        "x-nf-client-connection-ip",
        "x-ms-client-principal",
        "x-scheme",
        "cf-connecting-ip",
        "cf-ray",
        "cdn-loop",
        "client-ip",
        "true-client-ip",
        "fastly-client-ip",
        "fly-client-ip",
        "tailscale-user-login",
        "remote-user",
        "ssl-client-cert",
        "proxy-connection",
        "max-forwards",
    ],
)
def test_any_header_of_a_proxy_closes_the_page(name: str) -> None:
    assert not is_local(asked({name: "x"}))


def test_http_1_0_is_spoken_by_nginx_and_by_no_browser() -> None:
    assert not is_local(asked(http_version="1.0"))


def test_no_other_server_takes_anybody_for_local(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that adds nothing cannot be told from a browser."""
    monkeypatch.setenv("LANGSMITH_LANGGRAPH_API_VARIANT", "local")
    assert not is_local(asked())


FOREIGN_PAGES = [
    {"origin": FOREIGN},
    {"origin": "null"},
    {"origin": "http://localhost:3000"},
    {"origin": FOREIGN, "sec-fetch-site": "none"},
    {"origin": FOREIGN, "sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    {"sec-fetch-site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN_PAGES)
def test_pages_of_other_sites_are_told_by_either_header(headers: Mapping[str, str]) -> None:
    assert is_from_another_site(asked(headers))
    assert not is_local(asked(headers))


def test_a_form_of_another_site_is_no_visit() -> None:
    form = {"origin": FOREIGN, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert not is_local(asked(form, method="POST"))


def test_a_name_that_leads_to_this_machine_is_not_its_own() -> None:
    """The name of an attacker's page, which then leads here (DNS rebinding)."""
    host = "other.example:2024"
    rebound = {"host": host, "origin": f"http://{host}", "sec-fetch-site": "same-origin"}
    assert not is_local(asked(rebound))


def test_behind_a_proxy_that_changes_the_host_the_browser_is_believed() -> None:
    own = {"origin": "https://agents.example", "sec-fetch-site": "same-origin"}
    assert not is_from_another_site(asked(own))
