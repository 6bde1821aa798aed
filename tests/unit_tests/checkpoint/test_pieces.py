"""Values are cut into pieces and put together again; equal stretches are equal pieces."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from langgraph_once.checkpoint.cut import DIGEST_BYTES, Cutter
from langgraph_once.checkpoint.pieces import Assembly, Cell, CutValue, Missing, PieceManifest, split
from langgraph_once.errors import PayloadError

CUTTER = Cutter()


class Database(dict[bytes, bytes]):
    """Pieces by digest."""

    def store(self, value: CutValue) -> int:
        """Store what is missing, asking as a saver does. Returns how many bytes that were."""
        missing = Missing([value])
        missing.tell([digest for digest in missing.wanted if digest in self])
        self.update({name: bytes(piece) for name, piece in missing.found.items()})
        return sum(map(len, missing.found.values()))

    def load(self, manifest: PieceManifest) -> bytes:
        """Put a value together, asking as a saver does."""
        assembly = Assembly(lambda cell: (cell.data, False), CUTTER)
        while wanted := assembly.wanted([manifest]):
            if not assembly.add((d, "bytes", self[d]) for d in wanted if d in self):
                break
        return assembly.joined(manifest)


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


def cut(data: bytes, lead_bytes: int = 0, before: CutValue | None = None) -> CutValue:
    return split(
        "once2",
        data,
        lead_bytes=lead_bytes,
        cutter=CUTTER,
        before=None if before is None else before.cut,
    )


def grown(size: int) -> CutValue:
    """A value that was cut finely: it came in parts."""
    value = cut(noise(size)[:20_000])
    for end in range(40_000, size + 1, 20_000):
        value = cut(noise(size)[:end], before=value)
    return value


@given(data=st.binary(max_size=3000), times=st.integers(1, 40), lead=st.integers(0, 50))
def test_bytes_that_are_cut_into_pieces_come_back(data: bytes, times: int, lead: int) -> None:
    whole = data * times
    database = Database()
    database.store(cut(whole, lead))
    manifest = PieceManifest.from_bytes(cut(whole, lead).manifest.to_bytes())
    assert database.load(manifest) == whole
    assert manifest.codec == "once2"


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "appended": lambda data: data + noise(700, 1),
    "changed in the middle": lambda data: data[:100_000] + noise(700, 1) + data[100_700:],
    "inserted": lambda data: data[:70_000] + noise(700, 1) + data[70_000:],
    "cut off at the beginning": lambda data: data[5_000:],
    "the oldest left, another came": lambda data: data[5_000:] + noise(700, 1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_costs_what_it_changes_and_no_more(change: str) -> None:
    before = noise(240_000)
    after = CHANGES[change](before)
    database = Database()
    first = grown(240_000)
    assert database.store(first) >= 240_000
    # What is appended makes long pieces of the short ones before it.
    most = 60_000 if change == "appended" else 25_000
    assert database.store(cut(after, before=first)) < most
    assert database.load(cut(after, before=first).manifest) == after


def test_several_changes_cost_what_they_change_and_no_more() -> None:
    """As where an early message is edited and another is appended, or two of many texts change."""
    data, value = noise(300_000), grown(300_000)
    for number, places in enumerate([(1_000, 299_000), (50_000, 150_000, 200_000), (7, 299_990)]):
        for at in places:
            data = data[:at] + noise(300, at) + data[at + 200 * number :]
        before, value = value, cut(data, before=value)
        database = Database({name: bytes(piece) for name, piece in before.pieces.items()})
        assert database.store(value) < 3 * 30_000  # where a long piece changes, all of it is new
        assert database.load(value.manifest) == data


def test_what_follows_a_long_piece_that_changed_is_not_cut_again() -> None:
    """As an image at the begin of a thread of one message, which gets a second."""
    before = bytes(100_000) + noise(1_000_000)
    first = cut(before)
    begins = first.cut.levels[0].ends[0]
    assert begins > 64 * 1024
    made = cut(noise(10) + before + noise(500, 1), before=first).made.values()
    assert sum(map(len, made)) < begins + 50_000


def test_many_changes_at_one_place_do_not_leave_tiny_pieces() -> None:
    data, value = noise(100_000), grown(100_000)
    for number in range(400):
        at = 40_000 + number * 40
        data = data[:at] + noise(40, number) + data[at:]
        value = cut(data, before=value)
    sizes = [len(value.pieces[digest]) for digest in value.cut.levels[0].names]
    assert sum(size < 256 for size in sizes) < 20


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("make", [grown, lambda size: cut(noise(size))])
def test_what_was_cut_coarsely_is_cut_finely_where_it_changes(
    make: Callable[[int], CutValue], change: str
) -> None:
    before = noise(1_000_000)
    after = CHANGES[change](before)
    database = Database()
    first = make(len(before))
    assert database.store(first) >= len(before)
    second = cut(after, before=first)
    assert database.store(second) < 250_000
    again = CHANGES[change](after)
    assert database.store(cut(again, before=second)) < 25_000
    assert database.load(cut(again, before=second).manifest) == again


@pytest.mark.parametrize("size", [200_000, 1_000_000])
def test_two_that_do_not_know_of_each_other_have_most_pieces_in_common(size: int) -> None:
    """As two threads of a process, or a process that has forgotten what it wrote."""
    before = noise(size)
    for change in CHANGES.values():
        database = Database()
        database.store(cut(before))
        assert database.store(cut(change(before))) < size * 0.6


@pytest.mark.parametrize(("size", "most"), [(200_000, 40), (1_000_000, 60), (12_000_000, 500)])
def test_a_large_value_is_cut_into_few_pieces(size: int, most: int) -> None:
    assert len(cut(noise(size)).pieces) < most


def test_a_manifest_grows_with_the_logarithm() -> None:
    value = cut(noise(60_000_000))
    assert len(value.pieces) > 600
    assert len(value.manifest.to_bytes()) < 600


def test_pieces_that_another_deleted_are_stored_again() -> None:
    value = cut(noise(300_000), before=grown(300_000))
    for kind in (0, 1):
        database = Database()
        database.store(value)
        of_kind = value.cut.levels[kind].names
        for digest in random.Random(0).sample(of_kind, len(of_kind) // 2):
            database.pop(digest, None)
        database.store(value)
        assert database.load(value.manifest) == noise(300_000)


def test_a_key_hides_what_is_equal() -> None:
    data = noise(100_000)
    keyed = split("once2", data, lead_bytes=0, cutter=Cutter([bytes(range(32))]))
    plain = cut(data)
    assert not keyed.pieces.keys() & plain.pieces.keys()
    cuts = [{len(piece) for piece in value.pieces.values()} for value in (keyed, plain)]
    assert cuts[0] != cuts[1]


def test_a_piece_that_is_not_the_one_it_is_named_is_told() -> None:
    value = cut(noise(50_000))
    database = Database()
    database.store(value)
    leaf = next(digest for level, digest in value.manifest.nodes() if not level)
    for other, words in ((database[leaf][:-1] + b"x", "damaged"), (None, "missing")):
        damaged = Database(database)
        if other is None:
            del damaged[leaf]
        else:
            damaged[leaf] = other
        with pytest.raises(PayloadError, match=f"piece {leaf.hex()} is {words}"):
            damaged.load(value.manifest)


def bomb(levels: int) -> tuple[PieceManifest, Database]:
    """Groups of sixty times the same group: 60 ** levels pieces."""
    database = Database()
    data = b"x"
    for _ in range(levels):
        digest = CUTTER.digest(data)
        database[digest] = data
        data = digest * 60
    top = CUTTER.digest(data)
    database[top] = data
    return PieceManifest("once2", 100_000, b"", (*[b""] * levels, top)), database


def test_groups_of_groups_end() -> None:
    manifest, database = bomb(12)
    with pytest.raises(PayloadError, match="do not make up its size"):
        database.load(manifest)


def test_a_group_holds_no_more_than_one_that_is_written() -> None:
    database = Database()
    leaf = CUTTER.digest(b"x" * 100)
    group = leaf * 65
    database |= {leaf: b"x" * 100, CUTTER.digest(group): group}
    manifest = PieceManifest("bytes", 6_500, b"", (b"", CUTTER.digest(group)))
    with pytest.raises(PayloadError, match="too large"):
        database.load(manifest)


def test_a_group_that_is_no_list_of_digests_is_damaged() -> None:
    group = b"x" * (DIGEST_BYTES + 1)
    database = Database({CUTTER.digest(group): group})
    with pytest.raises(PayloadError, match="group of its pieces is damaged"):
        database.load(PieceManifest("bytes", 100, b"", (b"", CUTTER.digest(group))))


def test_pieces_of_a_byte_do_not_stand_for_millions() -> None:
    leaf = CUTTER.digest(b"x")
    database = Database({leaf: b"x"})
    with pytest.raises(PayloadError, match="do not make up its size"):
        database.load(PieceManifest("bytes", 100_000, b"", (leaf * 100_000,)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        PieceManifest("once2", 1, b"", ()).to_bytes()[:-1],
        PieceManifest("once2", 1, b"", (b"",) * 17).to_bytes(),
        PieceManifest("once2", 1, b"", (b"short",)).to_bytes(),
        b"\x95\x02\xa5once2\x01\xc4\x00\x90",
        b"\x95\x01\xa5once2\x01\xc4\x00\x01",
    ],
)
def test_a_damaged_manifest_is_told(data: bytes) -> None:
    with pytest.raises(PayloadError):
        PieceManifest.from_bytes(data)


@given(st.binary(max_size=60))
def test_no_bytes_are_worse_than_damaged(data: bytes) -> None:
    try:
        found: Any = PieceManifest.from_bytes(data)
    except PayloadError:
        return
    assert all(len(digest) == DIGEST_BYTES for _, digest in found.nodes())


def test_a_cell_is_named() -> None:
    assert Cell("bytes", b"") == ("bytes", b"")
