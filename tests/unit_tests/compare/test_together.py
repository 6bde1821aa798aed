"""Several streams at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from langgraph_once.compare.comparison import together


class Source:
    def __init__(self, *given: int | Exception | asyncio.Event) -> None:
        self.given = given
        self.is_closed = False

    async def stream(self) -> AsyncGenerator[int]:
        try:
            for each in self.given:
                if isinstance(each, asyncio.Event):
                    await each.wait()
                elif isinstance(each, Exception):
                    raise each
                else:
                    yield each
        finally:
            self.is_closed = True


async def test_all_events_come_in_the_order_of_each_stream() -> None:
    sources = [Source(1, 2, 3), Source(), Source(10, 20)]
    found = [each async for each in together(each.stream() for each in sources)]
    assert sorted(found, key=str) == [1, 10, 2, 20, 3]
    assert [each for each in found if each and each < 10] == [1, 2, 3]
    assert all(source.is_closed for source in sources)


async def test_one_stream_does_not_wait_for_another() -> None:
    waits = asyncio.Event()
    sources = [Source(waits, 1), Source(2, 3)]
    found = []
    async for each in together(each.stream() for each in sources):
        found.append(each)
        if each == 3:
            waits.set()
    assert found == [2, 3, 1]


async def test_leaving_and_an_error_close_all() -> None:
    waits = asyncio.Event()
    sources = [Source(1, waits), Source(2, waits)]
    async with aclosing(together(each.stream() for each in sources)) as events:
        await anext(events)
    assert all(source.is_closed for source in sources)
    sources = [Source(1, waits), Source(ValueError())]
    with pytest.raises(ValueError):
        async for _ in together(each.stream() for each in sources):
            pass
    assert all(source.is_closed for source in sources)
