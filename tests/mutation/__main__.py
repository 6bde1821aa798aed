"""`python -m tests.mutation --samples 100 --seed 7 --since main~1 --room stream`."""

from __future__ import annotations

import argparse
import random
import re
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from tests.mutation.changes import Change, changes
from tests.mutation.reach import Reach
from tests.mutation.trial import PLUGIN, record, tried

_TESTS = Path("tests")
_UNIT = "unit_tests"
_FOLDERS = (_UNIT, "integration_tests")
"""Where a room has tests; the later ones take long, and are for what the others do not notice."""
_WORKERS = 2


class Lived(NamedTuple):
    """A change that no test has noticed so far."""

    change: Change
    is_called: bool = False
    """By a test."""
    is_cut: bool = False
    """Whether there were more tests than could run."""


def main() -> None:
    """Sample, try and report."""
    options = _options()
    found = [
        change
        for change in _found(options.since, options.at)
        if options.room in (None, _room(change.path))
    ]
    sample = _sampled(found, options.samples, options.seed)
    print(f"{len(sample)} of {len(found)} changes, seed {options.seed}", flush=True)
    lived = [Lived(change) for change in sample]
    with ThreadPoolExecutor(_WORKERS) as pool:
        for folder in _FOLDERS:
            lived = _still_living(lived, folder, options.seconds, pool)
    noticed = len(sample) - len(lived)
    print(f"noticed {noticed} of {len(sample)} ({noticed / max(len(sample), 1):.1%})")


def _sampled(found: list[Change], samples: int, seed: int) -> list[Change]:
    """Those with the smallest hashes: the same ones, as long as their lines stay as they are."""

    def rank(change: Change) -> bytes:
        before, after = change.lines(source[change.path])
        return sha256(f"{seed} {change.path} {before} {after}".encode()).digest()

    source = {path: (PLUGIN / path).read_bytes() for path in {change.path for change in found}}
    chosen = sorted(found, key=rank)[:samples]
    return sorted(chosen, key=lambda change: (change.path, change.start))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutate")
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    parser.add_argument("--since", help="a commit: only lines that changed after it")
    parser.add_argument("--room", help="only this room, such as stream; . is what is in none")
    parser.add_argument("--at", default="", help="only this file, or line: stream/graph.py:37")
    parser.add_argument("--seconds", type=float, default=60, help="of tests for one change")
    return parser.parse_args()


def _found(since: str | None, at: str) -> Iterator[Change]:
    changed = set(_changed(since)) if since else None
    for path in _files():
        for change in changes(path, (PLUGIN / path).read_bytes()):
            places = (path, f"{path}:{change.line}")
            if changed is not None and (path, change.line) not in changed:
                continue
            if any(place.endswith(at) for place in places):
                yield change


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


def _tests(folder: str, room: str) -> list[str]:
    if room == ".":
        return sorted(map(str, _TESTS.glob(f"{folder}/test_*.py"))) if folder == _UNIT else []
    tests = _TESTS / folder / room
    return [str(tests)] if folder == _UNIT or tests.is_dir() else []


def _still_living(
    lived: list[Lived], folder: str, seconds: float, pool: ThreadPoolExecutor
) -> list[Lived]:
    """Those that the tests of this folder do not notice either."""
    rooms: dict[str, list[Change]] = {}
    for each in lived:
        rooms.setdefault(_room(each.change.path), []).append(each.change)
    tests = {room: found for room in rooms if (found := _tests(folder, room))}
    wanted = [rooms[room] for room in tests]
    reach = dict(zip(tests, pool.map(record, tests.values(), wanted), strict=True))
    left = pool.map(_after, lived, repeat(folder), repeat(reach), repeat(seconds))
    return [each for each in left if each is not None]


def _after(lived: Lived, folder: str, reaches: Mapping[str, Reach], seconds: float) -> Lived | None:
    """What is known of it after these tests, or None if they notice it.

    What no other tests are tried for is told at once.
    """
    change, room = lived.change, _room(lived.change.path)
    reach = reaches.get(room)
    if reach is None:
        return lived
    is_last = folder == _FOLDERS[-1] or not _tests(_FOLDERS[-1], room)
    is_called = lived.is_called or reach.has(change)
    if reach.has(change) or (is_last and not is_called):
        trial = tried(change, reach, seconds)
        if trial.is_noticed:
            return None
        lived = Lived(change, is_called=is_called, is_cut=lived.is_cut or trial.is_cut)
    if is_last:
        _tell(lived, seconds)
    return lived


def _tell(lived: Lived, seconds: float) -> None:
    change = lived.change
    before, after = change.lines((PLUGIN / change.path).read_bytes())
    unseen = "" if lived.is_called else "  (no test calls it)"
    capped = f"  (in {seconds:g} s)" if lived.is_cut else ""
    print(f"\n{change.path}:{change.line}{unseen}{capped}\n  - {before}\n  + {after}", flush=True)


if __name__ == "__main__":
    main()
