"""Measure what reading hostile rows costs. Run by `test_attacks_bounds` in a process of its own:

    python -m tests.integration_tests.serde.attacks

Peak memory is a fact about a process, so each row is read in a fork.
"""

from __future__ import annotations

import json
import os
import resource
import struct
import sys
import time
from dataclasses import dataclass, field
from datetime import date
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Final

import ormsgpack
from langchain_core.messages import HumanMessage

from langgraph_once.errors import SerdeError
from langgraph_once.serde import OnceSerializer
from tests.unit_tests.serde.bounds.attacks_small import SMALL
from tests.unit_tests.serde.bounds.attacks_under_limits import UNDER_LIMITS
from tests.unit_tests.serde.strictly import strict_config

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MB = 1024 * 1024
_CAP_BYTES = 3 * 1024 * _MB
"""A reader gets no more address space, so that a failing test does not take the machine."""

_CAP_SECONDS: Final = 60

_FIXED_SIZES: Final = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Attack:
    """A hostile row.

    Attributes:
        tag: Its tag.
        make: Makes its bytes.
        outcomes: What reading must end in: the name of an error, or of a type.
        max_mb: How far reading it may raise the peak memory of the process.
        settings: Of the serializer that reads it.
        max_seconds: How long reading may take.
    """

    tag: str
    make: Callable[[], bytes]
    outcomes: tuple[str, ...]
    max_mb: int
    settings: dict[str, Any] = field(default_factory=dict)
    max_seconds: float = 1


def packed(chunk: bytes, times: int, head: bytes = b"") -> bytes:
    """Return a zstd frame that does not say how much comes out."""
    stream = zstd.ZstdCompressor(level=1)
    return b"".join(
        (stream.compress(head), *(stream.compress(chunk) for _ in range(times)), stream.flush())
    )


def arrays(count: int, item: bytes = b"\x90") -> bytes:
    """Return compressed msgpack: an array of `count` equal items, empty arrays by default."""
    return packed(item * _MB, count // _MB, b"\xdd" + struct.pack(">I", count))


def boxes(levels: int, code: int = 7, payload: bytes = b"") -> bytes:
    """Return extensions in extensions."""
    head = b"\x91" if code == 1 else b""
    pieces = [ormsgpack.packb(payload)]
    size = len(pieces[0])
    for _ in range(levels):
        header = extension_header(code, len(head) + size)
        pieces += head, header
        size += len(head) + len(header)
    return b"".join(reversed(pieces))


def extension_header(code: int, size: int) -> bytes:
    """Return what stands before the content of an extension."""
    if size in _FIXED_SIZES:
        return bytes([0xD4 + _FIXED_SIZES.index(size), code])
    if size < 1 << 8:
        return bytes([0xC7, size, code])
    if size < 1 << 16:
        return struct.pack(">BHB", 0xC8, size, code)
    return struct.pack(">BIB", 0xC9, size, code)


def laughs() -> bytes:
    """Return a table of lists, each of ten times the one before, in codec `once1`."""
    ten = (b"\x9a" + (b"\xd6\x0f" + struct.pack(">I", number)) * 10 for number in range(40))
    entries = map(ormsgpack.packb, (b"\x90", *ten))
    return ormsgpack.packb(ormsgpack.Ext(16, b"".join(entries)))


def big_integers(count: int) -> bytes:
    """Return different integers of one hash, as keys of None, in codec `once1`."""
    numbers = ((index + 9) * (2**61 - 1) for index in range(count))
    return b"".join(
        ormsgpack.packb(ormsgpack.Ext(5, number.to_bytes(12, "big"))) + b"\xc0"
        for number in numbers
    )


def claiming(code: bytes) -> bytes:
    """Return a value whose length field is not true."""
    return code + b"\xff\xff\xff\xff" + b"\xc0" * 1000


def named(code: int, name: str, argument: object) -> bytes:
    """Return an extension that names a type."""
    return ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb([*name.split(":"), argument])))


def twins(between: bytes) -> bytes:
    """Return 12,000 different arrays that, read as tuples, have the same hash."""
    tuples = islice(product((-1, -2), repeat=14), 12_000)
    return b"".join(ormsgpack.packb(list(keys)) + between for keys in tuples)


def same_hash_uuids(count: int) -> bytes:
    """Return a set of different UUIDs of one hash."""
    uuids = (
        ormsgpack.Ext(0, ormsgpack.packb(["uuid", "UUID", f"{index * (2**61 - 1):032x}"]))
        for index in range(count)
    )
    return named(0, "builtins:set", list(uuids))


