"""How many random examples a law is tried with."""

from __future__ import annotations

import os
from typing import Any, Final

from hypothesis import settings

FACTOR: Final = int(os.environ.get("EXAMPLES") or 1)
"""How many times as many as usual. `make test-examples` says twenty."""


def examples(count: int, **more: Any) -> settings:
    """Return settings for `count` examples, or for as many more as are asked for."""
    return settings(max_examples=count * FACTOR, **more)
