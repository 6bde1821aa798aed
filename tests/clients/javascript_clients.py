"""Front ends of npm: each a folder of `javascript/` with its packages and a program.

The programs do what is asked in `recording.py`, several jobs at a time: `{"jobs": […]}`.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from tests.clients.play import FrontEnd
from tests.clients.recording import Asked, Recording
from tests.integration_tests.npm import installed

__all__ = ["SOURCES", "VARIANTS", "javascript_front_ends"]

SOURCES = Path(__file__).with_name("javascript")

VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "use-stream-1": {"": {}, "sub": {"streamSubgraphs": True}},
    "use-stream-2": {"": {}, "sub": {"streamSubgraphs": True}},
    "langchain-react": {"": {}},
    "assistant-ui": {"": {}},
    "ag-ui": {"": {}},
}
"""Each folder, and the options with which its program is run."""

TIMEOUT_S = 600


async def _do(folder: Path, options: dict[str, Any], jobs: list[Asked]) -> list[Recording]:
    asked = [{**job, "options": {**options, **job["options"]}} for job in jobs]
    program = await asyncio.create_subprocess_exec(
        "node",
        "client.mjs",
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,  # an argument of a program is bounded
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    told, complaint = await asyncio.wait_for(
        program.communicate(json.dumps({"jobs": asked}).encode()), TIMEOUT_S
    )
    if program.returncode:
        raise RuntimeError(f"{folder.name}: {complaint.decode()[-2000:]}")
    results: list[Recording] = json.loads(told)["results"]
    return results


def javascript_front_ends(
    folder: Path, projects: Iterable[str] = VARIANTS.keys()
) -> dict[str, FrontEnd]:
    """Install the front ends of npm in `folder`, and give them by name."""
    made: dict[str, FrontEnd] = {}
    for project in projects:
        variants = VARIANTS[project]
        if not (SOURCES / project).is_dir():
            continue
        here = installed(SOURCES / project, folder / project)
        for name, options in variants.items():
            made[f"{project} {name}".strip()] = partial(_do, here, options)
    for shared in SOURCES.glob("*.mjs"):
        shutil.copy(shared, folder)
    return made
