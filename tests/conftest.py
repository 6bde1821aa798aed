"""Settings of all tests."""

import functools
import gc
import logging
import os
import re
import ssl
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import httpx
import pytest
from httpx._transports import default as transports
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from demo.dev_server import DevServer
from tests.examples import FACTOR
from tests.forked import fork_server
from tests.postgres_server import postgres_server
from tests.thread_pools import work_around_the_fault

# How long an example takes tells how busy the machine is; what must be quick is timed by `bench`.
USUAL = settings(deadline=None, max_examples=25 * FACTOR)
settings.register_profile("langgraph-once", USUAL)
settings.register_profile("ci", settings.get_profile("ci"), max_examples=USUAL.max_examples)
settings.load_profile("langgraph-once")

# Servers of tests speak plain HTTP, yet each client of httpx reads all certificates, for 20 ms.
# Here it reads them once; other processes read them from a folder, when they are wanted.
vars(transports)["create_ssl_context"] = functools.cache(httpx.create_ssl_context)
if (certificates := ssl.get_default_verify_paths().capath) is not None:
    os.environ.setdefault("SSL_CERT_DIR", certificates)

DevServer.starts = staticmethod(fork_server)
work_around_the_fault()

WAITING = {"clients", "integration_tests", "ops", "page", "platform", "samples", "typing"}
"""The folders of tests that wait: for servers, browsers, processes, type checkers."""

COMPUTING = {"checkpoint", "serde"}
"""The rooms whose tests compute, wherever they stand."""

TOGETHER = re.compile(
    r"tests/(clients|samples|integration_tests/remote"
    r"|integration_tests/(?=compare|test_(?:front_ends|guides|runs|server))"
    r"|integration_tests/test_sse)"
)
"""The tests that share a server: one worker runs them all, so that it is started once."""

SPLIT = {"corpus", "events", "serde", "stream", "compare", "test_init.py"}
"""The folders and files of tests that share nothing but what is made at import."""

SPLIT_IN_PRODUCT = {"test_cuts.py"}
"""Those with so many variants that a server for each eighth of them is soon made good."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: the collector of garbage need not walk over it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """As many as there are processors, and two more where tests wait for servers and databases."""
    asked = [{*Path(each.partition("::")[0]).parts} for each in config.args]
    waits = any("unit_tests" not in parts or "checkpoint" in parts for parts in asked)
    return (os.cpu_count() or 1) + 2 * waits


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is longest begins first; what comes last is short."""
    items.sort(
        key=lambda item: (not TOGETHER.match(item.nodeid), "test_init.py" not in item.nodeid)
    )


def _waits(scope: str) -> bool:
    """Whether the tests of a file or folder wait more than they compute."""
    path = Path(scope)
    waits = path.parent.name == "unit_tests" or not WAITING.isdisjoint(path.parts)
    return waits and COMPUTING.isdisjoint(path.parts)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Give a worker a file at a time, so that what its tests share is set up once."""
    return _ByFile(config, log)


class _ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    def _split_scope(self, nodeid: str) -> str:
        """A file; all that share a server; an eighth of a file whose many tests share nothing.

        Tests of one scenario stay together, in `events` those of all files: what they have played
        of it is cached.
        """
        file = nodeid.partition("::")[0]
        if together := TOGETHER.match(file):
            return together.group()
        split = SPLIT | SPLIT_IN_PRODUCT if self.config.option.markexpr == "product" else SPLIT
        is_split = split & {*Path(file).parts}
        case = nodeid.partition("[")[2] or nodeid
        whole = file.partition("/test_")[0] if "/events/" in file else file
        return f"{whole} {crc32(case.encode()) % 8}" if is_split else file

    def _assign_work_unit(self, node: object) -> None:
        """Every other worker takes what waits, the others what computes, as long as there is some.

        So the processors are busy all the time.
        """
        waits = [*self.assigned_work].index(node) % 2 == 1
        of_its_kind = (scope for scope in self.workqueue if _waits(scope) == waits)
        if (scope := next(of_its_kind, None)) is not None:
            self.workqueue.move_to_end(scope, last=False)
        super()._assign_work_unit(node)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server."""
    with postgres_server() as address:
        yield address


_OURS = re.compile(r"rror in (Once|Hiding|Hints|ModelRuns)\w*Handler|passed on as it came")


class _Failures(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(record.getMessage())


_LOGS = ("langchain_core.callbacks.manager", "langgraph_once.stream.deduplicator")


@pytest.fixture(autouse=True)
def nothing_of_ours_fails_in_silence(request: pytest.FixtureRequest) -> Iterator[None]:
    """LangChain logs what a callback handler raises, and goes on; so do we with a part.

    Tests of malformed parts say so in their name, or in that of their file.
    """
    failures = _Failures()
    for name in _LOGS:
        logging.getLogger(name).addHandler(failures)
    yield
    for name in _LOGS:
        logging.getLogger(name).removeHandler(failures)
    told = [each for each in failures.told if _OURS.search(each)]
    assert not told or "malformed" in request.node.nodeid, told
