"""One server of the whole zoo for all tests of clients."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from demo.dev_server import DevServer
from tests.clients.server import zoo_server


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    with zoo_server(tmp_path_factory.mktemp("zoo")) as running:
        yield running