HUMAN: Final = f"{HumanMessage.__module__}:HumanMessage"
NETWORK: Final = ormsgpack.Ext(0, ormsgpack.packb(["ipaddress", "IPv6Network", "::/64"]))

SERDE: Final = OnceSerializer(strict_config(codec="once1", compression="none"))
FEWER: Final[dict[str, Any]] = {"max_decoded_objects": 2_500_000}
"""The default is a hundred times that, and so is the time."""

SIZE: Final = ("SizeLimitError",)
PAYLOAD: Final = ("PayloadError",)

ATTACKS: Final[dict[str, Attack]] = {
    # Both the pieces that come out of zstd and the whole made of them are held for a moment.
    "zeros that become 2 GB": Attack(
        "bytes+zstd", lambda: packed(bytes(_MB), 2048), SIZE, 2 * 256 + 50
    ),
    "zeros that become 64 MB": Attack(
        "bytes+zstd", lambda: packed(bytes(_MB), 64), SIZE, 40, {"max_decoded_bytes": 16 * _MB}
    ),
    "a frame said to hold 2**62 bytes": Attack(
        "bytes+zstd",
        lambda: b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 2**62) + b"\x01\x00\x00",
        SIZE, 20,
    ),
    "24 million empty lists": Attack("msgpack+zstd", lambda: arrays(24 * _MB), SIZE, 150, FEWER),
    "16 million empty dicts": Attack(
        "msgpack+zstd", lambda: arrays(16 * _MB, b"\x80"), SIZE, 150, FEWER
    ),
    "10 MB in 1,000 boxes": Attack(
        "msgpack", lambda: boxes(1000, payload=bytes(10 * _MB)), SIZE, 2 * 256 + 50
    ),
    "100,000 boxes": Attack("msgpack", lambda: boxes(100_000), SIZE + PAYLOAD, 2 * 256 + 50),
    "100,000 lists in lists": Attack("msgpack", lambda: b"\x91" * 100_000, PAYLOAD, 20),
    "100,000 dicts in dicts": Attack("msgpack", lambda: b"\x81\xc0" * 100_000, PAYLOAD, 20),
    "100,000 JSON lists": Attack("json", lambda: b"[" * 100_000, PAYLOAD, 20),
    "a list said to have 2**32 items": Attack("msgpack", lambda: claiming(b"\xdd"), PAYLOAD, 20),
    "a dict said to have 2**32 items": Attack("msgpack", lambda: claiming(b"\xdf"), PAYLOAD, 20),
    "a text said to have 2**32 bytes": Attack("msgpack", lambda: claiming(b"\xdb"), PAYLOAD, 20),
    "an extension of 2**32 bytes": Attack("msgpack", lambda: claiming(b"\xc9"), PAYLOAD, 20),
    "a network in a set": Attack("msgpack", lambda: named(0, "builtins:set", NETWORK), PAYLOAD, 20),
    "a network as a message": Attack(
        "msgpack", lambda: named(5, HUMAN, {"content": NETWORK}), PAYLOAD, 20
    ),
    "12,000 keys of one hash": Attack(
        "msgpack", lambda: b"\xdf" + struct.pack(">I", 12_000) + twins(b"\xc0"), SIZE + PAYLOAD, 50,
    ),
    "13,000 keys of one hash, cut off": Attack(
        "msgpack", lambda: b"\xdf" + struct.pack(">I", 13_000) + twins(b"\xc0"), PAYLOAD, 50
    ),
    "12,000 keys of one hash in an extension": Attack(
        "msgpack", lambda: ormsgpack.packb(ormsgpack.Ext(7, b"\xde" + struct.pack(">H", 12_000)
                                                         + twins(b"\xc0"))),
        PAYLOAD, 50,
    ),
    "12,000 UUIDs of one hash": Attack("msgpack", lambda: same_hash_uuids(12_000), PAYLOAD, 50),
    "a million extensions": Attack(
        "msgpack+zstd", lambda: arrays(_MB, b"\xd4\x07\xc0"), SIZE, 150, FEWER
    ),
    "a million dates": Attack(
        "msgpack+zstd",
        lambda: arrays(_MB, named(1, "datetime:date", [2024, 2, 29])), SIZE, 150, FEWER,
    ),
    "12,000 members of one hash": Attack(
        "msgpack", lambda: ormsgpack.packb(ormsgpack.Ext(0, b"\x93\xa8builtins\xa3set\xdd"
                                                         + struct.pack(">I", 12_000) + twins(b""))),
        SIZE + PAYLOAD, 50,
    ),
    "once1: 24 million empty lists": Attack(
        "once1+zstd", lambda: arrays(24 * _MB), SIZE, 150, FEWER
    ),
    "once1: 16 million empty dicts": Attack(
        "once1+zstd", lambda: arrays(16 * _MB, b"\x80"), SIZE, 150, FEWER
    ),
    "once1: 8 million empty tuples": Attack(
        "once1+zstd", lambda: arrays(8 * _MB, b"\xc7\x01\x01\x90"), SIZE, 150, FEWER
    ),
    # Few enough bytes that nobody counts them first: what they take is counted meanwhile.
    "once1: 3 million empty tuples": Attack(
        "once1+zstd", lambda: arrays(3 * _MB, b"\xd4\x01\x90"), SIZE, 150, FEWER
    ),
    "once1: 3 million empty sets": Attack(
        "once1+zstd", lambda: arrays(3 * _MB, b"\xd4\x03\x90"), SIZE, 150, FEWER
    ),
    "once1: 2 million dates": Attack(
        "once1+zstd",
        lambda: arrays(2 * _MB, SERDE.dumps_typed([date(2024, 2, 29)])[1][1:]),
        SIZE, 150, FEWER,
    ),
    "once1: a million exceptions": Attack(
        "once1+zstd", lambda: arrays(_MB, SERDE.dumps_typed([KeyError()])[1][1:]), SIZE, 150, FEWER
    ),
    "once1: 3 million integers of 8 bytes": Attack(
        "once1+zstd", lambda: arrays(3 * _MB, b"\xd7\x05" + bytes(8)), SIZE, 150, FEWER
    ),
    "once1: 100,000 lists in lists": Attack("once1", lambda: b"\x91" * 100_000, PAYLOAD, 20),
    "once1: 100,000 tuples in tuples": Attack("once1", lambda: boxes(100_000, 1), PAYLOAD, 300),
    "once1: a list said to have 2**32 items": Attack(
        "once1", lambda: claiming(b"\xdd"), PAYLOAD, 20
    ),
    # Shared, not copied: reading takes no time, but whoever walks it meets 10**40 items.
    "once1: a billion laughs": Attack("once1", laughs, SIZE, 20),
    "once1: 12,000 keys of one hash": Attack(
        "once1", lambda: ormsgpack.packb(ormsgpack.Ext(2, b"\xdd" + struct.pack(">I", 24_000)
                                                       + big_integers(12_000))),
        PAYLOAD, 50,
    ),
}  # fmt: skip


