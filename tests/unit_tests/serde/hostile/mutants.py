"""Changes rows a little: their bytes, or what their extensions hold."""

from __future__ import annotations

import json
import logging
import random
import resource
import sys
import time
import warnings
from collections import Counter
from typing import Any, Final

import ormsgpack

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError, SerdeError
from langgraph_once.serde import OnceSerializer
from langgraph_once.serde.format import Code
from tests.unit_tests.serde.fidelity.table import ROWS
from tests.unit_tests.serde.hostile import classes
from tests.unit_tests.serde.hostile.build import array, ext, pack, raw, split
from tests.unit_tests.serde.hostile.data import ONE_BY_ONE
from tests.unit_tests.serde.hostile.ordinary import ORDINARY
from tests.unit_tests.serde.hostile.shapes import SHAPES
from tests.unit_tests.serde.hostile.upstream import LANGGRAPH
from tests.unit_tests.serde.mutate import mutate

_MOST_BYTES: Final = 4 << 30
_MAX_SECONDS: Final = 2.0
_LONGEST: Final = 20_000
_OPEN: Final = 2
_IN: Final = {Code.TUPLE, Code.SET, Code.FROZENSET, Code.MAP, Code.SHARED, Code.GRAPH, Code.MANY}


def _corpus(codec: Any) -> list[bytes]:
    serde = OnceSerializer(SerdeConfig(compatible=codec == "msgpack", compression="none"))
    values = [*ORDINARY, *(row.value for row in ROWS)]
    found = []
    for value in values:
        for each in (value, [value, {"again": [value]}]):
            try:
                tag, data = serde.dumps_typed(each)
            except EncodeError:
                continue
            if tag == codec and len(data) < _LONGEST:
                found.append(data)
    hostile: Any = (
        [*SHAPES.values(), *ONE_BY_ONE.values()] if codec == "once2" else [*LANGGRAPH.values()]
    )
    found += [row for row in hostile if type(row) is bytes and 0 < len(row) < _LONGEST]
    return found


def _places(data: bytes) -> list[tuple[int, bytes]]:
    """Return the extensions in msgpack, and in those that hold such."""
    found: list[tuple[int, bytes]] = []
    todo = [data]
    while todo and len(found) < 200:
        content = todo.pop()
        try:
            inner = _opened(content)
        except ValueError:
            continue
        found += inner
        todo += [part for code, part in inner for part in _inside(code, part)]
    return found


def _opened(content: bytes) -> list[tuple[int, bytes]]:
    found: list[tuple[int, bytes]] = []
    option = ormsgpack.OPT_NON_STR_KEYS
    ormsgpack.unpackb(content, ext_hook=lambda *each: found.append(each), option=option)
    return found


def _inside(code: int, content: bytes) -> list[bytes]:
    if code == Code.OBJECT:
        return [split(content)[1]]
    return [content[1:]] if code == Code.VALUE else [content]


