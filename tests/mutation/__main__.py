"""`python -m tests.mutation --samples 100 --seed 7 --since main~1 --room stream`."""

from __future__ import annotations

import argparse
import random
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutation.changes import Change, changes
from tests.mutation.reach import Reach
from tests.mutation.trial import PLUGIN, is_noticed, record

_TESTS = Path("tests/unit_tests")
_WORKERS = 2


def main() -> None:
    """Sample, try and report."""
    options = _options()
    found = [change for path in _files() for change in changes(path, (PLUGIN / path).read_bytes())]
    if options.since:
        changed = set(_changed(options.since))
        found = [change for change in found if (change.path, change.line) in changed]
    if options.room:
        found = [change for change in found if _room(change.path) == options.room]
    sample = random.Random(options.seed).sample(found, min(options.samples, len(found)))
    sample.sort(key=lambda change: (change.path, change.start))
    print(f"{len(sample)} of {len(found)} changes, seed {options.seed}", flush=True)
    with ThreadPoolExecutor(_WORKERS) as pool:
        rooms = sorted({_room(change.path) for change in sample})
        reach = dict(zip(rooms, pool.map(record, map(_tests, rooms)), strict=True))
        lived = sum(pool.map(lambda change: _lives(change, reach[_room(change.path)]), sample))
    noticed = len(sample) - lived
    print(f"noticed {noticed} of {len(sample)} ({noticed / max(len(sample), 1):.1%})")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutate")
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    parser.add_argument("--since", help="a commit: only lines that changed after it")
    parser.add_argument("--room", help="only this room, such as stream; . is what is in none")
    return parser.parse_args()


def _files() -> list[str]:
    return sorted(str(path.relative_to(PLUGIN)) for path in PLUGIN.rglob("*.py"))


def _changed(since: str) -> Iterator[tuple[str, int]]:
    """The lines of the package that the diff adds."""
    diff = ["git", "diff", "--unified=0", "--no-color", since, "--", str(PLUGIN)]
    path = ""
    for line in subprocess.run(
        diff, check=True, capture_output=True, text=True
    ).stdout.splitlines():
        if file := re.match(r"\+\+\+ b/plugin/(.*)", line):
            path = file[1]
        elif hunk := re.match(r"@@ \S+ \+(\d+),?(\d*) @@", line):
            for number in range(int(hunk[2] or 1)):
                yield path, int(hunk[1]) + number


def _room(path: str) -> str:
    """The first folder in the package."""
    return Path(path).parts[1] if len(Path(path).parts) > 2 else "."


def _tests(room: str) -> list[str]:
    return sorted(map(str, _TESTS.glob("test_*.py"))) if room == "." else [str(_TESTS / room)]


def _lives(change: Change, reach: Reach) -> bool:
    """Whether no test notices; this is told at once."""
    if is_noticed(change, reach):
        return False
    before, after = change.lines((PLUGIN / change.path).read_bytes())
    unseen = "" if reach.has(change.path, change.function) else "  (no test calls it)"
    print(f"\n{change.path}:{change.line}{unseen}\n  - {before}\n  + {after}", flush=True)
    return True


if __name__ == "__main__":
    main()
