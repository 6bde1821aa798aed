"""The policy of `checkpointer.once.retention`: a server deletes by and by what is old."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from langgraph_once.checkpoint.by_url import backend_of
from langgraph_once.metrics import retention
from langgraph_once.platform.checkpointer import saver as server_saver
from tests.ops.retention.test_retention import DAY, put, threads
from tests.unit_tests.checkpoint import whole_databases as whole

POLICY = {"older_than": "90d", "keep_last": 2, "every": "1s"}


@pytest.fixture
def served(here: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The saver of a server with a policy, or without."""

    def served(policy: Any) -> Any:
        monkeypatch.setenv("ONCE_DATABASE_URL", here)
        if policy is not None:
            monkeypatch.setenv("ONCE_CHECKPOINT__RETENTION", json.dumps(policy))
        return server_saver()

    return served


async def until(is_done: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_done():  # noqa: ASYNC110 - a database tells nobody
            await asyncio.sleep(0.05)


def is_free(here: str) -> bool:
    """Whether nobody has the claim."""
    if (claim := backend_of(here).claim("")) is None:
        return False
    claim.close()
    return True


def filled(here: str) -> None:
    with whole.once(here, whole.serde()) as saver:
        put(saver, "old", 100 * DAY)
        put(saver, "long", *(timedelta(minutes=number) for number in (9, 8, 7, 6)))


async def test_a_server_deletes_what_its_policy_says_and_counts_it(
    here: str, served: Callable[..., Any]
) -> None:
    filled(here)
    before = retention.passes, retention.deleted_threads, retention.shortened_threads
    async with served(POLICY) as saver:
        put(saver, "new", timedelta())  # it serves meanwhile
        await until(lambda: retention.passes > before[0])
        assert threads(here) == ["long", "new"]
        after = retention.deleted_threads - before[1], retention.shortened_threads - before[2]
        assert after == (1, 1)
        assert retention.deleted_bytes > 0


async def test_one_server_at_a_time_follows_the_policy(
    here: str, served: Callable[..., Any]
) -> None:
    filled(here)
    claim = backend_of(here).claim("")
    assert claim is not None
    assert backend_of(here).claim("") is None
    others, passes = retention.left_to_others, retention.passes
    async with served(POLICY):
        await until(lambda: retention.left_to_others > others)
        assert (threads(here), retention.passes) == (["long", "old"], passes)
        claim.close()
        await until(lambda: threads(here) == ["long"])


async def test_a_server_that_ends_leaves_no_claim(
    here: str, served: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(here)
    begun, has_claimed = threading.Event(), threading.Event()
    claims = type(backend_of(here)).claim

    def slowly(*given: Any, **options: Any) -> Any:
        begun.set()
        time.sleep(0.5)  # as over a network
        claim = claims(*given, **options)
        has_claimed.set()
        return claim

    monkeypatch.setattr(type(backend_of(here)), "claim", slowly)
    async with served(POLICY):
        await until(begun.is_set)
    assert await asyncio.to_thread(has_claimed.wait, 20)
    await until(lambda: is_free(here))


async def test_without_a_policy_nothing_is_deleted(here: str, served: Callable[..., Any]) -> None:
    filled(here)
    passes = retention.passes
    async with served(None):
        await asyncio.sleep(1.5)
    assert (threads(here), retention.passes) == (["long", "old"], passes)
