"""The corpus as a server can serve it: each scenario's graph twice, to be wrapped and as it is.

A server keeps its graphs, and the models of a scenario count their calls: each of these graphs
is for one play.
"""

from __future__ import annotations

import json
import os
from typing import Any

from tests.corpus.scenarios import SCENARIOS
from tests.integration_tests.remote.sources import graph_id

_SERVED = json.loads(os.environ["LANGSERVE_GRAPHS"])


def _servable(made: Any) -> Any:
    """A graph without its own checkpointer, with which the server would refuse it."""
    return made.copy({"checkpointer": None}) if made.checkpointer else made


globals().update(
    {
        graph_id(scenario.name, kind): _servable(scenario.graph())
        for scenario in SCENARIOS
        for kind in ("once", "stock")
        if graph_id(scenario.name, kind) in _SERVED
    }
)
