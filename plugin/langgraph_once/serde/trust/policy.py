"""May a type be read that a row names, and what of its code may run? May it be written?

One table answers, read from top to bottom; nothing else decides. Its facts are found elsewhere:
how a type stands by `Allowlist`, what rebuilding it runs by `class_code` and the codecs. The table
in `docs/security.md` is printed from this one.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Final, Literal

__all__ = ["TABLE", "Code", "Decision", "Trust", "decide"]

Enforcement = Literal["safe", "strict", "warn", "open"]
Use = Literal["read", "write"]


class Trust(IntEnum):
    """How far a type is trusted, most certain first; a compound is its least certain part.

    For reading, in this process now. For writing, in a new process that has imported what this one
    had imported when it first wrote.
    """

    LISTED = 0
    """In `allowed_types`, marked `@storable`, in the schema of a graph, or built in."""
    OWN = 1
    """Of the project's own source, and imported, or of a module that its graphs import."""
    IMPORTED = 2
    """Imported already."""
    ELSEWHERE = 3
    """Of a module that is not imported."""
    LOST = 4
    """Its name leads to nothing, or to something else."""


class Code(IntEnum):
    """What of a type's code runs when it is rebuilt; each includes those before it."""

    NONE = 0
    DATA = 1
    """What classes of data run: defaults and hashes; in LangGraph's rows, constructors too."""
    HOOK = 2
    """What any instance runs, as `__del__` or a metaclass, or whoever calls a class by itself."""
    CALL = 3
    """The constructor of a class that is no data, with arguments of the row."""


class Decision(Enum):
    """What is done, and why it is told or not done.

    An event is one of `register_serde_event_listener`, for each use; a log line is one for each
    type.
    """

    YES = "yes", ""
    EVENT = "yes, event", "not listed"
    LOG = "yes, event, log", "not listed"
    DOUBT = "yes, log", "runs code"
    LATE = "yes, log", "not imported"
    ASTRAY = "yes, log", "not found"
    CODE = "no", "runs code"
    UNLISTED = "no", "not listed"
    ABSENT = "no", "not imported"
    LOST = "no", "not found"

    def __init__(self, outcome: str, reason: str) -> None:
        self.outcome = outcome
        self.reason = reason
        self.refuses = outcome == "no"
        self.is_event = "event" in outcome
        self.is_logged = "log" in outcome


YES, EVENT, LOG, DOUBT, LATE, ASTRAY, CODE, UNLISTED, ABSENT, LOST = Decision

_Cells = tuple[Decision, Decision, Decision, Decision]


def _any(decision: Decision) -> _Cells:
    return decision, decision, decision, decision


TABLE: Final[dict[Enforcement, dict[Trust, tuple[_Cells, _Cells]]]] = {
    # To read it, then to write it, by what runs: `Code.NONE`, `DATA`, `HOOK`, `CALL`.
    "safe": {
        Trust.LISTED: (_any(YES), _any(YES)),
        Trust.OWN: ((YES, YES, CODE, CODE), (YES, YES, DOUBT, DOUBT)),
        Trust.IMPORTED: ((YES, CODE, CODE, CODE), (YES, DOUBT, DOUBT, DOUBT)),
        Trust.ELSEWHERE: (_any(ABSENT), (LATE, DOUBT, DOUBT, DOUBT)),
        Trust.LOST: (_any(LOST), _any(ASTRAY)),
    },
    # What is not listed is not even looked for, so that reading cannot tell that it is lost.
    "strict": {
        Trust.LISTED: (_any(YES), _any(YES)),
        Trust.OWN: (_any(UNLISTED), _any(UNLISTED)),
        Trust.IMPORTED: (_any(UNLISTED), _any(UNLISTED)),
        Trust.ELSEWHERE: (_any(UNLISTED), _any(UNLISTED)),
        Trust.LOST: (_any(UNLISTED), _any(LOST)),
    },
    # Reading imports what a row names, and finds out only then whether it is lost.
    "warn": {
        Trust.LISTED: (_any(YES), _any(YES)),
        Trust.OWN: ((LOG, LOG, LOG, CODE), _any(LOG)),
        Trust.IMPORTED: ((LOG, LOG, LOG, CODE), _any(LOG)),
        Trust.ELSEWHERE: ((LOG, LOG, LOG, CODE), _any(LOG)),
        Trust.LOST: ((LOG, LOG, LOG, CODE), _any(LOG)),
    },
    "open": {
        Trust.LISTED: (_any(YES), _any(YES)),
        Trust.OWN: ((EVENT, EVENT, EVENT, CODE), _any(YES)),
        Trust.IMPORTED: ((EVENT, EVENT, EVENT, CODE), _any(YES)),
        Trust.ELSEWHERE: ((EVENT, EVENT, EVENT, CODE), _any(YES)),
        Trust.LOST: ((EVENT, EVENT, EVENT, CODE), _any(YES)),
    },
}


def decide(enforcement: Enforcement, use: Use, trust: Trust, code: Code = Code.NONE) -> Decision:
    """Return what is done with a type, and why."""
    return TABLE[enforcement][trust][use == "write"][code]
