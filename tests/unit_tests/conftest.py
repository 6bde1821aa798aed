"""What several rooms are tested with."""

from collections.abc import Iterator

import pytest

from tests.postgres_server import postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server."""
    with postgres_server() as address:
        yield address
