"""The form in which blobs are kept: JSON with one line for each, so that a diff can be read.

Imports only what the oldest interpreter environment that writes blobs has, too.
"""

from __future__ import annotations

import base64
import json
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    Rows = dict[str, tuple[str, bytes]]
    """Tag and bytes by the name of the value that was written."""

ROOT = Path(__file__).parent
PACKAGES = ("langgraph-checkpoint", "langgraph", "langchain-core", "pydantic")


def folders(prefix: str) -> list[str]:
    """Return the names of the folders of blobs that start with `prefix`."""
    return sorted(path.parent.name for path in ROOT.glob(f"{prefix}*/blobs.json"))


def load(folder: str) -> Rows:
    """Return the rows kept in `folder`."""
    document = json.loads((ROOT / folder / "blobs.json").read_text(encoding="utf-8"))
    return {row["name"]: (row["tag"], base64.b64decode(row["base64"])) for row in document["blobs"]}


def refusals(folder: str) -> dict[str, str]:
    """Return the values that could not be written, each with the error it met."""
    document = json.loads((ROOT / folder / "blobs.json").read_text(encoding="utf-8"))
    refused: dict[str, str] = document["refused"]
    return refused


def save(folder: str, rows: Rows, refused: Mapping[str, str]) -> None:
    """Keep `rows` in `folder`, with the versions of what wrote them."""
    lines = ",\n".join(
        json.dumps({"name": name, "tag": tag, "base64": base64.b64encode(data).decode()})
        for name, (tag, data) in rows.items()
    )
    versions = {name: version(name) for name in PACKAGES} | {"python": python_version()}
    packages = json.dumps(versions)
    head = f'"packages": {packages},\n"refused": {json.dumps(refused)}'
    (ROOT / folder).mkdir(exist_ok=True)
    path = ROOT / folder / "blobs.json"
    path.write_text(f'{{{head},\n"blobs": [\n{lines}\n]}}\n', encoding="utf-8")
