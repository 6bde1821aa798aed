"""Whether two streams are the same, apart from ids and clocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.pregel.remote import RemoteException
from langgraph.types import GraphOutput, Interrupt, PregelTask, StateSnapshot

IDS = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}")

FROM_SERVER = frozenset(
    {
        "assistant_id",
        "created_by",
        "graph_id",
        "langgraph_api_url",
        "langgraph_api_version",
        "langgraph_auth_permissions",
        "langgraph_auth_user",
        "langgraph_auth_user_id",
        "langgraph_host",
        "langgraph_plan",
        "langgraph_request_id",
        "langgraph_version",
        "run_attempt",
        "run_id",
        "user_id",
    }
)
"""What the server puts into metadata besides."""

OF_THE_MOMENT = frozenset({"created_at", "timestamp", "thread_id"})
OF_THE_RUN = frozenset({"lc_versions", "ls_integration", "once"})
OF_A_CHECKPOINT = frozenset({"parents", "source", "step"})
LEFT_OUT = FROM_SERVER | OF_THE_MOMENT | OF_THE_RUN


def normal(value: Any) -> Any:
    """A copy of `value` with its ids numbered by first appearance, without what may differ."""
    return _Normal()(value)


class _Normal:
    def __init__(self, *, with_ids: bool = True) -> None:
        self._ids: dict[str, str] = {}
        self._with_ids = with_ids

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            return IDS.sub(lambda found: self._id(found[0]), value)
        if isinstance(value, BaseMessage):
            return type(value).__name__, self(self._said(value))
        if isinstance(value, Interrupt):
            return "Interrupt", self(value.value), self(value.id), value.response_schema
        if isinstance(value, GraphOutput):
            return "GraphOutput", self(value.value), self(value.interrupts)
        if isinstance(value, BaseException):
            return "error" if isinstance(value, RemoteException | ValueError) else repr(value)
        if isinstance(value, StateSnapshot | PregelTask):
            return type(value).__name__, self(_fields(value))
        if isinstance(value, dict):
            if value.keys() >= OF_A_CHECKPOINT:  # the server's saver keeps more beside them
                value = {key: value[key] for key in sorted(OF_A_CHECKPOINT)}
            kept = {self(k): self(item) for k, item in value.items() if k not in LEFT_OUT}
            # A task tells the metadata of its run, if there are any; the server's are such.
            return {k: item for k, item in kept.items() if item or k != "metadata"}
        if isinstance(value, list | tuple):
            return type(value)(map(self, value))
        return value

    def _said(self, message: BaseMessage) -> dict[str, Any]:
        told = {key: item for key, item in vars(message).items() if item}
        return told if self._with_ids else {k: item for k, item in told.items() if k != "id"}

    def _id(self, found: str) -> str:
        return self._ids.setdefault(found, f"#{len(self._ids)}")


def _fields(value: StateSnapshot | PregelTask) -> dict[str, Any]:
    """The result of a task without ids: it is stored before its messages get them, or after."""
    if isinstance(value, PregelTask):
        value = value._replace(result=_Normal(with_ids=False)(value.result))
    return value._asdict()


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Where two values differ, in value, type or order of keys."""
    if type(one) is not type(other):
        yield f"{path}: {type(one).__name__} {one!r:.120} is {type(other).__name__} {other!r:.120}"
    elif isinstance(one, dict):
        in_order = sorted if path.endswith("configurable") else list
        if in_order(one) != in_order(other):
            yield f"{path}: keys {list(one)} are {list(other)}"
        for key in one.keys() & other.keys():
            yield from differences(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list | tuple):
        if len(one) != len(other):
            yield f"{path}: {len(one)} items are {len(other)}"
        for at, (mine, its) in enumerate(zip(one, other, strict=False)):
            yield from differences(mine, its, f"{path}[{at}]")
    elif one != other:
        yield f"{path}: {one!r:.120} is {other!r:.120}"
