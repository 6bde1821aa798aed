"""The states of a server's threads, as a local graph gives its own."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from inspect import Parameter
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import StateSnapshot
from langgraph_sdk.schema import Checkpoint, ThreadState

from langgraph_once.remote.following.questions import QuestionFailed, Steps
from langgraph_once.remote.node import METRICS, check_room, in_own_thread, served_run
from langgraph_once.remote.shapes import Pages, as_config, sent, snapshot

C = TypeVar("C", bound=type)


def shows_options(cls: C) -> C:
    """Let the methods of `cls` show the options that their `**kwargs` take: upstream's."""
    upstream = cls.__mro__[1]
    for name, method in vars(cls).items():
        if callable(method) and (theirs := getattr(upstream, name, None)) is not None:
            setattr(method, "__signature__", _merged(method, theirs))  # noqa: B010  # mypy's wish
    return cls


def _merged(ours: Any, theirs: Any) -> inspect.Signature:
    """Our signature, with the options of theirs that it lacks put before `**kwargs`."""
    signature = inspect.signature(ours)
    own = list(signature.parameters.values())
    if own[-1].kind is not Parameter.VAR_KEYWORD:
        return signature
    known = signature.parameters
    passed = [
        option
        for option in inspect.signature(theirs).parameters.values()
        if option.kind is Parameter.KEYWORD_ONLY and option.name not in known
    ]
    return signature.replace(parameters=[*own[:-1], *passed, own[-1]])


@shows_options
class RemoteThreads(RemoteGraph):
    """The part of `OnceRemoteGraph` that reads and writes states."""

    def get_state_history(
        self,
        config: RunnableConfig,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  # upstream's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
        **kwargs: Any,
    ) -> Iterator[StateSnapshot]:
        """The states of a thread, newest first; all of them, if there is no `limit`."""
        threads = self._validate_sync_client().threads
        asked = {**self._history_of(config, filter), **kwargs}
        pages = Pages(limit, self._get_checkpoint(before))
        while pages.size:
            yield from pages.read(threads.get_history(**asked, **pages.asked))

    async def aget_state_history(
        self,
        config: RunnableConfig,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  # upstream's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[StateSnapshot]:
        """`get_state_history`, async."""
        threads = self._validate_client().threads
        asked = {**self._history_of(config, filter), **kwargs}
        pages = Pages(limit, self._get_checkpoint(before))
        while pages.size:
            for state in pages.read(await threads.get_history(**asked, **pages.asked)):
                yield state

    def update_state(
        self, config: RunnableConfig, values: Any, as_node: str | None = None, **kwargs: Any
    ) -> RunnableConfig:
        """`RemoteGraph.update_state`: the config that it returns is as a local graph's."""
        return super().update_state(config, sent(values), as_node, **kwargs)

    async def aupdate_state(
        self, config: RunnableConfig, values: Any, as_node: str | None = None, **kwargs: Any
    ) -> RunnableConfig:
        """`update_state`, async."""
        return await super().aupdate_state(config, sent(values), as_node, **kwargs)

    def _history_of(
        self, config: RunnableConfig, metadata: dict[str, Any] | None
    ) -> dict[str, Any]:
        merged = merge_configs(self.config, config)
        return {
            "thread_id": merged["configurable"]["thread_id"],
            "checkpoint": self._get_checkpoint(merged),
            "metadata": metadata,
        }

    def _create_state_snapshot(self, state: ThreadState) -> StateSnapshot:
        return snapshot(state)

    def _get_config(self, checkpoint: Checkpoint) -> RunnableConfig:
        return as_config(checkpoint) or {}

    _is_own_server: bool | None = None
    """Whether the server runs the graphs around, too; None until it was asked."""

    def _apart(self, config: RunnableConfig | None) -> Steps[RunnableConfig | None]:
        """The config to run with: on the server that runs the node, in a thread of its own."""
        run = served_run(config)
        if config is None or run is None or self._is_own_server is False:
            return config
        if self._is_own_server is None:
            try:
                found = yield lambda client: client.runs.get(*run)
            except QuestionFailed:
                return config
            if found is None:
                self._is_own_server = False
                return config
            metrics = None
            with suppress(QuestionFailed):
                metrics = yield lambda client: client.http.get(METRICS)
            check_room(metrics, self.assistant_id)
            self._is_own_server = True
        return in_own_thread(config, run, self.assistant_id)

    def _state_now(self, config: RunnableConfig | None) -> Steps[Mapping[str, Any]]:
        """The state of the thread that a task runs this graph in; empty if there is none."""
        thread_id = merge_configs(self.config, config).get("configurable", {}).get("thread_id")
        if not thread_id:
            return {}
        try:
            return (yield lambda client: client.threads.get_state(thread_id)) or {}
        except QuestionFailed as failed:
            raise failed.error from None
