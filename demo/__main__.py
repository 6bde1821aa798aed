"""Start the samples' server, stream one run through each client, print both tallies."""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from rich.console import Console
from rich.table import Table

from demo.dev_server import DevServer, ServerFailedError
from demo.tally import Tally, message_texts
from langgraph_once import DedupConfig, Ledger, OnceRemoteGraph

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
            auto = DedupConfig(state="auto")
            plain = run(RemoteGraph("research_plain", url=server.url))
            ours = run(OnceRemoteGraph("research", url=server.url), ledger=Ledger())
            cut = run(OnceRemoteGraph("research", url=server.url, dedup=auto), ledger=Ledger())
    shown = {"RemoteGraph": plain, "OnceRemoteGraph": ours, 'with state="auto"': cut}
    console.print(table(shown))
    repeated = ours.tally.duplicates_in_messages or cut.tally.duplicates
    return 1 if repeated or ours.lost or cut.lost else 0


class Seen(NamedTuple):
    """What one client was sent, and what it was to get."""

    tally: Tally
    texts: list[str]
    """The texts in the final state."""

    @property
    def lost(self) -> int:
        """How many of them never came."""
        return len(self.tally.lost(self.texts))

    @property
    def held(self) -> int:
        """How many of them the last `values` holds."""
        return len(set(self.texts) & set(message_texts(self.tally.last_state)))


def run(graph: Any, **options: Any) -> Seen:
    """Stream a run to its interrupt, approve, stream the rest."""
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
    return Seen(tally, message_texts(graph.get_state(config).values))


def table(clients: Mapping[str, Seen]) -> Table:
    """What each client was sent, side by side."""
    shown = Table(title="One run of `research`, to its interrupt and on to its end")
    shown.add_column("delivered to the client")
    for client in clients:
        shown.add_column(client, justify="right")
    rows: dict[str, Callable[[Seen], int]] = {
        "chunks": lambda seen: seen.tally.chunks,
        "characters of text": lambda seen: seen.tally.characters,
        "bytes, as JSON": lambda seen: seen.tally.size_bytes,
        "texts that came again in `messages`": lambda seen: seen.tally.duplicates_in_messages,
        "texts that came again in any mode": lambda seen: seen.tally.duplicates,
        "texts that never came": lambda seen: seen.lost,
        "texts in the last `values`": lambda seen: seen.held,
    }
    for title, count in rows.items():
        shown.add_row(title, *(f"{count(seen):,}" for seen in clients.values()))
    return shown


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except ServerFailedError as error:
        sys.exit(f"demo: {error}")
