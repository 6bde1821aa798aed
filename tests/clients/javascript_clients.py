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

MOST_JOBS = 100
"""How many jobs one run of a program is given: all are in one argument, which has a limit."""


async def _do(folder: Path, options: dict[str, Any], jobs: list[Asked]) -> list[Recording]:
    asked = [{**job, "options": {**options, **job["options"]}} for job in jobs]
    parts = [asked[at : at + MOST_JOBS] for at in range(0, len(asked), MOST_JOBS)]
    return [recording for part in parts for recording in await _run(folder, part)]


async def _run(folder: Path, jobs: list[dict[str, Any]]) -> list[Recording]:
    program = await asyncio.create_subprocess_exec(
        "node",
        "client.mjs",
        json.dumps({"jobs": jobs}),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    told, complaint = await asyncio.wait_for(program.communicate(), TIMEOUT_S)
    if program.returncode:
        raise RuntimeError(f"{folder.name}: {complaint.decode()[-2000:]}")
    results: list[Recording] = json.loads(told)["results"]
    return results


def javascript_front_ends(
    folder: Path, projects: Iterable[str] = VARIANTS.keys()
) -> dict[str, FrontEnd]:
    """Install front ends of npm in `folder`, and give them by name."""
    made: dict[str, FrontEnd] = {}
    for project in projects:
        here = installed(SOURCES / project, folder / project)
        for name, options in VARIANTS[project].items():
            made[f"{project} {name}".strip()] = partial(_do, here, options)
    for shared in SOURCES.glob("*.mjs"):
        shutil.copy(shared, folder)
    return made
