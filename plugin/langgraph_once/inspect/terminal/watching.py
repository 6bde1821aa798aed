"""Watching runs in a terminal: what is asked for, shown, and answered."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import Any, TypeAlias

import click
import httpx
from langgraph_sdk.errors import APIError
from rich.console import Console

from langgraph_once.errors import ConfigError, OnceError
from langgraph_once.inspect import (
    Side,
    SideRequest,
    View,
    ViewEvent,
    all_followed,
    counting_client,
    to_dict,
)
from langgraph_once.inspect.recording import Recorder
from langgraph_once.inspect.terminal.lines import Lines
from langgraph_once.inspect.terminal.screen import shown_live
from langgraph_once.inspect.terminal.target import (
    finished_thread,
    is_thread,
    json_or_text,
    of_thread,
    said,
)

__all__ = ["Watching"]

Events: TypeAlias = AsyncGenerator[ViewEvent, None]


class Watching:
    """Watches a graph, a run or a thread of a server: live in a terminal, as lines elsewhere.

    Args:
        url: The server.
        target: The name of a graph, or the id of a thread.
        stock: Show beside it what LangGraph streams by itself.
        as_json: Print view events as JSON, one a line.
        record: A file that takes what the first side is sent; None records nothing.

    Raises:
        ConfigError: `stock` for a thread; or the file cannot be written.
    """

    def __init__(
        self, url: str, target: str, *, stock: bool, as_json: bool, record: str | None = None
    ) -> None:
        if stock and is_thread(target):
            raise ConfigError("--stock", "name a graph: a run is made for each of the two streams")
        self._url = url
        self._target = target
        self._sides: tuple[Side, ...] = ("stock", "once") if stock else ("once",)
        self._as_json = as_json
        self._recorder = None if record is None else Recorder(record)
        self._console = Console()
        self._is_live = self._console.is_terminal and not as_json

    async def run(self, start: dict[str, Any] | None, headers: dict[str, str]) -> bool:
        """Watch until nothing is under way, and nobody answers what is asked.

        Args:
            start: A run to begin, as `SideRequest` has it; None if none was named.
            headers: To send with each request.

        Returns:
            Whether all runs could be read, and none failed.

        Raises:
            ConfigError: A graph is to run, and nobody says with what.
            OnceError: The server does not answer, or refuses to.
        """
        try:
            view = await self._run(start, headers)
        except (httpx.HTTPError, APIError) as error:
            raise OnceError(f"{self._url}: {str(error) or type(error).__name__}") from error
        return all(side.status != "failed" for side in view.sides.values())

    async def _run(self, start: dict[str, Any] | None, headers: dict[str, str]) -> View:
        async with AsyncExitStack() as stack:
            if self._recorder is not None:
                stack.callback(self._recorder.close)
            clients = [
                # A client for each side, since each counts the bytes of its own.
                await stack.enter_async_context(counting_client(self._url, headers))
                for _ in self._sides
            ]
            found = SideRequest(side="once", graph=self._target)
            if is_thread(self._target):
                found = await of_thread(clients[0].client, self._target)
            if start is None and not found.run_ids:
                if found.thread_id is not None:
                    return await self._shown(finished_thread(clients[0].client, self._target))
                start = self._asked_for()
            asked = [replace(found, side=side, start=start) for side in self._sides]
            asked[0] = replace(asked[0], recorder=self._recorder)
            view = View()
            while asked:
                if self._recorder is not None:
                    self._recorder.restart()
                view = await self._shown(all_followed(asked, clients))
                asked = self._answered(asked, view)
            return view

    async def _shown(self, events: Events) -> View:
        async with aclosing(events):
            if self._is_live:
                return await shown_live(events, self._console, self._sides)
            return await self._told(events)

    async def _told(self, events: Events) -> View:
        view, lines = View(), Lines(names_sides=len(self._sides) > 1)
        async for event in events:
            view.apply(event)
            for line in [json.dumps(to_dict(event))] if self._as_json else lines.feed(event):
                print(line, flush=True)  # noqa: T201 - `click.echo` hides that nobody reads
        return view

    def _asked_for(self) -> dict[str, Any]:
        if not self._is_live:
            raise ConfigError("--say", f"what does the user say to {self._target}? Or --input")
        return said(click.prompt(f"What do you say to {self._target}?"))

    def _answered(self, asked: Sequence[SideRequest], view: View) -> list[SideRequest]:
        """The same runs again, and one that answers what they wait for; nothing if nobody does."""
        waiting = [item for side in view.sides.values() for item in side.waiting]
        if not waiting or not self._is_live:
            return []
        answer = click.prompt("Your answer, JSON or text; empty to leave", default="")
        if not answer:
            return []
        return [each.answering(view.sides[each.side], json_or_text(answer)) for each in asked]