def squeezed(tag: str, make: Callable[[], bytes]) -> Attack:
    """Return a row whose bytes are compressed as ours are."""
    return Attack(
        f"{tag}+zstd",
        lambda: packed(make(), 1),
        (*SIZE, *PAYLOAD, "list"),
        300,
        {"max_decoded_objects": 10_000_000},
        4,
    )


def under_limits(tag: str, make: Callable[[], bytes]) -> Attack:
    """Return a row below a megabyte, as costly as the default limits allow."""
    outcomes = (*SIZE, *PAYLOAD, "list", "str", "tuple", "set", "Pattern", "GenericAlias", "Opaque")
    return Attack(f"{tag}+zstd", lambda: packed(make(), 1), outcomes, 512, max_seconds=2)


ATTACKS.update({name: squeezed(*made) for name, made in SMALL.items()})
ATTACKS.update({name: under_limits(*made) for name, made in UNDER_LIMITS.items()})


def measure(attack: Attack, blob: bytes) -> dict[str, Any]:
    """Return what reading raises and costs."""
    serde = OnceSerializer(strict_config(**attack.settings))
    resource.setrlimit(resource.RLIMIT_AS, (_CAP_BYTES, _CAP_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CAP_SECONDS, _CAP_SECONDS))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    try:
        outcome: object = type(serde.loads_typed((attack.tag, blob))).__name__
    except (SerdeError, MemoryError) as error:
        outcome = type(error).__name__
    seconds = time.process_time() - started
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"outcome": outcome, "seconds": seconds, "mb": peak_kb / 1024}


def main(names: Sequence[str]) -> None:
    """Write one line of JSON for each attack, or each of these."""
    for name in names or ATTACKS:
        attack = ATTACKS[name]
        blob = attack.make()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            facts = measure(attack, blob)
            sys.stdout.write(json.dumps({"name": name, "bytes": len(blob)} | facts) + "\n")
            sys.stdout.flush()
            os._exit(0)
        if signal := os.WTERMSIG(os.waitpid(child, 0)[1]):
            facts = {"outcome": f"signal {signal}", "seconds": _CAP_SECONDS, "mb": 0}
            sys.stdout.write(json.dumps({"name": name, "bytes": len(blob)} | facts) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
