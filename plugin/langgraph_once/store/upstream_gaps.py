"""What upstream's stores for both databases lack: who makes tables, and what is embedded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeAlias

from langgraph.store.base import PutOp
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random

from langgraph_once.store.sealing import Sealed

Puts: TypeAlias = Sequence[tuple[int, PutOp]]
Queries: TypeAlias = tuple[list[tuple[str, Sequence[Any]]], Any]

# More than upstream has migrations of one kind (five): a race may be lost at each.
_ATTEMPTS: Final = 8
# At random, so that processes which start together do not race again.
_LONGEST_WAIT_S: Final = 0.5


async def set_up(make: Callable[[], Awaitable[None]], races: tuple[type[Exception], ...]) -> None:
    """Make the tables that are missing. If another process makes one meanwhile, try again.

    Args:
        make: Upstream's set-up. It looks first which tables are there.
        races: The errors that it raises when another process made a table meanwhile.
    """
    trying = AsyncRetrying(
        retry=retry_if_exception_type(races),
        stop=stop_after_attempt(_ATTEMPTS),
        wait=wait_random(0, _LONGEST_WAIT_S),
        reraise=True,
    )
    async for attempt in trying:
        with attempt:
            await make()


def with_embeddings_of_values(prepare: Callable[[Puts], Queries], puts: Puts) -> Queries:
    """The statements that write rows, and the request for embeddings of what they stand for.

    Args:
        prepare: Upstream's function. It returns the statements and the request for given rows.
        puts: What is to be written, some of it encrypted.
    """
    statements, request = prepare(puts)
    if request is None and not any(isinstance(op.value, Sealed) for _, op in puts):
        return statements, request
    values = [(index, _plain(op)) for index, op in puts]
    return statements, prepare(values)[1]


def _plain(op: PutOp) -> PutOp:
    return op._replace(value=dict(op.value.value)) if isinstance(op.value, Sealed) else op
