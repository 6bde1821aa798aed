"""Event streams of a real `langgraph dev`, read by the clients that people use."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.sse import BytesLineDecoder, SSEDecoder

from demo.dev_server import DevServer
from tests.integration_tests.sse_graphs import ASKED, ENCODINGS, STEPS, TEXT, lockstep_input
from tests.integration_tests.sse_proxy import CuttingProxy
from tests.unit_tests.platform.test_sse_encodings import decoder

EVERY_STEP = list(range(STEPS))


def body(graph: str, input: Any, modes: Any = "custom") -> dict[str, Any]:
    return {"assistant_id": graph, "input": input, "stream_mode": modes}


def texts(parts: Iterable[tuple[str, Any, Any]]) -> list[str]:
    """The texts of mode `messages`, folded by id."""
    found: defaultdict[str, str] = defaultdict(str)
    for event, data, _ in parts:
        if event == "messages":
            found[data[0]["id"]] += data[0]["content"]
    return list(found.values())


class TestNoEventIsDelayed:
    """The graph writes an event when its reader has read the one before."""

    @pytest.mark.parametrize("encoding", [*ENCODINGS, "identity"])
    def test_no_event_is_delayed_for_a_raw_reader(
        self, sse_server: DevServer, tmp_path: Path, encoding: str
    ) -> None:
        decode = bytes if encoding == "identity" else decoder(encoding)
        steps, lines, events = [], BytesLineDecoder(), SSEDecoder()
        with httpx.stream(
            "POST",
            f"{sse_server.url}/runs/stream",
            json=body("lockstep", lockstep_input(tmp_path)),
            headers={"Accept-Encoding": encoding},
            timeout=30,
        ) as response:
            assert response.headers.get("content-encoding", "identity") == encoding
            assert response.headers["vary"].endswith("Accept-Encoding")
            for piece in response.iter_raw():
                for line in lines.decode(decode(piece)):
                    part = events.decode(bytes(line))
                    if part is not None and part.event == "custom":
                        steps.append(part.data["step"])
                        (tmp_path / str(steps[-1])).touch()
        assert steps == EVERY_STEP

    async def test_no_event_is_delayed_for_the_python_sdk(
        self, sse_server: DevServer, tmp_path: Path
    ) -> None:
        steps, encodings = [], []

        async def note(response: httpx.Response) -> None:
            encodings.append(response.headers.get("content-encoding"))

        async with get_client(url=sse_server.url) as client:
            client.http.client.event_hooks["response"] = [note]
            async for part in client.runs.stream(
                None, "lockstep", input=lockstep_input(tmp_path), stream_mode="custom"
            ):
                if part.event == "custom":
                    steps.append(part.data["step"])
                    await asyncio.to_thread((tmp_path / str(steps[-1])).touch)
        assert steps == EVERY_STEP
        (encoding,) = encodings
        assert encoding in ENCODINGS  # what httpx decodes depends on what is there

    def test_no_event_is_delayed_for_the_sync_python_sdk(
        self, sse_server: DevServer, tmp_path: Path
    ) -> None:
        steps = []
        with get_sync_client(url=sse_server.url) as client:
            for part in client.runs.stream(
                None, "lockstep", input=lockstep_input(tmp_path), stream_mode="custom"
            ):
                if part.event == "custom":
                    steps.append(part.data["step"])
                    (tmp_path / str(steps[-1])).touch()
        assert steps == EVERY_STEP

    @pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
    @pytest.mark.parametrize("encoding", ENCODINGS)
    def test_no_event_is_delayed_for_curl(
        self, sse_server: DevServer, tmp_path: Path, encoding: str
    ) -> None:
        features = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True)
        feature = {"gzip": "libz", "br": "brotli", "zstd": "zstd"}[encoding]
        if feature not in features.stdout:
            pytest.skip(f"this curl has no {feature}")
        command = [
            *("curl", "--silent", "--no-buffer", "--compressed", "--max-time", "30"),
            *("--header", "Content-Type: application/json"),
            *("--header", f"Accept-Encoding: {encoding}"),
            *("--data", json.dumps(body("lockstep", lockstep_input(tmp_path)))),
            f"{sse_server.url}/runs/stream",
        ]
        steps = []
        with subprocess.Popen(command, stdout=subprocess.PIPE) as curl:
            for line in curl.stdout or ():
                if line.startswith(b'data: {"step"'):
                    steps.append(json.loads(line.removeprefix(b"data: "))["step"])
                    (tmp_path / str(steps[-1])).touch()
        assert steps == EVERY_STEP
        assert curl.returncode == 0


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_token_takes_a_twentieth_of_the_bytes(sse_server: DevServer, encoding: str) -> None:
    """Once the first tokens have said what all have in common."""
    per_token = {}
    for asked in ("identity", encoding):
        sizes = []
        with httpx.stream(
            "POST",
            f"{sse_server.url}/runs/stream",
            json=body("slow_plain", ASKED, "messages-tuple"),
            headers={"Accept-Encoding": asked},
            timeout=30,
        ) as response:
            sizes = [len(piece) for piece in response.iter_raw()]
        tokens = sizes[4:-2]
        assert len(tokens) > 10
        per_token[asked] = sum(tokens) / len(tokens)
    assert per_token["identity"] > 20 * per_token[encoding], per_token


class TestTransparency:
    def test_all_that_is_not_an_event_stream_is_as_it_was(self, sse_server: DevServer) -> None:
        answer = httpx.post(f"{sse_server.url}/assistants/search", json={})
        assert answer.json()
        assert "content-encoding" not in answer.headers
        refused = httpx.post(f"{sse_server.url}/runs/stream", json=body("nobody", {}))
        assert refused.status_code in (404, 422)
        assert "content-encoding" not in refused.headers

    def test_ids_are_kept_and_a_client_that_leaves_harms_nobody(
        self, sse_server: DevServer
    ) -> None:
        with get_sync_client(url=sse_server.url) as client:
            thread_id = client.threads.create()["thread_id"]
            for part in client.runs.stream(
                thread_id,
                "slow",
                input=ASKED,
                stream_mode="messages-tuple",
                stream_resumable=True,
                on_disconnect="continue",
            ):
                if part.event == "messages":
                    run_id, seen = part.data[1]["run_id"], part.id
                    break
            assert seen
            client.runs.join(thread_id, run_id)
            rest = list(client.runs.join_stream(thread_id, run_id, last_event_id=seen))
            assert all(part.id for part in rest if part.event == "messages")
            assert TEXT.endswith(texts(rest)[0])
        assert "Traceback" not in sse_server.log

    @pytest.mark.parametrize("encoding", ENCODINGS)
    @pytest.mark.parametrize(
        "cuts", [[401], pytest.param([1300, 0, 3], marks=pytest.mark.slow)], ids=str
    )
    def test_python_sdk_goes_on_after_a_cut(
        self, sse_server: DevServer, cuts: list[int], encoding: str
    ) -> None:
        headers = {"Accept-Encoding": encoding}
        with (
            CuttingProxy(sse_server.port, cuts=cuts, away_s=2) as proxy,
            get_sync_client(url=proxy.url, headers=headers) as client,
        ):
            thread_id = client.threads.create()["thread_id"]
            parts = list(
                client.runs.stream(
                    thread_id,
                    "slow",
                    input=ASKED,
                    stream_mode="messages-tuple",
                    stream_resumable=True,
                    on_disconnect="continue",
                )
            )
            assert len(proxy.bodies) == len(cuts) + 1
        assert texts(parts) == [TEXT]
