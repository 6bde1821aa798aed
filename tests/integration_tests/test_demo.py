"""`make demo`: it shows nothing twice and nothing lost, and leaves no server behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]


def start_demo() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "demo"],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # pytest may run with Ctrl-C ignored, as shells start jobs in the background
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def test_ours_delivers_everything_once() -> None:
    printed, _ = start_demo().communicate(timeout=90)

    def row(title: str) -> list[int]:
        """What it says of `RemoteGraph`, of ours, and of ours where all modes are added up."""
        (line,) = (line for line in printed.splitlines() if title in line)
        return [int(number) for number in re.findall(r"\d+", line)]

    assert row("never came") == [0, 0, 0]
    assert row("again in `messages`") == [1, 0, 0]
    plain, ours, added_up = row("again in any mode")
    assert plain == ours > 50
    assert added_up == 0
    plain, ours, added_up = row("in the last `values`")
    assert plain == ours > added_up == 0


@pytest.mark.parametrize(
    ("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"]
)
def test_the_server_is_stopped_when_the_demo_is(sign: signal.Signals, code: int) -> None:
    demo = start_demo()
    deadline = time.monotonic() + 30
    servers: list[psutil.Process] = []
    while not servers and time.monotonic() < deadline:
        time.sleep(0.05)
        servers = psutil.Process(demo.pid).children(recursive=True)
    time.sleep(1)
    demo.send_signal(sign)
    printed, _ = demo.communicate(timeout=30)
    assert demo.returncode == code, printed
    assert servers
    gone, alive = psutil.wait_procs(servers, timeout=5)
    assert (len(gone), alive) == (len(servers), [])
