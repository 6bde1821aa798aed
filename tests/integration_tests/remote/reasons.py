"""What a remote stream cannot tell: for each scenario that is not right there, why."""

from __future__ import annotations

from tests.corpus.reasons import REASONS
from tests.integration_tests.remote.sources import VARIANTS, Source

__all__ = ["reason"]


def reason(name: str, source: Source) -> str | None:
    """Why a scenario need not be right from this source; None if it must be.

    A stock server tells no more than a plain stream, so what a filter cannot know holds there;
    with ours nothing need be wrong.
    """
    if source != "stock":
        return None
    holding = (each for each in REASONS.get(name, ()) if each.holds(VARIANTS[source]))
    return next((each.why for each in holding), None)
