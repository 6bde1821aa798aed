"""What is cut like a value before it is cut as though there had been none."""

from __future__ import annotations

import random
from functools import partial

import pytest
from hypothesis import example, given, strategies as st

from langgraph_once.checkpoint.cut import Cutter, Piece
from langgraph_once.checkpoint.pieces import (
    Assembly,
    CutValue,
    Missing,
    PieceManifest,
    Recent,
    split,
)
from langgraph_once.errors import PayloadError
from langgraph_once.serde import most_added


class Counting(Cutter):
    """Counts what it names."""

    named = 0

    def digest(self, data: Piece) -> bytes:
        self.named += 1
        return super().digest(data)


CUTTER = Counting()

edits = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 5_000), st.binary(max_size=40), st.integers(0, 80)),
    min_size=1,
    max_size=6,
)


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


def edited(data: bytes, edit: tuple[float, int, bytes, int]) -> bytes:
    """Replace some bytes by others: at the end, too, or nothing by something."""
    where, removed, added, times = edit
    at = round(where * len(data))
    return data[:at] + added * times + data[at + removed :]


def alone(data: bytes) -> CutValue:
    return split("once2", data, lead_bytes=7, cutter=CUTTER)


def put_together(value: CutValue) -> bytes:
    """From its pieces, as a database has them."""
    assembly = Assembly(lambda cell: (cell.data, False), CUTTER)
    assembly.wanted([value.manifest])
    assembly.add((digest, "bytes", bytes(data)) for digest, data in value.pieces.items())
    return assembly.joined(value.manifest)


