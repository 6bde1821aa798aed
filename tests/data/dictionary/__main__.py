"""Train a compression dictionary, or measure the one in use:

    python -m tests.data.dictionary train
    python -m tests.data.dictionary measure

A new dictionary gets a new id and does not replace the old file, which stored values need for
ever. Put its id into `compression.py` to write with it.
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

from langgraph_once.config import SerdeConfig
from langgraph_once.serde import OnceSerializer, compression as layer
from langgraph_once.serde.compression import Compression
from tests.data.dictionary.states import Application, anthropic, gemini, openai, sentences, states

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[3]
BYTES = 16 * 1024
"""Four times as many gain two more percent, on states of the kind it was trained on."""

SEEN = Application(
    # Our own words: whoever gets the wheel gets parts of them.
    sentences([path.read_text("utf-8") for part in ("plugin", "graphs", "demo", "tests")
               for path in sorted((ROOT / part).rglob("*.py"))]),
    {"search": ("query", "limit"), "get_weather": ("city", "unit"), "calculator": ("expression",),
     "sql_query": ("statement", "database"), "read_file": ("path", "start_line")},
    ("agent", "tools", "model", "retrieve", "generate", "plan"),
    (openai, anthropic),
)  # fmt: skip


def unseen(metadata: Callable[..., dict[str, object]]) -> Application:
    """Return an application of which the dictionary knows nothing but LangGraph."""
    readmes = [found.read_text("METADATA") or "" for found in distributions()]
    return Application(
        sentences(readmes),
        {"crm_lookup_account": ("account_number", "region"), "fetch_invoice": ("invoice_id",),
         "book_meeting": ("attendees", "slot", "room"), "kb_retrieve": ("question", "top_k")},
        ("triage", "crm", "billing_agent", "human_review", "summarize", "respond"),
        (metadata,),
    )  # fmt: skip


def blobs(application: Application, codec: str, count: int, seed: int) -> list[bytes]:
    """Return small states as a codec writes them."""
    serde = OnceSerializer(SerdeConfig(compatible=codec == "msgpack", compression="none"))
    written = (serde.dumps_typed(state)[1] for state in states(application, count, seed))
    return [blob for blob in written if 100 <= len(blob) <= 8192]


def train() -> None:
    """Write a dictionary into the package."""
    corpus = [blob for codec in ("msgpack", "once2") for blob in blobs(SEEN, codec, 2500, 1)]
    made = zstd.train_dict(corpus, BYTES)
    path = Path(layer.__file__).parent / "dictionaries" / f"{made.dict_id}.zstd-dictionary"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(made.dict_content)
    sys.stdout.write(f"{path.relative_to(ROOT)}\n")


def measure() -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| codec | metadata of | bytes | states | zstd | dictionary | saved | µs | µs, dict. |"
    yield "|---|---|---|---|---|---|---|---|---|"
    without = zstandard.ZstdCompressor(1, write_checksum=True).compress
    within = Compression(max_decoded_bytes=2**28).compress
    for codec in ("msgpack", "once2"):
        for metadata in (openai, gemini):
            made = blobs(unseen(metadata), codec, 1500, 2)
            for low, high in ((100, 300), (300, 1024), (1024, 2048), (2048, 4096), (4096, 8193)):
                part = [blob for blob in made if low <= len(blob) < high]
                plain, small = (sum(map(_size(it), part)) for it in (without, within))
                times = " | ".join(f"{_us(it, part):.1f}" for it in (without, within))
                yield (
                    f"| {codec} | {metadata.__name__} | {low} to {high} | {len(part)} "
                    f"| {plain // len(part)} | {small // len(part)} | {1 - small / plain:.0%} "
                    f"| {times} |"
                )


def _size(compress: Callable[[bytes], bytes | None]) -> Callable[[bytes], int]:
    return lambda blob: len(compress(blob) or blob)


def _us(compress: Callable[[bytes], bytes | None], part: list[bytes]) -> float:
    """Return the time for one blob, in the best of some rounds."""
    rounds = []
    for _ in range(7):
        started = time.perf_counter()
        for blob in part:
            compress(blob)
        rounds.append(time.perf_counter() - started)
    return min(rounds) / len(part) * 1e6


if __name__ == "__main__":
    if sys.argv[1:] == ["train"]:
        train()
    else:
        sys.stdout.writelines(f"{line}\n" for line in measure())
