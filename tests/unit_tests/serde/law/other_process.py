"""Rows in another process: written to a file here, read there, where no class of the pool is known.

Run as a program, this module reads such a file; the pool is imported only when all rows are read,
to tell what they should have been. So a class is there if its row, or one before, made it be.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def breaches_elsewhere(recipes: Iterable[Any], path: Path) -> dict[str, list[str]]:
    """Return how rows break the law in another process, by kind; `path` is a file to write."""
    with path.open("w") as file:
        for recipe in recipes:
            file.writelines(json.dumps(row) + "\n" for row in _rows(recipe))
    command = [sys.executable, "-W", "ignore", "-m", __name__, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def _rows(recipe: Any) -> Iterator[list[Any]]:
    from langgraph_once.errors import SerdeError
    from langgraph_once.serde import OnceSerializer
    from tests.unit_tests.serde.law.judge import LOST, STOCK, stock_gives

    with warnings.catch_warnings(action="ignore"):
        value = recipe.make()
        if stock_gives(value) is LOST:
            return
        for writer, serde in (("our", OnceSerializer()), ("LangGraph's", STOCK)):
            try:
                tag, data = serde.dumps_typed(value)
            except SerdeError:
                continue  # in this process it is a breach, too
            yield [recipe, writer, tag, base64.b64encode(data).decode()]


def _read(path: Path) -> list[tuple[list[Any], str, Any]]:
    from langgraph_once.serde import OnceSerializer

    ours = OnceSerializer()
    found: list[tuple[list[Any], str, Any]] = []
    for line in path.read_text().splitlines():
        recipe, writer, tag, data = json.loads(line)
        try:
            value: Any = ours.loads_typed((tag, base64.b64decode(data)))
        except Exception as error:
            value = error
        found.append((recipe, writer, value))
    return found


def _judged(rows: list[tuple[list[Any], str, Any]]) -> dict[str, list[str]]:
    from tests.unit_tests.serde.law.judge import breach, stock_gives
    from tests.unit_tests.serde.law.pool import Recipe

    told: dict[str, list[str]] = {}
    for (kinds, wrappers, seed), writer, found in rows:
        recipe = Recipe(tuple(kinds), tuple(wrappers), seed)
        value = recipe.make()
        if why := breach(value, stock_gives(value), found):
            told.setdefault(" and ".join(kinds), []).append(f"{recipe}: {writer} row: {why}")
    return told


if __name__ == "__main__":
    json.dump(_judged(_read(Path(sys.argv[1]))), sys.stdout)
