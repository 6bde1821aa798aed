"""`make demo`: it shows nothing twice and nothing lost, and leaves no server behind."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from demo.__main__ import Readers, comparison
from demo.reader import Reader
from demo.samples import SAMPLES

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


@pytest.mark.slow
def test_ours_has_each_thing_once_and_a_stock_client_has_not() -> None:
    demo = start_demo()
    printed, _ = demo.communicate(timeout=90)
    rows = {cells[0]: cells[1:] for cells in map(cells_of, printed.splitlines()) if cells}
    counted = {name: cells for name, cells in rows.items() if name in SAMPLES}
    assert counted.keys() == SAMPLES.keys()
    assert all(cells[3:] == ["0", "0", "0"] for cells in counted.values())
    assert all(cells[:3] != ["0", "0", "0"] for cells in counted.values())
    assert rows["(3, 4)"] == ["[3, 4]", "the same"]
    assert demo.returncode == 0


def test_the_table_of_the_demo_fits_a_terminal_of_80_columns_with_a_scroll_bar() -> None:
    console = Console(width=78, file=io.StringIO(), force_terminal=True)
    console.print(comparison({"research": Readers(Reader(), Reader())}))
    printed = console.file.getvalue()  # type: ignore[attr-defined]  # it is a StringIO
    assert "research" in printed
    assert "…" not in printed


def cells_of(line: str) -> list[str]:
    """The cells of a row of a table; empty for any other line."""
    return [cell.strip() for cell in line.strip("│").split("│")] if "│" in line else []


@pytest.mark.parametrize(
    ("sign", "code"),
    [
        pytest.param(signal.SIGINT, 130, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, 143, id="SIGTERM", marks=pytest.mark.slow),
    ],
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
