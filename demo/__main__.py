"""Start the samples' server, stream one run through each client, print both tallies."""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from rich.console import Console
from rich.table import Table

from demo.dev_server import DevServer, ServerFailedError
from demo.tally import Tally, message_texts
from langgraph_once import Ledger, OnceRemoteGraph

ROOT = Path(__file__).parent.parent
MODES = ["messages-tuple", "updates", "values"]
QUESTION = "How do agents deliver each message exactly once?"


def main() -> int:
    """Run the demo; 0 when ours delivered everything once."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is stopped
    console = Console()
    with tempfile.TemporaryDirectory(prefix="langgraph-once-demo-") as folder:
        console.print("Starting `langgraph dev` on the sample graphs …")
        env = {"ONCE_CHECKPOINT__PATH": str(Path(folder, "checkpoints.sqlite"))}
        with DevServer(ROOT / "langgraph.json", cwd=Path(folder), env=env) as server:
            console.print(f"It answers on {server.url}. Streaming {', '.join(MODES)}, subgraphs.")
            plain, plain_texts = run(RemoteGraph("research_plain", url=server.url))
            ours, our_texts = run(OnceRemoteGraph("research", url=server.url), ledger=Ledger())
    console.print(table(plain, plain_texts, ours, our_texts))
    return 1 if ours.duplicates or ours.lost(our_texts) else 0


def run(graph: Any, **options: Any) -> tuple[Tally, list[str]]:
    """Stream a run to its interrupt, approve, stream the rest.

    Returns:
        What arrived, and the texts in the final state.
    """
    tally = Tally()
    thread_id = graph.sync_client.threads.create()["thread_id"]
    config = {"configurable": {"thread_id": thread_id}}
    asked = {"messages": [{"role": "user", "content": QUESTION}]}
    inputs: list[Any] = [asked, Command(resume="approve")]
    for given in inputs:
        chunks = graph.stream(
            given, config, stream_mode=MODES, subgraphs=True, version="v2", **options
        )
        for chunk in chunks:
            tally.add(chunk)
    return tally, message_texts(graph.get_state(config).values)


def table(plain: Tally, plain_texts: list[str], ours: Tally, our_texts: list[str]) -> Table:
    """Both tallies side by side."""
    shown = Table(title="One run of `research`, to its interrupt and on to its end")
    shown.add_column("delivered to the client")
    shown.add_column("RemoteGraph", justify="right")
    shown.add_column("OnceRemoteGraph", justify="right")
    both = [(plain, plain_texts), (ours, our_texts)]
    rows = {
        "chunks": [tally.chunks for tally, _ in both],
        "characters of text": [tally.characters for tally, _ in both],
        "bytes, as JSON": [tally.size_bytes for tally, _ in both],
        "texts that came again": [tally.duplicates for tally, _ in both],
        "texts that never came": [len(tally.lost(texts)) for tally, texts in both],
    }
    for title, counts in rows.items():
        shown.add_row(title, *(f"{count:,}" for count in counts))
    return shown


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except ServerFailedError as error:
        sys.exit(f"demo: {error}")
