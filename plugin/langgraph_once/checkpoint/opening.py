"""Savers that are opened and closed, by programs with and without an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from langgraph_once.checkpoint.saver import OnceSaver

__all__ = ["Opening"]

S = TypeVar("S", bound=OnceSaver)


class Opening(Generic[S]):
    """A saver to be opened and closed: with `with`, or with `async with`.

    Args:
        open_saver: Opens it.
        sets_up: Whether what is missing in the database is made at once.
    """

    def __init__(self, open_saver: Callable[[], S], *, sets_up: bool = True) -> None:
        self._open = open_saver
        self._sets_up = sets_up
        self._saver: S | None = None

    def __enter__(self) -> S:
        saver = self._open()
        try:
            if self._sets_up:
                saver.setup()
        except BaseException:
            saver.close()
            raise
        self._saver = saver
        return saver

    def __exit__(self, *given: object) -> None:
        if self._saver is not None:
            self._saver.close()

    async def __aenter__(self) -> S:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(self, *given: object) -> None:
        await asyncio.to_thread(self.__exit__)
