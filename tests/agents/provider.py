"""A server on this machine that answers as the providers do, and the real classes that ask it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any, Literal, TypeAlias

from langchain_core.language_models import BaseChatModel

from tests.agents.asked import Asked, Reply, asked_of
from tests.agents.wires import WIRES, Wire

__all__ = ["Models", "Provider", "Script", "WireName", "serving"]

Script: TypeAlias = Callable[[Asked], Reply]
"""What a model says to what it is asked."""

WireName: TypeAlias = Literal["chat", "anthropic", "responses"]

PATHS: dict[str, WireName] = {
    "/chat/completions": "chat",
    "/v1/messages": "anthropic",
    "/responses": "responses",
}

SCRIPT_HEADER = "x-script"

MODEL = "a-model"  # the names of real ones come to an end


class Provider(ThreadingHTTPServer):
    """Answers each request by the script that its header names."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._numbers = count()
        self.scripts: dict[str, Script] = {}

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def add(self, script: Script) -> str:
        """Take a script; the name that a request must give."""
        name = str(next(self._numbers))
        self.scripts[name] = script
        return name


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        try:
            reply = self.server.scripts[self.headers[SCRIPT_HEADER]](asked_of(body))
        except LookupError as error:
            self.send_error(400, str(error))
            return
        wire = WIRES[PATHS[self.path.partition("?")[0]]]
        self.send_response(500 if reply.breaks and not body.get("stream") else 200)
        is_stream = bool(body.get("stream"))
        kind = "text/event-stream" if is_stream else "application/json"
        self.send_header("content-type", kind)
        self.end_headers()
        for frame in _frames(wire, reply) if is_stream else [json.dumps(wire.whole(reply))]:
            self.wfile.write(frame.encode())

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


def _frames(wire: Wire, reply: Reply) -> Iterator[str]:
    for number, event in enumerate(wire.events(reply)):
        if (name := event.get("type")) is None:
            yield f"data: {json.dumps(event)}\n\n"
        else:
            yield f"event: {name}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n"
    if wire is WIRES["chat"]:
        yield "data: [DONE]\n\n"


@contextmanager
def serving() -> Iterator[Provider]:
    """A provider that runs until the end of the block."""
    with Provider() as provider:
        thread = Thread(target=provider.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield provider
        finally:
            provider.shutdown()
            thread.join()


class Models:
    """Makes models of one wire.

    Args:
        provider: Who answers.
        name: The wire.
        fails_once: Whether each answer breaks off in the middle, the first time.
    """

    def __init__(self, provider: Provider, name: WireName, *, fails_once: bool = False) -> None:
        self._provider = provider
        self._name = name
        self._fails_once = fails_once
        self.thinks = WIRES[name].thinks
        self.searches = name == "anthropic"

    def __call__(self, script: Script) -> BaseChatModel:
        """A model that says what `script` says."""
        script = _failing_once(script) if self._fails_once else script
        how: Any = {
            "api_key": "none",
            "base_url": self._provider.url,
            "default_headers": {SCRIPT_HEADER: self._provider.add(script)},
            "max_retries": 0,
        }
        if self._name == "anthropic":
            from langchain_anthropic import ChatAnthropic  # which takes seconds

            return ChatAnthropic(model_name=MODEL, max_tokens_to_sample=1024, **how)
        from langchain_openai import ChatOpenAI

        use_responses = self._name == "responses"
        return ChatOpenAI(model=MODEL, use_responses_api=use_responses, stream_usage=True, **how)


def _failing_once(script: Script) -> Script:
    """A script of which each answer ends after half of its text once, with a provider's error.

    Each, not the first alone: of tasks in parallel chance decides which one asks first.
    """
    said: set[str] = set()

    def says(asked: Asked) -> Reply:
        reply = script(asked)
        if str(reply) in said:
            return reply
        said.add(str(reply))
        return Reply(text=reply.text[: len(reply.text) // 2], breaks=True)

    return says
