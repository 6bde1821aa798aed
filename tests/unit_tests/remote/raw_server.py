"""A server that answers what it is told, byte for byte: for answers that no sane server gives."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterable
from typing import Any, Self

THREAD = "01a20000-0000-7000-8000-000000000001"
RUN = "01a20000-0000-7000-8000-000000000002"


def answer(body: Any, status: str = "200 OK", media_type: str = "application/json") -> bytes:
    """A whole response."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {len(content)}"
    return f"{head}\r\nConnection: close\r\n\r\n".encode() + content


def events(items: Iterable[tuple[str, Any, str | None]]) -> bytes:
    """The body of an event stream: names, data and ids."""
    frames = []
    for event, data, event_id in items:
        content = data if isinstance(data, bytes) else json.dumps(data).encode()
        tail = b"" if event_id is None else f"id: {event_id}\r\n".encode()
        frames.append(f"event: {event}\r\ndata: ".encode() + content + b"\r\n" + tail + b"\r\n")
    return b"".join(frames)


def stream(body: bytes, *, whole: bool = True) -> bytes:
    """An event stream of a run; without `whole` the connection ends before it does."""
    head = (
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
        f"Content-Location: /threads/{THREAD}/runs/{RUN}\r\n"
        f"Location: /threads/{THREAD}/runs/{RUN}/stream\r\n"
        "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunk = f"{len(body):x}\r\n".encode() + body + b"\r\n" if body else b""
    return head.encode() + chunk + (b"0\r\n\r\n" if whole else b"")


def unsized(body: bytes) -> bytes:
    """As `stream`, but nobody tells how long it is: a cut looks like its end."""
    return stream(b"", whole=False).split(b"Transfer-Encoding")[0] + b"\r\n" + body


class RawServer:
    """Gives its answers in turn, one for each connection, and the last one again and again.

    Args:
        answers: Bytes to send; None to say nothing until the client leaves; or bytes and pauses,
            in seconds.

    Attributes:
        requests: The heads of the requests.
        bodies: Their bodies.
    """

    def __init__(self, *answers: bytes | tuple[bytes | float, ...] | None) -> None:
        self._answers = list(answers)
        self.requests: list[str] = []
        self.bodies: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            with client:
                self._answer(client)

    def _answer(self, client: socket.socket) -> None:
        received = b""
        while b"\r\n\r\n" not in received and (data := client.recv(65536)):
            received += data
        if not received:
            return
        head, _, body = received.partition(b"\r\n\r\n")
        self.requests.append(head.decode())
        length = next(
            (int(line[15:]) for line in head.lower().split(b"\r\n") if b"content-length:" in line),
            0,
        )
        while len(body) < length and (data := client.recv(65536)):
            body += data
        self.bodies.append(body)
        said = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        try:
            if said is None:
                client.recv(1)
            for piece in said if isinstance(said, tuple) else (said or b"",):
                client.sendall(piece) if isinstance(piece, bytes) else time.sleep(piece)
        except OSError:
            pass  # the client had enough