places = st.floats(0, 1)
sizes = st.integers(0, 40_000)
rearrangements = st.lists(
    st.lists(st.tuples(places, sizes, places, sizes, st.booleans()), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


def rearranged(data: bytes, change: tuple[float, int, float, int, bool]) -> bytes:
    """Remove some bytes, and put others there: a copy of a stretch, or new ones."""
    where, removed, source, size, is_copy = change
    at, of = round(where * len(data)), round(source * len(data))
    added = data[of : of + size] if is_copy else noise(size, 9)
    return data[:at] + added + data[at + removed :]


@given(
    unit=st.integers(1, 4_000), times=st.integers(1, 40), finely=st.booleans(), steps=rearrangements
)
@example(
    unit=700,
    times=8,
    finely=True,
    steps=[[(0.373, 2000, 0.72, 0, True), (0.216, 500, 0, 500, False)]],
)
def test_of_what_repeats_and_changes_at_several_places_each_version_comes_back(
    unit: int, times: int, *, finely: bool, steps: list[list[tuple[float, int, float, int, bool]]]
) -> None:
    """As a document of equal paragraphs, or a tool result that comes three times."""
    data = noise(unit) * times
    recent = Recent(CUTTER, lambda _: 1e12)
    value = split("once2", data, lead_bytes=0, cutter=CUTTER, finely=finely)
    recent.keep("thread", value.manifest, value.cut, 1e12)
    for changes in steps:
        for change in changes:
            data = rearranged(data, change)
        value = recent.split("thread", "once2", data, lead_bytes=0)
        ends = value.cut.levels[0].ends if value.cut.levels else []
        assert ends == sorted({*ends})
        assert put_together(value) == data


@given(size=st.integers(0, 60_000), is_dull=st.booleans(), changes=edits)
def test_a_value_that_changed_comes_back_and_stores_what_its_predecessor_lacks(
    size: int, is_dull: bool, changes: list[tuple[float, int, bytes, int]]
) -> None:
    data = b"dull" * (size // 4) if is_dull else noise(size)
    value = alone(data)
    for change in changes:
        data = edited(data, change)
        before, value = (
            value,
            split("once2", data, lead_bytes=7, cutter=CUTTER, before=value.cut),
        )
        assert put_together(value) == data
        assert value.pieces.keys() <= before.pieces.keys() | value.fresh.keys()
        missing = Missing([value])
        missing.tell(before.pieces)
        assert not missing.wanted
        assert value.pieces.keys() <= before.pieces.keys() | missing.found.keys()


@given(changes=edits, lost=st.integers(0, 2**32), has_all=st.booleans())
def test_what_is_not_stored_after_all_is_asked_for(
    changes: list[tuple[float, int, bytes, int]], lost: int, has_all: bool
) -> None:
    """The value before may be of another thread, or its transaction was undone."""
    before = alone(noise(40_000))
    data = noise(40_000)
    for change in changes:
        data = edited(data, change)
    value = split("once2", data, lead_bytes=7, cutter=CUTTER, before=before.cut)
    stored = dict(before.pieces) if has_all else {}
    missing = Missing([value])
    missing.tell([digest for digest in missing.wanted if digest in stored])
    assert value.pieces.keys() <= stored.keys() | missing.found.keys()
    assert all(value.pieces[digest] == piece for digest, piece in missing.found.items())


def test_what_did_not_change_is_not_named_again() -> None:
    data = noise(50_000)
    for longer in (data + noise(700, 1), data[:25_000] + noise(900, 2) + data[25_700:]):
        recent = Recent(CUTTER)
        recent.split("thread", "once2", data, lead_bytes=3)
        CUTTER.named = 0
        recent.split("thread", "once2", longer, lead_bytes=3)
        assert 1 <= CUTTER.named < 30
    CUTTER.named = 0
    recent.split("thread", "once2", longer, lead_bytes=3)
    assert not CUTTER.named


class Checks(list[int]):
    """Lets so much be added to each value, and says how long those were that it looked at."""

    def __init__(self, left: float) -> None:
        super().__init__()
        self.left = left

    def __call__(self, value: CutValue) -> float:
        self.append(value.manifest.size)
        return self.left


def test_a_value_is_checked_again_when_as_much_has_come_to_it_as_may() -> None:
    checks = Checks(most_added([noise(10_000)]))
    recent = Recent(CUTTER, checks)
    data = noise(50_000)
    for end in range(50_000, 90_001, 1_000):
        recent.split("thread", "once2", noise(90_000)[:end], lead_bytes=3)
    assert checks[0] == 50_000
    assert 3 <= len(checks) <= 15
    known = len(checks)
    recent.split("thread", "msgpack", data, lead_bytes=3)  # what it says is something else
    assert len(checks) == known + 1


def test_what_comes_thrice_at_the_end_of_a_thread_is_weighed() -> None:
    data = noise(42_500, 3)
    recent = Recent(CUTTER, Checks(10**12))
    for end in range(20_000, 42_501, 1_500):
        recent.split("thread", "once2", data[:end], lead_bytes=3)
    for _ in range(3):
        data += noise(15_000, 99)
        value = recent.split("thread", "once2", data, lead_bytes=3)
        assert put_together(value) == data


def test_what_is_left_of_a_long_value_is_not_stored_again() -> None:
    """As a thread of which the older half was dropped, and that goes on."""
    recent = Recent(CUTTER)
    value = recent.split("thread", "once2", noise(700_000), lead_bytes=0)
    shorter = recent.split(
        "thread", "once2", noise(700_000)[200_000:] + noise(500, 1), lead_bytes=0
    )
    new = shorter.pieces.keys() - value.pieces.keys()
    assert sum(len(shorter.pieces[name]) for name in new) < 150_000


def test_what_comes_often_is_weighed_as_often() -> None:
    often = noise(200_000, 1)
    checks = Checks(most_added([often * 3]))
    recent = Recent(CUTTER, checks)
    recent.split("thread", "once2", noise(50_000), lead_bytes=3)
    recent.split("thread", "once2", noise(50_000) + often, lead_bytes=3)
    assert len(checks) == 1
    recent.split("thread", "once2", noise(50_000) + often * 9, lead_bytes=3)
    assert len(checks) == 2


def test_values_that_were_cut_long_ago_are_forgotten() -> None:
    recent = Recent(CUTTER, max_bytes=100_000)
    for seed in range(9):
        recent.split("thread", "once2", noise(20_000, seed), lead_bytes=0)
    for seed, is_known in ((8, True), (7, True), (0, False)):
        CUTTER.named = 0
        recent.split("thread", "once2", noise(20_000, seed), lead_bytes=0)
        assert (CUTTER.named == 0) is is_known
    recent.split(
        "thread", "once2", noise(60_000), lead_bytes=0
    )  # one alone takes no place of all others
    CUTTER.named = 0
    recent.split("thread", "once2", noise(20_000, 8), lead_bytes=0)
    assert not CUTTER.named


def test_what_was_cut_a_moment_ago_is_there_without_its_pieces() -> None:
    recent = Recent(CUTTER)
    values = [
        recent.split("thread", "once2", noise(size), lead_bytes=3) for size in (50_000, 60_000)
    ]
    for value, is_known in zip(values, (False, True), strict=True):  # the first one has grown
        manifest = PieceManifest.from_bytes(value.manifest.to_bytes())
        assembly = Assembly(lambda cell: (cell.data, False), CUTTER, remembered=recent.whole)
        assert bool(assembly.wanted([manifest])) is not is_known
        if is_known:
            assert assembly.joined(manifest) == noise(60_000)
        else:
            with pytest.raises(PayloadError, match="missing"):
                assembly.joined(manifest)


def test_values_of_another_thread_that_begin_alike_are_another_one() -> None:
    """As those of two threads that begin with one prompt."""
    recent = Recent(CUTTER)
    values = {thread_id: noise(20_000) + noise(30_000, thread_id) for thread_id in (1, 2)}
    for thread_id, data in values.items():
        recent.split(thread_id, "once2", data, lead_bytes=0)
    CUTTER.named = 0
    for thread_id, data in values.items():
        recent.split(thread_id, "once2", data + noise(300), lead_bytes=0)
    assert CUTTER.named < 30


def test_a_new_thread_is_not_compared_with_all_others() -> None:
    compared = 0

    class ThreadId(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    recent = Recent(CUTTER)
    for number in range(50):
        recent.split(ThreadId(number), "once2", noise(20_000, number), lead_bytes=0)
    compared = 0
    recent.split(ThreadId("new"), "once2", noise(20_000, 50), lead_bytes=0)
    assert compared < 5


def test_a_copy_of_a_thread_that_is_forgotten_leaves_the_other() -> None:
    recent = Recent(CUTTER, max_bytes=150_000)
    recent.split("thread", "once2", noise(50_000), lead_bytes=3)
    value = recent.split("copy", "once2", noise(50_000), lead_bytes=3)
    recent.split("other", "once2", noise(60_000, 1), lead_bytes=3)  # the oldest is forgotten
    assert recent.whole(value.manifest) == noise(50_000)


@pytest.mark.parametrize("lead", [b"abc", b"abcdef", b""])
def test_what_is_remembered_may_have_another_lead(lead: bytes) -> None:
    recent = Recent(CUTTER)
    value = recent.split("thread", "once2", b"abc" + noise(50_000), lead_bytes=3)
    other = split("once2", lead + noise(50_000), lead_bytes=len(lead), cutter=CUTTER)
    assert other.manifest.levels == value.manifest.levels
    assert recent.whole(other.manifest) == lead + noise(50_000)


def test_what_was_read_is_cut_as_it_is_stored() -> None:
    """By another process, which goes on with it."""
    written = Recent(CUTTER).split("thread", "once2", noise(300_000), lead_bytes=3)
    for end in range(300_700, 302_000, 700):
        data = noise(300_000) + noise(end - 300_000, 1)
        written = split("once2", data, lead_bytes=3, cutter=CUTTER, before=written.cut)
    reader = Recent(CUTTER)
    assembly = Assembly(lambda cell: (cell.data, False), CUTTER)
    assembly.remember = partial(reader.keep, "thread")
    assembly.wanted([written.manifest])
    assembly.add((digest, "bytes", bytes(piece)) for digest, piece in written.pieces.items())
    assert assembly.joined(written.manifest) == data
    CUTTER.named = 0
    longer = reader.split("thread", "once2", data + noise(700, 2), lead_bytes=3)
    assert CUTTER.named < 12
    assert longer.pieces.keys() <= written.pieces.keys() | longer.fresh.keys()
    assert put_together(longer) == data + noise(700, 2)


def test_a_value_whose_beginning_was_cut_off_is_known() -> None:
    """As a thread that keeps its latest messages: its first one is another each time."""
    recent = Recent(CUTTER)
    data = noise(60_000)
    recent.split("thread", "once2", data, lead_bytes=3)
    for number in range(5):
        data = data[700:] + noise(700, number)
        CUTTER.named = 0
        recent.split("thread", "once2", data, lead_bytes=3)
        assert CUTTER.named < 30


def test_a_value_that_only_grows_is_read_in_few_pieces_and_stored_about_twice() -> None:
    recent = Recent(CUTTER)
    stored: dict[bytes, Piece] = {}
    data = noise(1_500_000)
    steps = []
    for end in range(20_000, len(data) + 1, 2_000):
        before = len(b"".join(stored.values()))
        value = recent.split("thread", "once2", data[:end], lead_bytes=3)
        missing = Missing([value])
        missing.tell(missing.wanted & stored.keys())
        stored |= missing.found
        steps.append(len(b"".join(stored.values())) - before)
    assert len(value.cut.levels[0].names) < 400
    assert sum(steps) < 3 * len(data)
    assert sorted(steps)[len(steps) * 9 // 10] < 8_000
    assert put_together(value) == data


def test_values_that_are_forgotten_between_steps_store_what_is_new_all_the_same() -> None:
    """As where more threads run at once than are remembered."""
    recent = Recent(CUTTER, max_bytes=400_000)
    stored: dict[bytes, Piece] = {}
    before = 0
    for end in range(20_000, 180_000, 1_000):
        for seed in range(6):
            data = noise(180_000, seed)[:end]
            missing = Missing([recent.split(seed, "once2", data, lead_bytes=0)])
            missing.tell(missing.wanted & stored.keys())
            stored |= missing.found
        if end == 80_000:
            before = len(b"".join(stored.values()))
    assert len(b"".join(stored.values())) - before < 3 * 6 * 100_000
