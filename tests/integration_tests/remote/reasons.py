"""What a remote stream cannot tell: for each scenario that is not right there, why."""

from __future__ import annotations

from tests.corpus.reasons import REASONS
from tests.integration_tests.remote.sources import VARIANTS, Source

__all__ = ["reason"]

_PAIR = (
    "A node's pair comes in the update, before its message has an id and is sent: at the update "
    "the client does not know that the message will come, and shows both."
)
TOLD_BY_ID = {"copied-stripped-as-pair": _PAIR, "handed-pair": _PAIR}
"""What our server tells when the client has shown a part of it already."""


def reason(name: str, source: Source) -> str | None:
    """Why a scenario need not be right from this source; None if it must be.

    A stock server tells no more than a plain stream, so what a filter cannot know holds there.
    """
    if source == "once":
        return TOLD_BY_ID.get(name)
    if source != "stock":
        return None
    holding = (each for each in REASONS.get(name, ()) if each.holds(VARIANTS[source]))
    return next((each.why for each in holding), None)
