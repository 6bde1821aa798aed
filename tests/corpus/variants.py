"""The ways to stream a graph."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

Policy = Literal["new_messages", "full"]


@dataclass(frozen=True)
class Variant:
    """One way to stream, and what the state modes carry in it."""

    api: Literal["sync", "async"]
    version: Literal["v1", "v2", "v3"]
    modes: tuple[str, ...]
    subgraphs: bool = False
    state: Policy = "new_messages"
    """`DedupConfig.state`. Under "new_messages" one consumer reads all modes; under "full"
    each mode has a consumer of its own, as a state repeats what was said by its nature."""

    @property
    def name(self) -> str:
        """As in `async-v2-messages+values-sub`."""
        words = [self.api, self.version, "+".join(self.modes)]
        words += ["sub"] * self.subgraphs + ["full"] * (self.state == "full")
        return "-".join(words)

    @property
    def is_v3(self) -> bool:
        return self.version == "v3"


ALL = ("messages", "updates", "values")

VARIANTS = (
    Variant("sync", "v1", ("messages",)),
    Variant("sync", "v2", ("messages",), subgraphs=True),
    Variant("async", "v1", ("messages",), subgraphs=True),
    Variant("async", "v2", ("updates",), subgraphs=True),
    Variant("sync", "v1", ("updates",)),
    Variant("async", "v1", ("values",)),
    Variant("sync", "v2", ("values",), subgraphs=True),
    Variant("sync", "v1", ("messages", "updates"), subgraphs=True),
    Variant("async", "v2", ("messages", "updates")),
    Variant("sync", "v2", ("messages", "values")),
    Variant("async", "v1", ("updates", "values"), subgraphs=True),
    Variant("sync", "v1", ALL),
    Variant("async", "v2", (*ALL, "tasks", "custom"), subgraphs=True),
    Variant("sync", "v2", ALL, subgraphs=True, state="full"),
    Variant("async", "v1", ALL, state="full"),
    Variant("sync", "v3", ("messages",), subgraphs=True),
    Variant("async", "v3", ("messages",), subgraphs=True),
)
"""Every pair of the options, and every subset of the modes, at least once."""

V3 = tuple(variant for variant in VARIANTS if variant.is_v3)
"""Sync and async: `Variant` names no other options of it."""

FEW = tuple(VARIANTS[at] for at in (0, 3, 6, 7, 9, 10, 12, 13))
"""Each option but v3, and each subset of the modes: for each change of the code. The others pair
the same options in other ways, and are in the product."""

MODE_SETS = (
    *(modes for count in (1, 2, 3) for modes in itertools.combinations(ALL, count)),
    (*ALL, "tasks", "custom"),
)

FULL_PRODUCT = (
    *(
        Variant(api, version, modes, subgraphs, state)
        for api in ("sync", "async")
        for version in ("v1", "v2")
        for modes in MODE_SETS
        for subgraphs in (False, True)
        for state in ("new_messages", "full")
    ),
    *V3,
)
"""Everything with everything: 130 variants, for the slow proof."""
