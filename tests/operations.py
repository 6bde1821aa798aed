"""Operations as a judge of whole databases, for tests of the mission; else these are skipped."""

from __future__ import annotations

from typing import Any

import pytest

_WHY = "only operations can verify a database"


def verify(*given: Any) -> Any:
    """What `langgraph_once_ops.verify` finds."""
    return pytest.importorskip("langgraph_once_ops.verify", reason=_WHY).verify(*given)


def repair(*given: Any) -> None:
    """Do as `langgraph_once_ops.verify.repair`."""
    pytest.importorskip("langgraph_once_ops.verify", reason=_WHY).repair(*given)