class _Mutator:
    """Makes mutants of a corpus, the same ones for the same seeds."""

    def __init__(self, codec: Any) -> None:
        self._rows = _corpus(codec)
        self._is_ours = codec == "once2"

    def mutant(self, seed: int) -> bytes:
        """Return the mutant of a seed."""
        rng = random.Random(seed)
        row, other = rng.choice(self._rows), rng.choice(self._rows)
        if seed % 2:
            return mutate(rng, row, other)
        for _ in range(rng.choice((1, 1, 2, 3))):
            row = self._changed(rng, row, other)
        return row

    def _changed(self, rng: random.Random, row: bytes, other: bytes) -> bytes:
        mine, others = _places(row), _places(other)
        if not mine:
            return mutate(rng, row, other)
        code, content = rng.choice(mine)
        old = content
        donor_code, donor = rng.choice(others or mine)
        what = rng.randrange(8)
        if what == 0:
            code = rng.randrange(18 if self._is_ours else 9)
        elif what == 1:
            content = donor
        elif what == 2:
            code, content = donor_code, donor
        elif what == 3 and code == donor_code == Code.OBJECT and self._is_ours:
            head, data = split(content)
            content = rng.choice((split(donor)[0] + data, head + split(donor)[1]))
        elif what == 4:
            content = array(ext(code, content), ext(donor_code, donor), ext(code, content))
            code = rng.choice([*_IN]) if self._is_ours else 7
        elif what == 5:
            content = mutate(rng, content, donor) or content
        elif what == 6 and self._is_ours:
            content = (
                pack([raw(ext(Code.SHARED, content)), raw(ext(Code.AGAIN, bytes(4)))])
                if self._is_whole(content)
                else content
            )
            code = Code.TUPLE
        else:
            content = content[: rng.randrange(len(content) + 1)] + donor
        return self._replaced(row, old, code, content)

    def _is_whole(self, content: bytes) -> bool:
        try:
            ormsgpack.unpackb(content, ext_hook=lambda *_: None)
        except ValueError:
            return False
        return True

    def _replaced(self, row: bytes, old: bytes, code: int, content: bytes) -> bytes:
        """Return a row in which an extension has another content, with lengths that are right."""

        def hook(its_code: int, its: bytes) -> Any:
            if its == old:
                return ormsgpack.Ext(code, content)
            if old in its:
                return ormsgpack.Ext(its_code, self._inner(its_code, its, old, code, content))
            return ormsgpack.Ext(its_code, its)

        try:
            value = ormsgpack.unpackb(row, ext_hook=hook, option=ormsgpack.OPT_NON_STR_KEYS)
            return ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)
        except (ValueError, TypeError):
            return row.replace(old, content, 1)

    def _inner(self, code: int, its: bytes, old: bytes, new_code: int, content: bytes) -> bytes:
        if code == Code.OBJECT and self._is_ours:
            head, data = split(its)
            return head + self._replaced(data, old, new_code, content)
        if code == Code.VALUE and self._is_ours:
            return its[:1] + self._replaced(its[1:], old, new_code, content)
        return self._replaced(its, old, new_code, content)


def _read(serde: OnceSerializer, tag: str, row: bytes, *, keeps: bool) -> str:
    try:
        value = serde.loads_typed((tag, row))
    except SerdeError as error:
        return type(error).__name__
    if keeps:
        try:
            serde.loads_typed(serde.dumps_typed(value))
        except EncodeError:
            return "value that is not written"
        except SerdeError as error:
            return f"value that is written and not read: {type(error).__name__}"
    return "value"


def main(codec: Any, start: int, count: int) -> None:
    """Read so many mutants, and write how often what was the outcome."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    mutator = _Mutator(codec)
    names = tuple(f"{__name__}:A{n}" for n in range(1))
    serdes = [
        OnceSerializer(SerdeConfig(compression="none", **settings))
        for settings in (
            {},
            {"on_unavailable": "raise"},
            {"enforcement": "open"},
            {"allowed_types": names},
        )
    ]
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    outcomes: Counter[str] = Counter()
    slowest, its_seed = 0.0, 0
    for seed in range(start, start + count):
        row = mutator.mutant(seed)
        begun = time.process_time()
        sys.stderr.write(f"\r{seed}") if seed % 100 == 0 else None
        try:
            outcomes[_read(serdes[seed % 4], codec, row, keeps=seed % 50 == 0)] += 1
        except BaseException as error:
            error.add_note(f"{codec}, seed {seed}, {row!r:.300}")
            raise
        if seed % 4 == _OPEN:
            classes.RAN.clear()  # anything may be called there
        seconds = time.process_time() - begun
        if seconds > slowest:
            slowest, its_seed = seconds, seed
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    facts = {
        "outcomes": outcomes,
        "slowest": slowest,
        "seed": its_seed,
        "mb": megabytes,
        "ran": classes.RAN,
    }
    sys.stdout.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
