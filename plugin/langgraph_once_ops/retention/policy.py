"""`checkpointer.once.retention` of `langgraph.json`: a server deletes what is old, by and by.

It looks at all threads, each in a transaction of its own, and rests after each as long as that
took. One server of those that share a database does it at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from functools import partial
from typing import Final

from langgraph_once.checkpoint import (
    Claim,
    OnceSaver,
    backend_of,
    close_in_thread,
    open_in_thread,
    why,
)
from langgraph_once.config import RetentionConfig, seconds_in
from langgraph_once.metrics import retention
from langgraph_once.settings import Settings
from langgraph_once_ops.retention import Pruned, Pruner

logger = logging.getLogger(__name__)

_FIRST_S: Final = (60.0, 300.0)
"""How long after its start a server looks first, drawn at random: replicas start together."""
# Sleeping for less takes as long on most systems.
_LEAST_REST_S: Final = 0.01
_MOST_TOLD: Final = 3
"""Of threads that could not be read."""


@contextlib.asynccontextmanager
async def retained(saver: OnceSaver, settings: Settings) -> AsyncIterator[None]:
    """Prune by the policy of the settings, if there is one, until the context ends.

    Args:
        saver: The saver of the server.
        settings: What is in force.
    """
    checkpoint = settings.checkpoint
    if checkpoint.retention is None:
        yield
        return
    task = asyncio.create_task(
        _look_again_and_again(saver, settings.database, checkpoint.schema, checkpoint.retention)
    )
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _look_again_and_again(
    saver: OnceSaver, database: str, schema: str, rules: RetentionConfig
) -> None:
    every_s = seconds_in(rules.every)
    await asyncio.sleep(min(every_s, random.uniform(*_FIRST_S)))  # noqa: S311 - no secret
    while True:
        try:
            claim = await open_in_thread(partial(backend_of(database).claim, schema), _give_up)
            if claim is None:
                retention.left_to_others += 1
            else:
                try:
                    await _look(saver, rules)
                finally:  # not here: `langgraph dev` refuses what may block
                    await close_in_thread(claim.close)
        except Exception as error:  # a server is no worse for it
            retention.failures += 1
            logger.warning("Retention stopped, and goes on in %s: %s", rules.every, why(error))
        await asyncio.sleep(every_s)


def _give_up(claim: Claim | None) -> None:
    if claim is not None:
        claim.close()


async def _look(saver: OnceSaver, rules: RetentionConfig) -> None:
    """Hold all threads against the rules once."""
    aside = saver.engine.run_in_thread
    pruner = await aside(Pruner, saver, rules, datetime.now(UTC))
    done = Pruned()
    done.threads, ids = await aside(pruner.threads)
    try:
        for thread_id in ids:
            began = time.monotonic()
            await aside(pruner.attempt, thread_id, done)
            await asyncio.sleep(max(_LEAST_REST_S, time.monotonic() - began))
    finally:
        _tell(done)


def _tell(done: Pruned) -> None:
    """Count what a pass did, and log it."""
    gone = done.before.less(done.after)
    retention.passes += 1
    retention.failures += len(done.troubles)
    retention.deleted_threads += done.deleted
    retention.shortened_threads += done.shortened
    retention.deleted_checkpoints += done.checkpoints
    retention.deleted_bytes += gone.bytes
    logger.info(
        "Retention: %d threads, of which %d were deleted and %d shortened: %d checkpoints, "
        "%d bytes of values",
        *(done.threads, done.deleted, done.shortened, done.checkpoints, gone.bytes),
    )
    for trouble in done.troubles[:_MOST_TOLD]:
        logger.warning("Retention left a thread as it is: %s", trouble)
