"""The `fetch` of a real browser reads our event streams: compressed, cut, each text once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.dev_server import DevServer
from tests.integration_tests.browser import SOURCES, Page
from tests.integration_tests.npm import NEEDS_NPM, check_lock
from tests.integration_tests.sse_graphs import ASKED, STEPS, TEXT, lockstep_input
from tests.integration_tests.sse_proxy import CuttingProxy

ZSTD = b"\x28\xb5\x2f\xfd"
"""How a body of zstd begins: what Chromium asks for beside gzip, deflate and Brotli."""

pytestmark = NEEDS_NPM


@pytest.fixture
def page(chromium: Path, tmp_path: Path) -> Iterator[Page]:
    """A page of an origin that is not the server's."""
    with Page(chromium, tmp_path) as served:
        yield served


def test_the_lock_pins_the_browser_and_names_no_registry() -> None:
    check_lock(SOURCES, "@sparticuz/chromium")


@pytest.mark.slow
def test_no_event_is_delayed(sse_server: DevServer, page: Page, tmp_path: Path) -> None:
    with CuttingProxy(sse_server.port, cuts=[]) as proxy:
        told = page.stream(proxy.url, "lockstep", lockstep_input(tmp_path))
        assert [ZSTD in body[:16] for body in proxy.bodies] == [True]  # behind a chunk's length
    assert told["steps"] == list(range(STEPS))
    assert told["resumedFrom"] == []


@pytest.mark.slow
def test_through_cuts_each_text_comes_once(sse_server: DevServer, page: Page) -> None:
    with CuttingProxy(sse_server.port, cuts=[900, 400]) as proxy:
        told = page.stream(proxy.url, "slow", ASKED)
        assert [ZSTD in body[:16] for body in proxy.bodies] == [True] * 3
    assert told["texts"] == [TEXT]
    assert len(told["resumedFrom"]) == 2
