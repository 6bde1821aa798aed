"""One `langgraph dev` with the whole zoo: each graph plain, and wrapped as `<name>_once`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from demo.dev_server import DevServer
from tests.clients.graphs import ZOO, Animal

GRAPHS = "tests.clients.graphs"
WRAPPED = "langgraph_once.platform.graphs"

BARE, ONCE = "words_bare", "words_once"
"""The graph whose bytes are weighed; its name is in each token, so both are equally long."""

RANDOM = "random_graph"
"""The graph that is another one for each seed: `random_graphs.py`."""


def wrapped_name(name: str) -> str:
    """What a graph is called where it is wrapped."""
    return f"{name}_once"


def zoo_server(
    folder: Path, animals: Iterable[Animal] = ZOO, module: str = f"{GRAPHS}.served"
) -> DevServer:
    """A server, to be started.

    Args:
        folder: Where its files lie.
        animals: The graphs.
        module: Where they are by name.
    """
    graphs: dict[str, Any] = {}
    names = [
        (f"{module}:{animal.name}", animal.name, wrapped_name(animal.name)) for animal in animals
    ]
    names.append((f"tests.clients.random_graphs:{RANDOM}", RANDOM, wrapped_name(RANDOM)))
    for target, plain, once in [*names, (f"{GRAPHS}.served:words", BARE, ONCE)]:
        graphs[plain] = target
        graphs[once] = {"path": f"{WRAPPED}:{once}", "once": {"target": target}}
    manifest = {
        "dependencies": ["."],
        "graphs": graphs,
        "checkpointer": {"path": "langgraph_once.platform.checkpointer.saver"},
        "http": {"app": "langgraph_once.platform.app:app"},
    }
    config = folder / "langgraph.json"
    config.write_text(json.dumps(manifest))
    options = ("--n-jobs-per-worker", "50")  # by default one run waits for the other
    return DevServer(config, cwd=folder, options=options, start_timeout_s=120)
