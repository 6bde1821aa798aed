"""The score of the corpus, and single plays to read.

python -m tests.corpus.report                      write docs/exactly-once.md
python -m tests.corpus.report --source once        what is not right, a line each
    [--class D1] [--scenario copied-text] [--variant sync-v1] [--events]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

from langchain_core._api import LangChainBetaWarning
from langchain_core.messages import BaseMessage

from tests.corpus.play import SOURCES, Event, Source, applies
from tests.corpus.scenario import CLASSES, Scenario
from tests.corpus.scenarios import SCENARIOS
from tests.corpus.score import score
from tests.corpus.tables import page
from tests.corpus.variants import FULL_PRODUCT, VARIANTS, Variant

PAGE = Path(__file__).parents[2] / "docs" / "exactly-once.md"


def main() -> None:
    """Write the page, or print what was asked for."""
    options = _options()
    warnings.simplefilter("ignore", LangChainBetaWarning)
    if options.source is None:
        PAGE.write_text(page(), encoding="utf-8")
        sys.stdout.write(f"{PAGE}\n")
        return
    for scenario in SCENARIOS:
        if options.kind in (None, scenario.kind) and (options.scenario or "") in scenario.name:
            _tell(scenario, options)


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", choices=SOURCES)
    parser.add_argument("--class", dest="kind", choices=CLASSES)
    parser.add_argument("--scenario", help="part of a name")
    parser.add_argument("--variant", default="", help="part of a name")
    parser.add_argument("--all-variants", action="store_true", help="the full product")
    parser.add_argument("--events", action="store_true", help="print every event")
    return parser.parse_args()


def _tell(scenario: Scenario, options: Any) -> None:
    write = sys.stdout.write
    write(f"{scenario.kind} {scenario.name}: {scenario.what}\n")
    for variant in FULL_PRODUCT if options.all_variants else VARIANTS:
        if options.variant in variant.name and applies(scenario, variant, options.source):
            write("".join(f"{line}\n" for line in _lines(scenario, variant, options)))


def _lines(scenario: Scenario, variant: Variant, options: Any) -> list[str]:
    source: Source = options.source
    log: list[str] = []
    try:
        verdicts = score(scenario, variant, source, lambda event: log.append(_line(event)))
    except Exception as error:  # a reader wants to see the others too
        return [*log * options.events, f"  {variant.name}: {type(error).__name__}: {error}"]
    found = [f"  {variant.name}: {v.outcome.name} {v}" for v in verdicts if v.outcome]
    return [f"  {variant.name}", *log, *found] if options.events else found


def _line(event: Event) -> str:
    data = event.data
    if event.mode == "messages":
        message, meta = data
        told = f"{_told(message)}  task={_short(meta.get('langgraph_checkpoint_ns', ''))}"
        if "once" in meta:
            told += f"  once={meta['once']}"
    else:
        told = _told(data)
    return f"    {_short('|'.join(event.ns)) or '()':12} {event.mode:8} {told}"


def _told(data: Any) -> str:
    if isinstance(data, BaseMessage):
        calls = getattr(data, "tool_call_chunks", None) or getattr(data, "tool_calls", None)
        content = data.content or ""
        return f"{type(data).__name__}({content!r}{f', {calls}' if calls else ''}, {data.id})"
    if isinstance(data, dict):
        return "{" + ", ".join(f"{key}: {_told(value)}" for key, value in data.items()) + "}"
    if isinstance(data, list | tuple):
        return "[" + ", ".join(map(_told, data)) + "]"
    return repr(data)


def _short(ns: str) -> str:
    return "|".join(segment[:12] for segment in ns.split("|"))


if __name__ == "__main__":
    main()
