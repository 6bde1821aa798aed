"""What upstream's stores embed of a value that is stored encrypted: the value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from langgraph.store.base import PutOp

from langgraph_once.store.sealing import Sealed

__all__ = ["Puts", "Queries", "with_embeddings_of_values"]

Puts: TypeAlias = Sequence[tuple[int, PutOp]]
Queries: TypeAlias = tuple[list[tuple[str, Sequence[Any]]], Any]


def with_embeddings_of_values(prepare: Callable[[Puts], Queries], puts: Puts) -> Queries:
    """The statements that write rows, and the request for embeddings of what they stand for.

    Args:
        prepare: Upstream's: gives both, of what it is given.
        puts: What is to be written, some of it encrypted.
    """
    statements, request = prepare(puts)
    if request is None and not any(isinstance(op.value, Sealed) for _, op in puts):
        return statements, request
    values = [(index, _plain(op)) for index, op in puts]
    return statements, prepare(values)[1]


def _plain(op: PutOp) -> PutOp:
    return op._replace(value=dict(op.value.value)) if isinstance(op.value, Sealed) else op
