"""Apps that stream events, and a recorder of what they send."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

EVENT_STREAM = [(b"content-type", b"text/event-stream; charset=utf-8")]


class Recorder:
    """The server's side of one request: what the app sent."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def send(self, message: Message) -> None:
        self.messages.append(message)

    async def receive(self) -> Message:
        return {"type": "http.disconnect"}

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.messages[0]["headers"]}

    @property
    def bodies(self) -> list[bytes]:
        return [message["body"] for message in self.messages[1:]]


def request(path: str = "/runs/stream", method: str = "POST", **headers: str) -> dict[str, Any]:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": method, "path": path, "headers": raw}


def streaming(
    bodies: Iterable[bytes],
    *,
    headers: Iterable[tuple[bytes, bytes]] = EVENT_STREAM,
    status: int = 200,
    error: Exception | None = None,
) -> ASGIApp:
    """An app that sends `bodies`, and then ends the response or raises `error`."""
    start: Message = {"type": "http.response.start", "status": status, "headers": list(headers)}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(start)
        for body in bodies:
            await send({"type": "http.response.body", "body": body, "more_body": True})
        if error is not None:
            raise error
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return app


async def answered(app: ASGIApp, scope: Scope) -> Recorder:
    recorder = Recorder()
    await app(scope, recorder.receive, recorder.send)
    return recorder
