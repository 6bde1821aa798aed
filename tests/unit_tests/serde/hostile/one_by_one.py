"""Reads what is odd and small, and says how often what was the outcome."""

from __future__ import annotations

import contextlib
import json
import logging
import resource
import sys
import time
import warnings
from collections import Counter

from langgraph_once.config import SerdeConfig
from langgraph_once.errors import EncodeError, SerdeError
from langgraph_once.serde import OnceSerializer
from tests.unit_tests.serde.hostile import classes
from tests.unit_tests.serde.hostile.data import ONE_BY_ONE

_MOST_BYTES = 3 << 30
_MOST_SECONDS = 2


def _outcome(serde: OnceSerializer, row: bytes) -> str:
    try:
        value = serde.loads_typed(("once2", row))
    except SerdeError as error:
        return type(error).__name__
    with contextlib.suppress(EncodeError):
        serde.dumps_typed(value)
    return "value"


def main() -> None:
    """Write one line of JSON."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    serde = OnceSerializer(SerdeConfig(compression="none"))
    outcomes: Counter[str] = Counter()
    for name, row in ONE_BY_ONE.items():
        started = time.process_time()
        try:
            outcomes[_outcome(serde, row)] += 1
        except BaseException as error:
            error.add_note(name)
            raise
        if time.process_time() - started > _MOST_SECONDS or classes.RAN:
            raise AssertionError(f"{name} took long, or ran {classes.RAN}")
    sys.stdout.write(json.dumps(outcomes))


if __name__ == "__main__":
    main()
