"""Start the samples' server, read each sample with both clients, and print what each has."""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from langgraph_sdk import get_sync_client
from rich import box
from rich.console import Console
from rich.table import Table

from demo.dev_server import DevServer, ServerFailedError
from demo.reader import Reader
from demo.samples import SAMPLES, read_once, read_stock
from demo.survival import survivals

ROOT = Path(__file__).parent.parent
SHOWN = "agent"
"""The sample of which the demo prints what a reader sees."""


class Readers(NamedTuple):
    """Who read a sample."""

    stock: Reader | None
    """None where a stock client would wait for ever."""
    once: Reader


def main() -> int:
    """Run the demo; 0 when ours delivered everything once."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is stopped
    console = Console()
    with tempfile.TemporaryDirectory(prefix="langgraph-once-demo-") as folder:
        console.print("Starting `langgraph dev` on the sample graphs …")
        found = read_all(Path(folder))
    console.print(comparison(found))
    console.print(f"\n`{SHOWN}`, as its reader sees it:", highlight=False)
    for name, reader in found[SHOWN]._asdict().items():
        console.print(f"[bold]{name:5}[/] {' | '.join(reader.texts('ai'))}", highlight=False)
    console.print()
    console.print(types())
    return int(any(readers.once.verdict().counts != (0, 0, 0) for readers in found.values()))


def read_all(folder: Path) -> Mapping[str, Readers]:
    """Read every sample with both clients, several at a time."""
    env = {
        "ONCE_CHECKPOINT__PATH": str(folder / "checkpoints.sqlite"),
        "SAMPLES_MODEL": "scripted",
    }
    options = ["--n-jobs-per-worker", "10"]
    with (
        DevServer(ROOT / "langgraph.json", cwd=folder, env=env, options=options) as server,
        get_sync_client(url=server.url) as client,
        ThreadPoolExecutor(max_workers=4) as pool,
    ):
        stock = {
            name: pool.submit(read_stock, name, client)
            for name, sample in SAMPLES.items()
            if sample.has_twin
        }
        once = {name: pool.submit(read_once, name, client) for name in SAMPLES}
        return {
            name: Readers(stock[name].result() if name in stock else None, once[name].result())
            for name in SAMPLES
        }


def comparison(found: Mapping[str, Readers]) -> Table:
    """What each client has of each sample, beside what the graph said."""
    # A frame, too, would be cut in a terminal of 80 columns with a scroll bar in it.
    title = "Texts in `messages`, against the states of the run"
    shown = Table(title=title, box=box.MINIMAL_HEAVY_HEAD, pad_edge=False)
    shown.add_column("sample")
    for client in ("LangGraph", "once"):
        for count in ("repeated", "missing", "not kept"):
            shown.add_column(f"{client}\n{count}", justify="right")
    for name, readers in found.items():
        stock = readers.stock.verdict().counts if readers.stock else ("-", "-", "-")
        shown.add_row(name, *map(str, (*stock, *readers.once.verdict().counts)))
    shown.caption = (
        "LangGraph: a RemoteGraph reads the plain graph; in `relay` it would wait for ever. "
        "once: an OnceRemoteGraph reads the wrapped one."
    )
    return shown


def types() -> Table:
    """What each value of the sample `state` is after a restart."""
    shown = Table(title="`state`, after a restart")
    for column in ("value", "by LangGraph's serializer", "by ours"):
        shown.add_column(column, overflow="fold")
    for found in survivals():
        shown.add_row(found.value, found.stock, found.once)
    return shown


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except ServerFailedError as error:
        sys.exit(f"demo: {error}")
